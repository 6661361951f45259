"""Adaptive Nyström features (OANA): landmarks that follow the rows by online k-means."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from onkel.annotations import ArrayLike, DTypeLike, Matrix, MatrixLike
from onkel.fields import Array, Fields, Number, Whole
from onkel.kernels import squared_distances
from onkel.maps.base import Change
from onkel.maps.nystroem import NystroemFeatures
from onkel.maps.online_kmeans import SOLVERS, Panel, leading, moved
from onkel.numerics.arrays import as_dense
from onkel.numerics.threads import one_blas_thread
from onkel.parameters import non_negative, one_of, whole

# Share of its trace added to the diagonal of κ(S, S): smaller eigenvalues are noise, by the
# precision of the rows, and landmarks may coincide.
_JITTER = {4: 1e-7, 8: 1e-11}
# threshold="auto" is this quantile of the first rows' squared distances to their landmarks.
_FAR = 0.75
# Rows in a block when the map is used as a transformer.
_ROWS = 512
_MOST_ITERATIONS = 1000


@dataclass(eq=False, repr=False)
class AdaptiveNystroem(NystroemFeatures):
    """z(x) = Λ^-½ Uᵀ κ(S, x) as :class:`NystroemFeatures`, with landmarks S that follow the rows.

    A row x whose nearest landmark u_q is at ‖x - u_q‖² ≥ threshold moves it by online k-means,
    ``u_q ← (N_q u_q + x)/(N_q + 1)``, ``N_q ← N_q + 1``, and the r leading eigenpairs (U, Λ) of
    κ(S, S) are brought up to date by ``n_iter`` steps of ``Q ← κ(S, S) Q`` from the last ones. A
    learner carries its weights over: ``w̄`` minimises
    ``Σ_i (w·z(u_i) - w̄·z̄(u_i))² + theta ‖w̄‖²`` over the new landmarks u_i. Rows that move
    nothing cost what they cost :class:`NystroemFeatures`, a move O(B²·d + B²·k).

    Use it where the first rows don't say where the data will be: streams that drift, and many
    clusters with few landmarks. With many landmarks on a steady stream fixed ones do as well, and
    are faster. Inputs should be on one scale: k-means works on Euclidean distances.

    Parameters
    ----------
    n_components, kernel, gamma, landmarks, n_warmup, random_state
        As of :class:`NystroemFeatures`; landmarks="support" is not possible.
    rank : int or None, default=None
        Number of features k ≤ B; None for the paper's 0.8 B.
    threshold : float or "auto", default="auto"
        ε ≥ 0, a squared distance: 0 moves a landmark at every row (slow), a large one never.
        "auto": a quarter of the first ``n_warmup`` rows are farther from their nearest landmark.
    theta : float, default=1e-6
        θ ≥ 0, the ridge with which a move carries the weights over.
    solver : {"randomized", "rank_two", "scratch"}, default="randomized"
        How the eigenpairs follow a move: equation 10 from the last ones; a rank-2 update of the
        last ones; from scratch. For k near B the first is the cheapest, and it loses nothing.
    n_iter : int, default=2
        Number of steps p from 1 to 1000 of "randomized".
    weighted : bool, default=True
        N_q counts every row nearest to u_q, with its weight: a far row moves the landmark of a
        dense cluster little. False, as Algorithm 1 is printed, counts only the rows that moved it,
        each as one: far rows then draw landmarks out of their clusters.
    expire : int or None, default=None
        A landmark expires after so many rows (≥ 1) to none of which it was nearest: the next row
        beyond the threshold takes its place, and moves no other landmark.

    Attributes
    ----------
    landmarks_ : ndarray of shape (B, d)
    projection_ : ndarray of shape (B, k)
        Features are ``κ(X, landmarks_) @ projection_``.
    counts_ : ndarray of shape (B,)
        N_q, from 1.
    gamma_, threshold_ : float
    n_moves_ : int
        Moves so far.

    Raises
    ------
    ValueError
        On ``fit``, for a parameter out of its range. The message names it.

    Examples
    --------
    Nine clusters; the first 30 rows as landmarks, and what online k-means makes of them:

    >>> import numpy as np
    >>> from onkel.maps import AdaptiveNystroem
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((2000, 2)) + rng.choice([0, 5, 10], (2000, 2))
    >>> K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
    >>> for threshold in (1e9, 1.0):
    ...     Z = AdaptiveNystroem(30, gamma=0.5, threshold=threshold).fit_transform(X)
    ...     print(f"{np.linalg.norm(K - Z @ Z.T) / np.linalg.norm(K):.2f}")
    0.52
    0.40

    Notes
    -----
    Source: Si, Kumar & Li 2018, Algorithm 1 (OANA), equations 7 to 10 and 12; ``weighted`` and
    ``expire`` are what they name as extensions in section 4.3.
    """

    name = "adaptive_nystroem"

    threshold: float | str = "auto"
    theta: float = 1e-6
    solver: str = "randomized"
    n_iter: int = 2
    weighted: bool = True
    expire: int | None = None

    # ---- what a model drives -------------------------------------------------------------------

    def changes(self) -> Change:
        return Change.BY_ROWS

    def start(self, d: int, dtype: DTypeLike) -> None:
        super().start(d, dtype)
        if self._picked("support"):
            raise ValueError(
                "landmarks='support' are kept as the learner's support vectors; these move: use "
                "'first', 'random' or an array"
            )
        if isinstance(self.threshold, str):
            if self.threshold != "auto":
                raise ValueError(f"threshold={self.threshold!r} must be a number or 'auto'")
        else:
            non_negative(self, "threshold")
        one_of(self, "solver", SOLVERS)
        whole(self, "n_iter", most=_MOST_ITERATIONS)
        non_negative(self, "theta")
        if self.expire is not None:
            whole(self, "expire")

    def warmup_rows(self) -> int:
        needed = super().warmup_rows()
        return max(needed, self.n_warmup) if self.threshold == "auto" else needed

    def fit_first(self, X: np.ndarray) -> None:
        super().fit_first(X)
        self.threshold_: float = self._fit_threshold(X)

    def _fit_threshold(self, X: np.ndarray) -> float:
        if not isinstance(self.threshold, str):
            return float(self.threshold)
        squared = squared_distances(X.astype(np.float64), self.landmarks_.astype(np.float64))
        squared[squared <= 1e-12 * squared.max(initial=0.0)] = np.inf
        nearest = squared.min(axis=1)
        nearest = nearest[np.isfinite(nearest)]
        return float(np.quantile(nearest, _FAR)) if nearest.size else 0.0

    def set_landmarks(self, S: np.ndarray) -> np.ndarray:
        """Start anew from the landmarks S (B, d); returns κ(S, S) projection_ (B, k)."""
        self.landmarks_: np.ndarray = np.array(S, dtype=self.dtype_, order="C")
        m = len(self.landmarks_)
        rank = max(1, round(0.8 * m)) if self.rank is None else min(self.rank, m)
        E = self._gram()
        self._set_projection(leading(self._lifted(E), rank))
        self.counts_: np.ndarray = np.ones(m)
        self._last = np.zeros(m, np.int64)
        self._clock = np.zeros(1, np.int64)
        self.n_moves_: int = 0
        return E @ self.projection_

    def _gram(self, S: np.ndarray | None = None) -> np.ndarray:
        """κ(landmarks, S), or of the landmarks with themselves, in float64."""
        wide = self.landmarks_.astype(np.float64)
        return self._kernel.gram(wide, wide if S is None else S, self.gamma_)

    def _lifted(self, E: np.ndarray) -> np.ndarray:
        E = E.copy()
        E.flat[:: len(E) + 1] += _JITTER[self.dtype_.itemsize] * np.trace(E)
        return E

    def _set_projection(self, P: np.ndarray) -> None:
        self.projection_: np.ndarray = np.ascontiguousarray(P, dtype=self.dtype_)

    def state_fields(self) -> Fields:
        return {
            **super().state_fields(),
            "threshold_": Number(low=0.0),
            "n_moves_": Whole(),
            "counts_": Array(shape=("landmarks",), low=0.0, high=1e150),
            "_last": Array(dtype=np.int64, shape=("landmarks",), low=0, high=2**62),
            "_clock": Array(dtype=np.int64, shape=(1,), low=0, high=2**62),
        }

    def is_finite(self) -> bool:
        """Whether features are finite, and landmarks so near that their distances mean something.

        If a landmark follows an outlier far away, the others' distances have no digit left.
        """
        around = self.landmarks_ - self.landmarks_.mean(axis=0)
        squared = np.einsum("ij,ij->i", around, around).max()
        resolved = self.gamma_ * squared * np.finfo(self.dtype_).eps < 1.0
        return bool(resolved or not self._kernel.radial) and bool(
            np.isfinite(self.landmarks_.sum()) and np.isfinite(self.projection_.sum())
        )

    # ---- moving --------------------------------------------------------------------------------

    def move(
        self, q: int, x: np.ndarray, weight: float
    ) -> tuple[int, np.ndarray, np.ndarray] | None:
        """Move landmark q towards the row x, or put x in the place of one that expired.

        Returns the landmark that moved, and the features of all landmarks before and after, (B, k)
        each; None if it does not move: the row lies there, or has next to no weight.
        """
        q = self._place(q, x, weight)
        self.n_moves_ += 1
        before, P = self._moved_from, self.projection_.astype(np.float64)
        if np.array_equal(before[0], self.landmarks_[q]):
            return None
        E = self._gram()
        # the new landmarks seen by the old ones
        crossed = E.copy()
        crossed[:, q] = self._gram(before)[:, 0]
        old = crossed @ P
        self._set_projection(SOLVERS[self.solver](self._lifted(E), q, P, self.n_iter))
        new = E @ self.projection_.astype(np.float64)
        return q, old, new

    def _place(self, q: int, x: np.ndarray, weight: float) -> int:
        """Equation 8, or the exchange of an expired landmark for x."""
        self._clock += 1
        mass = weight if self.weighted else 1.0
        stale = int(np.argmin(self._last))
        if self.expire is not None and self._clock[0] - self._last[stale] > self.expire:
            q, self.counts_[stale] = stale, 0.0
        self._moved_from = self.landmarks_[q : q + 1].astype(np.float64)
        self.landmarks_[q] = moved(self.landmarks_[q], self.counts_[q], x, mass)
        self.counts_[q] += mass
        self._last[q] = self._clock[0]
        return q

    def follow(self, X: Matrix) -> None:
        """Move with the rows X (n, d), in order: Algorithm 1."""
        for a in range(0, X.shape[0], _ROWS):
            panel = Panel(self, as_dense(X[a : a + _ROWS]), np.ones(min(_ROWS, X.shape[0] - a)))
            with one_blas_thread():
                while not panel.done:
                    panel.next_rows()
                    panel.move()

    def fit(self, X: MatrixLike, y: ArrayLike | None = None) -> AdaptiveNystroem:
        """Begin anew and follow the rows X (n, d), dense or CSR; y is ignored."""
        self.__dict__.pop("n_rows_seen_", None)
        self.partial_fit(X)
        return self
