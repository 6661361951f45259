"""What comes through a pipe, and whether it is poured in, so that nobody waits for one answer."""

from __future__ import annotations

import os
import select
import time
from collections import deque
from contextlib import suppress

# Bytes that are answered at a time, and that are read at once.
_READ, _MUCH = 1 << 16, 1 << 20
# A larger pipe holds the rows of a moment in which nothing is read.
_ROOM = 1 << 20
# Lines and bytes that may come in a second; a process answers some 30,000 rows.
_LINES, _BYTES = 50_000, 1 << 24
# Seconds that a writer may have been held up, by others than us.
_HELD_UP = 1.0
# Bytes that may be read ahead.
_MOST = 1 << 26
# Where so many of the first bytes came at once, it is looked for so many seconds whether more than
# that comes in them, and again, for so long at most.
_FIRST, _MUCH_AT_FIRST, _EACH, _LONGEST = 1 << 16, 1 << 15, 0.05, 2.0


class Arrivals:
    """The bytes that come from a file descriptor.

    Are rows poured in, from a file or by a program that makes them? Then each is to be predicted
    after all labels before it. Or does somebody wait for each answer? Rows that were all there at
    the start are poured, and rows of which more have come than could since the pipe was empty: who
    writes at a pace and was held up by us never has more lines than the time allows. So it must be
    known how many have come, and `look` reads ahead.
    """

    def __init__(self, source: int, in_order: bool = False, began: float | None = None) -> None:
        # ``in_order``: rows are taken so in any case. To read ahead would only make them wait.
        # ``began``: since when a writer may have been held up, of the clock `time.monotonic`
        self._source, self._in_order = source, in_order
        self.is_poured: bool = False
        self._n_read, self._n_held, self._has_ended = 0, 0, False
        #: seconds in which what was read may come, all of it
        self._worth = 0.0
        #: the same less the seconds that there were; above 0 it came too fast
        self._excess, self._looked = -_HELD_UP, time.monotonic() if began is None else began
        #: what came while other rows were answered, and what is answered next
        self._coming = list[bytes]()
        self._ahead: deque[bytes] = deque()
        if not in_order:
            _widen(source)

    def wait(self, seconds: float) -> bool:
        """Whether something has come, within so many seconds; an end comes, too."""
        return bool(self._ahead or self._coming or self._has_ended or self._is_there(seconds))

    @property
    def has_more(self) -> bool:
        """Whether more came together than `read` has returned."""
        return bool(self._ahead)

    def read(self) -> bytes:
        """What has come, some of it; nothing at the end."""
        if not (self._ahead or self._coming or self._has_ended):
            first = self._n_read < _FIRST
            self._take_in()
            if first and _has_ended(self._source):
                self.is_poured = True
            elif first and self._n_held >= _MUCH_AT_FIRST and not self._in_order:
                self._look_at_first()
            else:
                self.look()
        return self.rest()

    def rest(self) -> bytes:
        """What was read already, some of it."""
        if not self._ahead and self._coming:
            data = b"".join(self._coming)
            self._coming = []
            self._ahead.extend(data[a : a + _READ] for a in range(0, len(data), _READ))
        data = self._ahead.popleft() if self._ahead else b""
        self._n_held -= len(data)
        return data

    def look(self) -> None:
        """Read ahead what has come, and see whether it is poured in."""
        if self._in_order or self._has_ended:
            return
        # a pipe may be filled again meanwhile
        times = 0
        while times < 2 and self._n_held < _MOST and self._is_there(0.0):
            self._take_in()
            times += 1
            if self._has_ended:
                return
        now = time.monotonic()
        self._excess -= now - self._looked
        self._looked = now
        is_empty = times < 2 and self._n_held < _MOST
        if is_empty:
            self._excess = max(self._excess, -_HELD_UP)
        if self._excess > 0.0:
            self.is_poured = True
        elif is_empty:
            self.is_poured = False

    def _take_in(self) -> None:
        """Read some bytes, for which it waits."""
        data = os.read(self._source, _READ if self._in_order else _MUCH)
        self._has_ended = not data
        self._coming.append(data)
        self._n_held += len(data)
        self._n_read += len(data)
        seconds = max(data.count(b"\n") / _LINES, len(data) / _BYTES)
        self._excess += seconds
        self._worth += seconds

    def _look_at_first(self) -> None:
        """Read on for as long as much comes: at the start no answer is late."""
        before, until, end = -1.0, 0.0, time.monotonic() + _LONGEST
        while not (self.is_poured or self._has_ended):
            now = time.monotonic()
            if now >= until:
                if self._worth - before <= _EACH:
                    return
                if now > end:
                    break
                before, until = self._worth, now + _EACH
            if self._is_there(max(until - now, 0.0)):
                self.look()
        self.is_poured = True

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
