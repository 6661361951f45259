"""Checks of rows, weights and groups, which find the row and the column of a bad value."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable
from functools import cache
from typing import Any, Protocol, runtime_checkable

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import validate_data

from onkel.annotations import ArrayLike, Matrix, MatrixLike
from onkel.columns.failures import count, shorten
from onkel.columns.notation import is_missing
from onkel.errors import DataError
from onkel.model.warmup import LARGEST_WEIGHT
from onkel.numerics.arrays import FLOATS, SHORT, as_values, issparse
from onkel.parameters import is_whole


@runtime_checkable
class _Frame(Protocol):
    """A frame of pandas or polars."""

    @property
    def columns(self) -> Iterable[Hashable]: ...

    def to_numpy(self) -> np.ndarray: ...


class TakesRows(Protocol):
    """What checking rows asks of a learner."""

    dtype: str
    n_features_in_: int


# Centers and scales of longer rows would be out of the range of a model file.
_LONGEST_ROW = 1e151


class _CellError(DataError, TypeError):
    """A cell that isn't a number, where scikit-learn asks for a TypeError."""


def column_names(estimator: object) -> np.ndarray | None:
    """Names of the columns, where the first rows had some."""
    return vars(estimator).get("feature_names_in_")


def first_error(*errors: DataError | None) -> DataError | None:
    """The error of the earliest row."""
    found = [error for error in errors if error is not None]
    return min(found, key=lambda error: error.row or 0) if found else None


def check_rows(
    estimator: TakesRows, X: MatrixLike, reset: bool, least: int = 1
) -> tuple[Matrix, DataError | None]:
    """X as a C-contiguous array or CSR of the learner's dtype, and the error of its first bad row.

    From that row on the values mean nothing (and rows may be missing). ``least`` is the number of
    rows that X needs.
    """
    try:
        checked, error = _validated(estimator, X, reset, least), None
    except (TypeError, ValueError, OverflowError) as failure:
        error = _first_bad_cell(X)
        if error is None:
            raise
        if not error.row:
            raise error from failure
        head = _safe_indexing(X, slice(error.row))
        checked = _validated(estimator, head, reset)
    not_a_number = _first_not_finite(estimator, checked)
    return checked, not_a_number if error is None else first_error(not_a_number, error)


def _validated(estimator: TakesRows, X: MatrixLike, reset: bool, least: int = 1) -> Matrix:
    rows: Matrix
    # rows in the learner's form: the full check takes half as long as learning
    if (
        type(X) is np.ndarray
        and X.dtype in FLOATS
        and X.ndim == 2
        and X.size > 0
        and X.flags.c_contiguous
        and column_names(estimator) is None
        and (X.shape[0] >= least if reset else X.shape[1] == estimator.n_features_in_)
    ):
        rows, estimator.n_features_in_ = X, X.shape[1]
    else:
        rows = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=list(FLOATS),
            order="C",
            ensure_all_finite=False,
            ensure_min_samples=least,
        )
    if rows.dtype == estimator.dtype:
        return rows
    with np.errstate(over="ignore"):
        return rows.astype(estimator.dtype, copy=False)


def _first_bad_cell(X: MatrixLike) -> DataError | None:
    """The error of the first row of another length, or cell that isn't a number, among objects."""
    rows, names = (X.to_numpy(), list(X.columns)) if isinstance(X, _Frame) else (X, None)
    if isinstance(rows, np.ndarray) and (rows.ndim != 2 or rows.dtype.kind not in "OUS"):
        return None
    if not isinstance(rows, np.ndarray | list | tuple):
        return None
    for i, row in enumerate(rows):
        if not isinstance(row, Collection) or isinstance(row, str):
            return None
        if len(row) != len(rows[0]):
            message = f"{count(len(row), 'value')} where the first row has {len(rows[0])}"
            return DataError(message, row=i)
        for j, cell in enumerate(row):
            error = cell_error(cell)
            if error is not None:
                cell = cell.item() if isinstance(cell, np.generic) else cell
                column = j if names is None else str(names[j])
                message = f"{shorten(cell)} is not a number ({error})"
                if isinstance(cell, str):
                    message += "; onkel.StreamModel(learner) takes tables with text"
                kind = _CellError if isinstance(error, TypeError) else DataError
                return kind(message, row=i, column=column, value=cell)
    return None


def cell_error(cell: Any) -> Exception | None:
    try:
        float(cell)
    except (TypeError, ValueError, OverflowError) as error:
        return error
    return None


def _squared_length(values: np.ndarray) -> float:
    """Squared length of a vector, in parts so short that BLAS uses one thread for each.

    After their work the threads of BLAS wait for more, and keep a core busy, for 0.1 s.
    """
    parts = (values[a : a + SHORT] for a in range(0, len(values), SHORT))
    return sum(float(np.dot(part, part)) for part in parts)


@cache
def longest(dtype: np.dtype[Any] | str) -> float:
    """The largest squared length of a row: distances of two rows, and sums, must be finite, too."""
    return min(float(np.finfo(dtype).max) / 4.0, _LONGEST_ROW**2)


