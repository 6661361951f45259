"""Choosing settings the papers' way: a grid, tried on rows or orders that are not reported."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from onkel.errors import DivergenceError
from onkel.evaluation.processes import in_processes
from onkel.experiments.entry import Case
from onkel.streams import Block

Point = dict[str, Any]
_LOOKS = 10
"""How often a pass checks whether its point can still win."""


@dataclass(frozen=True)
class Trial:
    """One point of a grid and its metric, the mean over the search's orders or folds."""

    parameters: Point
    value: float


def points_of(grid: Mapping[str, tuple[Any, ...]]) -> Iterator[Point]:
    """All combinations of a grid's values; names joined by a comma change together."""
    for values in itertools.product(*grid.values()):
        point: Point = {}
        for names, value in zip(grid, values, strict=True):
            point |= zip(names.split(","), value, strict=True) if "," in names else {names: value}
        yield point


def cases_of_search(case: Case) -> list[Case]:
    """The case at every point of its grid, on what its search may see."""
    if case.search is None:
        raise ValueError(f"{case.name} has no grid to search")
    search = case.search
    rows = replace(case.rows, share=search.share, most=search.most)
    measure = "fold" if search.folds else "searched"
    tried = replace(case, rows=rows, measure=measure, n_runs=search.folds or search.orders,
                    here=False, take="value")  # fmt: skip
    return [tried.at(point) for point in points_of(search.grid)]


def ranked(case: Case, tried: Iterable[tuple[Case, float]]) -> list[Trial]:
    """Trials, best first; a learner that diverged is last."""
    grid = case.search.grid if case.search else {}
    names = [name for joined in grid for name in joined.split(",")]
    trials = [Trial({name: at.parameters[name] for name in names}, value) for at, value in tried]
    sign = -1.0 if case.more_is_better else 1.0
    return sorted(trials, key=lambda t: sign * t.value if math.isfinite(t.value) else math.inf)


def race(
    points: Iterable[Point], value: Callable[[Point, float], float], jobs: int = 1
) -> tuple[Point, float]:
    """The best of the points, and its value; the lower, the better. ``jobs``: processes.

    ``value(point, most)`` may return infinity as soon as it is sure to be above ``most``: losses
    only grow, so a point that is already behind can be dropped, and the winner is the same.
    """
    best: Point = {}
    least = math.inf
    rest = iter(points)
    while some := list(itertools.islice(rest, jobs)):
        values = dict(in_processes([partial(value, point, least) for point in some], jobs))
        for number, point in enumerate(some):
            if values[number] < least:
                best, least = point, values[number]
    return best, least


def mean_loss(model: Any, X: Any, y: np.ndarray, classes: bool, most: float = math.inf) -> float:
    """Share of mistakes, or mean squared error, of one pass over the rows as they stand.

    Infinite if the learner diverges, or as soon as it is sure to be above ``most``.
    """
    total, size = 0.0, -(-len(y) // _LOOKS)
    for start in range(0, len(y), size):
        told = y[start : start + size]
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                predicted = model.learn(Block(X[start : start + size], told, start))
        except DivergenceError:
            return math.inf
        total += float(np.sum(predicted != told if classes else (predicted - told) ** 2))
        if total / len(y) > most or not math.isfinite(total):
            return math.inf
    return total / len(y)
