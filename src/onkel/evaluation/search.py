"""The search behind ``onkel tune``: the papers' grids, tried on a random part of the rows.

Steps as in Lu et al. 2016 ({2, ..., 0.0002}; regression: around 0.1), widths, steps and penalties
as in Nguyen et al. 2017 (section 4.3). The papers' features are not normalised: their η is ours
divided by D, their λ ours times D.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from onkel.annotations import Matrix
from onkel.columns.failures import count
from onkel.errors import DivergenceError
from onkel.evaluation.processes import in_processes
from onkel.streams import Block

#: seed of the parts and orders that settings are chosen on: no run that is reported has it
SEARCH_SEED = 2016
WIDTHS = tuple(2.0**k for k in (-8, -4, -2, 0, 2, 4, 8))
STEPS = (2.0, 1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002)
FEW_STEPS = (2.0, 0.5, 0.1, 0.02, 0.005, 0.001, 0.0002)
RRF_STEPS = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
#: λ times the number of rows
PENALTIES = tuple(2.0**k for k in range(-4, 17, 2))

Grid = dict[str, tuple[object, ...]]


def rrf_grid(n_components: int, n_rows: int) -> Grid:
    """RRF's: one η for weights and widths, and λ."""
    etas = tuple((eta * n_components, eta) for eta in RRF_STEPS)
    penalties = tuple(penalty / n_rows / n_components for penalty in PENALTIES)
    return {"gamma": WIDTHS, "learning_rate,learning_rate_gamma": etas, "alpha": penalties}


def grid_of(parameters: Mapping[str, Any], n_rows: int) -> Grid:
    """The grid to search for a learner with these parameters, on so many rows.

    Widths where it has one; steps, or else penalties. Steps are multiplied by the number of
    frequencies where features are normalised.

    Examples
    --------
    >>> from onkel import make
    >>> list(grid_of(make("fogd").get_params(), 1000))
    ['gamma', 'learning_rate']
    """
    D = parameters.get("n_components", 1)
    if "learning_rate_gamma" in parameters:
        return rrf_grid(D, n_rows)
    found: Grid = {}
    if "gamma" in parameters:
        found["gamma"] = WIDTHS
    if "learning_rate" in parameters:
        fourier = "orthogonal" in parameters
        found["learning_rate"] = tuple(eta * (D if fourier else 1) for eta in FEW_STEPS)
    elif "alpha" in parameters:
        found["alpha"] = tuple(penalty / n_rows for penalty in PENALTIES)
    if "C" in parameters:
        found["C"] = (0.05, 0.2, 1.0, 5.0)
    return found


Point = dict[str, object]
_LOOKS = 10
"""How often a pass checks whether its point can still win."""
_LEAST, _MOST = 1000, 10_000


def points_of(grid: Mapping[str, tuple[Any, ...]]) -> Iterator[Point]:
    """All combinations of a grid's values; names joined by a comma change together."""
    for values in itertools.product(*grid.values()):
        point: Point = {}
        for names, value in zip(grid, values, strict=True):
            point |= zip(names.split(","), value, strict=True) if "," in names else {names: value}
        yield point


def is_stable(point: Mapping[str, Any]) -> bool:
    """Whether one step of the penalty is too small to change the sign of f: η λ < 1.

    Learners refuse others. On few rows the largest penalties of a grid are too large for its
    largest steps.
    """
    return bool(point.get("learning_rate", 0.0) * point.get("alpha", 0.0) < 1.0)


def part_of(n_rows: int, share: float, most: int | None) -> np.ndarray:
    """Places of a random part of the rows, for a search."""
    wanted = min(math.ceil(share * n_rows), most or n_rows)
    return np.random.default_rng([SEARCH_SEED, 0]).permutation(n_rows)[:wanted]


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


def mean_loss(model: Any, X: Matrix, y: np.ndarray, classes: bool, most: float = math.inf) -> float:
    """Share of mistakes, or mean squared error, of one pass over the rows as they stand.

    Infinite if the learner diverges, or as soon as it is sure to be above ``most``.
    """
    total, size = 0.0, -(-len(y) // _LOOKS)
    for start in range(0, len(y), size):
        labels = y[start : start + size]
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                predicted = model.learn(Block(X[start : start + size], labels, start))
        except DivergenceError:
            return math.inf
        total += float(np.sum(predicted != labels if classes else (predicted - labels) ** 2))
        if total / len(y) > most or not math.isfinite(total):
            return math.inf
    return total / len(y)


@dataclass(frozen=True)
class Tuned:
    """What a search found.

    ``value`` and ``default`` are the share of mistakes or root mean squared error of one pass over
    the rows that were not searched, each predicted before it is learned: at the best point, which
    is empty if all diverged, and without a search.
    """

    point: Point
    n_searched: int
    n_others: int
    value: float
    default: float


def part_for_search(n_rows: int, share: float) -> np.ndarray:
    """Places of the rows to search on: a random share, 1 000 to 10 000, at most half of all."""
    wanted = min(max(_LEAST, int(share * n_rows)), _MOST, n_rows // 2)
    return part_of(n_rows, 1.0, wanted)


def tune(
    X: Matrix,
    y: np.ndarray,
    new_model: Callable[[Point], Any],
    points: Iterable[Point],
    *,
    classes: bool,
    share: float = 0.1,
    jobs: int = 1,
) -> Tuned:
    """Search a grid on a random part of the rows, and measure the best point on all others.

    ``new_model`` makes a fresh model of the parameters in a point. With ``classes`` mistakes are
    counted, else errors are squared. ``share`` of the rows (n, d) are searched on, with ``jobs``
    processes of one thread each. ValueError for fewer than 4 rows.
    """
    if len(y) < 4:
        rows = count(len(y), "row")
        raise ValueError(f"{rows}: too few to search on some and measure on the others")
    part = part_for_search(len(y), share)
    others = np.setdiff1d(np.arange(len(y)), part)

    def loss(point: Point, most: float) -> float:
        return mean_loss(new_model(point), X[part], y[part], classes, most)

    best, _ = race(points, loss, jobs)
    found = [mean_loss(new_model(point), X[others], y[others], classes) for point in (best, {})]
    value, default = found if classes else np.sqrt(found).tolist()
    return Tuned(best, len(part), len(others), value, default)
