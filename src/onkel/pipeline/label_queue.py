"""Rows that wait for their labels: found by id, or in the order in which their labels come."""

from __future__ import annotations

import heapq
import math
from collections import Counter, OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from onkel.columns.notation import is_missing
from onkel.errors import DataError
from onkel.state import Field, Listed, Number, Sizes, State, Whole, check, require

_TIMES: dict[str, Any] = {"datetime": datetime, "date": date, "time": time}


class Waiting(NamedTuple):
    """A row that waits.

    ``x`` is a dict, an array (1, d) or a CSR matrix (1, d). ``due`` is when its label comes, where
    that is known beforehand; ``y`` is the label then, ``time`` the time of the row, ``start``
    its number in the stream, and ``late`` how many of its columns came in mid-stream.
    """

    x: Any
    group: Any = None
    predicted: Any = None
    y: Any = None
    due: float = math.inf
    time: Any = None
    start: int = 0
    late: int = 0


class LabelQueue:
    """Rows by id, in the order in which they came; those due come out by their due times."""

    def __init__(self) -> None:
        self._rows: OrderedDict[Any, Waiting] = OrderedDict()
        # of rows with a due time: (when it comes, id)
        self._due: list[tuple[float, Any]] = []
        self._ahead: Counter[Any] = Counter()

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, id: Any) -> bool:
        return id in self._rows

    def rows(self) -> list[Waiting]:
        """All rows that wait."""
        return list(self._rows.values())

    def ahead(self, group: Any) -> int:
        """How many rows of a group wait."""
        return self._ahead[group]

    def add(self, id: Any, row: Waiting) -> None:
        """Let a row wait."""
        self._rows[id] = row
        self._ahead[row.group] += 1
        if row.due < math.inf:
            heapq.heappush(self._due, (row.due, id))

    def get(self, id: Any) -> Waiting | None:
        """The row of an id; it goes on waiting."""
        return self._rows.get(id)

    def take(self, id: Any) -> Waiting:
        """The row of an id, which waits no more."""
        row = self._rows.pop(id)
        self._ahead[row.group] -= 1
        if not self._ahead[row.group]:
            del self._ahead[row.group]
        return row

    def oldest(self) -> Any:
        """The id of the row that came first; None if none waits."""
        return next(iter(self._rows), None)

    def forget_oldest(self) -> None:
        """Drop the row that came first."""
        self.take(next(iter(self._rows)))

    def first_due(self) -> Waiting | None:
        """The row whose label comes next."""
        return self._rows[self._due[0][1]] if self._due else None

    def take_due(self, now: float) -> Waiting | None:
        """The row whose label comes next, which waits no more; None if none has come by now."""
        if not self._due or self._due[0][0] > now:
            return None
        return self.take(heapq.heappop(self._due)[1])

    def get_state(self) -> State:
        """Everything about the rows, each as a list or an array.

        Raises
        ------
        TypeError
            An id or a value of a row is neither text, a number, a time nor None; the error names
            it. Or only some rows have names.
        """
        rows = list(self._rows.values())
        named = [row.x for row in rows if isinstance(row.x, Mapping)]
        if 0 < len(named) < len(rows):
            raise TypeError(
                "some of the rows that wait are dicts and some arrays: a file holds either"
            )
        return {
            "ids": [_plain(id, f"id {id!r}") for id in self._rows],
            "groups": [_plain(row.group, "group") for row in rows],
            "predicted": [_plain(row.predicted, "prediction") for row in rows],
            "y": [_plain(row.y, "label") for row in rows],
            "due": [None if math.isinf(row.due) else float(row.due) for row in rows],
            "times": [_plain(row.time, "time") for row in rows],
            "starts": [int(row.start) for row in rows],
            "late": [int(row.late) for row in rows],
            "names": [list(map(str, x)) for x in named],
            "values": [[_cell(v, f"column {name!r}") for name, v in x.items()] for x in named],
            **({} if named or not rows else _features([row.x for row in rows])),
        }

    @classmethod
    def from_state(cls, state: State) -> LabelQueue:
        """The inverse of :meth:`get_state`; a damaged state is refused."""
        n = check(state, _FIELDS)["rows"]
        ids = [_restored(id) for id in state["ids"]]
        require(len(set(ids)) == len(ids), "ids: holds one twice")
        named = not n or len(state["names"]) == n
        xs = _named(state["names"], state["values"]) if named else _unpacked(state, n)
        require(len(xs) == n, f"names: has {len(xs)} entries, not {n}")
        queue = cls()
        for k, (id, x) in enumerate(zip(ids, xs, strict=True)):
            group, predicted, y, moment = (
                _restored(state[name][k]) for name in ("groups", "predicted", "y", "times")
            )
            due = math.inf if state["due"][k] is None else float(state["due"][k])
            start, late = int(state["starts"][k]), int(state["late"][k])
            queue.add(id, Waiting(x, group, predicted, y, due, moment, start, late))
        return queue


