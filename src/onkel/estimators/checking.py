"""Finding the row and the column of what cannot be learned."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d, validate_data

from onkel.errors import DataError

__all__ = [
    "check_rows",
    "first_error",
    "labels",
    "required_target",
    "same_kind",
    "targets",
    "weights",
]

_LABEL_KINDS = {"b": "a number", "i": "a number", "u": "a number", "f": "a number", "U": "a string"}


class _CellError(DataError, TypeError):
    """A cell that isn't a number, where scikit-learn asks for a TypeError."""


def first_error(*errors: DataError | None) -> DataError | None:
    """The error of the earliest row."""
    found = [error for error in errors if error is not None]
    return min(found, key=lambda error: error.row or 0) if found else None


def required_target(estimator: Any, y: Any) -> Any:
    """y; ValueError where it was left out."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y "
            "is None."
        )
    return y


def check_rows(estimator: Any, X: Any, reset: bool) -> tuple[Any, DataError | None]:
    """X as a C-contiguous array or CSR of the learner's dtype, and the error of its first bad row.

    From that row on the values mean nothing (and rows may be missing).
    """
    try:
        checked, error = _validated(estimator, X, reset), None
    except (TypeError, ValueError) as failure:
        error = _first_bad_cell(X)
        if error is None:
            raise
        if not error.row:
            raise error from failure
        head = X.iloc[: error.row] if hasattr(X, "iloc") else X[: error.row]
        checked = _validated(estimator, head, reset)
    return checked, first_error(_first_not_finite(estimator, checked), error)


def _validated(estimator: Any, X: Any, reset: bool) -> Any:
    X = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        order="C",
        ensure_all_finite=False,
    )
    with np.errstate(over="ignore"):
        return X.astype(estimator.dtype, copy=False)


def _first_bad_cell(X: Any) -> DataError | None:
    """The first row that has another length, or cell that isn't a number, of rows of objects."""
    rows = X.to_numpy() if hasattr(X, "to_numpy") else X
    names = list(X.columns) if hasattr(X, "columns") else None
    if isinstance(rows, np.ndarray) and (rows.ndim != 2 or rows.dtype.kind not in "OUS"):
        return None
    if not isinstance(rows, np.ndarray | list | tuple):
        return None
    for i, row in enumerate(rows):
        if not hasattr(row, "__len__") or isinstance(row, str):
            return None
        if len(row) != len(rows[0]):
            message = f"{len(row)} values where the first row has {len(rows[0])}"
            return DataError(message, row=i)
        for j, cell in enumerate(row):
            error = _cell_error(cell)
            if error is not None:
                column = j if names is None else str(names[j])
                message = f"{cell!r} is not a number ({error})"
                kind = _CellError if isinstance(error, TypeError) else DataError
                return kind(message, row=i, column=column, value=cell)
    return None


def _cell_error(cell: Any) -> Exception | None:
    try:
        float(cell)
    except (TypeError, ValueError) as error:
        return error
    return None


def _first_not_finite(estimator: Any, X: Any) -> DataError | None:
    """The error of the first NaN or infinity of X, dense or CSR."""
    sparse = hasattr(X, "indptr")
    if np.isfinite(X.data if sparse else X).all():
        return None
    if sparse:
        k = int(np.flatnonzero(~np.isfinite(X.data))[0])
        row, j, value = int(np.searchsorted(X.indptr, k, side="right")) - 1, X.indices[k], X.data[k]
    else:
        row = int(np.flatnonzero(~np.isfinite(X).all(axis=1))[0])
        j = np.flatnonzero(~np.isfinite(X[row]))[0]
        value = X[row, j]
    names = getattr(estimator, "feature_names_in_", None)
    what = "NaN" if np.isnan(value) else "infinity (inf, or too large for the dtype)"
    return DataError(
        f"X contains {what}; every value must be a finite number",
        row=row,
        column=int(j) if names is None else str(names[j]),
        value=float(value),
    )


def _not_finite(values: np.ndarray, column: str, message: str) -> DataError | None:
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size == 0:
        return None
    row = int(bad[0])
    what = "NaN" if np.isnan(values[row]) else "infinity (inf)"
    return DataError(message.format(what=what), row=row, column=column, value=float(values[row]))


