"""What thousands of classes cost: ``python -m benchmarks.many_classes [--rows N]``.

Rows per second of learning from nothing, with all classes named at the first call, and with
classes that are added when they are first seen. Then the CPU seconds and the memory of the default
(``--rows 0``: only these).
"""

from __future__ import annotations

from benchmarks.timing import arguments, head, line, rate, seconds  # first: it sets the threads

# isort: split
import resource
import time
from functools import partial
from typing import Any

import numpy as np

from onkel import make, to_bytes

N_FEATURES, BLOCK = 10, 512
CLASSES = (10, 100, 1000, 10_000)
#: rows and classes of the default, whose cost is not linear in either
OF_DEFAULT = ((1500, 50), (1500, 1000), (20_000, 1000))


def stream(n_classes: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows around a centre for each class."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(n_classes, N_FEATURES))
    y = rng.integers(n_classes, size=n)
    X = centres[y] + 0.1 * rng.normal(size=(n, N_FEATURES))
    return X.astype(np.float32), y


def learn(name: str, X: np.ndarray, y: np.ndarray, classes: np.ndarray | None) -> Any:
    model = make(name, "multiclass", random_state=0)
    for a in range(0, len(y), BLOCK):
        model.partial_fit(X[a : a + BLOCK], y[a : a + BLOCK], classes=classes)
    return model


def rates(n: int) -> None:
    """Rows per second of fogd."""
    head("learner", "classes named first", *(f"{k:,} classes" for k in CLASSES), left=2)
    for known in ("yes", "no"):
        tasks = {
            str(k): partial(learn, "fogd", *stream(k, n), np.arange(k) if known == "yes" else None)
            for k in CLASSES
        }
        taken = seconds(tasks)
        line("fogd", known, *(rate(n, taken[str(k)]) for k in CLASSES))


def costs() -> None:
    """CPU seconds of the default, once each, and its memory."""
    learn("okl", *stream(10, 1500), None)
    titles = "rows", "classes", "named first, s", "as they come, s", "model, MB", "process, MB"
    head(*titles, left=0)
    for n, k in OF_DEFAULT:
        taken = []
        for classes in (np.arange(k), None):
            rows, start = stream(k, n), time.process_time()
            model = learn("okl", *rows, classes)
            taken.append(f"{time.process_time() - start:.1f}")
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        line(f"{n:,}", k, *taken, f"{len(to_bytes(model)) / 1e6:.1f}", f"{most:,.0f}")


def main() -> None:
    n = arguments(str(__doc__), rows=4000).rows
    if n:
        rates(n)
        print()
    costs()


if __name__ == "__main__":
    main()
