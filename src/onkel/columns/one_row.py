"""Rows, given as dicts, become features by prepared look-ups, without a table.

The features are, to the last bit, those of a table with these rows. Some rows are left to the way
of tables: those that change the columns (a new value, the first gap), and those that something is
wrong with, for which that way finds the words.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Any

import numpy as np

from onkel.columns.categories import NOTHING
from onkel.columns.column import CODE, EXACT, GAP, TIME_PARTS, VALUE, WORDS, Column
from onkel.columns.encoding import Encoder
from onkel.columns.features import time_features
from onkel.columns.layout import Layout
from onkel.columns.notation import GAPS, TIME_OF_DAY, numbers_of, seconds_of
from onkel.columns.running import fill_means

_EPOCH, _MICROSECOND = datetime(1970, 1, 1), timedelta(microseconds=1)
# Answers for a value that is missing, and for one that is left to the way of tables.
_MISSING: Any = object()
_ELSEWHERE: Any = object()
# Larger values may be infinite in float32.
_LARGEST = 1e38
_ALL_FLOATS = {float}
# Texts of a column whose codes are noted.
_MOST_KNOWN = 4096


class RowEncoder:
    """Encode single rows as an encoder with named columns does, which may go on learning.

    ``missing``: what to do with gaps, as in `Encoder.encode`; rows with gaps are encoded for "auto"
    alone. A row may have the columns ``others``, too, which are no features. ``lacking``: it may
    lack a column, whose value is then missing. ``ignores``: other keys are left out of rows that
    are not learned.
    """

    encoder: Encoder
    ignores: bool
    columns: tuple[Column, ...]
    lacking: bool
    dtype: np.dtype
    missing: str

    def __init__(
        self,
        encoder: Encoder,
        missing: str,
        dtype: str,
        others: Collection[str],
        lacking: bool = True,
        ignores: bool = True,
    ) -> None:
        self.encoder, self.columns = encoder, encoder.columns
        self.lacking, self.ignores = lacking, ignores
        self.missing, self.dtype = missing, np.dtype(dtype)
        self._names = frozenset(others).union(column.name for column in self.columns)
        kinds = {"text": _Text, "time": _Time, "empty": _Empty}
        self._cells = [
            (_Words if k in encoder.layout.words else kinds.get(column.kind, _Number))(
                encoder.layout, k, encoder.na_values
            )
            for k, column in enumerate(self.columns)
        ]
        self._numbers = _Numbers([cell for cell in self._cells if _is_plain(cell)])
        self._others = [cell for cell in self._cells if not _is_plain(cell)]

    def features(self, rows: Sequence[Mapping[str, Any]], *, learn: bool) -> np.ndarray | None:
        """Features (n, n_features) of rows, gaps filled; None: they are left to the way of tables.

        With ``learn``, the encoder's means and counts of gaps are replaced by new ones.
        """
        encoder = self.encoder
        learns = learn and not encoder.fixed
        X = np.zeros((len(rows), len(encoder.layout.features)), self.dtype)
        cells = self._others if self._numbers.put(rows, X) else self._cells
        gaps: list[_Cell] = []
        for i, row in enumerate(rows):
            absent = self._put(row, cells, X[i], learns, gaps) if cells else 0
            # as many keys as columns that are there: the keys are these columns
            known = absent is not None and len(row) + absent == len(self._cells)
            if absent is None or not (known or self._are_known(row, learn)):
                return None
        if (learns or gaps) and self.missing in ("auto", "mean"):
            self._fill(X, learns)
        if learn and gaps:
            counts = list(encoder.layout.gaps)
            for cell in gaps:
                counts[cell.k] += cell.counted
            encoder.layout.gaps = counts
        return X

    def _put(
        self,
        row: Mapping[str, Any],
        cells: list[_Cell],
        x: np.ndarray,
        learns: bool,
        gaps: list[_Cell],
    ) -> int | None:
        """Write the features of these cells of a row; ``gaps`` gets those that are missing.

        Returns how many columns the row lacks; None: it is left to the way of tables.
        """
        absent = 0
        for cell in cells:
            if cell.name in row:
                value = row[cell.name]
                if type(value) is str and value in cell.known:
                    cell.put_known(value, x)
                    continue
                value = cell.read(value)
            else:
                absent += 1
                if cell.late:
                    continue
                if not self.lacking:
                    return None
                value = _MISSING
            if value is _ELSEWHERE:
                return None
            if value is _MISSING:
                if self.missing != "auto" or not cell.put_gap(x, learns):
                    return None
                gaps.append(cell)
            elif not cell.put(value, x, learns):
                return None
        return absent if absent < len(self._cells) else None

    def _are_known(self, row: Mapping[str, Any], learn: bool) -> bool:
        """Whether the keys of a row are columns, or left out: their names are texts."""
        ignores = self.ignores and not learn
        return row.keys() <= self._names or (ignores and all(type(name) is str for name in row))

    def _fill(self, X: np.ndarray, learns: bool) -> None:
        """Fill gaps with the means so far, and learn from the values."""
        means, counts = self.encoder.widened_means()
        if learns:
            self.encoder.means, self.encoder.counts = means.copy(), counts.copy()
            fill_means(X, self.encoder.means, self.encoder.counts)
        else:
            np.copyto(X, means[: X.shape[1]], where=np.isnan(X), casting="same_kind")


class _Numbers:
    """Columns that hold one number each: rows of floats are put by one call of NumPy."""

    def __init__(self, cells: list[_Cell]) -> None:
        self._get = itemgetter(*(cell.name for cell in cells)) if len(cells) > 1 else None
        at = [cell.layout.get(cell.k, VALUE) for cell in cells]
        consecutive = at == list(range(at[0], at[0] + len(at))) if at else False
        self._at: Any = slice(at[0], at[0] + len(at)) if consecutive else np.array(at, np.intp)
        origins = [cell.column.origin for cell in cells]
        self._origins = np.array(origins) if any(origins) else None

    def put(self, rows: Sequence[Mapping[str, Any]], x: np.ndarray) -> bool:
        """Write the numbers of rows; False, and nothing, unless all are floats of usual size."""
        if self._get is None:
            return False
        try:
            values = list(map(self._get, rows))
        except KeyError:
            return False
        for row in values:
            # a sum with NaN is not below anything
            if set(map(type, row)) != _ALL_FLOATS or not sum(map(abs, row)) < _LARGEST:
                return False
        if self._origins is not None:
            away = np.array(values) - self._origins
            if not np.abs(away).max() < _LARGEST:
                return False
            x[:, self._at] = away
        elif len(values) == 1:
            # a list of rows would first become a table
            x[0, self._at] = values[0]
        else:
            x[:, self._at] = values
        return True


class _Cell:
    """How a value of one column is read, and put among the features."""

    #: features of a value
    width = 1

    def __init__(self, layout: Layout, k: int, na_values: Collection[str]) -> None:
        self.layout, self.k, self.column = layout, k, layout.columns[k]
        self.name, self.late = self.column.name, self.column.late
        self.gaps = GAPS.union(na_values)
        #: whether gaps are counted
        self.counted = True
        #: values whose features are there: the code, its feature, and the feature of codes
        self.known: dict[str, tuple[int, int, int]] = {}

    def read(self, value: Any) -> Any:
        """The value as the column's kind holds it."""
        raise NotImplementedError

    def put(self, value: Any, x: np.ndarray, learns: bool) -> bool:
        """Write the features of a value; False if the row would change the columns."""
        raise NotImplementedError

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
            return _ELSEWHERE
        text = value.strip()
        return _MISSING if text in self.gaps else text


