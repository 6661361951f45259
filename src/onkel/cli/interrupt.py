"""Ctrl-C that never cuts a block in half."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

__all__ = ["Interrupts"]


class Interrupts:
    """While active, Ctrl-C waits for the end of a `held` section; elsewhere it acts at once.

    A model that is stopped in the middle of a block would have scaled rows it has not learned. So
    learning is held, and reading (which may wait for a pipe forever) is not. Compiling is held as
    well: numba does not survive an exception there. Who presses twice leaves at once, and nothing
    is saved.
    """

    def __init__(self) -> None:
        self._holding = False
        self._pending = False
        self._before: Any = None

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Section that Ctrl-C does not cut; KeyboardInterrupt is raised at its end."""
        self._holding = True
        try:
            yield
        finally:
            self._holding = False
        if self._pending:
            self._pending = False
            raise KeyboardInterrupt

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._holding and self._pending:
            _leave()
        if self._holding:
            self._pending = True
        else:
            raise KeyboardInterrupt


def _leave() -> None:
    """End the process as it stands; files are written atomically, so none is left half done."""
    show_cursor = "\x1b[?25h\n" if sys.stderr.isatty() else ""
    sys.stderr.write(f"{show_cursor}error: interrupted twice: nothing saved\n")
    sys.stderr.flush()
    os._exit(130)
