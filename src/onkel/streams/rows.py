"""Streams of Python rows: iterators of (x, y) with x a dict or a vector."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Iterator, Sized
from contextlib import suppress
from itertools import chain, islice
from typing import Any

import numpy as np

from onkel.annotations import DTypeLike
from onkel.columns.column import Column, Given
from onkel.columns.encoding import Encoder
from onkel.columns.failures import count, moved, shorten
from onkel.columns.notation import is_missing, text_of
from onkel.columns.screening import by_values, without_counts
from onkel.errors import DataError, NoRowsError
from onkel.streams.arrays import as_target
from onkel.streams.blocks import Block
from onkel.streams.schema import Schema
from onkel.streams.source import Source

_TIMES = (datetime.date, datetime.time, np.datetime64)
_SPANS = (datetime.timedelta, np.timedelta64)


class DictRows:
    """Rows with the given columns, and with those that new keys add.

    ``columns`` has new ones at the end: a key becomes a column when its first value comes.
    """

    def __init__(self, columns: Iterable[Column], source: str) -> None:
        self.columns: dict[str, Column] = {column.name: column for column in columns}
        self.source = source
        self.n_rows: int = 0
        self._rows: dict[str, list[int]] = {name: [] for name in self.columns}
        self._values: dict[str, list[Any]] = {name: [] for name in self.columns}

    def add(self, x: object, row: int) -> None:
        """Add a row; ``row`` is its number, for errors. A bad row changes nothing."""
        if not isinstance(x, dict):
            raise DataError(
                f"a dict is expected, got {shorten(x)}", source=self.source, row=row, value=x
            )
        new: dict[str, Column] = {}
        read: dict[str, float | str | None] = {}
        for key, value in x.items():
            name = str(key)
            column = self.columns.get(name)
            nothing = is_missing(value) or (isinstance(value, str | bytes) and not value)
            if column is None and not nothing:
                column = new[name] = _column(name, value)
            if column is not None:
                read[name] = self._read(column, value, row)
        self.columns |= new
        for name, value in read.items():
            self._rows.setdefault(name, []).append(self.n_rows)
            self._values.setdefault(name, []).append(value)
        self.n_rows += 1

    def _read(self, column: Column, value: Any, row: int) -> float | str | None:
        """Text or None for a text column; else a number, NaN if it is missing."""
        gone = is_missing(value)
        if column.kind == "text":
            return (None if gone else text_of(value, column.name, row)) or None
        try:
            if gone:
                return math.nan
            timed = column.kind == "time" or isinstance(value, _SPANS)
            return _seconds_of(value) if timed else float(value)
        except (AttributeError, TypeError, ValueError, OverflowError):
            what = "time" if column.kind == "time" else "number"
            raise DataError(
                f"{shorten(value)} stands where a {what} is expected",
                source=self.source, row=row, column=column.name, value=value,
            ) from None  # fmt: skip

    def given(self) -> dict[str, Given]:
        """The values of each column."""
        return {name: self._given(name) for name in self.columns}

    def _given(self, name: str) -> Given:
        rows, values = self._rows[name], self._values[name]
        absent = np.ones(self.n_rows, dtype=bool)
        absent[rows] = False
        if self.columns[name].kind != "text":
            numbers = np.zeros(self.n_rows)
            numbers[rows] = values
            return Given(numbers, absent=absent)
        known = (value for value in dict.fromkeys(values) if value is not None)
        codes = {value: k for k, value in enumerate(known)}
        index = np.full(self.n_rows, -1)
        index[rows] = [codes.get(value, -1) for value in values]
        return Given(index, list(codes), absent)


def _column(name: str, value: object) -> Column:
    """A column of the kind that its first value has."""
    if isinstance(value, _TIMES):
        origin = _seconds_of(value)
        return Column(name, "time", origin if origin == origin else 0.0)
    return Column(name, "text" if isinstance(value, (str, bytes)) else "number")


def _seconds_of(value: Any) -> float:
    """Seconds of a date, time of day, duration or moment; without a zone it is taken as UTC."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        count = value.astype(f"{value.dtype.str[1]}8[ns]").view(np.int64)
        return math.nan if np.isnat(value) else float(count) * 1e-9
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, datetime.time):
        return datetime.timedelta(
            hours=value.hour, minutes=value.minute, seconds=value.second,
            microseconds=value.microsecond,
        ).total_seconds()  # fmt: skip
    if not isinstance(value, datetime.datetime):
        return (value - datetime.date(1970, 1, 1)).days * 86400.0
    zoned = value if value.tzinfo else value.replace(tzinfo=datetime.UTC)
    return zoned.timestamp()


# Rows from which the columns of dicts are inferred, whatever the block size.
PEEK_ROWS = 256
STEP = 1024


