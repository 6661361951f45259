"""Independent calls, run in processes of one BLAS thread each."""

from __future__ import annotations

import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from onkel.numerics.threads import n_cores

_WORTH_IT = 500_000
"""From so many rows in all, processes save more than the few seconds they take to start."""

Call = Callable[[], Any]


def jobs_for(rows: int, jobs: int | None) -> int:
    """The number of processes: ``jobs``, or else one per core if there are enough rows."""
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs={jobs}: must be at least 1")
    return jobs or (n_cores() if rows >= _WORTH_IT else 1)


def in_processes(calls: Sequence[Call], jobs: int) -> Iterator[tuple[int, Any]]:
    """Number and result of each call, as they end; with ``jobs`` = 1 in this process, in turn.

    The processes ignore interrupts: this one handles them, and ends the others.
    """
    if jobs == 1 or len(calls) < 2:
        for number, call in enumerate(calls):
            yield number, call()
        return
    from joblib import Parallel, delayed, parallel_config

    # a process that has grown is replaced: a user can do nothing about that
    warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
    with parallel_config("loky", n_jobs=min(jobs, len(calls)), inner_max_num_threads=1):
        made = Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="2*n_jobs")
        yield from made(
            delayed(partial(_called, number, call))() for number, call in enumerate(calls)
        )


def _called(number: int, call: Call) -> tuple[int, Any]:
    from threadpoolctl import threadpool_limits

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    with threadpool_limits(1):
        return number, call()
