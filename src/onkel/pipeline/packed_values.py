"""Values of one column as a file holds them: an array where all are numbers, else a list.

Times, and what else JSON has no form for, are written in words and read as what they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import numpy as np

from onkel.columns.notation import is_missing
from onkel.fields import PLAIN, Array, Field, Listed, Sizes, require

#: values that are packed at a time: no other thread goes on while one call runs
PIECE = 1024
_TIMES: dict[str, Any] = {"datetime": datetime, "date": date, "time": time}


def packed(values: Sequence[Any], where: str) -> np.ndarray | list[Any]:
    """Values as an array of numbers, with NaN for None, or else as a list that JSON can hold.

    Raises
    ------
    TypeError
        A value is neither text, a number, a time nor None; the error names it.
    """
    pieces = [packed_piece(values[a : a + PIECE], where) for a in range(0, len(values), PIECE)]
    return joined(pieces)


def packed_piece(values: Sequence[Any], where: str) -> np.ndarray | list[Any]:
    """As :func:`packed`, of so few values that other threads can wait."""
    kinds = set(map(type, values))
    if not kinds <= PLAIN or len(kinds - {type(None)}) > 1:
        values = [plain(value, where) for value in values]
        kinds = set(map(type, values))
    if float in kinds and kinds <= {float, type(None)}:
        return np.array(values, np.float64)
    if kinds == {int}:
        with suppress(OverflowError):
            return np.array(values, np.int64)
    return list(values)


def joined(pieces: Sequence[np.ndarray | list[Any]]) -> np.ndarray | list[Any]:
    """Values one after another, as if they had been packed at once."""
    arrays = [piece for piece in pieces if isinstance(piece, np.ndarray)]
    kinds = {array.dtype for array in arrays}
    if len(kinds) == 1 and len(arrays) == len(pieces):
        return np.concatenate(arrays)
    # a piece without any value says nothing about the kind
    empty = all(p.count(None) == len(p) for p in pieces if not isinstance(p, np.ndarray))
    if kinds == {np.dtype(np.float64)} and empty:
        return np.concatenate([np.array(piece, np.float64) for piece in pieces])
    found: list[Any] = []
    for piece in pieces:
        if isinstance(piece, np.ndarray):
            found += [None if value != value else value for value in piece.tolist()]
        else:
            found += piece
    return found


def unpacked(column: np.ndarray | list[Any]) -> list[Any]:
    """The inverse of :func:`packed`."""
    if not isinstance(column, np.ndarray):
        return [_restored(value) for value in column]
    values = column.tolist()
    return [None if value != value else value for value in values]


@dataclass(frozen=True)
class Values(Field):
    """What :func:`packed` gives; ``length``: its size; ``what``: its name in errors."""

    length: str
    what: str = ""

    def check(self, value: Any, sizes: Sizes) -> str | None:
        if not isinstance(value, np.ndarray):
            return Listed(Plain(), self.length).check(value, sizes)
        if value.dtype == np.float64:  # a gap is NaN
            value = np.where(np.isnan(value), 0.0, value)
        dtype = np.int64 if value.dtype == np.int64 else np.float64
        return Array(dtype, (self.length,), finite=False).check(value, sizes)

    def saved(self, value: Sequence[Any]) -> np.ndarray | list[Any]:
        return packed(value, self.what)

    def loaded(self, value: np.ndarray | list[Any]) -> list[Any]:
        return unpacked(value)


@dataclass(frozen=True)
class Plain(Field):
    """Text, a number, true or false, nothing, or a time."""

    def check(self, value: Any, sizes: Sizes) -> str | None:
        if isinstance(value, dict):
            fine = len(value) == 1 and value.keys() <= _TIMES.keys()
            return None if fine else "is no time"
        fine = value is None or isinstance(value, bool | int | float | str)
        return None if fine else "is no value"


def cells(values: Sequence[Any]) -> Sequence[Any]:
    """Values of a column, as the numbers or texts that a table would make of them."""
    if set(map(type, values)) <= PLAIN:
        return values
    return [_cell(value) for value in values]


def _cell(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, bytes):
        with suppress(UnicodeDecodeError):
            return value.decode()
    return value


def plain(value: Any, where: str) -> Any:
    """A value in a form JSON can hold."""
    if is_missing(value):
        return None
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]")
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, datetime | date | time):
        kind = next(name for name, kind in _TIMES.items() if isinstance(value, kind))
        return {kind: value.isoformat()}
    if isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{where}: {type(value).__name__} cannot be written to a model file")


def _restored(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    ((kind, text),) = value.items()
    try:
        return _TIMES[kind].fromisoformat(text)
    except (TypeError, ValueError):
        require(False, f"values: {text!r} is no {kind}")
