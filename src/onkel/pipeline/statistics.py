"""What a model keeps beside its learner: running scales."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from onkel.annotations import Matrix
from onkel.columns.scaling import OnlineScaler, refuse_bad
from onkel.columns.target_scaling import OnlineTargetScaler, finite_targets
from onkel.errors import DataError
from onkel.fields import Fields
from onkel.numerics.arrays import issparse, with_zero_columns
from onkel.state import Part, Stateful

if TYPE_CHECKING:
    from onkel.columns.encoding import Encoder
    from onkel.pipeline.inputs import Inputs


def located(
    error: DataError,
    start: int,
    source: str | None,
    settings: dict[str, Any],
    encoder: Encoder | None,
) -> DataError:
    """The error of a block that begins at row ``start``, with the source's rows and columns."""
    column = error.column
    if column == TARGET:
        column = settings.get("target") or (encoder and encoder.target) or TARGET
    elif isinstance(column, int) and encoder is not None:
        column = encoder.column_of(column)
    found = type(error)(
        error.message,
        source=error.source or source,
        row=None if error.row is None else error.row + start,
        column=column,
        value=error.value,
    )
    found.predictions = error.predictions
    found.scores, found.classes, found.alone = error.scores, error.classes, error.alone
    return found


TARGET = "y"
"""What errors call the target where its name is not known."""


class Prepared(NamedTuple):
    """Rows in the learner's units, with what converts its predictions to the target's units."""

    X: Matrix
    y: np.ndarray
    center: float | np.ndarray = 0.0
    scale: float | np.ndarray = 1.0
    scaled: bool = False

    def in_units(self, predictions: np.ndarray) -> np.ndarray:
        """Predictions in the target's own units."""
        if not self.scaled:
            return predictions
        n = len(predictions)
        center, scale = self.center, self.scale
        if isinstance(center, np.ndarray) and isinstance(scale, np.ndarray):
            center, scale = center[:n], scale[:n]
        return predictions * scale + center


class RunningStatistics(Stateful):
    """The scaler of the features and, in a regression, that of the target."""

    STATE: ClassVar[Fields] = {
        "scaler": Part(),
        "target_scaler": Part(optional=True, begin=lambda _: OnlineTargetScaler()),
    }

    def __init__(self, scaling: str, scale_target: bool) -> None:
        self.scaler: OnlineScaler = OnlineScaler(scaling)
        self.target_scaler: OnlineTargetScaler | None = (
            OnlineTargetScaler("standard") if scale_target else None
        )
        #: whether the statistics are fixed: rows are scaled by them and no longer change them
        self.fixed = False

    def learn_transform(self, X: Matrix, y: np.ndarray) -> Prepared:
        """Learn from each row, and scale it by the statistics known by then.

        Nothing is learned if a row is refused.
        """
        target = self.target_scaler
        if target is not None:
            try:
                y = finite_targets(y)
            except DataError as error:
                refuse_bad(X[: (error.row or 0) + 1])
                error.column = TARGET
                raise
        X = self.scaler.scaled_as_is(X) if self.fixed else self.scaler.learn_transform(X)
        if target is None:
            return Prepared(X, y)
        y, center, scale = target.scaled_as_is(y) if self.fixed else target.learn_transform(y)
        return Prepared(X, y, center, scale, scaled=True)

    def transform(self, X: Matrix, inputs: Inputs) -> Matrix:
        """Scale rows of the inputs by the current statistics.

        Late columns that nothing was learned from are cut; late columns that rows lack are 0.
        """
        own = vars(self.scaler)
        known = own.get("n_features_in_")
        if known is not None and known != X.shape[1]:
            if known < X.shape[1] <= known + inputs.n_late:
                X = X[:, :known]
            elif X.shape[1] < known <= X.shape[1] + self.scaler.n_late_:
                X = with_zero_columns(X, known - X.shape[1])
        elif own["mode"] == "none" and own.get("sparse_") is issparse(X):
            # the learner looks for bad values itself
            return X
        return self.scaler.scaled_as_is(X)

    def take_late(self, d: int, late: int) -> None:
        """Widen to d columns, the last ``late`` of which came in mid-stream."""
        if not is_fitted(self.scaler):
            self.scaler.start(d - late)
            self.scaler.add_columns(late)
        new = d - self.scaler.n_features_in_
        if 0 < new <= late:
            self.scaler.add_columns(new)

    def mark(self) -> list[tuple[object, dict[str, object]]]:
        """What :meth:`go_back` needs to undo the learning of rows."""
        scalers = (self.scaler, self.target_scaler)
        return [
            (own, {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in vars(own).items()})
            for own in scalers
            if own is not None
        ]

    def go_back(self, mark: list[tuple[object, dict[str, object]]]) -> None:
        """Forget what was learned since the mark."""
        for own, held in mark:
            vars(own).clear()
            vars(own).update(held)


def is_fitted(estimator: object) -> bool:
    """Whether an estimator or a scaler has seen any row."""
    if "model_" in vars(estimator):
        return True
    own = getattr(estimator, "__sklearn_is_fitted__", None)
    if own is not None:
        return bool(own())
    # what scikit-learn's check_is_fitted looks for, which takes ten times as long
    return any(name[-1] == "_" and name[:2] != "__" for name in vars(estimator))
