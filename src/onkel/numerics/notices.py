"""What long work says while it goes on: that something compiles, or which rows are searched.

Nobody has to listen. The command line does, and the progress line while a run is on.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Listener(Protocol):
    """Who shows what work says."""

    def say(self, text: str) -> bool:
        """Show a remark; where this returns False, it goes to the listener before."""

    def busy(self, text: str | None) -> None:
        """What is being done now; None: it is done."""

    def pause(self) -> None:
        """What is being done goes on later."""

    def reached(self, share: float) -> None:
        """So much of what is being done is done, in (0, 1]."""


_listeners: list[Listener] = []


def begin(listener: Listener) -> None:
    """From now on the listener comes first."""
    _listeners.append(listener)


def end(listener: Listener) -> None:
    """The listener hears no more."""
    _listeners.remove(listener)


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """While active, the listener comes first."""
    begin(listener)
    try:
        yield
    finally:
        end(listener)


def say(text: str) -> None:
    """Tell the last listener that shows it."""
    for listener in reversed(_listeners):
        if listener.say(text):
            return


def reached(share: float) -> None:
    """Tell all listeners how much of the long work is done."""
    for listener in list(_listeners):
        listener.reached(share)


@contextmanager
def working(text: str, done: bool = True) -> Iterator[None]:
    """Tell all listeners of long work while it goes on; not ``done``: the rest is made later."""
    listeners = list(_listeners)
    for listener in listeners:
        listener.busy(text)
    try:
        yield
    finally:
        for listener in listeners:
            if done:
                listener.busy(None)
            else:
                listener.pause()
