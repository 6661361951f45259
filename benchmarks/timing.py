"""Timing on a shared machine: one core, interleaved rounds, medians, ratios within one run."""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"


def one_core() -> None:
    """Pin this process to one core, where the system can."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def arguments(doc: str, files: dict[str, str] | None = None, **numbers: int) -> argparse.Namespace:
    """Options of a benchmark on one core: ``numbers`` with defaults, ``files`` with help texts."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    for name, what in (files or {}).items():
        parser.add_argument(f"--{name}", help=what)
    options = parser.parse_args()
    one_core()
    return options


def head(*titles: str, left: int = 1) -> None:
    """Print the head of a Markdown table; the first ``left`` columns are text."""
    print(f"| {' | '.join(titles)} |")
    print("|" + "---|" * left + "---:|" * (len(titles) - left), flush=True)


def line(*cells: object) -> None:
    """Print a line of a Markdown table."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def seconds(tasks: dict[str, Callable[[], object]], rounds: int = 5) -> dict[str, float]:
    """Median seconds of each task over ``rounds`` rounds that run all of them in turn.

    One unmeasured round first: it compiles and warms caches.
    """
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for task in tasks.values():
        task()
    for _ in range(rounds):
        for name, task in tasks.items():
            start = time.perf_counter()
            task()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in times.items()}


def rate(n_rows: int, duration: float) -> str:
    """Rows per second, readable."""
    value = n_rows / duration
    return f"{value / 1e6:.2f} M/s" if value >= 1e6 else f"{value / 1e3:.1f} k/s"
