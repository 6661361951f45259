"""What more landmarks are worth: ``python -m benchmarks.landmarks [--picture FILE]``.

The default learner with 62 to 1 000 landmarks, without cells of pairs, on the first 50 000 rows of
shuffled data (seed 0): mistakes made before learning, rows a CPU second of all rows, search
included, and of the last fifth of them, when the search is over. Prints Markdown.
"""

from __future__ import annotations

from benchmarks.timing import one_core  # first: it sets the threads

# isort: split
import argparse
import time

import numpy as np

from benchmarks.picture import over_budgets
from benchmarks.streams import shuffled
from onkel import OnlineKernelClassifier

DATA = ("ijcnn1", "w8a", "cod-rna", "poker_sub125k")
BUDGETS = (62, 125, 250, 500, 1000)
N_ROWS = 50_000


def measure(X: np.ndarray, y: np.ndarray, budget: int) -> tuple[float, float, float]:
    """Percent of mistakes, rows a second of all rows and of the last fifth."""
    model = OnlineKernelClassifier(budget=budget, pairs=False)
    wrong, seconds, first = 0, [], len(y) * 4 // 5
    for rows in (slice(0, first), slice(first, len(y))):
        began = time.process_time()
        wrong += int(np.sum(model.predict_then_learn(X[rows], y[rows]) != y[rows]))
        seconds.append(time.process_time() - began)
    return 100.0 * wrong / len(y), len(y) / sum(seconds), (len(y) - first) / seconds[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture", help="draw the errors there")
    options = parser.parse_args()
    one_core()
    OnlineKernelClassifier().fit(np.eye(600), np.arange(600) % 2)  # compiles
    print("| data | landmarks | mistakes | rows/s | rows/s after the search |")
    print("|---|---:|---:|---:|---:|")
    errors: dict[str, list[float]] = {}
    for name in DATA:
        X, y = shuffled(name, N_ROWS, scaling="none", dtype="float64")
        for budget in BUDGETS:
            mistakes, whole, after = measure(X, y, budget)
            errors.setdefault(name, []).append(mistakes)
            print(
                f"| {name} | {budget} | {mistakes:.2f} % | {whole:,.0f} | {after:,.0f} |",
                flush=True,
            )
    if options.picture:
        curves = [(name, values, "o-") for name, values in errors.items()]
        over_budgets(options.picture, BUDGETS, curves, ("landmarks", "mistakes before learning, %"))


if __name__ == "__main__":
    main()
