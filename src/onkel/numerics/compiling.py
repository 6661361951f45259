"""How long numba has compiled and loaded in this process; listeners hear of what takes long."""

from __future__ import annotations

import threading
import time
from typing import Any

from numba.core import event

from onkel.numerics.notices import say

_SLOW = 1.0
"""Seconds."""


class _Watch(event.Listener):
    """Sums the outermost compilations: a loop compiles what it calls within its own.

    A loop also enters this as a context, while it is compiled or loaded from the disk.
    """

    def __init__(self) -> None:
        self.seconds: float = 0.0
        #: loops that were compiled, not loaded
        self.n_compiled: int = 0
        self._depth = self._compiling = 0
        self._began = 0.0
        self._timer: threading.Timer | None = None

    def __enter__(self) -> None:
        self._depth += 1
        if self._depth == 1:
            self._began = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if not self._depth:
            self.seconds += time.perf_counter() - self._began

    def on_start(self, event: Any) -> None:
        self.__enter__()
        self._compiling += 1
        self.n_compiled += 1
        if self._compiling > 1:
            return
        name = event.data["dispatcher"].py_func.__name__.strip("_")
        text = f"compiling {name} for this machine (kept for the next time)..."
        self._timer = threading.Timer(_SLOW, say, [text])
        self._timer.daemon = True
        self._timer.start()

    def on_end(self, event: Any) -> None:
        self._compiling -= 1
        if not self._compiling and self._timer is not None:
            self._timer.cancel()
        self.__exit__()


watch: _Watch = _Watch()
event.register("numba:compile", watch)


def compile_seconds() -> float:
    """Seconds spent in compiling and loading loops since this module was loaded."""
    return watch.seconds
