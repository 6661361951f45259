"""Rows that wait for their labels: found by id, or in the order in which their labels come."""

from __future__ import annotations

import heapq
import math
from collections.abc import Hashable
from itertools import islice
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple

import numpy as np

from onkel.columns.notation import is_missing
from onkel.errors import DataError
from onkel.fields import Column, Fields, State, check, require
from onkel.intervals.feedback import SetsThen
from onkel.pipeline.packed_values import Values, plain
from onkel.pipeline.pages import Frozen, Pages
from onkel.pipeline.waiting_state import Rows, Sets, Ways, by_columns, rows_of
from onkel.state import Stateful


class Waiting(NamedTuple):
    """A row that waits.

    ``x`` is a dict, an array (1, d) or a CSR matrix (1, d). ``due`` is when its label comes, where
    that is known beforehand; ``y`` is the label then, ``time`` the time of the row, ``start``
    its number in the stream, and ``late`` how many of its columns came in mid-stream. ``predicted``
    is its prediction, ``way`` how bounds around that were made (`Intervals.way`), and ``sets`` what
    was known of its classes.
    """

    x: Any
    group: Hashable = None
    predicted: object = None
    y: object = None
    due: float = math.inf
    time: object = None
    start: int = 0
    late: int = 0
    way: np.ndarray | None = None
    sets: SetsThen | None = None


# The columns of the rows, in the order of `Waiting`; ``x`` is several in a file.
_STATE: Fields = {
    "ids": Values("rows", "id"),
    "x": Rows(),
    "groups": Values("rows", "group"),
    "predicted": Values("rows", "prediction"),
    "y": Values("rows", "label"),
    "due": Column(np.float64, ("rows",), finite=False),
    "times": Values("rows", "time"),
    "starts": Column(np.int64, ("rows",), low=0),
    "late": Column(np.int64, ("rows",), low=0),
    # a file of before has none; without bounds, there are none
    "ways": Ways(optional=True),
    "sets": Sets(optional=True),
}


_ATTRIBUTES = {name + "s": name for name in ("group", "time", "start", "way")}


class FrozenQueue(Stateful):
    """The rows of a `LabelQueue` at one time."""

    STATE: ClassVar[Fields] = _STATE

    def __init__(self, rows: Frozen[Waiting]) -> None:
        self._rows = rows

    def held(self, name: str) -> list[Any] | None:
        """A column of the rows; some have their names in the plural."""
        if name == "ids":
            return self._rows.ids()
        found: list[Any] = []
        for page in self._rows.pages:
            found += map(attrgetter(_ATTRIBUTES.get(name, name)), page.values())
        none = name in ("ways", "sets") and all(own is None for own in found)
        return None if none else found

    def get_state(self) -> State:
        """See `LabelQueue.get_state`."""
        state = super().get_state()
        return state.pop("x") | state


class LabelQueue(Stateful):
    """Rows by id, in the order in which they came; those due come out by their due times."""

    STATE: ClassVar[Fields] = _STATE

    def __init__(self) -> None:
        self._rows: Pages[Waiting] = Pages()
        # of rows with a due time: (when it comes, id)
        self._due: list[tuple[float, Hashable]] = []
        self._ahead: dict[Hashable, int] = {}

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def n_unlearned(self) -> int:
        """The rows that wait, and those that were set aside."""
        return sum(self._ahead.values())

    def __contains__(self, id: Hashable) -> bool:
        return id in self._rows

    def rows(self) -> list[Waiting]:
        """All rows that wait."""
        return self._rows.frozen().values()

    def ahead(self, group: Hashable) -> int:
        """How many rows of a group wait."""
        return self._ahead.get(group, 0)

    def check_new(self, id: Hashable) -> None:
        """DataError for an id that waits, that is missing, or that a model file cannot hold."""
        if type(id) is not str and type(id) is not int:
            if id is not None and is_missing(id):
                raise DataError(f"id {id!r}: is missing; every row needs one, for its label")
            try:
                plain(id, f"id {id!r}")
            except TypeError as error:
                raise DataError(f"{error}; give a text, a number or a time") from None
        if id in self._rows:
            raise DataError(f"id {id!r}: a row with this id waits for its label already")

    def add(self, id: Hashable, row: Waiting) -> None:
        """Let a row wait."""
        self._rows[id] = row
        self._ahead[row.group] = self._ahead.get(row.group, 0) + 1
        if row.due < math.inf:
            heapq.heappush(self._due, (row.due, id))

    def get(self, id: Hashable) -> Waiting | None:
        """The row of an id; it goes on waiting."""
        return self._rows.get(id)

    def pop(self, id: Hashable) -> Waiting:
        """The row of an id, which waits no more."""
        row = self._rows.pop(id)
        self._ahead[row.group] -= 1
        if not self._ahead[row.group]:
            del self._ahead[row.group]
        return row

    def set_aside(self, id: Hashable) -> Waiting:
        """The row of an id whose label has come, and which does not wait here until it is learned.

        It goes on counting among the rows that are `ahead`; see `bring_back`.
        """
        return self._rows.pop(id)

    def bring_back(self, id: Hashable, row: Waiting) -> None:
        """Let a row wait that was set aside."""
        self._rows[id] = row

    def first_ids(self, n: int) -> list[Hashable]:
        """The ids of the first n rows."""
        return list(islice(self._rows, max(n, 0)))

    def oldest(self) -> Hashable:
        """The id of the row that came first; None if none waits."""
        return self._rows.first()

    def forget_oldest(self) -> None:
        """Drop the row that came first."""
        self.pop(self._rows.first())

    def first_due(self) -> Waiting | None:
        """The row whose label comes next."""
        return self._rows[self._due[0][1]] if self._due else None

    def take_due(self, now: float) -> Waiting | None:
        """The row whose label comes next, which waits no more; None if none has come by now."""
        if not self._due or self._due[0][0] > now:
            return None
        return self.pop(heapq.heappop(self._due)[1])

    def frozen(self) -> FrozenQueue:
        """The rows that wait now, whose state another thread may make."""
        return FrozenQueue(self._rows.frozen())

    def get_state(self) -> State:
        """Everything about the rows, each as an array where its values allow, else as a list.

        Raises
        ------
        TypeError
            An id or a value of a row is neither text, a number, a time nor None; the error names
            it. Or only some rows have names.
        """
        return self.frozen().get_state()

    def set_state(self, state: State) -> None:
        """Let the rows of a state wait, too; a damaged one is refused."""
        state = by_columns(state)
        n = check(state, {"due": self.STATE["due"]})["rows"]
        super().set_state(state | {"x": rows_of(state, n)})

    def set_fields(self, values: State) -> None:
        ids = values.pop("ids")
        require(len(set(ids)) == len(ids), "ids: holds one twice")
        for name in ("ways", "sets"):
            values[name] = values[name] or [None] * len(ids)
        for id, *row in zip(ids, *values.values(), strict=True):
            self.add(id, Waiting(*row))