def _objects_error(y: np.ndarray, good: Any, message: str) -> DataError | None:
    for row, value in enumerate(y):
        if not good(value):
            return DataError(message.format(value=value), row=row, column="y", value=value)
    return None


def targets(y: Any) -> tuple[np.ndarray, DataError | None]:
    """Targets as float64, and the error of the first that is no finite number."""
    y = column_or_1d(y, warn=True)
    error = None
    try:
        values = y.astype(np.float64)
    except (TypeError, ValueError):
        good = lambda value: _cell_error(value) is None  # noqa: E731
        error = _objects_error(y, good, "{value!r} is not a number; every target must be one")
        if error is None or error.row is None:
            raise
        values = np.zeros(len(y))
        values[: error.row] = y[: error.row].astype(np.float64)
    message = "y contains {what}; every target must be a finite number"
    return values, first_error(_not_finite(values, "y", message), error)


def labels(y: Any) -> tuple[np.ndarray, DataError | None]:
    """Labels as an array without objects, and the error of the first that is none."""
    y = column_or_1d(y, warn=True)
    if y.dtype.kind == "O":
        kind = str if len(y) and isinstance(y[0], str) else (bool, int, float, np.generic)
        message = "label {value!r} is not of the type of the others"

        def good(value: Any) -> bool:
            return isinstance(value, kind) and value == value

        if len(y) and not good(y[0]):
            message = "label {value!r} is neither a number nor a string"
        error = _objects_error(y, good, message)
        stop = len(y) if error is None or error.row is None else error.row
        plain = np.asarray(y[:stop].tolist()) if stop else np.zeros(0, dtype=np.int64)
        y = np.concatenate([plain, np.full(len(y) - stop, plain[0] if stop else 0, plain.dtype)])
    else:
        error = None
        if y.dtype.kind == "f":
            error = _not_finite(y, "y", "y contains {what}; every label must be a class")
        elif y.dtype.kind not in "biuU":
            raise TypeError(f"labels of dtype {y.dtype} are neither numbers nor strings")
    return y, first_error(error, _continuous(y if error is None else y[: error.row]))


def _continuous(y: np.ndarray) -> DataError | None:
    """The error of the first label that is a fraction."""
    bad = np.flatnonzero(y != np.floor(y)) if y.dtype.kind == "f" else y[:0]
    if bad.size == 0:
        return None
    row = int(bad[0])
    message = (
        f"Unknown label type: continuous ({y[row]:g}); labels must be whole numbers, strings or "
        "booleans"
    )
    return DataError(message, row=row, column="y", value=float(y[row]))


def same_kind(y: np.ndarray, classes: np.ndarray) -> DataError | None:
    """The error of labels that are strings where the classes are numbers, or the reverse."""
    if not len(y) or not len(classes) or (y.dtype.kind == "U") == (classes.dtype.kind == "U"):
        return None
    message = (
        f"label {y[0].item()!r} is {_LABEL_KINDS.get(y.dtype.kind, 'of another type')}, the "
        f"classes known are {classes.tolist()!r}"
    )
    return DataError(message, row=0, column="y", value=y[0].item())


def weights(
    sample_weight: Any, n: int, needed: bool = False
) -> tuple[np.ndarray, DataError | None]:
    """Row weights (n,) as float64, and the error of the first that is negative or not finite.

    ``needed``: all zero is a ValueError.
    """
    if sample_weight is None:
        return np.ones(n), None
    values = np.asarray(sample_weight, dtype=np.float64)
    if values.ndim == 0:
        values = np.full(n, float(values))
    if values.shape != (n,):
        raise ValueError(
            f"sample_weight has shape {values.shape}; it must be a number or one a row, ({n},)"
        )
    if needed and not values.any():
        raise ValueError("all weights are zero: sample_weight leaves no row to learn from")
    error = _not_finite(values, "sample_weight", "sample_weight contains {what}")
    negative = np.flatnonzero(values < 0.0)
    if negative.size:
        row = int(negative[0])
        message = f"weight {values[row]:g} is negative; weights must be at least 0"
        error = first_error(
            error, DataError(message, row=row, column="sample_weight", value=float(values[row]))
        )
    return values, error
