"""Classifiers by least squares, with probabilities learned from their own predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.estimators.classification import OnlineClassifier
from onkel.models.calibration import Calibration

__all__ = ["CalibratedClassifier"]


class CalibratedClassifier(OnlineClassifier):
    """An online classifier whose scores are no log-odds: these are learned beside it."""

    _own_link = True

    def _start(self, d: int, n_outputs: int) -> None:
        super()._start(d, n_outputs)
        self.calibration_ = Calibration()

    def _learn_checked(self, X: Any, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
        P = super()._learn_checked(X, codes, weight)
        if len(self.classes_) >= 2:
            self.calibration_.learn(P, codes, weight)
        return P

    def _learn_row(self, X: np.ndarray, code: int, weight: float = 1.0) -> None:
        self._learn_checked(X, np.array([code]), np.array([weight]))

    def _link(self, scores: np.ndarray) -> np.ndarray:
        return self.calibration_.probabilities(scores)

    def _fitted_state(self) -> dict[str, Any]:
        return {**super()._fitted_state(), "calibration": self.calibration_.get_state()}

    def _set_fitted_state(self, state: dict[str, Any]) -> None:
        super()._set_fitted_state(state)
        self.calibration_.set_state(state["calibration"])
