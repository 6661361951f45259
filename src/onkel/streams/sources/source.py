"""Base class of every source of rows: name, progress, and pieces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onkel.columns.failures import shorten
from onkel.errors import DataError
from onkel.streams.blocks import Piece


def piece_rows(n_features: int) -> int:
    """Rows to encode at a time: about two million values, so memory does not grow with d."""
    return int(min(max((1 << 21) // max(n_features, 1), 256), 32768))


class Source:
    """Rows to read: only once if ``once``, else any number of times.

    Attributes
    ----------
    name : str
        Name for messages and reports.
    n_rows : int or None
        Number of rows, if known beforehand.
    once : bool
        Whether the rows can be read only once.
    names : sequence of str
        The columns of the first rows, in order.
    """

    name = "the data"
    n_rows: int | None = None
    once = False
    done = 0
    total: int | None = None
    names: list[str]
    # The column with the series that a row belongs to.
    group: str | None = None
    # Whether the last read came from a pipe that has nothing more yet.
    waits = False

    def __init__(self) -> None:
        self.names = []
        # Whether the target is text, once a row has shown it.
        self._text: bool | None = None

    def pieces(self, skip: int, dtype: Any) -> Iterator[Piece]:
        """Encoded rows after the first ``skip``; NaN where a value is missing."""
        raise NotImplementedError

    def progress(self) -> float | None:
        """Fraction of the bytes read; None if the size is unknown."""
        return min(self.done / self.total, 1.0) if self.total else None

    def may_read_again(self) -> None:
        """Raise an error if the source can be read only once."""
        if self.once:
            raise DataError("can be read only once, and has been read", source=self.name)

    def check_target(self, text: bool, value: Any, column: str | None) -> None:
        """Refuse text targets after numbers, and the reverse; the error's row is 0."""
        self._text = text if self._text is None else self._text
        if text != self._text:
            now, before = ("text", "numbers") if text else ("numbers", "text")
            raise DataError(
                f"the target is {now} ({shorten(value)}) where it was {before} in the rows before; "
                "make all of it one of the two",
                row=0,
                column=column,
                value=value,
            )
