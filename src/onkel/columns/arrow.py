"""Python values as Arrow columns: what Arrow has no type for is read, or refused with its row."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Number
from typing import Any

import numpy as np
import pyarrow as pa

from onkel.columns.failures import first_failure, shorten, succeeds
from onkel.columns.notation import is_missing, text_of
from onkel.errors import DataError

FAILURES = (pa.ArrowException, TypeError, ValueError, OverflowError)
"""What Arrow raises where values are of no one type."""


def arrow_array(values: list[object], name: str, source: str | None) -> pa.Array:
    """A column of Python values; whole numbers beyond 64 bits make it one of floats.

    Where texts are among numbers and flags, all are texts, as in a CSV file. A DataError names the
    first row whose value differs in type, is no text in UTF-8, or is too large.
    """
    try:
        return pa.array(values, from_pandas=True)
    except FAILURES:
        check_texts(values, name, source)
        if any(isinstance(value, np.datetime64 | np.timedelta64) for value in values):
            # Arrow knows no days among those of NumPy, and no hours or minutes
            plain = [_as_moment(value) for value in values]
            return arrow_array(plain, name, source)
        if any(isinstance(value, int) and abs(value) >= 2**63 for value in values) and all(
            isinstance(value, Number) or is_missing(value) for value in values
        ):
            return pa.array(as_floats(values, name, source), from_pandas=True)
        if all(isinstance(value, str | Number) or is_missing(value) for value in values):
            texts = [None if is_missing(v) else text_of(v, name, k) for k, v in enumerate(values)]
            return pa.array(texts, pa.string())

        def fits(n: int) -> bool:
            return succeeds(lambda: pa.array(values[:n], from_pandas=True), *FAILURES)

        row = first_failure(len(values), fits)
        raise DataError(
            f"{shorten(values[row])} is of another type than the values before it",
            source=source, row=row, column=name, value=values[row],
        ) from None  # fmt: skip


def without_type(array: pa.Array | pa.ChunkedArray) -> Any:
    """Floats of pandas or NumPy; without a type if all are NaN, which is None there, too."""
    gone = pa.types.is_floating(array.type) and array.null_count == len(array)
    return pa.nulls(len(array)) if gone else array


def _as_moment(value: object) -> object:
    """A moment or a span of NumPy as one of Python."""
    if not isinstance(value, np.datetime64 | np.timedelta64):
        return value
    return value.astype(f"{value.dtype.kind}8[us]").item()


def as_floats(values: Iterable[Any], name: str, source: str | None) -> list[float]:
    """Numbers of any size as floats, NaN where missing."""
    found: list[float] = []
    for row, value in enumerate(values):
        try:
            found.append(math.nan if is_missing(value) else float(value))
        except (TypeError, ValueError, OverflowError) as error:
            raise DataError(
                f"{shorten(value)} is not a number ({error})",
                source=source, row=row, column=name, value=value,
            ) from None  # fmt: skip
    return found


def check_texts(values: Iterable[object], name: str, source: str | None) -> None:
    """DataError at the first text that UTF-8 cannot hold."""
    for row, value in enumerate(values):
        if isinstance(value, str) and not is_utf8(value):
            raise DataError(
                f"{shorten(value)} is no text: it holds half of a surrogate pair",
                source=source, row=row, column=name, value=value,
            ) from None  # fmt: skip


def check_names(names: Iterable[object], source: str | None) -> None:
    """DataError at the first name of a column that UTF-8 cannot hold."""
    for name in names:
        if isinstance(name, str) and not is_utf8(name):
            raise DataError(
                f"the column name {shorten(name)} is no text: it holds half of a surrogate pair",
                source=source,
            )


def is_utf8(text: str) -> bool:
    """Whether text has no half of a surrogate pair."""
    return text.isascii() or succeeds(text.encode, UnicodeEncodeError)
