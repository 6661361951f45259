"""What it is worth that cells learn anew what a search leaves.

    python -m benchmarks.cells_anew [--streams FOLDER] [--rows 125000] [--orders 3] [NAME ...]

Errors (mistakes in percent, or RMSE) of the first rows, each predicted before it is learned: of the
default whose cells go on as they are after a search, of the one whose cells learn all rows so far
once, and of the default, whose cells learn them in several epochs where the next rows say so. Then
rows a CPU second of the first and the last. Recorded streams are in the order of time, data sets
are shuffled, and the figures are means over so many orders of theirs.
"""

from __future__ import annotations

from benchmarks.timing import head, line  # first: it sets the threads

# isort: split
from unittest.mock import patch

import numpy as np

from benchmarks.earned import Rows, arguments_of, rows_of, run
from onkel.default import cells_anew
from onkel.default.corrected_by_cells import CorrectedModel
from papers.rows import find_streams

DATA = ("poker_sub125k", "letter", "cadata", "casp", "covtype_sub93k")


def runs(rows: Rows) -> list[tuple[float, float]]:
    """Errors and rows a CPU second: cells as they were, one epoch, several."""
    with patch.object(CorrectedModel, "corrections_anew", lambda self: None):
        former = run(rows)
    with patch.object(cells_anew, "_EPOCHS", 0):
        once = run(rows)
    return [former, once, run(rows)]


def in_order(rows: Rows, seed: int) -> Rows:
    X, y, task = rows
    order = np.random.default_rng(seed).permutation(len(y))
    return X[order], y[order], task


def main() -> None:
    options = arguments_of(__doc__, rows=125_000, orders=3)
    recorded = [stream.name for stream in find_streams(options.streams)] if options.streams else []
    titles = "former cells", "one epoch", "default", "rows/s: former", "default"
    head("data", "rows", *titles)
    for name in options.names or [*DATA, *recorded]:
        rows = rows_of(name, options.streams, options.rows)
        X, y, task = rows
        run((X[:2000], y[:2000], task))  # compiles
        n_orders = 1 if name in recorded else options.orders
        found = [runs(in_order(rows, seed) if seed else rows) for seed in range(n_orders)]
        errors, rates = np.mean(found, axis=0).T
        cells = [f"{error:.4g}" for error in errors] + [f"{rates[i]:,.0f}" for i in (0, 2)]
        line(name, f"{len(y):,}", *cells)


if __name__ == "__main__":
    main()
