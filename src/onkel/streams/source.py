"""The base class of all sources of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from onkel.columns.encoding import Encoder
from onkel.columns.failures import shorten
from onkel.errors import DataError
from onkel.streams.blocks import Block
from onkel.streams.files import FileRef, joint_name


def piece_rows(n_features: int) -> int:
    """Rows to encode at a time: about two million values, so memory does not grow with d."""
    return int(min(max((1 << 21) // max(n_features, 1), 256), 32768))


class Source:
    """Rows to read: only once if ``once``, else any number of times."""

    # For messages and reports.
    name: str = "the data"
    # How the rows become features.
    encoder: Encoder
    # The columns with the target, and with the series that a row belongs to.
    target: str | None = None
    group: str | None = None
    # Number of rows, if known beforehand.
    n_rows: int | None = None
    once: bool = False
    # Bytes of the parts read, without and with the last, and the share handed over of the last.
    begun: int = 0
    done: int = 0
    within: float = 1.0
    total: int | None = None
    # Whether the last read came from a pipe that has nothing more yet.
    waits: bool = False

    def __init__(self, files: list[FileRef] | None = None) -> None:
        self.files: list[FileRef] = files or []
        if files:
            self.name, self.once = joint_name(files), any(file.once for file in files)
        #: the columns of the first rows, in order
        self.names: list[str] = []
        #: values that were taken for gaps, by column
        self.bad_values: Counter[str] = Counter()
        # Whether the target is text, once a row has shown it.
        self._text: bool | None = None

    def pieces(self, skip: int, dtype: Any) -> Iterator[Block]:
        """Encoded rows after the first ``skip``; NaN where a value is missing."""
        raise NotImplementedError

    def progress(self) -> float | None:
        """Fraction of the bytes whose rows were handed over; None if the size is unknown."""
        if not self.total:
            return None
        done = self.begun + self.within * (self.done - self.begun)
        return min(done / self.total, 1.0)

    def may_read_again(self) -> None:
        """Raise an error if the source can be read only once."""
        if self.once:
            raise DataError("can be read only once, and has been read", source=self.name)

    def check_target(self, text: bool, value: object, column: str | None) -> None:
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
