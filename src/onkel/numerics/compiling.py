"""How long numba has compiled in this process; listeners hear of what takes over a second."""

from __future__ import annotations

import threading
import time
from typing import Any

from numba.core import event

from onkel.numerics.notices import say

_SLOW = 1.0
"""Seconds."""


class _Watch(event.Listener):
    """Sums the outermost compilations: a loop compiles what it calls within its own."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth = 0
        self._began = 0.0
        self._timer: threading.Timer | None = None

    def on_start(self, event: Any) -> None:
        self._depth += 1
        if self._depth > 1:
            return
        self._began = time.perf_counter()
        name = event.data["dispatcher"].py_func.__name__.strip("_")
        text = f"compiling {name} for this machine (kept for the next time)..."
        self._timer = threading.Timer(_SLOW, say, [text])
        self._timer.daemon = True
        self._timer.start()

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if not self._depth:
            self.seconds += time.perf_counter() - self._began
            if self._timer is not None:
                self._timer.cancel()


_watch = _Watch()
event.register("numba:compile", _watch)


def compile_seconds() -> float:
    """Seconds spent in compiling since this module was loaded."""
    return _watch.seconds
