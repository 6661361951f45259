"""Regressors: one output, targets in their own units."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import column_or_1d

from onkel.errors import DataError
from onkel.estimators.base import OnlineEstimator, first_error, required_target
from onkel.losses import REGRESSION

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
        return self._fit(X, y, sample_weight, reset=True)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the rows in order, going on from what was learned.

        Raises
        ------
        DataError
            At the first row with a NaN or an infinity; the rows before it have been learned.
        """
        return self._fit(X, y, sample_weight, reset=not hasattr(self, "model_"))

    def _fit(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> Self:
        self._learn(X, y, sample_weight, reset, whole=reset)
        return self

    def predict_then_learn(
        self, X: Any, y: Any, sample_weight: Any = None, return_scores: bool = False
    ) -> np.ndarray:
        """Learn the rows in order; returns the values (n,) predicted before each was learned."""
        return self._learn(X, y, sample_weight, not hasattr(self, "model_"), whole=False)

    def _learn(self, X: Any, y: Any, sample_weight: Any, reset: bool, whole: bool) -> np.ndarray:
        """``whole``: nothing is learned from a block with a bad row."""
        y, target_error = self._targets(y)
        X = self._check_X(X, reset)
        if X.shape[0] != len(y):
            raise ValueError(f"X has {X.shape[0]} rows and y has {len(y)}; they must agree")
        weight = self._check_weight(sample_weight, X)
        error = first_error(self._bad_value(X), target_error)
        stop = X.shape[0] if error is None else error.row
        if error is not None and whole:
            raise error
        if reset:
            self._start(X.shape[1], 1)
        P = self._learn_checked(X[:stop], y[:stop], weight[:stop])
        if error is not None:
            raise error
        return P

    def _learn_checked(self, X: Any, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        P = self.model_.learn(X, y, weight)[:, 0]
        self.n_rows_ += int(np.count_nonzero(weight))
        return P

    def _targets(self, y: Any) -> tuple[np.ndarray, DataError | None]:
        """Targets as float64, and the error of the first that is not finite."""
        y = column_or_1d(required_target(self, y), warn=True)
        try:
            y = y.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"y must hold numbers: {error}") from error
        bad = np.flatnonzero(~np.isfinite(y))
        if bad.size == 0:
            return y, None
        row = int(bad[0])
        what = "NaN" if np.isnan(y[row]) else "infinity (inf)"
        message = f"y contains {what}; every target must be a finite number"
        return y, DataError(message, row=row, column="y", value=float(y[row]))

    def predict(self, X: Any) -> np.ndarray:
        """Values (n,) of the rows X (n, d)."""
        return self.model_scores(X)[:, 0]

    def model_scores(self, X: Any) -> np.ndarray:
        """Outputs (n, 1) of the rows X (n, d)."""
        X = self._check_scoring(X)
        return self.model_.scores(X)
