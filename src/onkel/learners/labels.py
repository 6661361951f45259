"""Checks of labels, targets and class weights, which find the first bad row."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from onkel.annotations import ArrayLike, ClassWeight
from onkel.errors import DataError
from onkel.fields import State, Text, check, require
from onkel.learners.checking import cell_error, first_error, first_where, not_finite
from onkel.numerics.arrays import as_values

# What a learner sums up of larger targets would be out of the range of a model file.
_LARGEST_TARGET = 1e140


def required_target(estimator: object, y: ArrayLike | None) -> ArrayLike:
    """y; ValueError if it was left out."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y "
            "is None."
        )
    return y


def _column(y: object) -> np.ndarray:
    """y as an array (n,); an array (n,) of numbers or strings stays as it is."""
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biufU":
        return y
    return column_or_1d(as_values(y), warn=True)


def targets(y: object, dtype: str) -> tuple[np.ndarray, DataError | None]:
    """Targets as float64, and the error of the first that is no number a learner can square."""
    y = _column(y)
    error = None
    try:
        values = y.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        good = lambda value: cell_error(value) is None  # noqa: E731
        error = _objects_error(y, good, "{value!r} is not a number; every target must be one")
        if error is None or error.row is None:
            raise
        values = np.zeros(len(y))
        values[: error.row] = y[: error.row].astype(np.float64)
    infinite = "y contains {what}; every target must be a finite number"
    large = np.abs(values) > largest_target(dtype)
    message = f"{{value:g}} is too large for {dtype}; scale the target"
    return values, first_error(
        not_finite(values, "y", infinite), first_where(large, values, "y", message), error
    )


@cache
def largest_target(dtype: str) -> float:
    """The square of a larger target, or sums of it by weight, would be out of its range."""
    return min(float(0.1 * np.sqrt(np.finfo(dtype).max)), _LARGEST_TARGET)


def labels(y: object) -> tuple[np.ndarray, DataError | None]:
    """Labels as an array without objects, and the error of the first that is no label."""
    y = _column(y)
    error = None
    if y.dtype.kind == "O":
        plain = y.tolist()
        kinds = set(map(type, plain))
        if kinds == {str} or kinds <= {bool, int, float}:
            y = np.asarray(plain)
        if y.dtype.kind == "O":
            y, error = _labels_of_objects(y)
    if error is None:
        if y.dtype.kind == "f":
            error = not_finite(y, "y", "y contains {what}; every label must be a class")
        elif y.dtype.kind not in "biuU":
            raise TypeError(f"labels of dtype {y.dtype} are neither numbers nor strings")
    known = y if error is None else y[: error.row]
    if known.dtype.kind != "f":
        return y, error
    message = (
        "Unknown label type: continuous ({value:g}); labels must be whole numbers, strings or "
        "booleans"
    )
    return y, first_error(error, first_where(known != np.floor(known), known, "y", message))


def classes_given(classes: Iterable[Hashable]) -> np.ndarray:
    """All classes there will be, sorted, each once, of the type that their labels have.

    A ValueError names the first that cannot be a label.
    """
    if isinstance(classes, str):
        raise ValueError(f"classes={classes!r} must be a list of labels")
    unordered = isinstance(classes, Collection) and not isinstance(classes, Sequence)
    set_like = unordered and not hasattr(classes, "__array__")
    known, error = labels(list(classes) if set_like else classes)
    if error is not None:
        raise ValueError(f"classes={list(classes)!r}: {error.message}")
    return np.unique(known)


def _labels_of_objects(y: np.ndarray) -> tuple[np.ndarray, DataError | None]:
    """Labels given as objects, up to the first whose type isn't that of the first label."""
    kind = str if isinstance(y[0], str) else (bool, int, float, np.generic)

    def good(value: object) -> bool:
        small = not isinstance(value, int) or -(2**63) <= value < 2**63
        return isinstance(value, kind) and value == value and small

    message = "label {value!r} is not of the type of the others, or too large"
    if not good(y[0]):
        message = "label {value!r} is neither a string nor a number of 64 bits"
    error = _objects_error(y, good, message)
    stop = len(y) if error is None or error.row is None else error.row
    plain = np.asarray(y[:stop].tolist()) if stop else np.zeros(0, dtype=np.int64)
    rest = np.full(len(y) - stop, plain[0] if stop else 0, plain.dtype)
    return np.concatenate([plain, rest]), error


