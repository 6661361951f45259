"""How a value of one column is read, and put among the features of its row.

Values that change the columns, or have a fault, are left to the way of tables: see
:mod:`onkel.columns.one_row`.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

import numpy as np

from onkel.columns.categories import NOTHING, Categories
from onkel.columns.column import CODE, EXACT, GAP, TIME_PARTS, VALUE, WORDS, Column
from onkel.columns.features import time_features
from onkel.columns.layout import Layout
from onkel.columns.notation import GAPS, TIME_OF_DAY, numbers_of, seconds_of

_EPOCH, _MICROSECOND = datetime(1970, 1, 1), timedelta(microseconds=1)
#: answers for a value that is missing, and for one that is left to the way of tables
MISSING: Any = object()
ELSEWHERE: Any = object()
#: larger values may be infinite in float32
LARGEST = 1e38
# Texts of a column whose codes are noted.
_MOST_KNOWN = 4096


class Cell:
    """How a value of one column is read, and put among the features."""

    #: features of a value
    width: ClassVar[int] = 1

    layout: Layout
    k: int
    column: Column
    name: str
    late: bool

    def __init__(self, layout: Layout, k: int, na_values: Collection[str]) -> None:
        self.layout, self.k, self.column = layout, k, layout.columns[k]
        self.name, self.late = self.column.name, self.column.late
        self.gaps: frozenset[str] = GAPS.union(na_values)
        #: whether gaps are counted
        self.counted: bool = True
        #: values whose features are there: the code, its feature, and the feature of codes
        self.known: dict[str, tuple[int, int, int]] = {}

    def read(self, value: Any) -> Any:
        """The value as the column's kind holds it."""
        raise NotImplementedError

    def put(self, value: Any, x: np.ndarray, learns: bool) -> bool:
        """Write the features of a value; False if the row would change the columns."""
        raise NotImplementedError

    def is_plain(self) -> bool:
        """Whether a float of the column is one feature, and nothing else."""
        return False

    def put_known(self, value: str, x: np.ndarray) -> None:
        """Write the features of a value that is ``known``."""
        raise NotImplementedError

    def put_gap(self, x: np.ndarray, learns: bool) -> bool:
        """Write the features of a missing value, as `put` does."""
        if self.late:
            return True
        gap = self.layout.get(self.k, GAP)
        if gap >= 0:
            x[gap] = 1.0
        elif learns:
            return False
        first = self.layout.get(self.k, VALUE)
        x[first : first + self.width] = np.nan
        return True

    def _written(self, value: Any) -> Any:
        """A text without blanks around it; missing where it means that."""
        if type(value) is not str:
            return ELSEWHERE
        text = value.strip()
        return MISSING if text in self.gaps else text


class NumberCell(Cell):
    """A number or a flag; as text, if the column was so written."""

    def is_plain(self) -> bool:
        own, layout = self.column, self.layout
        number = own.kind == "number" and not own.form and self.k not in layout.repeated
        return number and layout.get(self.k, VALUE) >= 0

    def read(self, value: Any) -> Any:
        if value is None:
            return MISSING
        kind, form = type(value), self.column.form
        if form:
            text = self._written(value)
            return _checked(numbers_of([text], form)) if isinstance(text, str) else text
        if kind is float and self.column.kind == "number":
            return MISSING if value != value else value
        whole = kind is bool or (kind is int and -(2**63) <= value < 2**63)
        return float(value) if whole else ELSEWHERE

    def put(self, value: float, x: np.ndarray, learns: bool) -> bool:
        layout, k, origin = self.layout, self.k, self.column.origin
        first = layout.get(k, VALUE)
        if first < 0:
            # as long as nothing but the constant comes
            return not learns or value == origin
        if k in layout.repeated:
            own = layout.repeated[k]
            code = own.code(value)
            if learns and not code and not own.full:
                return False
            x[layout.get(k, EXACT)] = code
        if not abs(value - origin) < LARGEST:
            return False
        x[first] = value - origin
        return True


