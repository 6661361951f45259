"""When a model's file is due, and what is said of one that another process wrote."""

from __future__ import annotations

import time
from collections.abc import Callable


class SaveClock:
    """Counts the events since the last save.

    Parameters
    ----------
    every : int
        Events after which a save is due.
    seconds : float
        Seconds since the last save after which it is due for any event.
    """

    def __init__(self, every: int, seconds: float) -> None:
        self._every, self._seconds = every, seconds
        self.restart()

    def restart(self) -> None:
        """Count from here: a save begins."""
        self._events, self._since = 0, time.monotonic()

    def add(self, n: int) -> None:
        """Count n events."""
        self._events += n

    def seconds_left(self) -> float:
        """Seconds until it is due for any event."""
        return max(0.0, self._since + self._seconds - time.monotonic())

    @property
    def is_due(self) -> bool:
        """Whether it is time to save."""
        return self._events >= self._every or (self._events > 0 and not self.seconds_left())


class MovedNotice:
    """Says once, by ``say``, where a model is whose file another process wrote."""

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say = say
        self._told: str | None = None

    def check(self, moved: str | None) -> None:
        """Say what there is to say, if that is new."""
        if self._told != moved:
            self._told = moved
            self._say(f"error: {moved}")
