"""Two million flights from their file: ``python -m benchmarks.airlines``.

The default regressor on minutes of delay, one pass over the Parquet file, predicting before
learning, on as many cores as there are. The memory is the most that the process has held so far:
it stays where it is once the first rows, kept for the search, are gone.
"""

from __future__ import annotations

import resource
import sys
import time

from onkel import OnlineKernelRegressor, StreamModel
from onkel.datasets.store import path
from onkel.evaluation.run import PrequentialRun
from onkel.streams import open_stream

ROWS = "airlines_delay"
EVERY = 1 << 18


def held() -> float:
    """Megabytes, the most so far."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 2**20 if sys.platform == "darwin" else most / 2**10


def line(run: PrequentialRun, seconds: float) -> str:
    cells = f"{run.n_rows:,}", f"{seconds:.0f}", f"{run.value:.2f}", f"{held():.0f}"
    return f"| {' | '.join(cells)} | {run.model.nbytes / 2**20:.1f} |"


def main() -> None:
    run = PrequentialRun(StreamModel(OnlineKernelRegressor()), checkpoints="none")
    began, lines = time.perf_counter(), 0
    print("| rows | seconds | RMSE, minutes | most memory held, MB | model, MB |")
    print("|---:|---:|---:|---:|---:|")
    stream = open_stream(path(ROWS), target="y", exclude=["split"])
    for block in stream:
        run.step(block)
        if run.n_rows >= (lines + 1) * EVERY or run.n_rows == stream.n_rows:
            lines += 1
            print(line(run, time.perf_counter() - began), flush=True)


if __name__ == "__main__":
    main()
