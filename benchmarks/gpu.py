"""What a GPU is worth: ``python -m benchmarks.gpu [--device cpu] [--rows 10000000] [NAME ...]``.

The default learns each task in one pass, predicting before learning. Seconds by the clock, one
thread of the processor, compiled loops warm:

*narrow*: made rows of 22 columns, 500 landmarks. *landmarks*: a hundredth of these rows, 2,000
landmarks. *wide*: the digits of MNIST, 784 columns and ten classes, 500 landmarks.
"""

from __future__ import annotations

from benchmarks.timing import head, line  # first: it sets the threads

# isort: split
import argparse
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.streams import BLOCK, in_blocks, nonlinear, shuffled
from onkel import OnlineKernelClassifier
from onkel.numerics.devices import DEVICES

# Rows of a first line, where there are more: they contain all searches.
FIRST = 1_000_000

Blocks = Iterator[tuple[np.ndarray, np.ndarray]]


def made(n: int) -> Blocks:
    """Blocks of n made rows."""
    for a in range(0, n, BLOCK):
        yield nonlinear(min(BLOCK, n - a), seed=a)


def digits() -> Blocks:
    X, y = shuffled("mnist", None, scaling="none", dtype="float32")
    return in_blocks(X, y)


def learn(blocks: Blocks, classes: int, **options: Any) -> Iterator[tuple[int, float, float]]:
    """Rows, mistakes in percent, and seconds without those of making the rows.

    They are given after a million rows, and at the end.
    """
    model = OnlineKernelClassifier(**options)
    rows, wrong, spent = 0, 0, 0.0
    for X, y in blocks:
        if rows <= FIRST < rows + len(y):
            yield rows, 100.0 * wrong / rows, spent
        began = time.perf_counter()
        before = model.predict_then_learn(X, y, classes=None if rows else np.arange(classes))
        spent += time.perf_counter() - began
        rows += len(y)
        wrong += int((before != y).sum())
    yield rows, 100.0 * wrong / rows, spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="narrow, landmarks, wide")
    parser.add_argument("--device", default="cuda", choices=DEVICES)
    parser.add_argument("--rows", type=int, default=10_000_000)
    options = parser.parse_args()
    list(learn(made(2000), 2, n_components=50, device=options.device))  # compiles
    head("task", "device", "rows", "mistakes", "seconds", "rows/s", left=2)
    for name in options.names or ("narrow", "landmarks", "wide"):
        wide, landmarks = name == "wide", name == "landmarks"
        blocks = digits() if wide else made(options.rows // (100 if landmarks else 1))
        components, classes = 2000 if landmarks else 500, 10 if wide else 2
        how = {"n_components": components, "device": options.device}
        for rows, error, spent in learn(blocks, classes, **how):
            speed = f"{rows / spent:,.0f}"
            line(name, options.device, f"{rows:,}", f"{error:.2f} %", f"{spent:.0f}", speed)


if __name__ == "__main__":
    main()
