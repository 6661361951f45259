"""What a search saves, and loses, by steps that look at a part of the rows only.

    python -m benchmarks.search_steps [--streams FOLDER] [--rows 130000] [NAME ...]

Errors (mistakes in percent, or RMSE) of the first rows, each predicted before it is learned, and
rows a CPU second: of the default, and of the default whose searches look at all rows in every step.
Recorded streams are in the order of time, data sets are shuffled.
"""

from __future__ import annotations

from benchmarks.timing import head, line  # first: it sets the threads

# isort: split
from unittest.mock import patch

from benchmarks.earned import DATA, Rows, arguments_of, rows_of, run
from onkel.maps.landmarks import search, small_search


def run_on_all_rows(rows: Rows) -> tuple[float, float]:
    """The error, and rows a CPU second, where every step looks at all rows."""
    of = "parts_of_many", lambda n, m: 1
    with patch.object(search, *of), patch.object(small_search, *of):
        return run(rows)


def main() -> None:
    options = arguments_of(__doc__, rows=130_000)
    head("data", "rows", "all rows", "parts", "rows/s: all rows", "parts", "times as fast")
    for name in options.names or DATA:
        rows = rows_of(name, options.streams, options.rows)
        X, y, task = rows
        run((X[:2000], y[:2000], task))  # compiles
        (error, speed), (of_parts, faster) = run_on_all_rows(rows), run(rows)
        cells = f"{error:.4g}", f"{of_parts:.4g}", f"{speed:,.0f}", f"{faster:,.0f}"
        line(name, f"{len(y):,}", *cells, f"{faster / speed:.2f}")


if __name__ == "__main__":
    main()
