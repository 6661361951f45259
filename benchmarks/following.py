"""What following changes costs: ``python -m benchmarks.following [--rows N] [--streams FOLDER]``.

Streams made to raise alarms: two concepts that change places every 300 and every 1 000 rows, a new
one every 1 000, and every 10 000. With FOLDER also its electricity8 (half-hourly prices). Each is
learned by the default with and without its restart. *Work* is the work of challengers, and of the
fits of those that took over, divided by the work of learning itself, as
:mod:`onkel.default.compute_budget` counts it; *most* is its largest value on the way. One core, CPU
seconds.
"""

from __future__ import annotations

from benchmarks.timing import arguments, head, line  # first: it sets the threads

# isort: split
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from onkel import OnlineKernelClassifier
from onkel.datasets import drift_stream
from papers.rows import StreamFile

KINDS = {
    "flips": ("recurring", 300),
    "longer flips": ("recurring", 1000),
    "concepts": ("abrupt", 1000),
    "abrupt": ("abrupt", 10_000),
}
BLOCK = 64


def streams(n_rows: int, folder: str | None) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Name, rows and labels."""
    for name, (kind, period) in KINDS.items():
        blocks = list(drift_stream(kind, n_rows, period=period))
        yield name, np.concatenate([b.X for b in blocks]), np.concatenate([b.y for b in blocks])
    if folder:
        yield "electricity8", *StreamFile(Path(folder) / "electricity8.parquet").read()[:2]


def learned(X: np.ndarray, y: np.ndarray, restart: bool) -> tuple[float, float, list[float], int]:
    """Mistakes in percent, CPU seconds, the work of following after each block, and changes."""
    model = OnlineKernelClassifier(restart=restart, memory=False)
    classes, wrong, shares = np.unique(y), 0, [0.0]
    began = time.process_time()
    for a in range(0, len(y), BLOCK):
        labels = y[a : a + BLOCK]
        before = model.predict_then_learn(X[a : a + BLOCK], labels, classes=classes)
        wrong += int((before != labels).sum())
        if restart:
            budget = model.model_.budget
            shares.append(budget.followed / max(budget.learned, 1))
    seconds = time.process_time() - began
    return 100.0 * wrong / len(y), seconds, shares, len(model.changes_)


def main() -> None:
    options = arguments(__doc__, {"streams": "a folder with electricity8.parquet"}, rows=20_000)
    learned(*next(streams(2048, None))[1:], restart=True)  # compiles
    titles = "default", "without restart", "changes", "work", "most", "seconds", "without restart"
    head("stream", "rows", *titles)
    for name, X, y in streams(options.rows, options.streams):
        (own, taken, shares, changes), (still, alone, *_) = (
            learned(X, y, restart) for restart in (True, False)
        )
        cells = f"{own:.2f} %", f"{still:.2f} %", changes, f"{shares[-1]:.2f}", f"{max(shares):.2f}"
        line(name, f"{len(y):,}", *cells, f"{taken:.1f}", f"{alone:.1f}")


if __name__ == "__main__":
    main()
