"""Features of the next rows, made in other threads while these rows are learned.

Fixed features do not depend on the weights. The parts of a block keep their sizes, whatever
the number of threads, and each is made by the same calls: the result is the same bit for bit.
"""

from __future__ import annotations

import contextvars
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator

import numpy as np

from onkel.numerics.threads import helpers, n_threads, scratch

# Buffers for parts that wait or are being learned. With one alone the threads would wait for each
# other at every part, and the system puts threads that wake each other on one core.
_WAITING = 3

Span = tuple[int, int]
Make = Callable[[int, int, np.ndarray], np.ndarray]


def features_in_turn(
    make: Make, parts: list[Span], m: int, dtype: np.dtype
) -> Generator[np.ndarray, None, None]:
    """The features of each part, in order.

    ``make(a, b, out)`` gives the features (b - a, m) of rows a to b; it may use ``out`` for them.
    What it gave is valid until the next part is asked for. Close the generator at the end: until
    then other threads may wait for more to do.
    """
    threads = min(n_threads(), len(parts))
    most = max((b - a for a, b in parts), default=0)
    # each thread makes a part, and some wait to be learned
    buffers = [scratch(f"features {i}", (most, m), dtype) for i in range(threads + _WAITING)]
    if threads < 2:
        for a, b in parts:
            yield make(a, b, buffers[0][: b - a])
        return
    line = _Line(make, parts, buffers)
    futures = [
        helpers().submit(contextvars.copy_context().run, line.work) for _ in range(threads - 1)
    ]
    try:
        yield from line.in_turn()
    finally:
        line.close()
        for future in futures:
            if not future.cancel():
                future.result()


class _Line:
    """Parts that several threads make; one of them takes the parts in order."""

    def __init__(self, make: Make, parts: list[Span], buffers: list[np.ndarray]) -> None:
        self._make, self._parts = make, parts
        self._free, self._begun = deque(buffers), 0
        self._made: dict[int, tuple[np.ndarray, np.ndarray | BaseException]] = {}
        self._changed = threading.Condition()
        self._closed = False

    def work(self) -> None:
        """Make parts until all are begun or nobody wants them."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._free or self._over())
                if self._over():
                    return
                i, buffer = self._begin()
            self._finish(i, buffer)

    def in_turn(self) -> Iterator[np.ndarray]:
        """The features of each part; raises what making them raised."""
        for i in range(len(self._parts)):
            buffer, made = self._wait_for(i)
            if isinstance(made, BaseException):
                raise made
            yield made
            with self._changed:
                self._free.append(buffer)
                self._changed.notify_all()

    def close(self) -> None:
        """No more parts are wanted."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _over(self) -> bool:
        return self._closed or self._begun == len(self._parts)

    def _begin(self) -> tuple[int, np.ndarray]:
        self._begun += 1
        return self._begun - 1, self._free.popleft()

    def _finish(self, i: int, buffer: np.ndarray) -> None:
        a, b = self._parts[i]
        made: np.ndarray | BaseException
        try:
            made = self._make(a, b, buffer[: b - a])
        except BaseException as error:
            # it is raised where the part is asked for
            made = error
        with self._changed:
            self._made[i] = buffer, made
            self._changed.notify_all()

    def _wait_for(self, i: int) -> tuple[np.ndarray, np.ndarray | BaseException]:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: i in self._made or (self._free and not self._over()))
                if i in self._made:
                    return self._made.pop(i)
                task = self._begin()
            self._finish(*task)
