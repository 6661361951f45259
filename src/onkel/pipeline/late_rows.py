"""The state of rows that wait for a label: names and values, or arrays."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from onkel.columns.notation import is_missing
from onkel.state import require

_TIMES: dict[str, Any] = {"datetime": datetime, "date": date, "time": time}


class Row(NamedTuple):
    """A row that waits."""

    x: Any
    group: Any
    predicted: Any


def get_rows(waiting: Mapping[Any, Row]) -> dict[str, Any]:
    """Ids, rows, groups and predictions, each as a list.

    Raises
    ------
    TypeError
        An id or a value of a row is neither text, a number, a time nor None; the error names it.
        Or only some rows have names.
    """
    named = [row.x for row in waiting.values() if isinstance(row.x, Mapping)]
    bare = [row.x for row in waiting.values() if not isinstance(row.x, Mapping)]
    if named and bare:
        raise TypeError("some of the rows that wait are dicts and some arrays: a file holds either")
    return {
        "ids": [_plain(id, f"id {id!r}") for id in waiting],
        "names": [list(map(str, x)) for x in named],
        "values": [[_cell(v, f"column {name!r}") for name, v in x.items()] for x in named],
        "X": np.concatenate(bare) if bare else None,
        "groups": [_plain(row.group, "group") for row in waiting.values()],
        "predicted": [_plain(row.predicted, "prediction") for row in waiting.values()],
    }


def rows_of(state: dict[str, Any]) -> dict[Any, Row]:
    """The inverse of :func:`get_rows`.

    Raises
    ------
    ModelFileError
        ``state`` is malformed.
    """
    names = ("ids", "groups", "predicted", "names", "values")
    lists: list[Any] = [state.get(name) for name in names]
    require(all(isinstance(own, list) for own in lists), "waiting: must be lists")
    ids, groups, predicted = (list(map(_restored, own)) for own in lists[:3])
    require(len(set(ids)) == len(ids), "ids: holds one twice")
    rows = _named(*lists[3:]) if state.get("X") is None else _bare(state["X"])
    together = zip(ids, rows, groups, predicted, strict=True)
    return {id: Row(x, group, told) for id, x, group, told in together}


def _named(names: list[Any], values: list[Any]) -> list[dict[str, Any]]:
    pairs = zip(names, values, strict=True)
    return [dict(zip(own, map(_restored, held), strict=True)) for own, held in pairs]


def _bare(X: Any) -> list[np.ndarray]:
    require(isinstance(X, np.ndarray) and X.ndim == 2, "X: must be rows of numbers")
    return [X[i : i + 1] for i in range(len(X))]


def _cell(value: Any, where: str) -> Any:
    """A row's value in a form JSON can hold: the number or text that a table would make of it."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, bytes):
        with suppress(UnicodeDecodeError):
            return value.decode()
    return _plain(value, where)


def _plain(value: Any, where: str) -> Any:
    """A value in a form JSON can hold."""
    if is_missing(value):
        return None
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]")
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, datetime | date | time):
        return {_time_name(value): value.isoformat()}
    if isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{where}: {type(value).__name__} cannot be written to a model file")


def _time_name(value: date | time) -> str:
    """The name of a time's type in a file."""
    return next(name for name, kind in _TIMES.items() if isinstance(value, kind))


def _restored(value: Any) -> Any:
    if isinstance(value, dict):
        require(len(value) == 1 and value.keys() <= _TIMES.keys(), "values: is no time")
        ((kind, text),) = value.items()
        return _TIMES[kind].fromisoformat(text)
    require(value is None or isinstance(value, bool | int | float | str), "values: is no value")
    return value
