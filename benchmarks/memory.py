"""What memory of the target is worth on real streams in the order of time.

    python -m benchmarks.memory FOLDER [NAME ...]
    python -m benchmarks.memory FOLDER [NAME ...] --shuffled 3
    python -m benchmarks.memory --groups 100000

FOLDER holds streams as Parquet files with a target column ``y``. Each is learned whole, row after
row, by the default with ``speed="fast"``, without memory and with it. Beside them stands the last
value (or class) as the prediction. RMSE, or mistakes in percent; every row counts, except the first
for the last value.

``--shuffled N``: what memory costs in error and in processor time where the past says nothing, in N
random orders. ``--groups N``: what a memory for each series costs, on two rows of each of N series
in random order.
"""

from __future__ import annotations

from benchmarks.timing import head, line, one_core  # first: it sets the threads

# isort: split
import argparse
import time
from pathlib import Path

import numpy as np

from onkel import OnlineKernelClassifier, OnlineKernelRegressor
from papers.rows import find_streams


def error(predicted: np.ndarray, y: np.ndarray, classes: bool) -> float:
    """RMSE, or mistakes in percent."""
    if classes:
        return 100.0 * float(np.mean(predicted != y))
    return float(np.sqrt(np.mean((predicted - y) ** 2)))


def learned(X: np.ndarray, y: np.ndarray, classes: bool, memory: str | bool) -> tuple[float, float]:
    """Error before learning, and rows a CPU second."""
    kind = OnlineKernelClassifier if classes else OnlineKernelRegressor
    model, known = kind(speed="fast", memory=memory), {"classes": np.unique(y)} if classes else {}
    began = time.process_time()
    before = model.predict_then_learn(X, y, **known)
    return error(before, y, classes), len(y) / (time.process_time() - began)


def shuffled(X: np.ndarray, y: np.ndarray, classes: bool, orders: int) -> tuple[str, ...]:
    """Errors without and with memory, and by what percent memory adds to error and time."""
    found = []
    for seed in range(orders):
        rows = np.random.default_rng(seed).permutation(len(y))
        without, rate = learned(X[rows], y[rows], classes, memory=False)
        value, slower = learned(X[rows], y[rows], classes, memory="auto")
        found.append((without, value, 1.0 / rate, 1.0 / slower))
    without, value = np.mean(found, axis=0)[:2]
    # on a shared machine the fastest run is the least disturbed
    seconds, more = np.min(found, axis=0)[2:]
    added = f"{100 * (value / without - 1):+.2f} %", f"{100 * (more / seconds - 1):+.1f} %"
    return f"{without:.4g}", f"{value:.4g}", *added


def groups(n: int, rows: int) -> None:
    """What a memory for each of n series costs, beside one memory for all."""
    rng = np.random.default_rng(0)
    key = np.concatenate([rng.permutation(n) for _ in range(-(-rows // n))])[:rows]
    X, level = rng.normal(size=(rows, 5)), rng.normal(size=n)
    y = np.sin(X[:, 0]) + level[key] + 0.3 * rng.normal(size=rows)
    head("series", "rows", "memory", "RMSE", "seconds", "MB")
    for label, more in (("none", None), ("one", {}), ("each", {"groups": key})):
        model = OnlineKernelRegressor(speed="fast", memory=False if more is None else "auto")
        began = time.process_time()
        before = model.predict_then_learn(X, y, **(more or {}))
        spent = f"{time.process_time() - began:.1f}"
        size = f"{model.nbytes_ / 1e6:.1f}"
        line(f"{n:,}", f"{rows:,}", label, f"{error(before, y, False):.4g}", spent, size)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rows", type=int, default=None)
    parser.add_argument("--shuffled", type=int, default=0, metavar="ORDERS")
    parser.add_argument("--groups", type=int, default=0, metavar="SERIES")
    options = parser.parse_args()
    one_core()
    if options.groups:
        groups(options.groups, options.rows or 2 * options.groups)
        return
    if options.shuffled:
        head("data", "rows", "without memory", "with memory", "error", "time")
    else:
        head("stream", "rows", "last", "without memory", "rows/s", "with memory", "rows/s")
    for stream in find_streams(options.folder, options.names):
        X, y, task = stream.read(options.rows)
        classes = task == "classification"
        if options.shuffled:
            line(stream.name, f"{len(y):,}", *shuffled(X, y, classes, options.shuffled))
            continue
        without, rate = learned(X, y, classes, memory=False)
        value, slower = learned(X, y, classes, memory="auto")
        last = error(y[:-1], y[1:], classes)
        cells = [f"{v:.4g}" for v in (last, without, value)]
        rates = f"{rate:,.0f}", f"{slower:,.0f}"
        line(stream.name, f"{len(y):,}", cells[0], cells[1], rates[0], cells[2], rates[1])


if __name__ == "__main__":
    main()
