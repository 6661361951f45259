"""Least squares or online Newton of the logistic loss? ``python -m benchmarks.second_order``.

The default learner with either, without cells of pairs, on the first 20 000 rows of shuffled data
(seed 0): mistakes made before learning, the logarithmic loss of the probabilities given 1 to 256
rows before, and rows a CPU second. Prints Markdown.
"""

from __future__ import annotations

from benchmarks.timing import head, line, one_core  # first: it sets the threads

# isort: split
import time

import numpy as np

from benchmarks.streams import shuffled
from onkel import OnlineKernelClassifier

DATA = ("german", "spambase", "a9a", "cod-rna", "ijcnn1", "dna", "satimage", "letter")
N_ROWS, BLOCK = 20_000, 256


def measure(X: np.ndarray, y: np.ndarray, loss: str) -> tuple[float, float, float]:
    """Percent of mistakes, mean logarithmic loss, rows a second."""
    model = OnlineKernelClassifier(loss=loss, pairs=False)
    classes, target = np.unique(y, return_inverse=True)
    wrong, surprise, seconds = 0, 0.0, 0.0
    model.partial_fit(X[:1], y[:1], classes=classes)
    for a in range(1, len(y), BLOCK):
        rows = slice(a, a + BLOCK)
        P = model.predict_proba(X[rows])
        surprise -= float(np.log(P[np.arange(len(P)), target[rows]].clip(1e-15)).sum())
        began = time.process_time()
        wrong += int(np.sum(model.predict_then_learn(X[rows], y[rows]) != y[rows]))
        seconds += time.process_time() - began
    return 100.0 * wrong / len(y), surprise / len(y), len(y) / seconds


def main() -> None:
    one_core()
    both = ("log loss", "rows/s")
    head("data", "rows", "squared: mistakes", *both, "logistic", *both)
    for name in DATA:
        X, y = shuffled(name, N_ROWS, dtype="float64")
        cells = []
        for loss in ("squared", "logistic"):
            mistakes, surprise, speed = measure(X, y, loss)
            cells += [f"{mistakes:.2f} %", f"{surprise:.3f}", f"{speed:,.0f}"]
        line(name, f"{len(y):,}", *cells)


if __name__ == "__main__":
    main()