def _first_not_finite(estimator: TakesRows, X: Matrix) -> DataError | None:
    """The error of the first row of X, dense or CSR, whose squared length is not finite."""
    most = longest(X.dtype)
    # the usual case in one call
    if type(X) is np.ndarray and X.size <= SHORT and np.vdot(X, X) <= most:
        return None
    values = np.ravel(X.data if issparse(X) else X)
    with np.errstate(over="ignore", invalid="ignore"):
        if _squared_length(values) <= most:
            return None
        bad = np.flatnonzero(~(_squared_lengths(X) <= most))
    if bad.size == 0:
        return None
    row = int(bad[0])
    if issparse(X):
        inside = slice(X.indptr[row], X.indptr[row + 1])
        cells, columns = X.data[inside], X.indices[inside]
    else:
        cells, columns = X[row], np.arange(X.shape[1])
    # the first that is not finite, or else the largest
    k = int(np.argmax(np.where(np.isfinite(cells), np.abs(cells), np.inf)))
    value, j = float(cells[k]), int(columns[k])
    names = column_names(estimator)
    if np.isfinite(value):
        message = too_long(value, X.dtype)
    else:
        what = "NaN" if np.isnan(value) else "infinity (inf, or too large for the dtype)"
        message = f"X contains {what}; every value must be a finite number"
    return DataError(message, row=row, column=j if names is None else str(names[j]), value=value)


def too_long(value: float, dtype: np.dtype[Any] | str) -> str:
    """What is wrong with a row whose largest value is this."""
    return (
        f"{value:g} is too large for {dtype}: rows must be at most {longest(dtype) ** 0.5:.1e} "
        "long; give the column in a larger unit"
    )


def _squared_lengths(X: Matrix) -> np.ndarray:
    """Squared length of each row, in float64."""
    if issparse(X):
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        return np.bincount(rows, np.square(X.data, dtype=np.float64), X.shape[0])
    return np.einsum("ij,ij->i", X, X, dtype=np.float64)


def new_columns(columns: Any, known: np.ndarray | None) -> tuple[int, list[str]]:
    """Number and names of columns to add, given as either; ``known`` are the existing names."""
    if is_whole(columns):
        if columns < 1:
            raise ValueError(f"columns={columns!r} must be at least 1, or a list of names")
        if known is not None:
            raise ValueError(f"columns={columns!r} must be names: the learner has {list(known)}")
        return int(columns), []
    names = [columns] if isinstance(columns, str) else list(columns)
    there = set() if known is None else set(known)
    twice = [name for i, name in enumerate(names) if name in there or name in names[:i]]
    if twice or not names:
        raise ValueError(f"columns={columns!r} must be new names, each of them once")
    return len(names), names


def first_where(bad: np.ndarray, values: np.ndarray, column: str, message: str) -> DataError | None:
    """The error of the first row of ``bad``; the message tells its {value} or {what} it is."""
    if not bad.any():
        return None
    row = int(bad.argmax())
    value = float(values[row])
    text = message.format(value=value, what="NaN" if value != value else "infinity (inf)")
    return DataError(text, row=row, column=column, value=value)


def not_finite(values: np.ndarray, column: str, message: str) -> DataError | None:
    """The error of the first value that is NaN or infinite."""
    return first_where(~np.isfinite(values), values, column, message)


def too_heavy(weight: np.ndarray) -> DataError | None:
    """The error of the first row whose weight would drown all others."""
    message = f"weight {{value:g}} is too large; weights must be at most {LARGEST_WEIGHT:g}"
    return first_where(weight > LARGEST_WEIGHT, weight, "sample_weight", message)


def weights(
    sample_weight: ArrayLike | None, n: int, needed: bool = False
) -> tuple[np.ndarray, DataError | None]:
    """Row weights (n,) as float64, and the error of the first that is negative or not finite.

    ``needed``: raise a ValueError if all are zero.
    """
    if sample_weight is None:
        return np.ones(n), None
    values = np.array(sample_weight, dtype=np.float64)
    if values.ndim == 0:
        values = np.full(n, float(values))
    if values.shape != (n,):
        raise ValueError(
            f"sample_weight has shape {values.shape}; it must be a number or one a row, ({n},)"
        )
    if needed and not values.any():
        raise ValueError("all weights are zero: sample_weight leaves no row to learn from")
    negative = "weight {value:g} is negative; weights must be at least 0"
    return values, first_error(
        not_finite(values, "sample_weight", "sample_weight contains {what}"),
        too_heavy(values),
        first_where(values < 0.0, values, "sample_weight", negative),
    )


def by_group(estimator: object, groups: Any) -> dict[str, Any]:
    """The argument ``groups`` for a learner that takes it; none for the others."""
    if groups is None or not getattr(estimator, "takes_groups", False):
        return {}
    return {"groups": groups}


def group_keys(groups: ArrayLike | None) -> list[Hashable]:
    """Keys as plain texts and numbers, one per row."""
    keys = groups if isinstance(groups, list) else as_values(groups).tolist()
    if not isinstance(keys, list):
        raise ValueError(f"groups={groups!r} must be an array (n,), a key for every row")
    return [key.item() if isinstance(key, np.generic) else key for key in keys]


def check_keys(keys: list[Hashable], n: int) -> DataError | None:
    """The error of the first invalid key, of n."""
    if len(keys) != n:
        raise ValueError(f"X has {count(n, 'row')} and groups has {len(keys)}; they must agree")
    for row, key in enumerate(keys):
        if not isinstance(key, str | int | float) or (
            isinstance(key, float) and not math.isfinite(key)
        ):
            what = "is missing" if is_missing(key) else f"is {key!r}"
            return DataError(
                f"the group {what}; every row needs one, a text or a number",
                row=row,
                column="groups",
                value=key,
            )
    return None
