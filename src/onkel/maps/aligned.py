"""Aligned random features: of many random features those that agree with the labels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import validate_data

from onkel._dense import as_dense
from onkel._jit import cos_block
from onkel._workspace import scratch
from onkel.kernels import Kernel, make_kernel
from onkel.maps.alignment import aligned_weights
from onkel.maps.bandwidth import check_gamma, fit_gamma
from onkel.maps.base import FeatureMap, next_power_of_two
from onkel.maps.fourier import check_count, check_spectrum, turns_of
from onkel.maps.label_sums import LabelSums
from onkel.rules.base import non_negative

__all__ = ["AlignedFourier"]

SELECTIONS = ("largest", "sample")
# the first solution comes after so many rows: of fewer, v is mostly chance
_FIRST_SOLUTION = 32
# the features of all candidates are to stay in a core's second-level cache until they are summed
_CACHE_BYTES = 1 << 20
_FEWEST_ROWS = 16


def _refuse_parts(self: AlignedFourier) -> bool:
    raise AttributeError(
        "AlignedFourier aligns all rows at once, fit(X, y), or online inside a learner: "
        "AlignedClassifier, AlignedRegressor, or map='aligned'"
    )


class AlignedFourier(FeatureMap):
    """z(x) = [√(2 q_m) cos(ω_m·x + b_m)] for the m with q_m > 0, q chosen by the labels.

    N candidates (ω_m, b_m) are drawn from the kernel's spectrum and the circle, and

        q = argmax Σ_m q_m v_m,   v_m = (Σ_i y_i φ_m(x_i))²,   φ_m(x) = √2 cos(ω_m·x + b_m),

    over the distributions within an f-divergence ball around the uniform one, f(t) = t^power - 1:
    the kernel Σ q_m φ_m(x) φ_m(x') of that family that agrees best with the labels.
    ``n_components`` features of it are used.

    *Batch*, the paper's: ``fit(X, y)`` takes v from all rows and solves once.

    *Online*, ours: inside a learner v is a running sum. Until the first solution the features are
    the first candidates, plain random features; q is solved anew after rows 32, 64, 128, ... and
    last after ``n_align``, when all other candidates are dropped. A feature that stays carries its
    weight over, w ← w·√q_old/√q_new, so that what f owes to it is kept; one that comes in begins
    at 0. The row of a solution is predicted with the features before it.

    Use it where the kernel fits the labels badly and no width mends that (a norm, few relevant
    directions among many, a frequency). Where the kernel is right it gains little, and of very few
    features (tens) those that agree best are much alike: plain ones then cover more. While q is
    sought, a row costs O(N·d); after that O(D·d).

    Parameters
    ----------
    n_components : int, default=200
        Number of features D ≥ 1 used.
    n_candidates : int, default=2000
        Number of random features N ≥ D to choose from.
    kernel : str or Kernel, default="gaussian"
        A shift-invariant kernel of :mod:`onkel.kernels`: the base distribution.
    gamma : float or {"median", "scale"}, default="median"
        Its width; in a learner the heuristics are fitted on the first ``n_warmup`` rows.
    rho : float or None, default=None
        Radius ρ ≥ 0 of the ball; 0 is plain random features. None: that of the uniform distribution
        over D of the N candidates, (N/D)^(power-1) - 1, so that for power 2 the effective number of
        features 1/Σ q² is D.
    power : float, default=2.0
        k > 1 of the divergence; 2 is χ². A larger one leaves more features with a small weight.
    selection : {"largest", "sample"}, default="largest"
        "largest": the features with non-zero weight, at most D, those of largest q; weighted by q.
        "sample": D draws from q; a feature drawn twice weighs twice.
    centered : bool, default=True
        Labels less their mean: v is then blind to a feature's mean, which says nothing about
        labels of which most are alike. False is the paper's v.
    n_align : int or None, default=16384
        Online: rows after which the features stand. None aligns for ever.
    n_warmup : int, default=256
        Rows that a heuristic for gamma looks at.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    frequencies_ : ndarray of shape (d, M)
        Of the features used, M ≤ D; ``offsets_`` (M,) are their b and ``weights_`` (M,) their q.
    alignment_ : float
        Σ q_m v_m/n² at the last solution, of the features used; 0 before.
    gamma_ : float

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from onkel import ExplicitKernelClassifier
    >>> from onkel.maps import AlignedFourier
    >>> X = np.random.default_rng(0).standard_normal((3000, 8))
    >>> y = np.linalg.norm(X, axis=1) > np.sqrt(8)
    >>> for rho in (0.0, None):  # 50 plain random features, 50 aligned ones
    ...     features = AlignedFourier(50, gamma=0.5, rho=rho, random_state=0)
    ...     model = make_pipeline(features, ExplicitKernelClassifier("identity", "least_squares"))
    ...     print(f"{model.fit(X[:2000], y[:2000]).score(X[2000:], y[2000:]):.2f}")
    0.70
    0.89

    Notes
    -----
    Source: Sinha & Duchi 2016, eq. 4 and Algorithm 1, solved as stated there (and not as the
    projection onto an ℓ2 ball of the authors' program, nor with the missing k; see
    :mod:`onkel.maps.alignment`). More than two classes: v summed over the classes' indicators;
    regression: the targets. Centring (Cortes, Mohri & Rostamizadeh 2012), "largest" with a cap and
    the online form are extensions.
    """

    name = "aligned"

    def __init__(
        self,
        n_components: int = 200,
        n_candidates: int = 2000,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        rho: float | None = None,
        power: float = 2.0,
        selection: str = "largest",
        centered: bool = True,
        n_align: int | None = 16_384,
        n_warmup: int = 256,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_candidates = n_candidates
        self.kernel = kernel
        self.gamma = gamma
        self.rho = rho
        self.power = power
        self.selection = selection
        self.centered = centered
        self.n_align = n_align
        self.n_warmup = n_warmup
        self.random_state = random_state

    # ---- what a model drives -------------------------------------------------------------------

    @property
    def aligns(self) -> bool:
        return self._aligning

    def start(self, d: int, dtype: Any) -> None:
        check_count(self, "n_components")
        check_count(self, "n_warmup", least=2)
        if check_count(self, "n_candidates") < self.n_components:
            raise ValueError(
                f"n_candidates={self.n_candidates} must be at least "
                f"n_components={self.n_components}: features are chosen among them"
            )
        if self.n_align is not None:
            check_count(self, "n_align")
        if self.rho is not None:
            non_negative(self, "rho")
        if not np.isreal(self.power) or not 1.0 < self.power < np.inf:
            raise ValueError(f"power={self.power!r} must be a number above 1")
        if self.selection not in SELECTIONS:
            raise ValueError(f"selection={self.selection!r} must be 'largest' or 'sample'")
        check_gamma(self.gamma)
        check_spectrum(self.kernel)
        super().start(d, dtype)

    def warmup_rows(self) -> int:
        return self.n_warmup if isinstance(self.gamma, str) else 0

    def fit_first(self, X: np.ndarray) -> None:
        self.gamma_ = fit_gamma(self.gamma, make_kernel(self.kernel), X)
        rng = np.random.default_rng(self.seed_)
        N = self.n_candidates
        offsets = rng.uniform(0.0, 2.0 * math.pi, N)
        self._set_candidates(self._draw(rng), offsets, np.arange(N))
        self._use(np.arange(self.n_components), np.full(self.n_components, 1 / self.n_components))
        self.sums_ = LabelSums(N)
        self.alignment_ = 0.0
        self._aligning = True

    def _draw(self, rng: np.random.Generator) -> np.ndarray:
        """Frequencies (d, N) of all candidates; more columns take more of the same numbers."""
        kernel = make_kernel(self.kernel)
        return kernel.spectrum(rng, self.n_features_in_, self.n_candidates, self.gamma_)

    def add_columns(self, n: int) -> int | None:
        known = self.n_features_in_
        self.n_features_in_ = known + n
        if hasattr(self, "candidates_"):
            rng = np.random.default_rng(self.seed_)
            rng.uniform(size=self.n_candidates)  # the offsets
            rows = self._draw(rng)[known:, self.drawn_]
            frequencies = np.concatenate([self.candidates_, rows])
            self._set_candidates(frequencies, self.candidate_offsets_, self.drawn_)
            self._use(self.used_, self.weights_)
        return None

    def _set_candidates(
        self, frequencies: np.ndarray, offsets: np.ndarray, drawn: np.ndarray
    ) -> None:
        """The candidates; ``drawn`` says which of those drawn they are."""
        self.candidates_, self.candidate_offsets_, self.drawn_ = frequencies, offsets, drawn
        turn = 1.0 / (2.0 * math.pi)
        self._turns = (frequencies * turn).astype(self.dtype_)
        self._offset_turns = (offsets * turn).astype(self.dtype_)

    def _use(self, used: np.ndarray, weights: np.ndarray) -> None:
        """The features are the candidates ``used`` (M,), with q = ``weights`` (M,)."""
        self.used_, self.weights_ = used, weights
        self.frequencies_ = self.candidates_[:, used]
        self.offsets_ = self.candidate_offsets_[used]
        self._used_turns = np.ascontiguousarray(self._turns[:, used])
        self._used_offsets = self._offset_turns[used]
        self._scale = np.sqrt(2.0 * weights).astype(self.dtype_)

    def used(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Frequencies (d, M) and offsets (M,) in turns, and √(2q) (M,), of the features."""
        return self._used_turns, self._used_offsets, self._scale

    @property
    def n_features_out_(self) -> int:
        return len(self.used_)

    def features(self, X: Any, out: np.ndarray | None = None) -> np.ndarray:
        Z = np.empty((X.shape[0], len(self.used_)), self.dtype_) if out is None else out
        cos_block(turns_of(X, self._used_turns), self._used_offsets, self._scale, Z)
        return Z

    # ---- alignment -----------------------------------------------------------------------------

    def rows_at_once(self) -> int:
        """How many rows of features of all candidates to make at once."""
        return max(_CACHE_BYTES // (self.n_candidates * self.dtype_.itemsize), _FEWEST_ROWS)

    def candidate_features(self, X: Any) -> np.ndarray:
        """φ (n, N) of all candidates, in a scratch array."""
        N = self.n_candidates
        phi = scratch("candidates", (X.shape[0], N), self.dtype_)
        ones = np.full(N, math.sqrt(2.0), self.dtype_)
        cos_block(turns_of(X, self._turns), self._offset_turns, ones, phi)
        return phi

    def features_of_candidates(self, phi: np.ndarray, out: np.ndarray) -> np.ndarray:
        """The features used (n, M) from φ (n, N)."""
        np.take(phi, self.used_, axis=1, out=out)
        out *= np.sqrt(self.weights_).astype(self.dtype_)
        return out

    def rows_to_solution(self) -> int:
        """How many more rows there are until q is solved anew."""
        seen = self.sums_.n_rows
        due = max(_FIRST_SOLUTION, next_power_of_two(int(seen)))
        return (due if self.n_align is None else min(due, self.n_align)) - seen

    def solve(self) -> tuple[np.ndarray, np.ndarray]:
        """Solve for q and use its features.

        Returns
        -------
        old : ndarray of shape (M,)
            Where each feature was before, -1 where it was not.
        factor : ndarray of shape (M,)
            √q_new/√q_old, by which it has grown; 0 where it was not.
        """
        v = self.sums_.squares(self.centered)
        before, weights_before = self.used_, self.weights_
        self._use(*self._select(aligned_weights(v, self._radius(), self.power)))
        self.alignment_ = float(self.weights_ @ v[self.used_]) / max(self.sums_.total, 1e-300) ** 2
        place = np.full(self.n_candidates, -1)
        place[before] = np.arange(len(before))
        old = place[self.used_]
        factor = np.where(old >= 0, np.sqrt(self.weights_ / weights_before[old]), 0.0)
        if self.n_align is not None and self.sums_.n_rows >= self.n_align:
            self._settle()
        return old, factor

    def _radius(self) -> float:
        if self.rho is not None:
            return float(self.rho)
        return float((self.n_candidates / self.n_components) ** (self.power - 1.0) - 1.0)

    def _select(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The candidates used and their weights."""
        D = self.n_components
        if self.selection == "largest":
            order = np.argsort(-q, kind="stable")[:D]
            used = np.sort(order[q[order] > 0.0])
            return used, q[used] / q[used].sum()
        # the same numbers at every solution, so that draws change only as far as q does
        u = np.random.default_rng([self.seed_, 1]).random(D)
        edges = np.cumsum(q)
        drawn = np.searchsorted(edges, u * edges[-1], side="right")
        used, count = np.unique(drawn, return_counts=True)
        return used, count / D

    def _settle(self) -> None:
        """Drop the candidates that are not used: the features stand."""
        self._aligning = False
        self._set_candidates(self.frequencies_, self.offsets_, self.drawn_[self.used_])
        self._use(np.arange(len(self.used_)), self.weights_)
        self.sums_ = LabelSums(0)

    # ---- state ---------------------------------------------------------------------------------

    def moving(self) -> dict[str, Any]:
        """What learning rows changes, by attribute; arrays that are replaced are not copied."""
        return {**self.__dict__, "sums_": self.sums_.copy()} if self.aligns else {}

    def get_state(self) -> dict[str, Any]:
        """What was fitted and learned, as named arrays and scalars."""
        return {
            "gamma": self.gamma_,
            "candidates": self.candidates_,
            "offsets": self.candidate_offsets_,
            "drawn": self.drawn_,
            "used": self.used_,
            "weights": self.weights_,
            "alignment": self.alignment_,
            "aligns": self.aligns,
            "sums": self.sums_.get_state(),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """The inverse of :meth:`get_state`, after :meth:`start`."""
        self.gamma_, self.alignment_ = state["gamma"], state["alignment"]
        self._set_candidates(state["candidates"], state["offsets"], state["drawn"])
        self._use(state["used"], state["weights"])
        self._aligning = state["aligns"]
        self.sums_ = LabelSums.from_state(state["sums"])

    # ---- scikit-learn --------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> AlignedFourier:
        """Align with the labels y (n,) of the rows X (n, d), all at once.

        Numbers that are no whole numbers are targets of a regression, all else are classes.
        """
        if y is None:
            raise ValueError("AlignedFourier requires y to be passed, but the target y is None")
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], order="C"
        )
        self.start(X.shape[1], X.dtype)
        self.fit_first(as_dense(X))
        targets = _targets(y)
        step = self.rows_at_once()
        for a in range(0, X.shape[0], step):
            part = slice(a, a + step)
            phi = self.candidate_features(X[part])
            self.sums_.add(phi, targets[part], np.ones(len(phi)))
        self.solve()
        if self.aligns:
            self._settle()
        return self

    @available_if(_refuse_parts)
    def partial_fit(self, X: Any, y: Any = None) -> AlignedFourier:
        """Not there: features that change need a model that carries its weights over."""
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _targets(y: np.ndarray) -> np.ndarray:
    """Targets (n, K): a regression's own, ±1 for two classes, else indicators."""
    if type_of_target(y).startswith("continuous"):
        return np.asarray(y, dtype=np.float64)[:, None]
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) <= 2:
        return (2.0 * codes - 1.0)[:, None]
    return (codes[:, None] == np.arange(len(classes))).astype(np.float64)
