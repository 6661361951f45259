"""Rows as dicts of features: each feature has its column in one buffer."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Hashable, Iterable
from operator import itemgetter
from typing import Any

import numpy as np

from onkel.columns.failures import shorten
from onkel.columns.notation import is_missing
from onkel.errors import DataError
from onkel.fields import State
from onkel.learners.checking import longest, too_long

Row = dict[Hashable, Any]


class Columns:
    """Columns by feature name, in one buffer that every row is written into.

    Parameters
    ----------
    features : None, int or list of names
        None: as many as come. A number: room for so many, assigned to names as they come. A list:
        these, in this order, and no others. Features that have not come yet are 0.
    dtype : str
        Of the buffer, "float32" or "float64".
    names : list of names, default=()
        Names that exist already, if more may come.
    room : int, default=0
        Columns that exist already.

    Notes
    -----
    New names that come together get their columns in sorted order, so that the order of a dict does
    not matter. Without a bound, room grows by at least an eighth, because widening a model costs as
    much as all its columns.
    """

    row: np.ndarray

    def __init__(
        self,
        features: int | Iterable[Hashable] | None,
        dtype: str,
        names: Iterable[Hashable] = (),
        room: int = 0,
    ) -> None:
        self.dtype = dtype
        self.names: list[Hashable] = []
        self._index: dict[Hashable, int] = {}
        self.room: int = room
        self.grows: bool = features is None
        #: features that are texts: each of their values has a column, NAME=TEXT, that is 1 or 0
        self.texts: set[Hashable] = set()
        given = list(names)
        # columns that need names are added when they come, not ahead
        self.ahead: bool = not given
        if isinstance(features, int | np.integer):
            if features < 1:
                raise ValueError(f"features={features!r} must be at least 1")
            self.room = int(features)
        elif features is not None:
            given = list(features)
            if len(set(given)) != len(given) or not given:
                raise ValueError(f"features={features!r} must be names, each of them once")
        if given:
            self._name(given)
        self.open: bool = self.grows or not given

    def __getstate__(self) -> State:
        names = ("dtype", "names", "room", "open", "grows", "ahead", "texts")
        return {name: getattr(self, name) for name in names}

    def __setstate__(self, state: State) -> None:
        self.__dict__.update(state)
        self._index = {}
        if self.names:
            self._name(self.names)

    def width(self, names: list[Hashable]) -> int:
        """Number of columns of a row with these names."""
        if len(names) <= self.room:
            return self.room
        return max(len(names), self.room + self.room // 8) if self.ahead else len(names)

    def _name(self, names: list[Hashable]) -> None:
        self.room = self.width(names)
        self.names = names
        self._index = {name: j for j, name in enumerate(names)}
        self.row = np.zeros((1, self.room), self.dtype)
        self._memory = memoryview(self.row.data).cast("B")
        # "=", not native: only the standard format refuses what overflows float32
        format = f"={len(names)}{'f' if self.dtype == 'float32' else 'd'}"
        # rounding to float32 makes no such row longer than learners take
        self._long = 0.999 * math.sqrt(longest(self.dtype))
        self._pack = struct.Struct(format).pack_into
        self._get: Callable[[Row], tuple[Any, ...]] = itemgetter(*names)
        if len(names) == 1:
            self._get = lambda x: (x[names[0]],)

    def read(self, x: Row, learning: bool) -> np.ndarray:
        """The row (1, d) of a dict; a missing feature is 0. Valid until the next call.

        DataError for a value that is neither text nor a finite number, text in a column of numbers,
        a row too long for learners, or a feature without a column or room for one. If more may
        come, prediction ignores a feature never learned from.
        """
        try:
            values = self._get(x)
            if len(x) == len(values):
                self._pack(self._memory, 0, *values)
                # the length finds any NaN, infinity and large value; the slow path looks closer
                if math.hypot(*values) <= self._long:
                    return self.row
        except (AttributeError, KeyError, TypeError, OverflowError, struct.error):
            pass
        return self._read_slowly(x, learning)

    def _read_slowly(self, x: Row, learning: bool) -> np.ndarray:
        texts = {name for name in x if self._is_text(name, x[name])}
        if texts:
            known = {name: value for name, value in x.items() if name not in texts}
            given = {name: x[name] for name in texts if not is_missing(x[name])}
            x = known | {f"{name}={value}": 1.0 for name, value in given.items()}
        names = self.columns_of(x, learning)
        new = set(names[len(self.names) :])
        there = [name for name in x if name in self._index or name in new]
        numbers = [_number(name, x[name]) for name in there]
        with np.errstate(over="ignore"):
            values = np.array(numbers, self.dtype)
            length = float(np.square(values, dtype=np.float64).sum())
        for name, value, number in zip(there, values, numbers, strict=True):
            if not np.isfinite(value):
                message = f"{number!r} is not finite; features must be finite {self.dtype} numbers"
                if math.isfinite(number):
                    message = too_long(number, self.dtype)
                raise DataError(message, column=str(name), value=number)
        if length > longest(self.dtype):
            k = int(np.abs(values).argmax())
            message = too_long(numbers[k], self.dtype)
            raise DataError(message, column=str(there[k]), value=numbers[k])
        self.commit(names)
        if learning:
            self.texts |= texts
        self.row[:] = 0.0
        self.row[0, [self._index[name] for name in there]] = values
        return self.row

    def _is_text(self, name: Hashable, value: object) -> bool:
        """Whether a feature is a text: its value is one, or earlier ones were."""
        return name in self.texts or (isinstance(value, str) and name not in self._index)

    def commit(self, names: list[Hashable]) -> None:
        """Accept the names of :meth:`columns_of`, once the row has proved good."""
        if len(names) > len(self.names):
            self._name(names)

    def columns_of(self, x: Iterable[Hashable], learning: bool) -> list[Hashable]:
        """All names with a column, including those that the row ``x`` adds."""
        new = [name for name in x if name not in self._index]
        if not new or (self.open and not learning):
            return self.names
        if not self.open:
            self._refuse(new[0], f"the columns are {_listed(self.names)}")
        if not self.grows and len(self.names) + len(new) > self.room:
            self._refuse(new[-1], f"all {self.room} columns are taken by {_listed(self.names)}")
        try:
            new.sort()  # type: ignore[call-arg]
        except TypeError:
            new.sort(key=repr)
        return self.names + new

    def _refuse(self, name: Hashable, why: str) -> None:
        raise DataError(
            f"the feature is new and {why}; features=None takes all that come, features=N has room "
            "for N of them",
            column=str(name),
        )


def _number(name: Hashable, value: Any) -> float:
    try:
        if isinstance(value, str):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise DataError(
            f"{shorten(value)} is not a number, which the feature was so far; fill gaps first",
            column=str(name),
            value=value,
        ) from None


def _listed(names: list[Hashable]) -> str:
    shown = ", ".join(repr(name) for name in names[:5])
    return f"{shown}, ... ({len(names)})" if len(names) > 5 else shown or "none yet"
