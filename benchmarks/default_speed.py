"""Rows a second of the default, search included.

    python -m benchmarks.default_speed [--rows 20000] [--streams FOLDER]

First the streams of :mod:`benchmarks.arf`, as ratios to River's adaptive random forest on the same
rows in the same run; then data sets on which the first search is most of the work. With
``--streams`` only the recorded streams of a folder, in the order of time, beside ``speed="fast"``
and the forest. One core, CPU seconds.
"""

from __future__ import annotations

from benchmarks.timing import arguments, head, line  # first: it sets the threads

# isort: split
import statistics
from pathlib import Path

from benchmarks.arf import of_default, of_forest, streams
from benchmarks.earned import run
from benchmarks.streams import shuffled
from papers.rows import find_streams

WHOLE = {"german": 1_000, "ijcnn1": 32_768, "mnist_test": 10_000}
# The default is held to these: times as fast as the forest, and the share of ``fast``'s rows a
# second where ``fast`` is as good as the default to within NEAR.
TIMES, NEAR = 2.0, 1.01


def compare_with_forest(n: int) -> None:
    """The streams of :mod:`benchmarks.arf`."""
    head("stream", "rows", "default", "forest", "default: rows/s", "forest: rows/s", "×")
    for name, rows in streams(n):
        value, speed = of_default(rows)
        forest, slower = of_forest(rows)
        cells = f"{value:.2f} %", f"{forest:.2f} %", f"{speed:,.0f}", f"{slower:,.0f}"
        line(name, f"{len(rows[1]):,}", *cells, f"{speed / slower:.1f}")


def time_whole_sets() -> None:
    """Data sets on which the first search is most of the work."""
    head("data", "rows", "default", "rows/s", "seconds")
    for name, n_rows in WHOLE.items():
        data = shuffled(name, n_rows, scaling="none", dtype="float32")
        value, speed = of_default(data)
        seconds = len(data[1]) / speed
        line(name, f"{len(data[1]):,}", f"{value:.2f} %", f"{speed:,.0f}", f"{seconds:.1f}")


def compare_on_recorded(folder: Path, n: int) -> None:
    """Recorded streams: errors are mistakes in percent, or the RMSE."""
    titles = "fast", "default", "forest", "rows/s: fast", "default", "forest"
    head("stream", "rows", *titles, "× forest", "of fast")
    times, of_fast = [], []
    for stream in find_streams(folder):
        X, y, task = stream.read(n)
        for speed in ("fast", "balanced"):
            run((X[:2000], y[:2000], task), speed)  # compiles
        found = [run((X, y, task), "fast"), run((X, y, task))]
        found.append(of_forest((X, y), values=task == "regression"))
        (fast, fastest), (default, rate), (_, slowest) = found
        times.append(rate / slowest)
        if fast <= NEAR * default:
            of_fast.append(rate / fastest)
        cells = [f"{error:.4g}" for error, _ in found] + [f"{speed:,.0f}" for _, speed in found]
        share = f"{100.0 * rate / fastest:.0f} %"
        line(stream.name, f"{len(y):,}", *cells, f"{times[-1]:.1f}", share)
    enough = sum(ratio >= TIMES for ratio in times)
    print(f"\nAt least {TIMES:g} × the forest on {enough} of {len(times)} streams, ", end="")
    print(f"in the median {statistics.median(times):.1f} ×. ", end="")
    shares = ", ".join(f"{100.0 * share:.0f} %" for share in sorted(of_fast)) or "none"
    print(f"Of the rows a second of fast, where it is within {NEAR - 1.0:.0%}: {shares}.")


def main() -> None:
    files = {"streams": "a folder of recorded streams, to be timed instead"}
    options = arguments(__doc__, files, rows=20_000)
    if options.streams:
        compare_on_recorded(Path(options.streams), options.rows)
        return
    compare_with_forest(options.rows)
    print()
    time_whole_sets()


if __name__ == "__main__":
    main()
