"""Running statistics that convert between the stream's units and the learner's."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from onkel.columns.scaling import OnlineScaler
from onkel.columns.target_scaling import OnlineTargetScaler
from onkel.errors import DataError
from onkel.numerics.arrays import with_zero_columns
from onkel.state import inside

TARGET = "y"
"""What errors call the target where its name is not known."""


class Prepared(NamedTuple):
    """Rows in the learner's units, with what converts its predictions to the target's units."""

    X: Any
    y: np.ndarray
    center: Any = 0.0
    scale: Any = 1.0
    scaled: bool = False

    def in_units(self, predictions: np.ndarray) -> np.ndarray:
        """Predictions in the target's own units."""
        return predictions * self.scale + self.center if self.scaled else predictions


class RunningStatistics:
    """The scaler of the features and, in a regression, that of the target.

    Parameters
    ----------
    scaling : {"auto", "standard", "minmax", "none"}
    scale_target : bool
    """

    def __init__(self, scaling: str, scale_target: bool) -> None:
        self.scaler = OnlineScaler(scaling)
        self.target_scaler = OnlineTargetScaler("standard") if scale_target else None
        #: whether the statistics are fixed: rows are scaled by them and no longer change them
        self.fixed = False

    def learn_transform(self, X: Any, y: np.ndarray) -> Prepared:
        """Learn from each row, and scale it by the statistics known by then."""
        X = self.scaler.transform(X) if self.fixed else self.scaler.learn_transform(X)
        target = self.target_scaler
        if target is None:
            return Prepared(X, y)
        try:
            learn = target.scaled_as_is if self.fixed else target.learn_transform
            y, center, scale = learn(y)
            return Prepared(X, y, center, scale, scaled=True)
        except DataError as error:
            error.column = TARGET
            raise

    def transform(self, X: Any, n_late: int) -> Any:
        """Scale rows by the current statistics.

        Late columns that nothing was learned from are cut; late columns that rows lack are 0.
        """
        if is_fitted(self.scaler):
            known = self.scaler.n_features_in_
            if known < X.shape[1] <= known + n_late:
                X = X[:, :known]
            elif X.shape[1] < known <= X.shape[1] + self.scaler.n_late_:
                X = with_zero_columns(X, known - X.shape[1])
        return self.scaler.transform(X)

    def take_late(self, d: int, late: int) -> None:
        """Widen to d columns, the last ``late`` of which came in mid-stream."""
        if not is_fitted(self.scaler):
            self.scaler.start(d - late)
            self.scaler.add_columns(late)
        new = d - self.scaler.n_features_in_
        if 0 < new <= late:
            self.scaler.add_columns(new)

    def get_state(self) -> dict[str, Any]:
        """A copy of both, as nested dicts of arrays and scalars."""
        target = self.target_scaler
        return {
            "scaler": self.scaler.get_state(),
            "target_scaler": None if target is None else target.get_state(),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Restore a state of `get_state`."""
        with inside(state, "scaler") as scaler:
            self.scaler = OnlineScaler.from_state(scaler)
        with inside(state, "target_scaler") as scaler:
            if scaler is not None:
                self.target_scaler = OnlineTargetScaler.from_state(scaler)


def is_fitted(estimator: Any) -> bool:
    """Whether an estimator or a scaler has seen any row."""
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True
