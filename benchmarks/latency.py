"""How long one row takes: ``python -m benchmarks.latency [--rows N] [--landmarks B] [--rounds R]``.

Every row of a stream is predicted and learned by a call of its own. The median, the 99th and 99.9th
percentile and the worst call, in milliseconds, and how many calls took more than 20, 50 and 60. One
core, and the process's own time. A row does the same in every round, so the shortest of its calls
counts: other programs add the rest. The first call, which loads compiled code, is left out.
"""

from __future__ import annotations

from benchmarks.timing import arguments, head, line  # first: it sets the threads

# isort: split
import time

import numpy as np

from benchmarks.streams import nonlinear, shuffled
from onkel import OnlineKernelClassifier

STREAMS = ("letter", "ijcnn1", "covtype_sub93k")
LONG = (20.0, 50.0, 60.0)


def calls(X: np.ndarray, y: np.ndarray, n_components: int) -> np.ndarray:
    """Milliseconds of every call but the first."""
    model, classes = OnlineKernelClassifier(n_components=n_components), np.unique(y)
    model.predict_then_learn(X[:1], y[:1], classes=classes)
    taken = np.empty(len(y) - 1)
    for t in range(1, len(y)):
        began = time.process_time()
        model.predict_then_learn(X[t : t + 1], y[t : t + 1])
        taken[t - 1] = time.process_time() - began
    return 1e3 * taken


def main() -> None:
    options = arguments(__doc__, rows=20_000, landmarks=500, rounds=2)
    OnlineKernelClassifier(n_components=50).fit(*nonlinear(2048))  # compiles
    head("stream", "rows", "median", "99 %", "99.9 %", "worst", *(f"> {ms:.0f} ms" for ms in LONG))
    for name in STREAMS:
        X, y = shuffled(name, options.rows, scaling="none", dtype="float32")
        rounds = [calls(X, y, options.landmarks) for _ in range(options.rounds)]
        taken = np.min(rounds, axis=0)
        cells = [f"{ms:.2f}" for ms in (*np.quantile(taken, [0.5, 0.99, 0.999]), taken.max())]
        line(name, f"{len(y):,}", *cells, *(int((taken > ms).sum()) for ms in LONG))


if __name__ == "__main__":
    main()
