"""What more landmarks are worth: ``python -m benchmarks.landmarks [--picture FILE]``.

The default learner with 62 to 1 000 landmarks on the first 50 000 rows of shuffled data (seed 0):
mistakes made before learning, rows a CPU second of all rows, search included, and of the last fifth
of them, when the search is over. Prints Markdown.
"""

from __future__ import annotations

from benchmarks.timing import one_core  # first: it sets the threads

# isort: split
import argparse
import time

import numpy as np

from onkel import OnlineKernelClassifier
from onkel.datasets import load
from onkel.experiments.runner import order

DATA = ("ijcnn1", "w8a", "cod-rna", "poker_sub125k")
BUDGETS = (62, 125, 250, 500, 1000)
N_ROWS = 50_000
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")


def measure(X: np.ndarray, y: np.ndarray, budget: int) -> tuple[float, float, float]:
    """Percent of mistakes, rows a second of all rows and of the last fifth."""
    model = OnlineKernelClassifier(budget=budget)
    wrong, seconds, first = 0, [], len(y) * 4 // 5
    for rows in (slice(0, first), slice(first, len(y))):
        began = time.process_time()
        wrong += int(np.sum(model.predict_then_learn(X[rows], y[rows]) != y[rows]))
        seconds.append(time.process_time() - began)
    return 100.0 * wrong / len(y), len(y) / sum(seconds), (len(y) - first) / seconds[1]


def draw(errors: dict[str, list[float]], path: str) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 4.0), dpi=150, layout="constrained")
    axes = figure.add_subplot()
    for (name, values), colour in zip(errors.items(), _COLOURS, strict=True):
        axes.plot(BUDGETS, values, "o-", color=colour, label=name)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(BUDGETS, [str(b) for b in BUDGETS])
    ticks = (1, 2, 5, 10, 20, 50)
    axes.set_yticks(ticks, [f"{t} %" for t in ticks])
    axes.minorticks_off()
    axes.set_xlabel("landmarks")
    axes.set_ylabel("mistakes before learning")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.savefig(path)


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
        rows = load(name, scaling="none", dtype="float64")
        chosen = order(len(rows.y), 0)[:N_ROWS]
        X, y = np.ascontiguousarray(rows.X[chosen]), rows.y[chosen]
        for budget in BUDGETS:
            mistakes, whole, after = measure(X, y, budget)
            errors.setdefault(name, []).append(mistakes)
            print(
                f"| {name} | {budget} | {mistakes:.2f} % | {whole:,.0f} | {after:,.0f} |",
                flush=True,
            )
    if options.picture:
        draw(errors, options.picture)


if __name__ == "__main__":
    main()
