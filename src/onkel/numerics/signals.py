"""Sections that no signal breaks off: they are done whole, and then the signal is sent again.

Ctrl-C may come anywhere. In the middle of an update it would leave a model half learned, and in the
middle of compiling or loading a loop it would leave Numba's tables so that the next call crashes.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from threading import get_ident
from types import FrameType
from typing import Any

# CPython's functions in C: those of the module spend microseconds on names for numbers.
_in_c: Any = sys.modules.get("_signal", signal)
_get_handler, _set_handler = _in_c.getsignal, _in_c.signal
_NOT_IN_PYTHON = (int(signal.SIG_DFL), int(signal.SIG_IGN), None)
# What a handler in Python may answer by an exception.
_SIGNALS = tuple(
    int(getattr(signal, name))
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM", "SIGUSR1", "SIGUSR2")
    if hasattr(signal, name)
)


class SignalsWait:
    """A section that no signal interrupts: those that come are sent again at its end.

    Python runs handlers in the main thread alone; in other threads nothing has to wait. Sections
    may be nested: the outermost counts. A section should take well under a second; compiling a
    loop for the first time takes longer.
    """

    def __init__(self) -> None:
        self._depth, self._main = 0, threading.main_thread().ident
        self._before: list[tuple[int, Any]] = []
        self._came: list[int] = []

    def __enter__(self) -> None:
        # each block of rows passes here: a section without a signal costs two microseconds
        if get_ident() != self._main:
            return
        if self._depth == 0:
            for number in _SIGNALS:
                handler = _get_handler(number)
                if handler not in _NOT_IN_PYTHON:
                    # first noted, then changed: a signal in between finds its own handler
                    self._before.append((number, handler))
                    _set_handler(number, self._note)
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        if get_ident() != self._main:
            return
        self._depth -= 1
        if self._depth == 0:
            self._restore()
            if self._came:
                came, self._came = self._came, []
                for number in came:
                    signal.raise_signal(number)

    def answer(self) -> None:
        """Between two parts of a section that no other holds: send the signals that came."""
        if not self._came or self._depth != 1 or get_ident() != self._main:
            return
        try:
            self.__exit__()
        finally:
            # what follows an exception is a part of the section, too
            self.__enter__()

    def _restore(self) -> None:
        for number, handler in self._before:
            _set_handler(number, handler)
        self._before.clear()

    def after_fork(self) -> None:
        """In a forked process: leave a section that a thread of the parent alone is in."""
        if self._depth and self._main != get_ident():
            self._restore()
            self._depth, self._came = 0, []
        self._main = get_ident()

    def _note(self, number: int, frame: FrameType | None) -> None:
        if number not in self._came:
            self._came.append(number)


#: the sections of this process
signals_wait: SignalsWait = SignalsWait()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=signals_wait.after_fork)