def same_kind(y: np.ndarray, classes: np.ndarray) -> DataError | None:
    """The error of labels that are strings where the classes are numbers, or the reverse."""
    if not len(y) or not len(classes) or (y.dtype.kind == "U") == (classes.dtype.kind == "U"):
        return None
    kind = {"U": "a string", "b": "true or false"}.get(y.dtype.kind, "a number")
    message = (
        f"label {y[0].item()!r} is {kind}, the classes known are {classes.tolist()!r}; labels must "
        "keep the type of those learned first"
    )
    return DataError(message, row=0, column="y", value=y[0].item())


def not_exact(label: Any, classes: np.ndarray) -> DataError | None:
    """The error of a new label that no one type holds exactly together with the classes known."""
    both = np.append(classes, label)
    exact = [*classes.tolist(), label.item()]
    if both.tolist() == exact:
        return None
    message = (
        f"label {label.item()!r} and the classes known, {classes.tolist()!r}, are not exact as "
        f"{both.dtype}; give all labels as whole numbers, or all as strings"
    )
    return DataError(message, row=0, column="y", value=label.item())


def _objects_error(y: np.ndarray, good: Callable[[object], bool], message: str) -> DataError | None:
    for row, value in enumerate(y.tolist()):
        if not good(value):
            return DataError(message.format(value=value), row=row, column="y", value=value)
    return None


def class_weight_table(class_weight: ClassWeight, classes: np.ndarray) -> np.ndarray | None:
    """The weight of each class (K,), 1 where none is given; None for "balanced"; ValueError."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        return None
    if class_weight is not None and not isinstance(class_weight, dict):
        raise ValueError(f"class_weight={class_weight!r} must be None, 'balanced' or a dict")
    table = class_weight or {}
    for value in table.values():
        if not isinstance(value, (int, float, np.number)) or not 0.0 <= value < np.inf:
            raise ValueError(f"class_weight={class_weight!r} must hold numbers of at least 0")
    return np.array([float(table.get(label, 1.0)) for label in classes.tolist()])


def refuse_unknown(class_weight: ClassWeight, classes: np.ndarray) -> None:
    """ValueError where a weight is given to a class that does not exist."""
    known = classes.tolist()
    for label in class_weight if isinstance(class_weight, dict) else ():
        if label not in known:
            raise ValueError(
                f"class_weight has a weight for {label!r}, which is no class; there is: "
                f"{', '.join(map(repr, known))}"
            )


def balanced_weights(
    codes: np.ndarray, counted: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rows so far / (classes so far * rows of the own class so far), and the counts at the end.

    ``codes`` (n,), ``counted`` (n,) False for rows that are not learned, ``counts`` (K,) of the
    rows before.
    """
    onehot = np.zeros((len(codes), len(counts)))
    onehot[np.arange(len(codes)), codes] = counted
    sums = counts + np.cumsum(onehot, axis=0)
    own = np.maximum(sums[np.arange(len(codes)), codes], 1.0)
    seen = np.maximum((sums > 0.0).sum(axis=1), 1)
    return sums.sum(axis=1) / (seen * own), sums[-1] if len(codes) else counts


def classes_of_state(state: State) -> np.ndarray:
    """The classes of a saved state: numbers or strings, in order."""
    check(state, {"classes_dtype": Text()})
    labels, dtype = state.get("classes"), np.dtype(state["classes_dtype"])
    kinds = {"U": str, "b": bool, "i": int, "u": int, "f": float}
    require(dtype.kind in kinds, f"classes_dtype: is {dtype}, of neither numbers nor strings")
    right = isinstance(labels, list) and all(type(c) is kinds[dtype.kind] for c in labels)
    require(right, f"classes: must be a list of {dtype}")
    classes = np.array(labels, dtype=dtype)
    require(classes.tolist() == labels, f"classes: hold labels that are none of {dtype}")
    require(np.array_equal(np.unique(classes), classes), "classes: must differ, and be in order")
    return classes


def unknown_class(y: np.ndarray, row: int, classes: np.ndarray) -> DataError:
    """The error of a row whose label is none of the classes given."""
    label = y[row].item()
    message = f"class {label!r} is not one of the classes given, {classes.tolist()!r}"
    return DataError(message, row=row, column="y", value=label)
