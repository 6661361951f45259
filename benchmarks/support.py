"""Speed of the learners with a budget: ``python -m benchmarks.support [--rows N] [--rounds N]``.

100 000 × 22 rows, predicted before they are learned, on one core. The rates of the fastest public
programs were measured on another machine, where the plain NumPy loop of ``benchmarks.speed`` ran
at 205 k rows/s: they are scaled by that loop, timed in the same rounds as the learners.
"""

from __future__ import annotations

from benchmarks.timing import arguments, rate, seconds  # first: it sets the threads

# isort: split
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.speed import GAMMA, numpy_fogd
from benchmarks.streams import learn, nonlinear
from onkel.algorithms import make
from onkel.datasets import load

NUMPY_THERE = 205e3
# learner: rows a second of the fastest public program at B = 200, and the ratio wanted to that
PEERS = {
    "bogd": (172e3, 5.0),
    "rbp": (168e3, 5.0),
    "forgetron": (119e3, 5.0),
    "bpa-s": (132e3, 5.0),
    "projectron": (142e3, 3.0),
    "projectron++": (47e3, 3.0),
    "nogd": (160e3, 5.0),
    "bpa-p": (None, None),
    "bpa-nn": (None, None),
    "bsgd-m": (29e3, 5.0),
    "bsgd-r": (None, None),
    "bsgd-p": (None, None),
    "dualsgd": (None, None),
    "budget-perceptron": (None, None),
    "norma": (None, None),
    "olk-fixed": (None, None),
}
# the Pegasos family's penalty: of 1e-2, 1e-3 and 1e-4 the one with the fewest mistakes here
PARAMS = {name: {"alpha": 1e-3} for name in ("bsgd-m", "bsgd-r", "bsgd-p", "dualsgd")}
BUDGETS = (100, 200, 400)


def learner(name: str, budget: int) -> Any:
    """The learner as it is timed: float32, the parameters of its paper."""
    size: dict[str, Any] = {"budget": budget}
    if name == "nogd":
        size = {"n_components": budget, "rank": budget // 5}
    model = make(name, gamma=GAMMA, **size, **PARAMS.get(name, {}))
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    return model


def budgeted(n: int, rounds: int) -> Table:
    """Rows a second by budget, and against the public programs at B = 200."""
    X, y = nonlinear(n)
    tasks: dict[str, Callable[[], object]] = {"numpy": lambda: numpy_fogd(X, y)}
    for name in PEERS:
        for budget in BUDGETS:
            tasks[f"{name} {budget}"] = lambda name=name, budget=budget: learn(
                learner(name, budget), X, y
            )
    times = seconds(tasks, rounds)
    table = Table(title=f"{n:,} x 22 rows; the NumPy loop here: {rate(n, times['numpy'])}")
    for head in ("learner", *(f"B={b}" for b in BUDGETS), "peer, scaled", "ratio at 200", "wanted"):
        table.add_column(head, justify="left" if head == "learner" else "right")
    for name, (peer, wanted) in PEERS.items():
        cells = [rate(n, times[f"{name} {budget}"]) for budget in BUDGETS]
        if peer is not None and wanted is not None:
            scaled = peer * (n / times["numpy"]) / NUMPY_THERE
            ratio = n / times[f"{name} 200"] / scaled
            mark = "ok" if ratio >= wanted else "MISSED"
            cells += [rate(int(scaled), 1.0), f"{ratio:.1f}x", f"{wanted:g}x {mark}"]
        table.add_row(name, *cells)
    return table


def unbounded(console: Console) -> None:
    """50 000 rows of ijcnn1 with OGD: under a minute."""
    try:
        data = load("ijcnn1")
    except (OSError, ValueError) as error:
        console.print(f"ijcnn1: {error}")
        return
    X, y = data.X[:50_000].astype(np.float32), data.y[:50_000]
    model = make("ogd", gamma=1.0, learning_rate=0.5)
    start = time.perf_counter()
    mistakes = learn(model, X, y)
    duration = time.perf_counter() - start
    mark = "ok" if duration < 60.0 else "MISSED"
    console.print(
        f"OGD, 50 000 rows of ijcnn1: {duration:.1f} s ({mark}: 60 s), "
        f"{model.n_support_:,} rows stored, {100 * mistakes:.2f} % mistakes"
    )


def main() -> None:
    options = arguments(__doc__, rows=100_000, rounds=3)
    console = Console(width=110)
    console.print(budgeted(options.rows, options.rounds))
    unbounded(console)


if __name__ == "__main__":
    main()
