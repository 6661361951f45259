"""What comes through a pipe, and whether it is poured in, so that nobody waits for one answer."""

from __future__ import annotations

import os
import select
import time
from collections import deque
from contextlib import suppress

_READ = 1 << 16
# A larger pipe holds the rows of a moment in which nothing is read.
_ROOM = 1 << 20
# So many bytes at once are unusual (at first, fewer), and what comes then is looked at.
_MUCH, _MUCH_AT_FIRST, _FIRST = 1 << 19, 1 << 15, 1 << 16
# Seconds that it is looked at, at most, and those after which it counts: what had been held up
# comes first. In each so many seconds from then on it must come fast.
_LOOK, _COUNT_FROM, _EACH = 0.11, 0.01, 0.02
# Bytes and lines a second that are poured. A process answers some 50,000 rows a second.
_MOST, _TOO_FAST = 1 << 23, 100_000
# Seconds until the next look.
_REST = 0.5


class Arrivals:
    """The bytes that come from a file descriptor.

    Are rows poured in, from a file or by a program that makes them? Then each is to be predicted
    after all labels before it. Or does somebody wait for each answer? Rows that come faster than
    they could be answered, or that were all there at the start, are poured.
    """

    def __init__(self, source: int, in_order: bool = False) -> None:
        # ``in_order``: rows are taken so in any case. More room would only make them wait longer.
        self._source, self._in_order = source, in_order
        self.is_poured: bool = False
        self._n_read, self._was_much = 0, False
        self._looked = -_REST
        # what was read already
        self._ahead: deque[bytes] = deque()
        if not in_order:
            _widen(source)

    def wait(self, seconds: float) -> bool:
        """Whether something has come, within so many seconds; an end comes, too."""
        return bool(self._ahead or self._is_there(seconds))

    @property
    def has_more(self) -> bool:
        """Whether more has come than `read` has returned."""
        return bool(self._ahead) or (self._was_much and self._is_there(0.0))

    def read(self) -> bytes:
        """What has come, some of it; nothing at the end."""
        if not self._ahead:
            data = os.read(self._source, _MUCH)
            # a writer begins with small pieces
            first = self._n_read < _FIRST
            self._n_read += len(data)
            self._was_much = len(data) == _MUCH
            if first and _has_ended(self._source):
                self.is_poured = True
            elif self._may_look and len(data) >= (_MUCH_AT_FIRST if first else _MUCH):
                data += self._look()
            self._ahead.extend(data[a : a + _READ] for a in range(0, len(data), _READ))
        return self.rest()

    def rest(self) -> bytes:
        """What was read already, some of it."""
        return self._ahead.popleft() if self._ahead else b""

    @property
    def _may_look(self) -> bool:
        return not (self.is_poured or self._in_order)

    def _look(self) -> bytes:
        """Read on for a moment, and see whether it goes on coming fast; what was read."""
        began = now = time.monotonic()
        if began - self._looked < _REST:
            return b""
        found, n_lines, counts, until = bytearray(), 0, False, began + _COUNT_FROM
        while not self.is_poured:
            if self._is_there(max(until - now, 0.0)):
                data = os.read(self._source, _READ)
                found += data
                n_lines += data.count(b"\n")
                # all of it is there, or more than a writer keeps that was held up
                self.is_poured = not data or len(found) >= _MOST
            now = time.monotonic()
            if now >= until:
                if counts and n_lines <= _TOO_FAST * _EACH:
                    break
                self.is_poured |= now >= began + _LOOK
                n_lines, counts, until = 0, True, now + _EACH
        self._looked = now
        return bytes(found)

    def _is_there(self, seconds: float) -> bool:
        return bool(select.select([self._source], [], [], seconds)[0])


def _widen(source: int) -> None:
    """Give a pipe more room, where the system lets a process do so."""
    import fcntl

    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with suppress(OSError):
            fcntl.fcntl(source, fcntl.F_SETPIPE_SZ, _ROOM)


def _has_ended(source: int) -> bool:
    """Whether nobody writes to a pipe any more; what was written may still be there."""
    poll = select.poll()
    poll.register(source, select.POLLIN)
    return any(event & select.POLLHUP for _, event in poll.poll(0))
