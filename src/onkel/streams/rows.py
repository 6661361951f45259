"""Streams of Python rows: iterators of (x, y) with x a dict or a vector."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Iterator, Sized
from itertools import chain, islice
from typing import Any

import numpy as np

from onkel.columns.encoding import Column, Encoder
from onkel.columns.failures import moved, shorten
from onkel.columns.hashing import slots
from onkel.errors import DataError
from onkel.numerics.dense import with_zero_columns
from onkel.streams.arrays import as_target
from onkel.streams.blocks import Piece
from onkel.streams.sources import Source

__all__ = ["RowSource"]

# Rows that tell the columns of dicts: a fixed number, so that blocks do not matter.
PEEK_ROWS = 256
STEP = 1024
_TIMES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)


class RowSource(Source):
    """Rows from any iterable of ``(x, y)``; ``y`` None in all of them means no target.

    Dicts: the columns are the keys of the first 256 rows, and after them those that come later, as
    they come; a key that is absent is 0, a value that is None or NaN is missing, a text value is
    hashed. Vectors: all of one length.
    """

    def __init__(self, rows: Iterable[Any]) -> None:
        super().__init__()
        self.name = "the rows"
        self.rows = rows
        iterator = iter(rows)
        self.once = iterator is rows
        self._head = list(islice(iterator, PEEK_ROWS))
        if not self._head:
            raise DataError("has no rows", source=self.name)
        self._rest: Iterator[Any] | None = iterator
        self.n_rows = len(rows) if isinstance(rows, Sized) and not self.once else None
        self.named = isinstance(self._pair(self._head[0], 0)[0], dict)
        self.has_target = self._pair(self._head[0], 0)[1] is not None

    def _pair(self, item: Any, row: int) -> tuple[Any, Any]:
        if isinstance(item, (tuple, list)) and len(item) == 2:
            return item[0], item[1]
        raise DataError(
            f"a pair (x, y) is expected, got {shorten(item)}", source=self.name, row=row
        )

    def encoder_for(self, encoder: Encoder | None, n_hash: int) -> Encoder:
        """The encoder given, or one for the first rows."""
        if encoder is not None:
            if self.named != (encoder.n_vector is None):
                kind = "dicts" if encoder.n_vector is None else "vectors"
                raise DataError(f"the model was learned from {kind}", source=self.name)
            return encoder
        if not self.named:
            x = self._pair(self._head[0], 0)[0]
            return Encoder(n_vector=np.asarray(x).size)
        columns: dict[str, Column] = {}
        for row, item in enumerate(self._head):
            x = self._pair(item, row)[0]
            for name, value in x.items() if isinstance(x, dict) else ():
                if value is not None and str(name) not in columns:
                    columns[str(name)] = _column(str(name), value)
        if not columns:
            raise DataError("the first rows have no values", source=self.name)
        return Encoder(columns.values(), n_hash=n_hash)

    def prepare(self, encoder: Encoder) -> None:
        """Settle where each key goes."""
        self.encoder = encoder
        self.places: dict[Any, tuple[int, Column]] = {}
        at = 0
        for column in encoder.columns:
            self.places[column.name] = (at, column)
            at += encoder.n_hash if column.kind == "text" else 1

    def _see_keys(self, x: Any) -> None:
        """New keys with a value become columns behind those there are."""
        if not isinstance(x, dict) or x.keys() <= self.places.keys():
            return
        new = [
            _column(str(name), value)
            for name, value in x.items()
            if name not in self.places and str(name) not in self.places and value is not None
        ]
        if new:
            self.encoder.extend(new)
            self.prepare(self.encoder)

    def _again(self) -> Iterator[Any]:
        rest, self._rest = self._rest, None
        if rest is not None:
            return chain(self._head, rest)
        self.may_read_again()
        return iter(self.rows)

    def pieces(self, skip: int, dtype: Any) -> Iterator[Piece]:
        iterator, row = self._again(), skip
        self._text = None
        next(islice(iterator, skip, skip), None)
        while items := list(islice(iterator, STEP)):
            X = np.zeros((len(items), self.encoder.n_features))
            ys: list[Any] = []
            failure = None
            for k, item in enumerate(items):
                try:
                    x, y = self._pair(item, row + k)
                    if self.named:
                        self._see_keys(x)
                        X = with_zero_columns(X, self.encoder.n_features - X.shape[1])
                    self._put(X[k], x, row + k)
                    self._check_target(y, row + k)
                except DataError as error:
                    failure = error
                    break
                ys.append(y)
            self.encoder.without_gaps(X)
            if ys:
                with np.errstate(over="ignore"):
                    Xs = X[: len(ys)].astype(dtype, copy=False)
                y = as_target(ys, len(ys)) if self.has_target else None
                yield Piece(Xs, y, self.name, self.encoder.n_late)
            if failure is not None:
                raise failure
            row += len(items)

    def _check_target(self, y: Any, row: int) -> None:
        if not self.has_target:
            return
        if y is None or y != y:
            raise DataError(
                "the target is missing; every row needs one", source=self.name, row=row, value=y
            )
        try:
            self.check_target(isinstance(y, str), y, None)
        except DataError as error:
            raise moved(error, source=self.name, rows=row) from None

    def _put(self, out: np.ndarray, x: Any, row: int) -> None:
        if self.named and isinstance(x, dict):
            for name, value in x.items():
                self._put_value(out, name, value, row)
            return
        try:
            vector = np.asarray(x, dtype=np.float64).ravel()
        except (TypeError, ValueError):
            vector = np.empty(0)
        if self.named or len(vector) != len(out):
            what = "a dict" if self.named else f"a vector of {len(out)} numbers"
            raise DataError(
                f"{what} is expected, got {shorten(x)}", source=self.name, row=row, value=x
            )
        out[:] = vector

    def _put_value(self, out: np.ndarray, name: Any, value: Any, row: int) -> None:
        place = self.places.get(name) or self.places.get(str(name))
        where: dict[str, Any] = {"source": self.name, "row": row, "column": str(name)}
        if place is None:
            return  # None, for what was never seen
        at, column = place
        if column.kind == "text":
            width = self.encoder.n_hash
            if value is None or value != value or value == "":
                out[at : at + width] = np.nan
            else:
                out[at + slots([str(value)], str(name), width)[0]] = 1
            return
        try:
            if column.kind == "time":
                out[at] = np.nan if value is None else _seconds_of(value) - column.origin
            else:
                out[at] = np.nan if value is None else float(value)
        except (AttributeError, TypeError, ValueError, OverflowError):
            what = "time" if column.kind == "time" else "number"
            raise DataError(
                f"{shorten(value)} stands where a {what} is expected", value=value, **where
            ) from None


def _column(name: str, value: Any) -> Column:
    """A column by its first value."""
    if isinstance(value, _TIMES):
        origin = _seconds_of(value)
        return Column(name, "time", origin if origin == origin else 0.0)
    return Column(name, "text" if isinstance(value, str) else "number")


def _seconds_of(value: Any) -> float:
    """A date, time of day, duration or moment as seconds; without a zone it is taken for UTC."""
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
