"""What searches are worth that a small search speaks against.

    python -m benchmarks.earned [--streams FOLDER] [--rows 20000] [NAME ...]

Errors (mistakes in percent, or RMSE) of the first rows, each predicted before it is learned, and
rows a CPU second: of ``speed="fast"``, which never searches, of the default, and of the default
that searches whenever the rows have doubled. Recorded streams are in the order of time, data sets
are shuffled. Two are made: *friedman*, with noise of 1, and *quadratic*, a b + c² - d of four of
eight normal columns, with noise of 0.3.
"""

from __future__ import annotations

from benchmarks.timing import head, line, one_core  # first: it sets the threads

# isort: split
import argparse
import time
from pathlib import Path

import numpy as np

from benchmarks.streams import shuffled
from onkel import OnlineKernelClassifier, OnlineKernelRegressor
from onkel.datasets import info
from onkel.learners.named import online_kernel
from papers.rows import find_streams

DATA = ("ijcnn1", "covtype_sub93k", "letter", "cod-rna", "cadata")
MADE = ("friedman", "quadratic")
Rows = tuple[np.ndarray, np.ndarray, str]


def rows_of(name: str, folder: Path | None, n: int) -> Rows:
    """X, y and the task."""
    if name == "friedman":
        from sklearn.datasets import make_friedman1

        return *make_friedman1(n, noise=1.0, random_state=0), "regression"
    if name == "quadratic":
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n, 8))
        y = X[:, 0] * X[:, 1] + X[:, 2] ** 2 - X[:, 3] + 0.3 * rng.standard_normal(n)
        return X, y, "regression"
    found = {stream.name: stream for stream in find_streams(folder)} if folder else {}
    if name in found:
        return found[name].read(n)
    return *shuffled(name, n, scaling="none", dtype="float32"), info(name).task


def run(rows: Rows, speed: str = "balanced", every: bool = False) -> tuple[float, float]:
    """The error, and rows a CPU second; ``every``: no search has to be earned."""
    X, y, task = rows
    values = task == "regression"
    model = (OnlineKernelRegressor if values else OnlineKernelClassifier)(speed=speed)
    usual = online_kernel.LEAST_GAIN, online_kernel.LEAST_GAIN_OF_SECOND
    if every:
        online_kernel.LEAST_GAIN = online_kernel.LEAST_GAIN_OF_SECOND = 0.0
    began = time.process_time()
    try:
        p = model.predict_then_learn(X, y)
    finally:
        online_kernel.LEAST_GAIN, online_kernel.LEAST_GAIN_OF_SECOND = usual
    seconds = time.process_time() - began
    error = np.sqrt(np.mean((p - y) ** 2)) if values else 100.0 * np.mean(p != y)
    return float(error), len(y) / seconds


def arguments_of(doc: str | None, **numbers: int) -> argparse.Namespace:
    """Names of data sets or recorded streams, their folder, and ``numbers``; on one core."""
    parser = argparse.ArgumentParser(description=str(doc).splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--streams", type=Path)
    for name, value in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
    one_core()
    return options


def main() -> None:
    options = arguments_of(__doc__, rows=20_000)
    recorded = [stream.name for stream in find_streams(options.streams)] if options.streams else []
    X, y, _ = rows_of("friedman", None, 2100)
    for speed in ("fast", "balanced"):
        run((X, y, "regression"), speed)  # compiles
        run((X, np.digitize(y, [10.0, 16.0]), "classification"), speed)
    titles = "fast", "default", "every search", "rows/s: fast", "default", "every search"
    head("stream", "rows", *titles)
    for name in options.names or [*recorded, *DATA, *MADE]:
        rows = rows_of(name, options.streams, options.rows)
        found = [run(rows, "fast"), run(rows), run(rows, every=True)]
        cells = [f"{error:.4g}" for error, _ in found] + [f"{rate:,.0f}" for _, rate in found]
        line(name, f"{len(rows[1]):,}", *cells)


if __name__ == "__main__":
    main()
