"""Threads: one for BLAS where blocks are small, the others for work that can be done beside.

A block's matrix products take microseconds; handing them to a second thread costs more than it
saves (measured: up to 50 times slower), so the learners run them on one. Meanwhile other threads
can make the features of the next rows: :mod:`onkel.explicit.features_ahead`. A learner uses as many
as BLAS was given: ``OMP_NUM_THREADS=1``, or ``threadpoolctl.threadpool_limits(1)``, stops that.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache

from threadpoolctl import ThreadpoolController

# Below this many rows a product is too small for BLAS to thread, and the switch would cost more.
_FEW_ROWS = 16


class _Own(threading.local):
    """What is true for one thread of the caller."""

    #: threads it may use, inside of :func:`one_blas_thread`
    threads = 0


_own = _Own()


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def _threads() -> list[int]:
    """Of each BLAS that is loaded: asking takes a microsecond, the switch a hundred."""
    return [lib.num_threads for lib in _controller().lib_controllers if lib.user_api == "blas"]


@cache
def _cores() -> int:
    """Cores that this process may use."""
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return own or 1


def one_blas_thread(n_rows: int = _FEW_ROWS) -> AbstractContextManager[object]:
    """A context in which BLAS uses one thread; with fewer rows it may use what it likes."""
    if n_rows < _FEW_ROWS or _own.threads:
        return nullcontext()
    return _one_blas_thread()


@contextmanager
def _one_blas_thread() -> Iterator[None]:
    most = max(_threads(), default=1)
    _own.threads = min(most, _cores())
    try:
        with _controller().limit(limits=1, user_api="blas") if most > 1 else nullcontext():
            yield
    finally:
        _own.threads = 0


def n_threads() -> int:
    """Threads for work beside BLAS, that of the caller among them; 1 where BLAS may use more."""
    return _own.threads or 1


@cache
def helpers() -> ThreadPoolExecutor:
    """Threads that wait for work; they begin when they are first needed."""
    return ThreadPoolExecutor(max(_cores(), 2) - 1, thread_name_prefix="onkel")


if hasattr(os, "register_at_fork"):
    # a forked process has none of its parent's threads
    os.register_at_fork(after_in_child=helpers.cache_clear)
