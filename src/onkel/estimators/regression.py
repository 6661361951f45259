"""Regressors: one output, targets in their own units."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from onkel.errors import DivergenceError
from onkel.estimators.base import OnlineEstimator
from onkel.estimators.checking import check_rows, first_error, weights
from onkel.estimators.labels import required_target, targets
from onkel.losses import REGRESSION
from onkel.models.guard import learn_guarded
from onkel.models.one_row import learn_row

__all__ = ["OnlineRegressor"]


class OnlineRegressor(RegressorMixin, OnlineEstimator):
    """An online regressor over any map and rule."""

    _task = "regression"
    _losses = REGRESSION

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn the rows once, in order.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional
            Weights ≥ 0; a row of weight 0 changes nothing.
        """
        with self._or_as_before():
            self._learn(X, y, sample_weight, reset=True, whole=True)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the rows in order, going on from what was learned.

        Raises
        ------
        DataError
            At the first row with a NaN or an infinity; the rows before it have been learned.
        """
        self._learn(X, y, sample_weight, reset=not hasattr(self, "model_"), whole=False)
        return self

    def predict_then_learn(
        self, X: Any, y: Any, sample_weight: Any = None, return_scores: bool = False
    ) -> np.ndarray:
        """Learn the rows in order; returns the values (n,) predicted before each was learned."""
        return self._learn(X, y, sample_weight, not hasattr(self, "model_"), whole=False)

    def _learn(self, X: Any, y: Any, sample_weight: Any, reset: bool, whole: bool) -> np.ndarray:
        """``whole``: nothing is learned from a block with a bad row."""
        with self._or_as_before() if reset else nullcontext():
            y, target_error = targets(required_target(self, y), self.dtype)
            X, error = check_rows(self, X, reset)
            if error is None and X.shape[0] != len(y):
                raise ValueError(f"X has {X.shape[0]} rows and y has {len(y)}; they must agree")
            weight, weight_error = weights(sample_weight, len(y), needed=whole)
            error = first_error(error, target_error, weight_error)
            stop = len(y) if error is None else error.row
            if error is not None and (whole or (reset and stop == 0)):
                raise error
            if reset:
                self._start(X.shape[1], 1)
        P = self._learn_checked(X[:stop], y[:stop], weight[:stop])
        if error is not None:
            raise error
        return P

    def _learn_checked(self, X: Any, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        try:
            P = learn_guarded(self.model_, X, y, weight)[:, 0]
        except DivergenceError as error:
            self.n_rows_ += int(np.count_nonzero(weight[: error.row]))
            raise
        self.n_rows_ += int(np.count_nonzero(weight))
        return P

    def _learn_row(self, X: np.ndarray, y: float, weight: float = 1.0) -> None:
        """Learn the one row of X (1, d), of the learner's dtype, with nothing left to check."""
        self.n_rows_ += weight > 0.0
        learn_row(self.model_, X, y, weight)

    def predict(self, X: Any) -> np.ndarray:
        """Values (n,) of the rows X (n, d)."""
        return self.model_scores(X)[:, 0]

    def model_scores(self, X: Any) -> np.ndarray:
        """Outputs (n, 1) of the rows X (n, d)."""
        X = self._check_scoring(X)
        return self.model_.scores(X)
