"""Bounds around the predictions of a regressor that knows their variance."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

from onkel.learners.named.least_squares import UncertainRegressor


def error_bars(estimator: Any, X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Predictions (n,) and their standard deviations (n,); ValueError if the learner has none."""
    if not isinstance(estimator, UncertainRegressor):
        raise ValueError(
            f"{type(estimator).__name__} has no error bars; the regressors okl and krls have"
        )
    predictions, std = estimator.predict(X, return_std=True)
    return predictions, std


def interval(predictions: np.ndarray, std: np.ndarray, level: float) -> np.ndarray:
    """Lower and upper bounds (n, 2) of the middle share ``level`` of a normal distribution."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"level={level!r} must be in (0, 1)")
    reach = ndtri(0.5 + 0.5 * level) * std
    return np.stack([predictions - reach, predictions + reach], axis=1)
