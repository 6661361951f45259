"""What thousands of classes cost: ``python -m benchmarks.many_classes [--rows N]``.

Rows per second of learning from nothing, with all classes named at the first call, and with
classes that are added when they are first seen.
"""

from __future__ import annotations

from benchmarks.timing import arguments, head, line, rate, seconds  # first: it sets the threads

# isort: split
from functools import partial

import numpy as np

from onkel import make

N_FEATURES, BLOCK = 10, 512
CLASSES = (10, 100, 1000, 10_000)
#: the most classes tried; more would take minutes
MOST = {"fogd": 10_000, "okl": 1000}


def stream(n_classes: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows around a centre for each class."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(n_classes, N_FEATURES))
    y = rng.integers(n_classes, size=n)
    X = centres[y] + 0.1 * rng.normal(size=(n, N_FEATURES))
    return X.astype(np.float32), y


def learn(name: str, X: np.ndarray, y: np.ndarray, classes: np.ndarray | None) -> None:
    model = make(name, "multiclass", random_state=0)
    for a in range(0, len(y), BLOCK):
        model.partial_fit(X[a : a + BLOCK], y[a : a + BLOCK], classes=classes)


def main() -> None:
    n = arguments(str(__doc__), rows=1000).rows
    head("learner", "classes named first", *(f"{k:,} classes" for k in CLASSES), left=2)
    for name, most in MOST.items():
        for known in ("yes", "no"):
            tasks = {
                str(k): partial(
                    learn, name, *stream(k, n), np.arange(k) if known == "yes" else None
                )
                for k in CLASSES
                if k <= most
            }
            taken = seconds(tasks)
            line(name, known, *(rate(n, taken[str(k)]) if k <= most else "-" for k in CLASSES))


if __name__ == "__main__":
    main()