class RowSource(Source):
    """Rows from any iterable of ``(x, y)``; ``y`` is None in all of them if there is no target.

    Dicts: the columns are the keys of the first 256 rows, then later keys in order of appearance.
    An absent key is 0, a value None or NaN is missing, a text value is a category. Vectors must all
    have the same length.
    """

    def __init__(self, rows: Iterable[object], schema: Schema) -> None:
        super().__init__()
        self.name = "the rows"
        self.rows = rows
        iterator = iter(rows)
        self.once: bool = iterator is rows
        self._head = list(islice(iterator, PEEK_ROWS))
        if not self._head:
            raise NoRowsError("has no rows", source=self.name)
        self._rest: Iterator[Any] | None = iterator
        self.n_rows: int | None = len(rows) if isinstance(rows, Sized) and not self.once else None
        self.named: bool = isinstance(self._pair(self._head[0], 0)[0], dict)
        self.has_target: bool = self._pair(self._head[0], 0)[1] is not None
        self._missing = schema.reading.missing
        self.encoder: Encoder = self._encoder_for(schema)

    def _pair(self, item: Any, row: int) -> tuple[object, object]:
        if isinstance(item, (tuple, list)) and len(item) == 2:
            return item[0], item[1]
        raise DataError(
            f"a pair (x, y) is expected, got {shorten(item)}", source=self.name, row=row
        )

    def _encoder_for(self, schema: Schema) -> Encoder:
        """The encoder given, or a new one fitted to the first rows."""
        encoder = schema.encoder
        if encoder is not None:
            if self.named != (encoder.n_vector is None):
                kind = "dicts" if encoder.n_vector is None else "vectors"
                raise DataError(f"the model was learned from {kind}", source=self.name)
            return encoder
        if not self.named:
            x = self._pair(self._head[0], 0)[0]
            return Encoder(n_vector=np.asarray(x).size)
        first = DictRows((), self.name)
        for row, item in enumerate(self._head):
            with suppress(DataError):  # a bad row is reported when it is read
                first.add(self._pair(item, row)[0], row)
        if not first.columns:
            raise DataError("the first rows have no values", source=self.name)
        kinds = {name: column.kind for name, column in first.columns.items()}
        given = first.given()
        columns = [by_values(Column(name, kind), given[name]) for name, kind in kinds.items()]
        encoder = Encoder(
            without_counts(columns),
            n_hash=schema.reading.n_hash,
            max_categories=schema.reading.max_categories,
            statistics=schema.reading.statistics,
        )
        encoder.begin([given[name] for name in kinds], first.n_rows)
        return encoder

    def _again(self) -> Iterator[object]:
        rest, self._rest = self._rest, None
        if rest is not None:
            return chain(self._head, rest)
        self.may_read_again()
        return iter(self.rows)

    def pieces(self, skip: int, dtype: DTypeLike) -> Iterator[Block]:
        iterator, row = self._again(), skip
        self._text = None
        next(islice(iterator, skip, skip), None)
        while items := list(islice(iterator, STEP)):
            taken: DictRows | _Vectors = _Vectors(self.encoder.n_features, self.name)
            if self.named:
                taken = DictRows(self.encoder.columns, self.name)
            ys, failure = self._take(items, row, taken)
            if ys:
                X = self._features(taken, len(ys), dtype)
                y = as_target(ys, len(ys)) if self.has_target else None
                yield Block(X, y, 0, self.encoder.n_late, where=self.name)
            if failure is not None:
                raise failure
            row += len(items)

    def _take(
        self, items: list[object], row: int, taken: DictRows | _Vectors
    ) -> tuple[list[object], DataError | None]:
        """Targets of the rows before the first bad one, and the error of that row."""
        ys: list[object] = []
        for k, item in enumerate(items, row):
            try:
                x, y = self._pair(item, k)
                self._check_target(y, k)
                taken.add(x, k)
            except DataError as error:
                return ys, error
            ys.append(y)
        return ys, None

    def _features(self, taken: DictRows | _Vectors, n: int, dtype: DTypeLike) -> np.ndarray:
        if isinstance(taken, _Vectors):
            with np.errstate(over="ignore"):
                return np.array(taken.rows).astype(dtype, copy=False)
        self.encoder.extend(list(taken.columns.values())[len(self.encoder.columns) :])
        found = list(taken.given().values())
        return self.encoder.features(found, n, dtype, missing=self._missing)

    def _check_target(self, y: object, row: int) -> None:
        if not self.has_target:
            return
        if is_missing(y):
            raise DataError(
                "the target is missing; every row needs one", source=self.name, row=row, value=y
            )
        try:
            self.check_target(isinstance(y, str), y, None)
        except DataError as error:
            raise moved(error, source=self.name, rows=row) from None


class _Vectors:
    """Vectors, all of the same length."""

    def __init__(self, width: int, source: str) -> None:
        self.width, self.source = width, source
        self.rows: list[np.ndarray] = []

    def add(self, x: object, row: int) -> None:
        """Add a row."""
        try:
            vector = np.asarray(x, dtype=np.float64).ravel()
        except (TypeError, ValueError):
            vector = np.empty(0)
        if len(vector) != self.width:
            raise DataError(
                f"a vector of {count(self.width, 'number')} is expected, got {shorten(x)}",
                source=self.source,
                row=row,
                value=x,
            )
        self.rows.append(vector)
