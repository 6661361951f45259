"""Regressors: one output, targets in their own units."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterable
from typing import Self

import numpy as np

from onkel.annotations import Ahead, ArrayLike, MatrixLike
from onkel.errors import DataError, DivergenceError
from onkel.fields import State
from onkel.intervals.feedback import Feedback, check_tracked
from onkel.learners.base import OnlineEstimator
from onkel.learners.checking import LARGEST_WEIGHT
from onkel.learners.declaration import declared
from onkel.learners.labels import required_target, targets
from onkel.learners.learning import Rows, count_rows, learn, learn_checked_row, refusal
from onkel.learners.predictions import Forecast, Predictions, attach_predictions, chained
from onkel.losses import REGRESSION
from onkel.model.transaction import locked
from onkel.sklearn_bases import RegressorMixin


@declared
class OnlineRegressor(RegressorMixin, OnlineEstimator):
    """An online regressor over any map and rule."""

    _task = "regression"
    _losses = REGRESSION

    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learn the rows in order, continuing from what was learned; ``groups`` as in `fit`.

        Raises
        ------
        DataError
            At the first row with a NaN or an infinity; the rows before it have been learned.
        """
        learn(self, X, self._read_targets(y), sample_weight, groups=groups)
        return self

    def predict_then_learn(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        return_scores: bool = False,
        groups: ArrayLike | None = None,
    ) -> np.ndarray:
        """Learn the rows in order; returns the values (n,) predicted before each was learned."""
        return joined_values(learn(self, X, self._read_targets(y), sample_weight, groups=groups))

    def predictions_then_learn(
        self, X: MatrixLike, y: ArrayLike | None, groups: ArrayLike | None = None
    ) -> Predictions:
        """As ``predict_then_learn``, in the form that classifiers share."""
        out = learn(self, X, self._read_targets(y), None, groups=groups)
        return Predictions(joined_values(out), alone=joined_values(out, -1))

    def _read_targets(self, y: ArrayLike | None) -> tuple[np.ndarray, DataError | None]:
        return targets(required_target(self, y), self.dtype)

    def _begin(
        self, d: int, y: np.ndarray, classes: Iterable[Hashable] | None, whole: bool
    ) -> None:
        self._start(d, 1)

    def _n_outputs(self, state: State) -> int:
        return 1

    def _learn_rows(self, rows: Rows, a: int, out: list[np.ndarray]) -> None:
        X, y, weight, keys = rows
        refused: DataError | None = None
        try:
            P = self.model_.learn(X, y, weight)
        except DivergenceError as error:
            P, refused = error.scores, error
        n = len(P)
        if self.memory_ is not None:
            keys = None if keys is None else keys[:n]
            P = np.hstack([self.memory_.learn(X[:n], P, y[:n], weight[:n], keys), P])
        if self.feedback_ is not None:
            self._feed_back(y[:n], P, weight[:n])
        count_rows(self, weight[:n])
        out.append(P)
        if refused is not None:
            raise refusal(self, refused, a, out)

    def _feed_back(self, y: np.ndarray, P: np.ndarray, weight: np.ndarray) -> None:
        learned = weight > 0.0
        if not learned.all():
            y, P = y[learned], P[learned]
        # what the very first row was predicted says nothing
        first = int(not self.n_rows_)
        assert self.feedback_ is not None
        self.feedback_.learn_values(y[first:], P[first:, 0], P[first:, -1])

    @locked
    def _learn_row(self, X: np.ndarray, y: float, weight: float = 1.0) -> None:
        """Learn one row X (1, d), already checked and of the learner's dtype."""
        if weight > LARGEST_WEIGHT or self.memory_ is not None or self.feedback_ is not None:
            # a weight too large raises an error that says why
            self.partial_fit(X, [y], [weight])
        else:
            learn_checked_row(self, X, y, weight)

    def _attach_predictions(self, error: BaseException, out: list[np.ndarray]) -> None:
        attach_predictions(error, Predictions(joined_values(out), alone=joined_values(out, -1)))

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Values (n,) of the rows X (n, d)."""
        return self._scores(X)[:, 0]

    @locked
    def predict_next(
        self, X: MatrixLike, ahead: Ahead = 0, groups: ArrayLike | None = None
    ) -> np.ndarray:
        """Values (n,) of the rows X (n, d) that come next, in order; learns nothing.

        A learner with a memory also uses the labels learned so far, less for rows farther ahead.
        For other learners, and far ahead, this is :meth:`predict`. The first row of X comes
        ``ahead`` rows after the next one; with ``groups`` (n,), see :meth:`fit`, rows ahead are
        counted within each group, and ``ahead`` may be an array (n,), that of each row's group.
        """
        return self._next_scores(*self._next_rows(X, ahead, groups))[:, 0]

    def forecast_next(
        self, X: MatrixLike, ahead: Ahead = 0, groups: ArrayLike | None = None
    ) -> Forecast:
        """What :meth:`predict_next` says, in the form that classifiers share."""
        return Forecast(self.predict_next(X, ahead, groups=groups))

    @locked
    def predict_interval(self, X: MatrixLike, level: float = 0.9) -> np.ndarray:
        """Bounds (n, 2) around a share ``level`` of the targets of rows X (n, d), each by itself.

        As in :meth:`predict`, no memory is used. The errors of such predictions so far tell how far
        the bounds reach; see :class:`onkel.Intervals`. 50, 80, 90, 95 and 99 % are tracked; other
        levels are read between them. For rows that come next, :meth:`predict_interval_next` has
        closer bounds. ValueError without ``feedback``, or for a level that is not in (0, 1).
        """
        return self._known_feedback().alone.bounds(self.predict(X), level)

    @locked
    def predict_interval_next(
        self, X: MatrixLike, level: float = 0.9, ahead: Ahead = 0, groups: ArrayLike | None = None
    ) -> np.ndarray:
        """Bounds (n, 2) of the rows X (n, d) that come next, in order; learns nothing.

        A share ``level`` of the rows that come next is inside, whatever the stream does: each label
        that comes moves the bounds. Farther ahead the bounds are as wide. See :meth:`predict_next`
        and :meth:`predict_interval`.
        """
        known = self._known_feedback()
        return known.next.bounds(self.predict_next(X, ahead, groups=groups), level)

    @locked
    def predict_interval_then_learn(
        self, X: MatrixLike, y: ArrayLike, level: float = 0.9, groups: ArrayLike | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Learn the rows in order; returns predictions (n,) and bounds (n, 2), both before.

        ``level``: 0.5, 0.8, 0.9, 0.95 or 0.99; the rest as of :meth:`partial_fit`.
        """
        begun = self.__sklearn_is_fitted__()
        known = self._known_feedback() if begun or not self.feedback else Feedback(self._task)
        known, first = copy.deepcopy(known), int(not begun or not self.n_rows_)
        check_tracked(level)
        values = self.predict_then_learn(X, y, groups=groups)
        return values, known.replayed(y, values, first, level)


def joined_values(out: list[np.ndarray], column: int = 0) -> np.ndarray:
    """The predictions (n,) of pieces, as one; those without memory are the last column."""
    return chained([P[:, column] for P in out], np.empty(0))
