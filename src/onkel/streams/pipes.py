"""Pipes that pause: the bytes so far are handed over without waiting for a whole chunk."""

from __future__ import annotations

import io
import math
import os
import select
from typing import Any

from onkel.numerics import notices

_PAUSE = 0.2
"""Seconds without a byte after which what has come is handed over."""
_LONG = 1.0
"""Seconds without a byte after which a reader is told what is waited for."""


class PipeReader:
    """Reads a file descriptor.

    The first ``first_lines`` lines are handed over together: the columns are inferred from them.

    Attributes
    ----------
    waits : bool
        Whether the last `read` ended because nothing more came.
    """

    def __init__(self, descriptor: int, first_lines: float) -> None:
        self.waits = False
        self._descriptor = descriptor
        self._first_lines = self._lines_left = first_lines
        self._told = False

    def read(self, size: int) -> bytes:
        """``size`` bytes, or fewer at the end or when the pipe pauses."""
        parts, got = [], 0
        self.waits = False
        while got < size:
            self._tell_of_waiting()
            part = os.read(self._descriptor, size - got)
            if not part:
                break
            parts.append(part)
            got += len(part)
            self._lines_left -= part.count(b"\n")
            if self._lines_left <= 0 and not select.select([self._descriptor], [], [], _PAUSE)[0]:
                self.waits = True
                break
        return b"".join(parts)

    def _tell_of_waiting(self) -> None:
        """Say once that the reader is waiting for the first lines."""
        if self._told or self._lines_left <= 0 or math.isinf(self._lines_left):
            return
        if not select.select([self._descriptor], [], [], _LONG)[0]:
            self._told = True
            notices.say(
                f"waiting for the first {self._first_lines:,} lines, or for the end: they tell "
                f"what the columns are; {self._first_lines - self._lines_left:,} so far"
            )


def pipe_reader(raw: Any, first_lines: float) -> Any:
    """A reader of standard input that does not wait for whole chunks; on POSIX systems only."""
    if os.name != "posix":
        return raw
    try:
        return PipeReader(raw.fileno(), first_lines)
    except (AttributeError, io.UnsupportedOperation):
        return raw
