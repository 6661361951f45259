"""Aligned random features: those of many random features that agree best with the labels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import validate_data

from onkel.annotations import ArrayLike, DTypeLike, Matrix, MatrixLike, Out, Seed
from onkel.fields import Fields, Flag, Number, require
from onkel.kernels import Kernel, make_kernel
from onkel.maps.alignment import aligned_weights, drawn, largest
from onkel.maps.base import Change
from onkel.maps.candidates import Candidates, FeatureFunction, LabelSums
from onkel.maps.fourier import SpectralFeatures
from onkel.numerics.arrays import as_dense, next_power_of_two
from onkel.parameters import non_negative, one_of, whole
from onkel.state import Part

SELECTIONS = ("largest", "sample")
# rows before the first solution: with fewer, v is mostly noise
_FIRST_SOLUTION = 32
# the features of all candidates stay in a core's second-level cache until they are summed
_CACHE_BYTES = 1 << 20
_FEWEST_ROWS = 16


def indicators(y: np.ndarray) -> np.ndarray:
    """Targets (n, K): a regression's own, ±1 for two classes, else indicators."""
    if type_of_target(y).startswith("continuous"):
        return np.asarray(y, dtype=np.float64)[:, None]
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) <= 2:
        return (2.0 * codes - 1.0)[:, None]
    return (codes[:, None] == np.arange(len(classes))).astype(np.float64)


def _refuse_parts(self: AlignedFourier) -> bool:
    raise AttributeError(
        "AlignedFourier aligns all rows at once, fit(X, y), or online inside a learner: "
        "AlignedClassifier, AlignedRegressor, or map='aligned'"
    )


