"""Threads: one for BLAS where blocks are small, the others for other work meanwhile.

A block's matrix products take microseconds; handing them to a second thread costs more than it
saves (measured: up to 50 times slower), so the learners run them on one. Meanwhile other threads
can make the features of the next rows (:mod:`onkel.explicit.features_ahead`), or do a part of the
same work (:func:`side_by_side`). A learner uses as many threads as BLAS was given:
``OMP_NUM_THREADS=1``, or ``threadpoolctl.threadpool_limits(1)``, stops that. Each thread has
scratch memory of its own (:func:`scratch`).
"""

from __future__ import annotations

import contextvars
import math
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache, partial
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from onkel.annotations import DTypeLike

T = TypeVar("T")

# Below this many rows a product is too small for BLAS to thread, and the switch would cost more.
_FEW_ROWS = 16


class _Own(threading.local):
    """What each calling thread has for itself."""

    #: threads it may use, inside of :func:`one_blas_thread`
    threads = 0


_own = _Own()


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@cache
def n_cores() -> int:
    """Cores that this process may use."""
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return own or 1


class one_blas_thread:
    """A context in which BLAS uses one thread; for very few rows nothing is switched."""

    def __init__(self, n_rows: int = _FEW_ROWS) -> None:
        self._switches = n_rows >= _FEW_ROWS and not _own.threads
        self._limit: Any = None

    def __enter__(self) -> None:
        if self._switches:
            # asking takes a microsecond; switching takes ten
            most = 1
            for library in _controller().lib_controllers:
                if library.user_api == "blas":
                    most = max(most, library.num_threads)
            if most > 1:
                self._limit = _controller().limit(limits=1, user_api="blas")
            _own.threads = min(most, n_cores())

    def __exit__(self, *_: object) -> None:
        if self._switches:
            _own.threads = 0
            if self._limit is not None:
                self._limit.restore_original_limits()


def keep_one_blas_thread() -> None:
    """BLAS uses one thread from now on, whichever thread of the process calls it.

    The last digits of sums then do not depend on that: with more, a thread that is not the main one
    rounds some of them otherwise.
    """
    import scipy.linalg  # noqa: F401  (its BLAS is another than NumPy's, and must be loaded)

    ThreadpoolController().limit(limits=1, user_api="blas")


def n_threads() -> int:
    """Threads for work beside BLAS, that of the caller among them; 1 where BLAS may use more."""
    return _own.threads or 1


@cache
def helpers() -> ThreadPoolExecutor:
    """Threads that wait for work; they begin when they are first needed."""
    # some make features ahead, and as many others take a part of the work
    return ThreadPoolExecutor(2 * max(n_cores() - 1, 1), thread_name_prefix="onkel")


def side_by_side(works: Sequence[Callable[[], T]]) -> list[T]:
    """What each of the works gives; in threads of their own where the caller may use them.

    They must not write to the same place. What one of them raises is raised once all have ended.
    """
    if n_threads() < 2 or len(works) < 2:
        return [work() for work in works]
    others = works[1:]
    futures = [helpers().submit(contextvars.copy_context().run, work) for work in others]
    try:
        found = [works[0]()]
        for work, future in zip(others, futures, strict=True):
            # what no thread has begun is done here
            found.append(work() if future.cancel() else future.result())
    finally:
        wait([future for future in futures if not future.cancel()])
    return found


class Line:
    """Works that another thread does in the order in which they are given. Close it at the end.

    Those that nothing waits for are done in an order of their own: by the other thread when it has
    nothing else to do, and by the caller once two of them wait. Where no thread is free, the caller
    does all.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._soon, self._later = deque[Callable[[], Any]](), deque[Callable[[], Any]]()
        self._done = deque[tuple[Any, BaseException | None]]()
        # whether a thread does one of the later works, and what one of them raised
        self._busy, self._failed = False, list[BaseException]()
        self._closed = False
        self._other = helpers().submit(contextvars.copy_context().run, self._work)

    def give(self, work: Callable[[], Any]) -> None:
        """The next work, whose result is to be taken."""
        with self._changed:
            self._soon.append(work)
            self._changed.notify_all()

    def give_later(self, work: Callable[[], Any]) -> None:
        """The next work that nothing waits for; the caller may do one."""
        with self._changed:
            self._later.append(work)
            self._changed.notify_all()
            if len(self._later) < 2 or self._busy:
                return
            later = self._begin_later()
        self._do_later(later)

    def take(self) -> Any:
        """What the next work gives, once it is done; raises what it raised."""
        if self._other.cancel():
            return self._soon.popleft()()
        with self._changed:
            self._changed.wait_for(lambda: self._done)
            found, error = self._done.popleft()
        if error is not None:
            raise error
        return found

    def close(self) -> None:
        """Wait until all works are done; raises what one that nothing waited for has raised."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._other.cancel():
            self._work()
        else:
            self._other.result()
        if self._failed:
            raise self._failed[0]

    def _work(self) -> None:
        """Do works until there are no more."""
        while True:
            with self._changed:
                self._changed.wait_for(
                    lambda: self._soon or self._may_do_later() or (self._closed and not self._busy)
                )
                if self._soon:
                    work, do = self._soon.popleft(), self._do_soon
                elif self._later:
                    work, do = self._begin_later(), self._do_later
                else:
                    return
            do(work)

    def _do_soon(self, work: Callable[[], Any]) -> None:
        found: tuple[Any, BaseException | None]
        try:
            found = work(), None
        except BaseException as error:
            # it is raised where the result is taken
            found = None, error
        with self._changed:
            self._done.append(found)
            self._changed.notify_all()

    def _may_do_later(self) -> bool:
        return bool(self._later) and not self._busy

    def _begin_later(self) -> Callable[[], Any]:
        self._busy = True
        return self._later.popleft()

    def _do_later(self, work: Callable[[], Any]) -> None:
        try:
            work()
        except BaseException as error:
            # it is raised at the end
            self._failed.append(error)
        with self._changed:
            self._busy = False
            self._changed.notify_all()


def in_halves(make: Callable[[int], T], n: int, most: int) -> Iterator[list[T]]:
    """What ``make`` gives for 0 to n - 1, in lists of ``most``; two threads make half of each."""
    for start in range(0, n, most):
        middle, end = min(start + most // 2, n), min(start + most, n)
        halves = [range(start, middle), range(middle, end)]
        found = side_by_side([partial(_each, make, half) for half in halves if half])
        yield [one for half in found for one in half]


def _each(make: Callable[[int], T], numbers: range) -> list[T]:
    return [make(number) for number in numbers]


if hasattr(os, "register_at_fork"):
    # a forked process has none of its parent's threads
    os.register_at_fork(after_in_child=helpers.cache_clear)


_scratch = threading.local()


def scratch(name: str, shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
    """An uninitialised C-contiguous array, valid until the next call of the same name."""
    arrays: dict[str, np.ndarray] = _scratch.__dict__
    last = arrays.get(name)
    if last is not None and last.shape == shape and last.dtype == dtype:
        return last
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    buffer = None if last is None else last.base
    if buffer is None or buffer.nbytes < n_bytes:
        buffer = np.empty(n_bytes, np.uint8)
    arrays[name] = buffer[:n_bytes].view(dtype).reshape(shape)
    return arrays[name]
