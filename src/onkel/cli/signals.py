"""Ctrl-C and SIGTERM that never cut a block in half."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

_WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}


class Interrupted(KeyboardInterrupt):
    """A signal asked the process to end.

    Attributes
    ----------
    status : int
        Exit status as shells have it: 130 for Ctrl-C, 143 for SIGTERM.
    word : str
        "interrupted" or "terminated".
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = 128 + number
        self.word = _WORDS[signal.Signals(number)]


class Interrupts:
    """While active, signals wait for the end of a `held` section; elsewhere they act at once.

    A model that is stopped in the middle of a block would have scaled rows it has not learned. So
    learning is held, and reading (which may wait for a pipe forever) is not. Compiling is held as
    well: numba does not survive an exception there. A second signal ends the process at once, and
    nothing is saved.
    """

    def __init__(self) -> None:
        self._holding = False
        self._pending = 0
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            for number in _WORDS:
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def held(self) -> Iterator[None]:
        """A section that signals do not interrupt; `Interrupted` is raised at its end."""
        self._holding = True
        try:
            yield
        finally:
            self._holding = False
        if self._pending:
            number, self._pending = self._pending, 0
            raise Interrupted(number)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if not self._holding:
            raise Interrupted(number)
        if self._pending:
            _leave(number)
        self._pending = number


def _leave(number: int) -> None:
    """End the process at once; files are written atomically, so none is left half done."""
    show_cursor = "\x1b[?25h\n" if sys.stderr.isatty() else ""
    sys.stderr.write(f"{show_cursor}error: {_WORDS[signal.Signals(number)]} twice: nothing saved\n")
    sys.stderr.flush()
    os._exit(128 + number)
