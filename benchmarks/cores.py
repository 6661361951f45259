"""Features computed on a second thread: ``python -m benchmarks.cores [--rows N] [--rounds N]``.

Each learner on one thread and on two, in turn; medians. Both must learn the same model.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from benchmarks.streams import learn, nonlinear
from onkel.algorithms import make

# not imported from benchmarks.speed, as that limits the process to one thread
GAMMA = 1 / 44
#: title: algorithm, its parameters, and the share of the rows that it learns
LEARNERS: dict[str, tuple[str, dict[str, Any], float]] = {
    "FOGD, 1 600 frequencies": ("fogd", {"n_components": 1600, "random_state": 0}, 1.0),
    "NOGD, 400 landmarks": ("nogd", {"n_components": 400}, 1.0),
    "krls, 500 landmarks": ("krls", {"n_components": 500}, 0.4),
}


def timed(name: str, params: dict[str, Any], threads: int, X: Any, y: Any) -> tuple[float, Any]:
    """Seconds, and what was learned."""
    model = make(name, gamma=GAMMA, **params)
    with threadpool_limits(threads):
        start = time.perf_counter()
        mistakes = learn(model, X, y)
        seconds = time.perf_counter() - start
    return seconds, (mistakes, model.coef_)


def compared(name: str, params: dict[str, Any], X: Any, y: Any, rounds: int) -> list[float]:
    """Median seconds on one thread and on two."""
    learned = [timed(name, params, threads, X, y)[1] for threads in (1, 2)]
    if learned[0][0] != learned[1][0] or not np.array_equal(learned[0][1], learned[1][1]):
        raise AssertionError(f"{name}: two threads learn another model than one")
    seconds: list[list[float]] = [[], []]
    for _ in range(rounds):
        for threads in (1, 2):
            seconds[threads - 1].append(timed(name, params, threads, X, y)[0])
    return [statistics.median(values) for values in seconds]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=11)
    options = parser.parse_args()
    table = Table(title="Seconds of one pass, 22 columns; the same model bit for bit")
    for head in ("learner", "rows", "1 thread", "2 threads", "times as fast"):
        table.add_column(head, justify="left" if head == "learner" else "right")
    for title, (name, params, share) in LEARNERS.items():
        X, y = nonlinear(int(options.rows * share))
        one, two = compared(name, params, X, y, options.rounds)
        table.add_row(title, f"{len(y):,}", f"{one:.3f}", f"{two:.3f}", f"{one / two:.2f}")
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
