"""Regressors by least squares, with error bars."""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.estimators.regression import OnlineRegressor

__all__ = ["UncertainRegressor"]


class UncertainRegressor(OnlineRegressor):
    """An online regressor that knows the variance of its predictions."""

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Values (n,) of the rows X (n, d); with ``return_std`` their standard deviations too."""
        mean = super().predict(X)
        if not return_std:
            return mean
        return mean, np.sqrt(self.model_.variance(self._check_scoring(X)))