@dataclass(eq=False, repr=False)
class AlignedFourier(SpectralFeatures):
    """z(x) = [√(2 q_m) cos(ω_m·x + b_m)] for the m with q_m > 0, q chosen by the labels.

    N candidates (ω_m, b_m) are drawn from the kernel's spectrum and the circle, and

        q = argmax Σ_m q_m v_m,   v_m = (Σ_i y_i φ_m(x_i))²,   φ_m(x) = √2 cos(ω_m·x + b_m),

    over the distributions within an f-divergence ball around the uniform one, f(t) = t^power - 1.
    Of that family, the kernel Σ q_m φ_m(x) φ_m(x') of this q agrees best with the labels. At most
    ``n_components`` of its features are used.

    *Batch*, the paper's: ``fit(X, y)`` takes v from all rows and solves once.

    *Online*, ours: inside a learner v is a running sum. Until the first solution the features are
    the first candidates, plain random features; q is solved anew after rows 32, 64, 128, ... and
    last after ``n_align``, when the candidates not used are dropped. A feature that stays keeps its
    part of f: w ← w·√q_old/√q_new. A new one begins with weight 0. The row of a solution is
    predicted with the features before it.

    Use it where no width makes the kernel suit the labels: where they depend on a norm, on few
    directions among many, or on one frequency. Where the kernel is right it gains little. With very
    few features (tens) plain ones cover more, because those that agree best are much alike. While
    features are still chosen, a row costs O(N·d); after that O(D·d).

    Parameters
    ----------
    n_components : int, default=200
        Number of features D ≥ 1 used.
    n_candidates : int, default=2000
        Number of random features N ≥ D to choose from.
    kernel, gamma, n_warmup, random_state
        As of :class:`FourierFeatures`; the kernel is the base distribution.
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
        Subtract the labels' mean, so that a feature's mean adds nothing to v. False is the paper's
        v.
    n_align : int or None, default=16384
        Inside a learner: number of rows after which the features are fixed. None: never.
    phi : callable or None, default=None
        φ of your own in place of √2 cos(ω·x + b), as in the paper's general form: ``phi(X,
        frequencies, offsets)`` for rows X (n, d), ω (d, N) from the kernel's spectrum and b (N,)
        uniform in [0, 2π) gives the features (n, N). Column m must depend on ω_m and b_m alone, and
        row i on x_i alone. E φ² should be near 1, as of the cosines. A file holds no code: see
        :func:`onkel.maps.register_features`. Columns that come in mid-stream and ONNX are refused.

    Attributes
    ----------
    frequencies_ : ndarray of shape (d, M)
        Of the features used, M ≤ D; ``offsets_`` (M,) are their b and ``weights_`` (M,) their q.
    alignment_ : float
        Σ q_m v_m/n² at the last solution, of the features used; 0 before.
    gamma_ : float

    Raises
    ------
    ValueError
        On ``fit``, for a parameter out of its range. The message names it.

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
    ...     linear = ExplicitKernelClassifier(map="identity", rule="least_squares")
    ...     model = make_pipeline(features, linear)
    ...     print(f"{model.fit(X[:2000], y[:2000]).score(X[2000:], y[2000:]):.2f}")
    0.70
    0.89

    Random hinges in place of cosines, for labels inside of a box:

    >>> def hinges(X, frequencies, offsets):
    ...     return np.maximum(X @ frequencies + offsets - np.pi, 0.0)
    >>> y = np.abs(X[:, :2]).max(axis=1) < 1
    >>> features = AlignedFourier(50, gamma=2.0, phi=hinges, random_state=0)
    >>> linear = ExplicitKernelClassifier(map="identity", rule="least_squares")
    >>> model = make_pipeline(features, linear)
    >>> print(f"{model.fit(X[:2000], y[:2000]).score(X[2000:], y[2000:]):.2f}")
    0.88

    Notes
    -----
    Source: Sinha & Duchi 2016, eq. 4 and Algorithm 1, solved as stated there (and not as the
    projection onto an ℓ2 ball of the authors' program, nor with the missing k; see
    :mod:`onkel.maps.alignment`). More than two classes: v summed over the classes' indicators;
    regression: the targets. Centring (Cortes, Mohri & Rostamizadeh 2012), "largest" with a cap and
    the online form are extensions.
    """

    name = "aligned"
    STATE: ClassVar[Fields] = {
        "gamma_": Number(low=0.0),
        "alignment_": Number(),
        "aligning_": Flag(),
        "candidates_": Part(begin=lambda aligned: aligned._no_candidates()),
        "sums_": Part(begin=lambda aligned: LabelSums(0)),
    }

    n_components: int = 200
    n_candidates: int = 2000
    kernel: str | Kernel = "gaussian"
    gamma: float | str = "median"
    rho: float | None = None
    power: float = 2.0
    selection: str = "largest"
    centered: bool = True
    n_align: int | None = 16_384
    n_warmup: int = 256
    random_state: Seed = None
    phi: FeatureFunction | None = None

    # ---- what a model drives -------------------------------------------------------------------

    def changes(self) -> Change:
        return Change.BY_LABELS

    def is_bounded(self) -> bool:
        return self.phi is None

    def start(self, d: int, dtype: DTypeLike) -> None:
        super().start(d, dtype)
        if whole(self, "n_candidates") < self.n_components:
            raise ValueError(
                f"n_candidates={self.n_candidates} must be at least "
                f"n_components={self.n_components}: features are chosen among them"
            )
        if self.n_align is not None:
            whole(self, "n_align")
        if self.rho is not None:
            non_negative(self, "rho")
        if not np.isreal(self.power) or not 1.0 < self.power < np.inf:
            raise ValueError(f"power={self.power!r} must be a number above 1")
        one_of(self, "selection", SELECTIONS)
        if self.phi is not None and not callable(self.phi):
            raise ValueError(
                f"a feature function must be callable as phi(X, frequencies, offsets), or None for "
                f"cosines, not {self.phi!r}"
            )

    def fit_first(self, X: np.ndarray) -> None:
        super().fit_first(X)
        rng = np.random.default_rng(self.seed_)
        N, D = self.n_candidates, self.n_components
        offsets = rng.uniform(0.0, 2.0 * math.pi, N)
        drawn = self._draw(rng), offsets, np.arange(N)
        self.candidates_: Candidates = Candidates(*drawn, self.dtype_, self.phi)
        self.candidates_.use(np.arange(D), np.full(D, 1.0 / D))
        self.sums_: LabelSums = LabelSums(N)
        self.alignment_: float = 0.0
        #: whether the map still chooses its features
        self.aligning_: bool = True

    def _draw(self, rng: np.random.Generator) -> np.ndarray:
        """Frequencies (d, N) of all candidates; more columns take more of the same numbers."""
        kernel = make_kernel(self.kernel)
        return kernel.spectrum(rng, self.n_features_in_, self.n_candidates, self.gamma_)

    def add_columns(self, n: int) -> int | None:
        if self.phi is not None:
            return super().add_columns(n)
        known = self.n_features_in_
        self.n_features_in_: int = known + n
        if "candidates_" in vars(self):
            rng = np.random.default_rng(self.seed_)
            rng.uniform(size=self.n_candidates)  # the offsets
            self.candidates_.add_columns(self._draw(rng)[known:])
        return None

    @property
    def frequencies_(self) -> np.ndarray:
        """Of the features used, (d, M)."""
        return self.candidates_.frequencies[:, self.candidates_.used]

    @property
    def offsets_(self) -> np.ndarray:
        """Of the features used, (M,)."""
        return self.candidates_.offsets[self.candidates_.used]

    @property
    def weights_(self) -> np.ndarray:
        """q of the features used, (M,)."""
        return self.candidates_.weights

    @property
    def n_features_out_(self) -> int:
        return len(self.candidates_.used)

    def features(self, X: Matrix, out: Out = None) -> np.ndarray:
        return self.candidates_.features(X, out)

    def row_features(self, X: np.ndarray) -> np.ndarray | None:
        return self.candidates_.row_features(X)

    # ---- alignment -----------------------------------------------------------------------------

    def rows_at_once(self) -> int:
        """How many rows of features of all candidates to make at once."""
        return max(_CACHE_BYTES // (self.n_candidates * self.dtype_.itemsize), _FEWEST_ROWS)

    def rows_to_solution(self) -> int:
        """How many more rows must come before q is solved anew."""
        seen = self.sums_.n_rows
        due = max(_FIRST_SOLUTION, next_power_of_two(int(seen)))
        return (due if self.n_align is None else min(due, self.n_align)) - seen

    def solve(self) -> tuple[np.ndarray, np.ndarray]:
        """Solve for q and use its features.

        Returns (M,) where each feature was before, -1 where it is new, and √q_new/√q_old, by which
        it has grown; 0 where it is new.
        """
        v = self.sums_.squares(self.centered)
        carried = self.candidates_.change_to(*self._chosen(v))
        aligned = float(self.weights_ @ v[self.candidates_.used])
        self.alignment_ = aligned / self.sums_.unit**2 if aligned else 0.0
        if self.n_align is not None and self.sums_.n_rows >= self.n_align:
            self._settle()
        return carried

    def _chosen(self, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The features to use, (M,), and their q, for the v (N,) of all candidates."""
        rho = self.rho
        if rho is None:
            # that of the uniform distribution over n_components of the candidates
            rho = (self.n_candidates / self.n_components) ** (self.power - 1.0) - 1.0
        q = aligned_weights(v, rho, self.power)
        if self.selection == "largest":
            return largest(q, self.n_components)
        return drawn(q, self.n_components, self.seed_)

    def _settle(self) -> None:
        """Fix the features: drop the candidates that are not used."""
        self.aligning_ = False
        self.candidates_ = self.candidates_.only_used()
        self.sums_ = LabelSums(0)

    # ---- state ---------------------------------------------------------------------------------

    def state_is_set(self) -> None:
        N = len(self.candidates_.offsets)
        drawn = self.candidates_.drawn.max(initial=0)
        require(drawn < self.n_candidates, f"candidates/drawn: holds {drawn}")
        # nothing is summed once the features are fixed
        summed = len(self.sums_.features)
        require(summed in (0, N), f"sums/features: has {summed} entries, not {N}")
        due = not self.aligning_ or self.rows_to_solution() > 0
        require(due, f"sums: hold {self.sums_.n_rows} rows, and n_align is {self.n_align}")

    def _no_candidates(self) -> Candidates:
        """Where a state is loaded into."""
        frequencies = np.empty((self.n_features_in_, 0))
        drawn = np.empty(0), np.empty(0, np.int64)
        return Candidates(frequencies, *drawn, self.dtype_, self.phi)

    # ---- scikit-learn --------------------------------------------------------------------------

    def fit(self, X: MatrixLike, y: ArrayLike | None = None) -> AlignedFourier:
        """Align with the labels y (n,) of the rows X (n, d), all at once.

        Targets with fractions are those of a regression; anything else is classes.
        """
        if y is None:
            raise ValueError("AlignedFourier requires y to be passed, but the target y is None")
        X, labels = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], order="C"
        )
        self.start(X.shape[1], X.dtype)
        self.fit_first(as_dense(X))
        targets = indicators(labels)
        step = self.rows_at_once()
        for a in range(0, X.shape[0], step):
            part = slice(a, a + step)
            phi = self.candidates_.all_features(X[part])
            self.sums_.add(phi, targets[part], np.ones(len(phi)))
        self.solve()
        if self.aligning_:
            self._settle()
        return self

    @available_if(_refuse_parts)
    def partial_fit(self, X: MatrixLike, y: ArrayLike | None = None) -> AlignedFourier:
        """Not available: features that change need a model that carries its weights over."""
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
