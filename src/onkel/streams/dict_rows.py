"""Rows that are dicts, as the values of columns."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from onkel.columns.column import Column, Given
from onkel.columns.failures import shorten
from onkel.columns.kinds.cells import is_missing, text_of
from onkel.errors import DataError

_TIMES = (datetime.date, datetime.time, np.datetime64)
_SPANS = (datetime.timedelta, np.timedelta64)


class DictRows:
    """Rows with the given columns, and with those that new keys add.

    Parameters
    ----------
    columns : iterable of Column
    source : str
        Name for error messages.

    Attributes
    ----------
    columns : dict of str to Column
        New ones at the end: a key becomes a column when its first value comes.
    n_rows : int
    """

    def __init__(self, columns: Iterable[Column], source: str) -> None:
        self.columns = {column.name: column for column in columns}
        self.source = source
        self.n_rows = 0
        self._rows: dict[str, list[int]] = {name: [] for name in self.columns}
        self._values: dict[str, list[Any]] = {name: [] for name in self.columns}

    def add(self, x: Any, row: int) -> None:
        """Add a row; ``row`` is its number, for errors. A bad row changes nothing."""
        if not isinstance(x, dict):
            raise DataError(
                f"a dict is expected, got {shorten(x)}", source=self.source, row=row, value=x
            )
        new: dict[str, Column] = {}
        read: dict[str, Any] = {}
        for key, value in x.items():
            name = str(key)
            column = self.columns.get(name)
            if column is None and value is not None:
                column = new[name] = _column(name, value)
            if column is not None:
                read[name] = self._read(column, value, row)
        self.columns |= new
        for name, value in read.items():
            self._rows.setdefault(name, []).append(self.n_rows)
            self._values.setdefault(name, []).append(value)
        self.n_rows += 1

    def _read(self, column: Column, value: Any, row: int) -> Any:
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


def _column(name: str, value: Any) -> Column:
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