class TimeCell(Cell):
    """A moment: in ISO 8601, as a datetime without a zone, or as the column was written."""

    width: ClassVar[int] = len(TIME_PARTS)

    def read(self, value: Any) -> Any:
        if value is None:
            return MISSING
        if self.column.form:
            text = self._written(value)
            return _checked(seconds_of([text], self.column.form)) if isinstance(text, str) else text
        if type(value) is str:
            if value.strip() in GAPS:
                return MISSING
            if TIME_OF_DAY.fullmatch(value.strip()):
                return float(seconds_of([value.strip()], "iso")[0])
            try:
                value = datetime.fromisoformat(value)
            except ValueError:
                return ELSEWHERE
            if value.tzinfo is not None:
                value = value.astimezone(UTC).replace(tzinfo=None)
        if type(value) is not datetime or value.tzinfo is not None:
            return ELSEWHERE
        return float((value - _EPOCH) // _MICROSECOND) * 1e-6

    def put(self, value: float, x: np.ndarray, learns: bool) -> bool:
        first = self.layout.get(self.k, VALUE)
        if first < 0:
            return not learns
        parts = time_features(np.array([value]), self.column.origin)
        x[first : first + self.width] = parts[0]
        return True


class TextCell(Cell):
    """A category."""

    def __init__(self, layout: Layout, k: int, na_values: Collection[str]) -> None:
        super().__init__(layout, k, na_values)
        self.own: Categories = layout.categories[k]
        if self.column.constant:
            # the constant says nothing: it is read as a gap, and not counted
            self.gaps: frozenset[str] = self.gaps.union((self.column.constant,))
            self.counted: bool = False

    def read(self, value: Any) -> Any:
        return MISSING if _is_gap(value) else self._written(value)

    def put(self, value: str, x: np.ndarray, learns: bool) -> bool:
        own = self.own
        if value not in own.codes and ((learns and not own.full) or not _is_unicode(value)):
            return False
        if learns and self.layout.waits(self.k):
            return False
        code = own.code(value)
        place = self.layout.get(self.k, code) if code else -1
        if place >= 0 or (own.full and len(self.known) < _MOST_KNOWN):
            # code and feature do not change again
            self.known[value] = code, place, self.layout.get(self.k, CODE)
        self._put_code(code, x)
        return True

    def put_known(self, value: str, x: np.ndarray) -> None:
        code, place, at = self.known[value]
        if at >= 0:
            x[at] = code
        if place >= 0:
            x[place] = 1.0

    def put_gap(self, x: np.ndarray, learns: bool) -> bool:
        own = self.own
        if self.late:
            return True
        if learns and NOTHING not in own.codes and not own.full:
            return False
        self._put_code(own.code(NOTHING), x)
        return True

    def _put_code(self, code: int, x: np.ndarray) -> None:
        layout, k = self.layout, self.k
        at = layout.get(k, CODE)
        if at >= 0:
            x[at] = code
        place = layout.get(k, code) if code else -1
        if place >= 0:
            x[place] = 1.0


class WordsCell(TextCell):
    """A text whose words have codes; its value has one, too."""

    def put(self, value: str, x: np.ndarray, learns: bool) -> bool:
        first = self.layout.get(self.k, WORDS)
        if not _is_unicode(value) or (learns and first < 0):
            return False
        self._put_code(self.own.code(value), x)
        if first >= 0:
            codes = self.layout.words[self.k].codes(value)
            x[first : first + len(codes)] = codes
        return True


class EmptyCell(Cell):
    """A column that has had no value so far; its first one tells what it is."""

    def read(self, value: Any) -> Any:
        return MISSING if _is_gap(value) else value

    def put(self, value: Any, x: np.ndarray, learns: bool) -> bool:
        return not learns

    def put_gap(self, x: np.ndarray, learns: bool) -> bool:
        return True


_KINDS: dict[str, type[Cell]] = {"text": TextCell, "time": TimeCell, "empty": EmptyCell}


def cell_of(layout: Layout, k: int, na_values: Collection[str]) -> Cell:
    """The cell of column k."""
    kind = _KINDS.get(layout.columns[k].kind, NumberCell)
    return (WordsCell if k in layout.words else kind)(layout, k, na_values)


def _checked(values: np.ndarray) -> Any:
    """The one value that was parsed."""
    value = float(values[0])
    return ELSEWHERE if value != value else value


def _is_unicode(text: str) -> bool:
    """Whether a table can hold the text: it has no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_gap(value: Any) -> bool:
    return value is None or (type(value) is float and value != value)
