"""Rows a second of the default, search included: ``python -m benchmarks.default_speed [--rows N]``.

First the streams of :mod:`benchmarks.arf`, as ratios to River's adaptive random forest on the same
rows in the same run; then data sets on which the first search is most of the work. One core, CPU
seconds.
"""

from __future__ import annotations

from benchmarks.timing import arguments, head, line  # first: it sets the threads

# isort: split
from benchmarks.arf import of_default, of_forest, streams
from benchmarks.streams import shuffled

WHOLE = {"german": 1_000, "ijcnn1": 32_768, "mnist_test": 10_000}


def main() -> None:
    options = arguments(__doc__, rows=20_000)
    head("stream", "rows", "default", "forest", "default: rows/s", "forest: rows/s", "×")
    for name, rows in streams(options.rows):
        value, speed = of_default(rows)
        forest, slower = of_forest(rows)
        cells = f"{value:.2f} %", f"{forest:.2f} %", f"{speed:,.0f}", f"{slower:,.0f}"
        line(name, f"{len(rows[1]):,}", *cells, f"{speed / slower:.1f}")
    print()
    head("data", "rows", "default", "rows/s", "seconds")
    for name, n_rows in WHOLE.items():
        data = shuffled(name, n_rows, scaling="none", dtype="float32")
        value, speed = of_default(data)
        seconds = len(data[1]) / speed
        line(name, f"{len(data[1]):,}", f"{value:.2f} %", f"{speed:,.0f}", f"{seconds:.1f}")


if __name__ == "__main__":
    main()