@dataclass(frozen=True)
class _Plain(Field):
    """Text, a number, true or false, nothing, or a time."""

    def check(self, value: Any, sizes: Sizes) -> str | None:
        if isinstance(value, dict):
            fine = len(value) == 1 and value.keys() <= _TIMES.keys()
            return None if fine else "is no time"
        fine = value is None or isinstance(value, bool | int | float | str)
        return None if fine else "is no value"


@dataclass(frozen=True)
class _Row(Field):
    """A row's names or values: a list, whose length is the row's own."""

    def check(self, value: Any, sizes: Sizes) -> str | None:
        return Listed(_Plain()).check(value, {})


_FIELDS: dict[str, Field] = {
    "ids": Listed(_Plain(), "rows"),
    "groups": Listed(_Plain(), "rows"),
    "predicted": Listed(_Plain(), "rows"),
    "y": Listed(_Plain(), "rows"),
    "times": Listed(_Plain(), "rows"),
    "due": Listed(Number(empty=True), "rows"),
    "starts": Listed(Whole(), "rows"),
    "late": Listed(Whole(), "rows"),
    "names": Listed(_Row(), "named"),
    "values": Listed(_Row(), "named"),
}


def _named(names: list[Any], values: list[Any]) -> list[dict[str, Any]]:
    pairs = list(zip(names, values, strict=True))
    fits = all(len(own) == len(held) for own, held in pairs)
    require(fits, "values: must be as many as the names, in every row")
    return [dict(zip(own, map(_restored, held), strict=True)) for own, held in pairs]


def _features(xs: list[Any]) -> dict[str, Any]:
    """All rows in one matrix; rows that came before a new column did get zeros there."""
    widths = [int(x.shape[1]) for x in xs]
    most = max(widths)
    if not sparse.issparse(xs[0]):
        X = np.concatenate([np.pad(x, ((0, 0), (0, most - x.shape[1]))) for x in xs])
        return {"X": X, "widths": widths}
    parts = [sparse.csr_array((x.data, x.indices, x.indptr), (1, most)) for x in xs]
    X = sparse.csr_array(sparse.vstack(parts))
    return {"widths": widths, "data": X.data, "indices": X.indices, "indptr": X.indptr}


def _unpacked(state: State, n: int) -> list[Any]:
    """The rows (1, d) of :func:`_features`."""
    check(state, {"widths": Listed(Whole(low=0), "rows")}, rows=n)
    widths = state["widths"]
    X = state.get("X")
    if "data" in state:
        try:
            parts = state["data"], state["indices"], state["indptr"]
            X = sparse.csr_matrix(parts, (n, max(widths)))
            X.check_format()
        except (KeyError, TypeError, ValueError, IndexError) as error:
            require(False, f"data: is no matrix of these rows ({error})")
        assert X is not None
        return [X[i : i + 1, :d] for i, d in enumerate(widths)]
    right = isinstance(X, np.ndarray) and X.shape == (n, max(widths))
    require(right, f"X: must be {n} rows of {max(widths)} numbers")
    assert X is not None
    return [np.ascontiguousarray(X[i : i + 1, :d]) for i, d in enumerate(widths)]


def check_id(id: Any) -> None:
    """DataError for an id by which no label can come, or which a model file cannot hold."""
    if id is not None and is_missing(id):
        raise DataError(f"id {id!r}: is missing; every row needs one, by which its label comes")
    try:
        _plain(id, f"id {id!r}")
    except TypeError as error:
        raise DataError(f"{error}; give a text, a number or a time") from None


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
