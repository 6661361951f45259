"""Single Python values in the cells of a table: whether one is missing, and its text."""

from __future__ import annotations

from typing import Any

from onkel.columns.failures import shorten
from onkel.errors import DataError


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT, or pandas' NA, which is neither true nor false."""
    if value is None:
        return True
    unlike = value != value
    try:
        return bool(unlike)
    except TypeError:
        return True
    except ValueError:  # an array
        return False


def text_of(value: Any, name: str, row: int) -> str:
    """A value of a text column; bytes are UTF-8, as in a table.

    Raises
    ------
    DataError
        Bytes are not UTF-8.
    """
    if not isinstance(value, bytes):
        return str(value)
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        message = f"{shorten(value)} cannot be read as text: {error}"
        raise DataError(message, row=row, column=name, value=value) from None
