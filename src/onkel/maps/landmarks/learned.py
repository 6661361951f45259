"""Kernel features whose landmarks, widths and penalty are learned from the first rows' labels."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.utils.multiclass import type_of_target

from onkel.annotations import ArrayLike, DTypeLike, Matrix, MatrixLike, Out, Seed
from onkel.fields import Fields, Flag, Whole
from onkel.maps.landmarks.competing_widths import best_widths, steps_of_best
from onkel.maps.landmarks.evidence import Landmarks
from onkel.maps.landmarks.first_landmarks import STEPS as STEPS_OF_CHOICE
from onkel.maps.landmarks.first_landmarks import best_rows
from onkel.maps.landmarks.first_widths import (
    ENOUGH,
    TOGETHER,
    first_widths,
    of_columns,
    prior_mean,
    steps_of_widths,
    widths_in_steps,
)
from onkel.maps.landmarks.fitted import FittedLandmarks, Units, n_steps
from onkel.maps.landmarks.indicators import groups_of
from onkel.maps.landmarks.last_fit import (
    LastSearch,
    fit_widths,
    steps_of_fit,
    steps_of_last_search,
)
from onkel.maps.landmarks.schedule import CHOICE_ROWS, FEW_ROWS, FEW_STEPS, FitSchedule
from onkel.maps.landmarks.search import improve, steps_of_search
from onkel.maps.landmarks.small_search import Promises
from onkel.numerics.arrays import as_dense
from onkel.numerics.devices import DEVICES, device_named
from onkel.numerics.in_steps import finished, in_shares
from onkel.numerics.threads import one_blas_thread
from onkel.parameters import non_negative, one_of, whole
from onkel.state import Part

# Fewer rows say nothing about widths.
_FEWEST_ROWS = 8
# Steps for widths that start from the prior.
_STEPS = 40
# With so many rows beyond the first 512 these can judge widths.
_FEWEST_JUDGING = 64
# A search of a model that took over after a change must promise so many times as much: streams that
# change do so again, and the next rows gain less than those held out, whose neighbours in time were
# learned.
_AFTER_CHANGE = 2.5
# A column matters if its width is this share of the largest; those that tell nothing have far less.
_MATTERS = 0.3


@dataclass(eq=False, repr=False)
class LearnedLandmarks(FitSchedule):
    """z(x) = [κ(x, s₁), ..., κ(x, s_B), 1], κ(x, s) = 1/(1 + ‖w ∘ (x - s)‖²): s and w are learned.

    The landmarks are at first the first B rows. Widths and landmarks are learned in two phases:

    - Up to 256 rows, each time an eighth more have come, and at 512: a width for each column and
      the penalty λ, by leave-one-out errors and a prior
      (:mod:`onkel.maps.landmarks.first_widths`). At 1 024 rows those after the 512th choose how far
      the columns may part (:mod:`onkel.maps.landmarks.competing_widths`). Where no search follows,
      they also choose the landmarks (:mod:`onkel.maps.landmarks.first_landmarks`).
    - From 1 024 rows on (2·B where that is more), at every power of two up to ``n_warmup``: widths
      and landmarks, by gradients of the evidence, as far as held-out rows improve
      (:mod:`onkel.maps.landmarks.search`). From 16·B rows on each landmark gets widths of its own
      where held-out rows are better for it.

    After ``n_warmup`` rows they are fixed. The penalty of least squares is λ κ(S, S)
    (:meth:`prior`), so that f = Σ α_j κ(s_j, ·) has the norm of the kernel's own space; where each
    landmark has its own widths, it is λ I. Columns with heavy tails are compressed first
    (:mod:`onkel.maps.landmarks.fitted`).

    Use it with ``rule="least_squares"``: both together are :class:`onkel.OnlineKernelClassifier`
    and :class:`onkel.OnlineKernelRegressor`. The search costs O(n·B² + n·B·d) a step.

    Parameters
    ----------
    n_components : int, default=500
        Number of landmarks B ≥ 1.
    n_warmup : int, default=131072
        Rows ≥ 2 that the search sees; fewer are kept where they would take more than 64 MB.
    search_steps : int, default=12
        Steps of each search, twice as many for landmarks with widths of their own, fewer with
        more than 65 536 rows. 0: no search, and widths are learned at 8, 16, ..., 512 rows only;
        landmarks come each time an eighth more of the first 256 rows have come, then a quarter.
    search_budget : float, default=20.0
        How many times as many multiplications as learning the rows so far all searches together may
        take, ≥ 0. They count those of float64; most searches are in float32, where they take half
        of the time. A search that the budget does not cover takes fewer steps, or waits until the
        rows have doubled. The default of 500 landmarks takes at most 10.
    least_gain : float, default=0.02
        A search is made where a small one gains this share ≥ 0 of the squared errors of rows held
        out; twice this share where only float64 will do, and 2.5 times where a search was
        postponed. 0: no small search is made first.
    labels_before : bool, default=False
        Whether rows come in the order of time, and the labels before are known and used when a row
        is predicted: what they tell is then no gain of a search
        (:mod:`onkel.maps.landmarks.labels_before`).
    random_state : int, RandomState or None, default=None
        Which rows are held out.
    device : {"cpu", "cuda"}, default="cpu"
        "cuda": the products of a search are made on a GPU, by CuPy.

    Attributes
    ----------
    width_ : ndarray of shape (d,) or (B, d)
        w, or that of each landmark; near 0 for an irrelevant column. For a column with heavy tails,
        in units of the compressed column.

    Raises
    ------
    ValueError
        On ``fit``, for a parameter out of its range. The message names it.

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
    (the evidence); Rasmussen & Williams 2006, section 5.4.2 (leave-one-out errors). The schedule,
    the prior, the landmarks' own widths and the held-out rows are ours.
    """

    name = "learned_landmarks"
    fits = "searching landmarks and widths, fitted"
    ends_with_constant: ClassVar[bool] = True
    STATE: ClassVar[Fields] = {
        "_taught": Flag(),
        "_together": Flag(optional=True),
        "_owing": Flag(),
        "_news": Flag(optional=True),
        "_broken": Flag(optional=True),
        "postponed_": Flag(),
        "_resumed": Whole(high=2**58),
        "_fitted": Part(lambda map: FittedLandmarks.none(map.n_features_in_), anew=True, among="S"),
    }
    n_components: int = 500
    n_warmup: int = 131_072
    search_steps: int = 12
    search_budget: float = 20.0
    least_gain: float = 0.02
    labels_before: bool = False
    random_state: Seed = None
    device: str = "cpu"

    @property
    def landmarks_(self) -> np.ndarray:
        """Landmarks (B, d), in the units of the rows."""
        return self._fitted.landmarks

    @property
    def width_(self) -> np.ndarray:
        """Widths w, (d,) or (B, d)."""
        return self._fitted.width

    @property
    def ridge_(self) -> float:
        """Penalty λ."""
        return self._fitted.at.ridge

    # ---- what a model drives -------------------------------------------------------------------

    def start(self, d: int, dtype: DTypeLike) -> None:
        whole(self, "n_components")
        whole(self, "n_warmup", least=2)
        non_negative(self, "search_steps")
        non_negative(self, "search_budget")
        non_negative(self, "least_gain")
        self._device = device_named(one_of(self, "device", DEVICES))
        super().start(d, dtype)
        # whether the widths were learned from labels
        self._taught = False
        # True from the moment that a column comes to the end of the next search
        self._news: bool | None = None
        # True where the last search gained much less than a small one had promised
        self._broken: bool | None = None
        # how many rows searches had seen before the last one
        self._seen_before = 0

    def is_bounded(self) -> bool:
        return True

    def fit_first(self, X: np.ndarray) -> None:
        self.fit_labelled(X, np.zeros((len(X), 1)), np.ones(len(X)))

    def fit_labelled(self, X: np.ndarray, Y: np.ndarray, weight: np.ndarray) -> None:
        with one_blas_thread():
            finished(self.fit_in_steps(X, Y, weight, len(X)))

    def fit_in_steps(
        self, X: np.ndarray, Y: np.ndarray, weight: np.ndarray, due: int
    ) -> Generator[float, None, bool]:
        most = self._most_steps(len(X), X.shape[1], due)
        return (yield from in_shares(self._fit(X, Y, weight, due), most))

    def _most_steps(self, n: int, d: int, due: int) -> int:
        """Steps of a fit, at most."""
        most = n_steps(n, d) + 1
        if self._learns_widths(due):
            most += steps_of_widths(self._steps_for_widths(n, due))
        if self.chooses(due):
            most += steps_of_best() + STEPS_OF_CHOICE
        if self._searches(due):
            own = self._taught and self._fitted.at.log_width.ndim == 2
            most += steps_of_search(n, d, self.n_components, own, self._steps_for(n))
        return most

    def _fit(
        self, X: np.ndarray, Y: np.ndarray, weight: np.ndarray, due: int
    ) -> Generator[bool, None, bool]:
        units = yield from Units.in_steps(X)
        V = self._standardised(Y, weight)
        yield True
        groups = groups_of(X)
        prior = of_columns(prior_mean(int(groups.max()) + 1), groups)
        at = first = Landmarks(units(X[: self.n_components]), prior[:-1], prior[-1])
        known: Landmarks | None = None
        if self._taught:
            # what was found on fewer rows; while landmarks are still added, they begin again as
            # the first rows
            complete = len(self._fitted) == self.n_components
            at = self._fitted.in_units(units, None if complete else first.S)
            known = at if complete and units.are_near(self._fitted.units) else None
        if len(X) >= _FEWEST_ROWS and V.any() and (not self._taught or self._due(due)):
            at = yield from self._learned(at, first, units, groups, X, V, weight, due)
            self._taught, self._owing = True, self.postponed_
        if at is known:
            # nothing better was found: the units stay, too, so that no row is learned again
            return False
        self._fitted: FittedLandmarks = FittedLandmarks(units, at)
        return True

    def _learned(
        self,
        at: Landmarks,
        first: Landmarks,
        units: Units,
        groups: np.ndarray,
        X: np.ndarray,
        V: np.ndarray,
        weight: np.ndarray,
        due: int,
    ) -> Generator[bool, None, Landmarks]:
        """What is due at ``due`` rows: widths from few rows, a choice by later ones, a search.

        They begin at ``at``; a first search also begins at ``first``, the first rows.
        """
        if self._learns_widths(due):
            few, start = slice(0, FEW_ROWS), np.append(at.log_width, at.log_ridge)
            steps = self._steps_for_widths(len(X), due)
            enough, near = ENOUGH if steps < FEW_STEPS else 0.0, self._taught
            rows = units(X[few]), V[few], weight[few]
            of = *rows, start, steps, groups, TOGETHER, enough, near
            # in steps, where the fit is made ahead
            whole = self.rows_of_fit(due) == due
            found = first_widths(*of) if whole else (yield from widths_in_steps(*of))
            at = Landmarks(at.S, found[:-1], found[-1])
        if self.chooses(due):
            found = np.append(at.log_width, at.log_ridge)
            best = yield from best_widths(units(X), V, weight, found, FEW_ROWS, groups)
            at = Landmarks(at.S, best[:-1], best[-1])
            self._together = best is found
            if not self._searches(due) and self.n_components < min(len(X), CHOICE_ROWS):
                at = yield from self._among_first_rows(at, units, X, V, weight)
        if self._searches(due):
            rng = np.random.default_rng([self.seed_, len(X)])
            # after a first search the first rows are no better a start
            again = due >= 2 * self._first_search and not self._owed_by(due)
            starts, steps = [at] if again else [at, first], self._steps_for(len(X))
            how, wanted = (steps, rng, units), self._promises()
            at = yield from improve(starts, X, V, weight, *how, wanted, device=self._device)
            self._news = None
            if wanted:
                self._broken = wanted.broken or None
        return at

    def _promises(self) -> Promises | None:
        """What a small search must promise."""
        if self._news or not self.least_gain:
            # few of the rows have a new column: a small search would see little of it
            return None
        least_gain = (_AFTER_CHANGE if self._resumed else 1.0) * self.least_gain
        return Promises(least_gain, self.labels_before, bool(self._broken))

    def _among_first_rows(
        self, at: Landmarks, units: Units, X: np.ndarray, V: np.ndarray, weight: np.ndarray
    ) -> Generator[bool, None, Landmarks]:
        """The same widths, with landmarks among the first rows that predict better."""
        first, theta = slice(0, CHOICE_ROWS), np.append(at.log_width, at.log_ridge)
        U, m = units(X[first]), self.n_components
        rows = yield from best_rows(U, V[first], weight[first], theta, FEW_ROWS, m)
        return at._replace(S=U[rows])

    def fits_last(self, n: int) -> bool:
        return self.search_steps > 0 and self._taught and n >= FEW_ROWS + _FEWEST_JUDGING

    def searches_last(self, n: int) -> bool:
        """Whether the last fit to n rows is a search; where they are few, it is one of widths."""
        return self.fits_last(n) and n >= self._first_search

    def fit_last(
        self, X: np.ndarray, Y: np.ndarray, weight: np.ndarray
    ) -> Generator[float, None, bool]:
        n, d = X.shape
        rows, m = (X, self._standardised(Y, weight), weight), self.n_components
        searched = self.searches_last(n)
        if searched:
            self._seen_before = self._seen_by_searches(n)
            steps, last = self._steps_at_last(n), LastSearch(self.seed_, n, self._seen_before)
            fit = last.search(self._fitted, *rows, steps, self._device)
            most = steps_of_last_search(n, d, self._fitted, m, steps)
        else:
            fit, most = fit_widths(self._fitted, *rows, m), steps_of_fit(n, d)
        self._fitted = yield from in_shares(fit, most)
        self._owing = self._owing and not searched
        return True

    def predict_held_out(
        self, X: np.ndarray, Y: np.ndarray, weight: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """See :meth:`LastSearch.predict_held_out`, of the last fit, made on these rows."""
        last = LastSearch(self.seed_, len(X), self._seen_before)
        return last.predict_held_out(self._fitted, X, Y, weight)

    def columns_that_matter(self) -> np.ndarray:
        """The columns whose width, in standard deviations, is not far below the largest."""
        width = np.exp(np.atleast_2d(self._fitted.at.log_width)).max(axis=0)
        return np.flatnonzero(width > _MATTERS * width.max())

    def _learns_widths(self, due: int) -> bool:
        return not self._taught or due <= FEW_ROWS or self._owed_by(due)

    def _steps_for_widths(self, n: int, due: int) -> int:
        """Steps for widths in a fit on n rows."""
        return self._steps_of_widths(due) if self._taught or n <= self._often else _STEPS

    def add_columns(self, n: int) -> int | None:
        """Landmarks are 0 in the new columns; their width there is the median of all columns'."""
        self.n_features_in_ += n
        if "_fitted" in vars(self):
            self._fitted = self._fitted.with_columns(n)
        return None

    def expect_news(self) -> None:
        self._news = True
        # whether the new columns matter is not known
        self._together = None

    @staticmethod
    def _standardised(Y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        centred = Y - np.average(Y, axis=0, weights=weight)
        spread = math.sqrt(float(np.mean(centred**2)))
        return centred / spread if spread > 0.0 else centred

    def prior(self) -> np.ndarray:
        return self._fitted.prior()

    @property
    def n_features_out_(self) -> int:
        return len(self._fitted.at.S) + 1

    def features(self, X: Matrix, out: Out = None) -> np.ndarray:
        X, shape = as_dense(X), (X.shape[0], self.n_features_out_)
        # in float64, because the small penalty of the weights would magnify rounding
        Z = np.empty(shape) if out is None or out.dtype != np.float64 else out
        self._fitted.fill(X, Z)
        return Z.astype(self.dtype_, copy=False)

    def fit(self, X: MatrixLike, y: ArrayLike | None = None) -> LearnedLandmarks:
        """Fit on the rows X (n, d) and their labels or targets y (n,), if given."""
        Y = None if y is None else _as_targets(np.asarray(y))
        super().fit(X)
        if Y is not None:
            self.fit_labelled(as_dense(self._checked(X, reset=False)), Y, np.ones(len(Y)))
        return self


def _as_targets(y: np.ndarray) -> np.ndarray:
    """Targets (n, C): the indicators of the classes, or y itself."""
    kind = type_of_target(y)
    if kind == "unknown":
        raise ValueError(f"Unknown label type: y is of dtype {y.dtype}; give numbers or strings")
    if kind in ("binary", "multiclass"):
        return (y[:, None] == np.unique(y)).astype(float)
    return y[:, None]
