"""What every source of rows is: its name, how far it is read, and the pieces that it gives."""

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
    """Rows to be read, once or (where ``once`` is False) again and again.

    Attributes
    ----------
    name : str
        For messages and reports.
    n_rows : int or None
        Number of rows, where it is known beforehand.
    once : bool
        Whether the rows can be read only once.
    names : sequence of str
        The columns of the first rows, as they stand there.
    """

    name = "the data"
    n_rows: int | None = None
    once = False
    done = 0
    total: int | None = None
    names: list[str]
    # The column that says which series a row belongs to.
    group: str | None = None
    # Whether what was read last came from a pipe that has nothing more yet.
    waits = False

    def __init__(self) -> None:
        self.names = []
        # Whether the target is text, once a row has shown it.
        self._text: bool | None = None

    def pieces(self, skip: int, dtype: Any) -> Iterator[Piece]:
        """Encoded rows after the first ``skip`` ones; NaN where a value is missing."""
        raise NotImplementedError

    def progress(self) -> float | None:
        """Fraction read, by bytes, where the size is known."""
        return min(self.done / self.total, 1.0) if self.total else None

    def may_read_again(self) -> None:
        """Refuse to read once more what can be read only once."""
        if self.once:
            raise DataError("can be read only once, and has been read", source=self.name)

    def check_target(self, text: bool, value: Any, column: str | None) -> None:
        """Refuse a target of text after numbers, and the reverse (row: in what is given)."""
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
