"""What more landmarks are worth: ``python -m benchmarks.landmarks [--picture FILE]``.

The default learner with 62 to 1 000 landmarks, without cells of pairs, on the first 50 000 rows of
shuffled data (seed 0): mistakes made before learning, rows a CPU second of all rows, search
included, and of the last fifth of them, when the search is over. Prints Markdown.
"""

from __future__ import annotations

from benchmarks.timing import arguments, head, line  # first: it sets the threads

# isort: split
import time

import numpy as np

from benchmarks.picture import over_budgets
from benchmarks.streams import shuffled
from onkel import OnlineKernelClassifier

DATA = ("ijcnn1", "w8a", "cod-rna", "poker_sub125k")
LANDMARKS = (62, 125, 250, 500, 1000)
N_ROWS = 50_000


def measure(X: np.ndarray, y: np.ndarray, n_components: int) -> tuple[float, float, float]:
    """Percent of mistakes, rows a second of all rows and of the last fifth."""
    model = OnlineKernelClassifier(n_components=n_components, pairs=False)
    wrong, seconds, first = 0, [], len(y) * 4 // 5
    for rows in (slice(0, first), slice(first, len(y))):
        began = time.process_time()
        wrong += int(np.sum(model.predict_then_learn(X[rows], y[rows]) != y[rows]))
        seconds.append(time.process_time() - began)
    return 100.0 * wrong / len(y), len(y) / sum(seconds), (len(y) - first) / seconds[1]


def main() -> None:
    options = arguments(__doc__, {"picture": "draw the errors there"})
    OnlineKernelClassifier().fit(np.eye(600), np.arange(600) % 2)  # compiles
    head("data", "landmarks", "mistakes", "rows/s", "rows/s after the search")
    errors: dict[str, list[float]] = {}
    for name in DATA:
        X, y = shuffled(name, N_ROWS, scaling="none", dtype="float64")
        for n_components in LANDMARKS:
            mistakes, whole, after = measure(X, y, n_components)
            errors.setdefault(name, []).append(mistakes)
            line(name, n_components, f"{mistakes:.2f} %", f"{whole:,.0f}", f"{after:,.0f}")
    if options.picture:
        curves = [(name, values, "o-") for name, values in errors.items()]
        over_budgets(
            options.picture, LANDMARKS, curves, ("landmarks", "mistakes before learning, %")
        )


if __name__ == "__main__":
    main()
