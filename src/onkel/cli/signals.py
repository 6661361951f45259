"""Ctrl-C, SIGTERM and SIGHUP: never in the middle of a block, and nothing that was read is lost."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from onkel.streams.files import end_pipes

_WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
if hasattr(signal, "SIGHUP"):
    _WORDS[signal.SIGHUP] = "terminal closed"

_REPEATED = 1.0
"""Within so many seconds a signal may come twice by itself, from the terminal and its shell."""
_LONGEST_REST = 5.0
"""Seconds of work after a signal in which rows that were read are still learned."""


class Interrupted(KeyboardInterrupt):
    """A signal asked the process to end.

    ``status`` is the exit status as shells have it (130 for Ctrl-C, 143 for SIGTERM, 129 for
    SIGHUP), ``word`` "interrupted", "terminated" or "terminal closed".
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status: int = 128 + number
        self.word: str = _WORDS[signal.Signals(number)]


class Interrupts:
    """While active, signals wait for the end of a `held` section; elsewhere they act at once.

    A model that is stopped in the middle of a block would have scaled rows it has not learned. So
    learning is held, and reading (which may wait for a pipe forever) is not. Compiling is held as
    well: numba does not survive an exception there. A second Ctrl-C or SIGTERM, a second later or
    more, ends the process at once, and nothing is saved.

    With ``end_input``, a signal ends the pipes that are read instead: the rows that came are
    learned, for some seconds at most, and the caller looks at `interrupted` when there are no more.
    """

    def __init__(self, *, end_input: bool = False) -> None:
        self._end_input = end_input
        self._holding = False
        self._pending = 0
        self._came = self._worked = 0.0
        self._raised = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            for number in _WORDS:
                # under nohup a closed terminal is of no interest
                if number.name == "SIGHUP" and signal.getsignal(number) is signal.SIG_IGN:
                    continue
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @property
    def interrupted(self) -> Interrupted | None:
        """The signal that came, if one did."""
        return Interrupted(self._pending) if self._pending else None

    @contextmanager
    def held(self) -> Iterator[None]:
        """A section that signals do not interrupt; `Interrupted` is raised at its end."""
        self._holding = True
        try:
            yield
        finally:
            self._holding = False
        # a busy machine takes longer for the same work
        worked = time.process_time() - self._worked
        resting = self._end_input and worked < _LONGEST_REST
        if self._pending and not (self._raised or resting):
            self._raised = True
            raise Interrupted(self._pending)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._pending:
            if number in (signal.SIGINT, signal.SIGTERM) and now - self._came > _REPEATED:
                _leave(number)
            return
        self._pending, self._came, self._worked = number, now, time.process_time()
        if self._end_input and end_pipes():
            return
        if not self._holding:
            self._raised = True
            raise Interrupted(number)


def _leave(number: int) -> None:
    """End the process without saving; files are written whole, so none is left half done."""
    show_cursor = "\x1b[?25h\n" if sys.stderr.isatty() else ""
    sys.stderr.write(f"{show_cursor}error: {_WORDS[signal.Signals(number)]} twice: ended at once\n")
    sys.stderr.flush()
    os._exit(128 + number)
