"""Two million flights, shuffled or as they flew: ``python -m benchmarks.airlines [--in-time]``.

The default regressor on minutes of delay, one pass, predicting before learning, on as many cores
as there are. The memory is the most that the process has held so far, the flights themselves
included. It no longer grows once the first rows, kept for the search, are freed.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Iterator

import numpy as np

from benchmarks.streams import in_blocks, shuffled
from onkel import OnlineKernelRegressor, StreamModel
from onkel.datasets import load
from onkel.evaluation.run import PrequentialRun

EVERY = 1 << 18


def held() -> float:
    """Most memory held by the process so far, in megabytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 2**20 if sys.platform == "darwin" else most / 2**10


def line(run: PrequentialRun, seconds: float) -> str:
    cells = f"{run.n_rows:,}", f"{seconds:.0f}", f"{run.value:.2f}", f"{held():.0f}"
    return f"| {' | '.join(cells)} | {run.model.nbytes / 2**20:.1f} |"


def flights(in_time: bool) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Blocks of rows and minutes."""
    if in_time:
        rows = load("airlines_delay", scaling="none", order="time", dtype="float32")
        X, y = rows.X, rows.y
    else:
        X, y = shuffled("airlines_delay", None, scaling="none", dtype="float32")
    return in_blocks(X, y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--in-time", action="store_true", help="by month, day and departure time")
    options = parser.parse_args()
    run = PrequentialRun(StreamModel(OnlineKernelRegressor()), checkpoints="none")
    began, reported = time.perf_counter(), 0
    print("| rows | seconds | RMSE | most memory held, MB | model, MB |")
    print("|---:|---:|---:|---:|---:|")
    for block in flights(options.in_time):
        run.step(block)
        if run.n_rows - reported >= EVERY:
            reported = run.n_rows
            print(line(run, time.perf_counter() - began), flush=True)
    if run.n_rows > reported:
        print(line(run, time.perf_counter() - began), flush=True)


if __name__ == "__main__":
    main()
