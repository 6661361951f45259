"""Kernel features whose landmarks, widths and penalty are learned from the first rows' labels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import block_diag
from sklearn.utils.multiclass import type_of_target

from onkel._dense import as_dense, with_zero_columns
from onkel.maps.base import FeatureMap
from onkel.maps.evidence import Landmarks, penalty_of
from onkel.maps.first_widths import first_widths, prior_mean
from onkel.maps.fourier import check_count
from onkel.maps.heavy_tails import TailCurves
from onkel.maps.landmark_search import improve
from onkel.maps.rational import KernelColumns
from onkel.maps.units import Units
from onkel.rules.base import non_negative

__all__ = ["LearnedLandmarks"]

# With so few rows all are landmarks of the kernel that the widths are chosen for; the search moves
# landmarks and widths from so many rows on.
_FEWEST_ROWS, _FEW_ROWS = 8, 512
_ENOUGH_ROWS = 1024
# Of more rows than these a search takes fewer steps.
_FULL_ROWS, _FEWEST_STEPS = 32_768, 6
# Of few rows, and until the budget is full, one in so many is in no fit yet; without a search, one
# in fewer.
_LAG, _LAZY_LAG = 16, 4
# Widths of few rows: steps from where the last ones were found, and where none were.
_FEW_STEPS, _STEPS = 8, 40
# The constant's share of the penalty: next to nothing, so that targets need no centring.
_CONSTANT = 1e-4
# Rows kept for the search take this much memory at most.
_KEPT_BYTES = 64 << 20


class LearnedLandmarks(FeatureMap):
    """z(x) = [κ(x, s₁), ..., κ(x, s_B), 1], κ(x, s) = 1/(1 + ‖w ∘ (x - s)‖²): s and w are learned.

    The landmarks begin as the first B rows, added as they come. Up to 512 rows, each time a
    sixteenth more have come, widths (one a column) and the penalty λ are moved to where the error
    is smallest when each row is left out, and a prior (:mod:`onkel.maps.first_widths`). From 1 024
    rows on (2·B where that is more), at every power of two up to ``n_warmup``, they and the
    landmarks are moved up the evidence of the rows so far (:mod:`onkel.maps.evidence`), as far as
    rows held out get better; after that they stay. From 16·B rows on each landmark gets widths of
    its own where that is better on the rows held out. Least squares takes λ κ(S, S) as its penalty
    (:meth:`prior`), so that f = Σ α_j κ(s_j, ·) has the norm of the kernel's own space; with widths
    of their own, λ I. Columns with heavy tails are drawn in first (:mod:`onkel.maps.heavy_tails`).

    Use it with ``rule="least_squares"``: both together are :class:`onkel.OnlineKernelClassifier`
    and :class:`onkel.OnlineKernelRegressor`. The search costs O(n·B² + n·B·d) a step.

    Parameters
    ----------
    budget : int, default=500
        Number of landmarks B ≥ 1.
    n_warmup : int, default=131072
        Rows ≥ 2 that the search sees; fewer are kept where they would take more than 64 MB.
    search_steps : int, default=24
        Steps of the search at every power of two from 1 024 rows on, of more than 32 768 rows
        fewer; 0 for none, and for widths at 8, 16, ..., 512 rows only.
    random_state : int, RandomState or None, default=None
        Which rows are held out.

    Attributes
    ----------
    landmarks_ : ndarray of shape (B, d)
        In the units of the rows.
    width_ : ndarray of shape (d,) or (B, d)
        w, or that of each landmark: next to 0 for a column that says nothing. Of a column with
        heavy tails: once it is drawn in.
    ridge_ : float
        λ.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from onkel.maps import LearnedLandmarks
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> LearnedLandmarks(20, random_state=0).fit(X, y).transform(X).shape
    (2000, 21)

    Notes
    -----
    Source: Snelson & Ghahramani 2006 (landmarks by gradients); Seeger, Williams & Lawrence 2003
    (the evidence); Rasmussen & Williams 2006, section 5.4.2 (errors left out). The schedule, the
    prior, the landmarks' own widths and the rows held out are ours.
    """

    name = "learned_landmarks"
    supervised = True
    bounded = True
    # landmarks and widths in these units, and what is made of them
    _units: Units
    _at: Landmarks
    _kernel: KernelColumns
    # whether the labels have had a say in the widths; whether a fit was hasty
    _taught: bool
    _owing: bool

    def __init__(
        self,
        budget: int = 500,
        n_warmup: int = 131_072,
        search_steps: int = 24,
        random_state: Any = None,
    ) -> None:
        self.budget = budget
        self.n_warmup = n_warmup
        self.search_steps = search_steps
        self.random_state = random_state

    @property
    def landmarks_(self) -> np.ndarray:
        """Landmarks (B, d)."""
        return self._units.inverse(self._at.S)

    @property
    def width_(self) -> np.ndarray:
        """Widths w, (d,) or (B, d)."""
        return np.asarray(np.exp(self._at.log_width) / self._units.scale)

    @property
    def ridge_(self) -> float:
        """Penalty λ."""
        return self._at.ridge

    # ---- what a model drives -------------------------------------------------------------------

    def start(self, d: int, dtype: Any) -> None:
        check_count(self, "budget")
        check_count(self, "n_warmup", least=2)
        non_negative(self, "search_steps")
        super().start(d, dtype)
        self._taught, self._owing = False, False

    def warmup_rows(self) -> int:
        fitting = _KEPT_BYTES // (self.n_features_in_ * self.dtype_.itemsize)
        kept = min(self.n_warmup, 2 ** int(math.log2(max(fitting, self.budget, 2))))
        return max(kept, min(self.budget, self.n_warmup))

    def next_fit(self, n: int) -> int:
        """Powers of two; of few rows, and until the budget is full, also some between."""
        doubled = super().next_fit(n)
        part = max(doubled // (2 * (_LAG if self._steps else _LAZY_LAG)), 1)
        return (n // part + 1) * part if n < max(self.budget, self._often) else doubled

    @property
    def _often(self) -> int:
        """Up to so many rows widths are learned each time a sixteenth more have come."""
        return _FEW_ROWS if self._steps else 0

    @property
    def _steps(self) -> int:
        return 0 if self.hasty else self.search_steps

    def fit_first(self, X: np.ndarray) -> None:
        self.fit_labelled(X, np.zeros((len(X), 1)), np.ones(len(X)))

    def fit_labelled(self, X: np.ndarray, Y: np.ndarray, weight: np.ndarray) -> None:
        """Fit on the rows that came first, X (n, d), with targets Y (n, C) and weights > 0."""
        X = np.asarray(X, dtype=np.float64)
        units = Units.of(X)
        U, V = units(X), self._standardised(Y, weight)
        first = self._first_landmarks(U)
        at = self._found(units, first) if self._taught else first
        if len(X) >= _FEWEST_ROWS and V.any() and (not self._taught or self._due(len(X))):
            at = self._learned(at, first, U, V, weight)
            self._taught, self._owing = True, self.hasty
        self._keep(units, at)

    def _due(self, n: int) -> bool:
        """Whether widths are learned from n rows, and not landmarks added only."""
        doubled = n & (n - 1) == 0 or n == self.warmup_rows()
        return doubled or n <= self._often or self._late

    @property
    def _late(self) -> bool:
        """Whether what was left out in haste is still to be done."""
        return self._owing and not self.hasty

    def _learned(
        self, at: Landmarks, first: Landmarks, U: np.ndarray, V: np.ndarray, weight: np.ndarray
    ) -> Landmarks:
        if not self._taught or len(U) <= _FEW_ROWS or self._late:
            few, start = slice(0, _FEW_ROWS), np.append(at.log_width, at.log_ridge)
            steps = _FEW_STEPS if self._taught or len(U) <= self._often else _STEPS
            found = first_widths(U[few], V[few], weight[few], start, steps)
            at = Landmarks(at.S, found[:-1], found[-1])
        if len(U) >= max(_ENOUGH_ROWS, 2 * self.budget) and self._steps:
            rng = np.random.default_rng([self.seed_, len(U)])
            steps = max(self._steps * min(_FULL_ROWS, len(U)) // len(U), _FEWEST_STEPS)
            return improve([at, first], U, V, weight, int(steps), rng)
        return at

    def add_columns(self, n: int) -> int | None:
        """Landmarks are 0 there, and as wide as in the middling column."""
        self.n_features_in_ += n
        if hasattr(self, "_at"):
            middling = np.log(np.median(self.width_, axis=-1, keepdims=True))
            log_width = np.append(self._at.log_width, np.repeat(middling, n, axis=-1), axis=-1)
            S = with_zero_columns(self._at.S, n)
            self._keep(self._units.with_columns(n), Landmarks(S, log_width, self._at.log_ridge))
        return None

    def _keep(self, units: Units, at: Landmarks) -> None:
        self._units, self._at = units, at
        self._kernel = KernelColumns(at.S, np.exp(at.log_width))

    def _first_landmarks(self, U: np.ndarray) -> Landmarks:
        prior = prior_mean(U.shape[1])
        return Landmarks(U[: self.budget].copy(), prior[:-1], prior[-1])

    def _found(self, units: Units, first: Landmarks) -> Landmarks:
        """What was found on fewer rows, in the units of these; of more landmarks the first."""
        complete = len(self._at.S) == self.budget
        S = units(self.landmarks_) if complete else first.S
        log_width = self._at.log_width + self._units.log_finer(units)
        return Landmarks(S, log_width, self._at.log_ridge)

    @staticmethod
    def _standardised(Y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        centred = Y - np.average(Y, axis=0, weights=weight)
        spread = math.sqrt(float(np.mean(centred**2)))
        return centred / spread if spread > 0.0 else centred

    def prior(self) -> np.ndarray:
        """λ κ(S, S), or λ I, and a little for the constant: the penalty of the weights."""
        K0 = penalty_of(self._at.S, np.exp(self._at.log_width))
        return np.asarray(self.ridge_ * block_diag(K0, _CONSTANT))

    @property
    def n_features_out_(self) -> int:
        return len(self._at.S) + 1

    def features(self, X: Any, out: np.ndarray | None = None) -> np.ndarray:
        X = as_dense(X)
        m = len(self._at.S)
        # exact to float64 or the small penalty of the weights would magnify the rounding
        Z = np.empty((len(X), m + 1)) if out is None or out.dtype != np.float64 else out
        self._kernel(self._units(X), Z[:, :m])
        Z[:, m] = 1.0
        return Z.astype(self.dtype_, copy=False)

    def fit(self, X: Any, y: Any = None) -> LearnedLandmarks:
        """Fit on the rows X (n, d) and their labels or targets y (n,), if given."""
        Y = None if y is None else _as_targets(np.asarray(y))
        super().fit(X)
        if Y is not None:
            self.fit_labelled(as_dense(X), Y, np.ones(len(Y)))
        return self

    # ---- state ---------------------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        """What was fitted, as named arrays and scalars."""
        return {
            "S": self._at.S,
            "log_width": self._at.log_width,
            "log_ridge": self._at.log_ridge,
            "tails": self._units.tails.as_array(),
            "middle": self._units.middle,
            "scale": self._units.scale,
            "taught": self._taught,
            "owing": self._owing,
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """The inverse of :meth:`get_state`, after :meth:`start`."""
        self._taught, self._owing = bool(state["taught"]), bool(state["owing"])
        units = Units(TailCurves(*state["tails"]), state["middle"], state["scale"])
        self._keep(units, Landmarks(state["S"], state["log_width"], float(state["log_ridge"])))


def _as_targets(y: np.ndarray) -> np.ndarray:
    """Targets (n, C): the indicators of the classes, or y itself."""
    kind = type_of_target(y)
    if kind == "unknown":
        raise ValueError(f"Unknown label type: y is of dtype {y.dtype}; give numbers or strings")
    if kind in ("binary", "multiclass"):
        return (y[:, None] == np.unique(y)).astype(float)
    return y[:, None]
