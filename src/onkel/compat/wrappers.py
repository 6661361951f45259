"""What the River wrappers share: rows and frames by the names of their columns."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from sklearn.base import clone

from onkel.columns.failures import count
from onkel.compat.columns import Columns, Row
from onkel.errors import DataError
from onkel.learners.checking import column_names
from onkel.numerics.arrays import as_values

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

#: of pandas or Polars
Frame: TypeAlias = "pd.DataFrame | pl.DataFrame"
Series: TypeAlias = "pd.Series | pl.Series"


def series_like(values: Any, like: Any) -> Series:
    if type(like).__module__.startswith("polars"):
        import polars

        return polars.Series(values)
    import pandas

    return pandas.Series(values, index=like.index)


def frame_like(columns: dict[Hashable, Any], like: Any) -> Frame:
    if type(like).__module__.startswith("polars"):
        import polars

        return polars.DataFrame({str(name): values for name, values in columns.items()})
    import pandas

    return pandas.DataFrame(columns, index=like.index)


class OverEstimator:
    """What both wrappers share: columns, and frames in and out.

    Calls hold a lock, because they share one buffer for rows. A thread that predicts sees the model
    before a row or after it.
    """

    _takes: Any

    def __init__(
        self, estimator: Any, features: int | list[str] | None = None, group: str | None = None
    ) -> None:
        if not isinstance(estimator, self._takes):
            raise TypeError(
                f"{type(self).__name__} takes an onkel {self._takes.__name__[6:].lower()}, not "
                f"{type(estimator).__name__}"
            )
        if group is not None and not estimator.takes_groups:
            raise ValueError(
                f"group={group!r}: {type(estimator).__name__} has no memory that groups could have "
                "for themselves; OnlineKernelClassifier and OnlineKernelRegressor have"
            )
        self.estimator: Any = estimator
        self.features = features
        self.group = group
        fitted = estimator.__sklearn_is_fitted__()
        self.model: Any = copy.deepcopy(estimator) if fitted else clone(estimator)
        names = column_names(estimator)
        given: Any = features if names is None else list(names)
        if fitted and (given is None or isinstance(given, int)):
            raise ValueError(
                f"the estimator has learned {count(estimator.n_features_in_, 'column')} without "
                "names: features must name them"
            )
        room = estimator.n_features_in_ if fitted else 0
        if fitted and features is None:
            self._columns = Columns(None, estimator.dtype, given, room)
        else:
            self._columns = Columns(given, estimator.dtype, room=room)

    @property
    def _started(self) -> bool:
        return bool(self.model.__sklearn_is_fitted__())

    def _split(self, x: Row) -> tuple[Row, dict[str, Any]]:
        """The features of a row, and its group as an argument for the learner."""
        if self.group is None:
            return x, {}
        if self.group not in x:
            raise DataError("the group is missing; every row needs one", column=self.group)
        features = {name: value for name, value in x.items() if name != self.group}
        return features, {"groups": [x[self.group]]}

    def _row(self, x: Row) -> np.ndarray:
        """The row (1, d) to learn; the model is widened to fit it."""
        row = self._columns.read(x, learning=True)
        self._widen(row.shape[1])
        return row

    def _widen(self, width: int) -> None:
        """Add new columns to a model that has learned others."""
        if not self._started or self.model.n_features_in_ >= width:
            return
        have = self.model.n_features_in_
        new = [str(name) for name in self._columns.names[have:]]
        self.model.add_columns(width - have if column_names(self.model) is None else new)

    def learn_one(self, x: Row, y: object, w: float = 1.0) -> None:
        """Learn one row."""
        raise NotImplementedError

    def _learn_frame(self, X: Frame, y: object) -> None:
        if _holds_text(X):
            # columns come with the values, row by row
            for row, (x, label) in enumerate(zip(_rows(X), as_values(y).tolist(), strict=True)):
                with _of_row(row):
                    self.learn_one(x, label)
            return
        more: dict[str, Any] = {}
        if self.group is not None:
            if self.group not in X.columns:
                raise DataError("the group is missing; every row needs one", column=self.group)
            more = {"groups": X[self.group].to_numpy().tolist()}
            X = self._features_of(X)
        names = self._columns.columns_of(list(X.columns), learning=True)
        A = self._frame(X, names)
        if self._started and len(names) > len(self._columns.names):
            self._columns.commit(names)
            self._widen(A.shape[1])
        try:
            self.model.partial_fit(A, y, **more)
        except DataError as error:
            if error.row:
                self._columns.commit(names)
            raise _named(error, names) from None
        self._columns.commit(names)

    def _features_of(self, X: Frame) -> Frame:
        """A frame without its column of groups."""
        return X[[name for name in X.columns if name != self.group]]

    def _scoring_frame(self, X: Frame) -> np.ndarray:
        X = self._features_of(X)
        return self._frame(X, self._columns.columns_of(list(X.columns), learning=False))

    def _frame(self, X: Any, names: list[Hashable]) -> np.ndarray:
        """The frame's columns in their places; those it lacks are 0."""
        there = [(j, X[name].to_numpy()) for j, name in enumerate(names) if name in X.columns]
        plain = all(column.dtype.kind in "biuf" for _, column in there)
        shape = (len(X), self._columns.width(names))
        A = np.zeros(shape, np.float64 if plain else object)
        for j, column in there:
            A[:, j] = column
        return A

    def _scored(self, X: Frame, score: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        if _holds_text(X):
            A = np.zeros((len(X), self._columns.room), self._columns.dtype)
            for row, x in enumerate(_rows(self._features_of(X))):
                with _of_row(row):
                    A[row] = self._columns.read(x, learning=False)
        else:
            A = self._scoring_frame(X)
        try:
            return score(A)
        except DataError as error:
            raise _named(error, self._columns.names) from None


def _holds_text(X: Frame) -> bool:
    """Whether a frame has columns of anything but numbers and flags."""
    return any(X[name].to_numpy().dtype.kind not in "biuf" for name in X.columns)


def _rows(X: Any) -> list[Row]:
    """The rows of a frame, of pandas or polars."""
    return list(X.to_dicts() if hasattr(X, "to_dicts") else X.to_dict("records"))


@contextmanager
def _of_row(row: int) -> Iterator[None]:
    """An error of one row says which row of a frame it is."""
    try:
        yield
    except DataError as error:
        raise DataError(error.message, row=row, column=error.column, value=error.value) from None


def _named(error: DataError, names: list[Hashable]) -> DataError:
    """The error, with the feature's name in place of its column number."""
    column = str(names[error.column]) if isinstance(error.column, int) else error.column
    return DataError(error.message, row=error.row, column=column, value=error.value)