class _Number(_Cell):
    """A number or a flag; as text, if the column was so written."""

    def read(self, value: Any) -> Any:
        if value is None:
            return _MISSING
        kind, form = type(value), self.column.form
        if form:
            text = self._written(value)
            return _checked(numbers_of([text], form)) if isinstance(text, str) else text
        if kind is float and self.column.kind == "number":
            return _MISSING if value != value else value
        whole = kind is bool or (kind is int and -(2**63) <= value < 2**63)
        return float(value) if whole else _ELSEWHERE

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
        if not abs(value - origin) < _LARGEST:
            return False
        x[first] = value - origin
        return True


class _Time(_Cell):
    """A moment: in ISO 8601, as a datetime without a zone, or as the column was written."""

    width = len(TIME_PARTS)

    def read(self, value: Any) -> Any:
        if value is None:
            return _MISSING
        if self.column.form:
            text = self._written(value)
            return _checked(seconds_of([text], self.column.form)) if isinstance(text, str) else text
        if type(value) is str:
            if value.strip() in GAPS:
                return _MISSING
            if TIME_OF_DAY.fullmatch(value.strip()):
                return float(seconds_of([value.strip()], "iso")[0])
            try:
                value = datetime.fromisoformat(value)
            except ValueError:
                return _ELSEWHERE
            if value.tzinfo is not None:
                value = value.astimezone(UTC).replace(tzinfo=None)
        if type(value) is not datetime or value.tzinfo is not None:
            return _ELSEWHERE
        return float((value - _EPOCH) // _MICROSECOND) * 1e-6

    def put(self, value: float, x: np.ndarray, learns: bool) -> bool:
        first = self.layout.get(self.k, VALUE)
        if first < 0:
            return not learns
        parts = time_features(np.array([value]), self.column.origin)
        x[first : first + self.width] = parts[0]
        return True


class _Text(_Cell):
    """A category."""

    def __init__(self, layout: Layout, k: int, na_values: Collection[str]) -> None:
        super().__init__(layout, k, na_values)
        self.own = layout.categories[k]
        if self.column.constant:
            # the constant says nothing: it is read as a gap, and not counted
            self.gaps, self.counted = self.gaps.union((self.column.constant,)), False

    def read(self, value: Any) -> Any:
        return _MISSING if _is_gap(value) else self._written(value)

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


class _Words(_Text):
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


class _Empty(_Cell):
    """A column that has had no value so far; its first one tells what it is."""

    def read(self, value: Any) -> Any:
        return _MISSING if _is_gap(value) else value

    def put(self, value: Any, x: np.ndarray, learns: bool) -> bool:
        return not learns

    def put_gap(self, x: np.ndarray, learns: bool) -> bool:
        return True


def _is_plain(cell: _Cell) -> bool:
    """Whether a float of the column is one feature, and nothing else."""
    own, layout = cell.column, cell.layout
    number = own.kind == "number" and not own.form and cell.k not in layout.repeated
    return number and layout.get(cell.k, VALUE) >= 0


def _checked(values: np.ndarray) -> Any:
    """The one value that was parsed."""
    value = float(values[0])
    return _ELSEWHERE if value != value else value


def _is_unicode(text: str) -> bool:
    """Whether a table can hold the text: it has no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_gap(value: Any) -> bool:
    return value is None or (type(value) is float and value != value)
