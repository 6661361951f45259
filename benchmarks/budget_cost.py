"""Cost of a budget: ``python -m benchmarks.budget_cost [--picture FILE]``.

Seconds a row over B, full sets only, and the exponent r of seconds ~ B^r over the larger half of
the budgets: 1 for budgets that remove, at most 2 for those that project or merge.
"""

from __future__ import annotations

from benchmarks.timing import arguments, head, line, seconds  # first: it sets the threads

# isort: split
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.picture import over_budgets
from benchmarks.speed import GAMMA
from benchmarks.streams import nonlinear
from onkel.algorithms import make

BUDGETS = (50, 100, 200, 400, 800)
PEGASOS = {"alpha": 1e-3}
# learner -> (parameters, the largest exponent allowed, with 0.1 for noise in the timing)
LEARNERS: dict[str, tuple[dict[str, Any], float]] = {
    "rbp": ({}, 1.1),
    "forgetron": ({}, 1.1),
    "bogd": ({}, 1.1),
    "bpa-s": ({}, 1.1),
    "bsgd-r": (PEGASOS, 1.1),
    "bsgd-m": (PEGASOS, 2.1),
    "projectron": ({}, 2.1),
    "bpa-p": ({}, 2.1),
    "bsgd-p": (PEGASOS, 2.1),
}


def _task(name: str, budget: int, n: int, X: np.ndarray, y: np.ndarray) -> Callable[[], object]:
    """A call that learns n rows with a set that has been filled before."""
    model = make(name, gamma=GAMMA, budget=budget, **LEARNERS[name][0])
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    first = len(X) - n
    model.partial_fit(X[:first], y[:first])
    assert model.n_support_ >= 0.9 * budget, f"{name}: {model.n_support_} of {budget} stored"
    return lambda: model.predict_then_learn(X[first:], y[first:])


def measure(n: int, rounds: int) -> dict[str, np.ndarray]:
    """Learner -> microseconds a row at each budget."""
    X, y = nonlinear(n + 12_000)
    rng = np.random.default_rng(0)
    # label noise, so that sets fill up and rows keep being added
    y = np.where(rng.random(len(y)) < 0.2, 1 - y, y)
    tasks = {f"{a} {b}": _task(a, b, n, X, y) for a in LEARNERS for b in BUDGETS}
    times = seconds(tasks, rounds)
    return {a: np.array([1e6 * times[f"{a} {b}"] / n for b in BUDGETS]) for a in LEARNERS}


def exponent(cost: np.ndarray) -> float:
    """r of cost ~ B^r over the larger half of the budgets."""
    half = len(BUDGETS) // 2
    return float(np.polyfit(np.log(BUDGETS[half:]), np.log(cost[half:]), 1)[0])


def draw(costs: dict[str, np.ndarray], path: str) -> None:
    curves = []
    for name, cost in costs.items():
        style = "o-" if LEARNERS[name][1] < 2.0 else "s--"
        curves.append((f"{name}: $B^{{{exponent(cost):.2f}}}$", list(cost), style))
    labels = "budget B (solid: removal, dashed: projection and merging)", "microseconds a row"
    over_budgets(path, BUDGETS, curves, labels)


def main() -> None:
    options = arguments(__doc__, {"picture": "draw the costs there"}, rows=4000, rounds=5)
    costs = measure(options.rows, options.rounds)
    head("learner", *(f"B = {b}" for b in BUDGETS), "exponent", "at most")
    for name, cost in costs.items():
        rates = [f"{1e3 / value:,.0f} k/s" for value in cost]
        most, found = LEARNERS[name][1], exponent(cost)
        mark = "" if found <= most else " MISSED"
        line(name, *rates, f"{found:.2f}", f"{round(most)}{mark}")
    if options.picture:
        draw(costs, options.picture)


if __name__ == "__main__":
    main()
