"""Choosing steps the papers' way: a grid, on orders (or a share of the rows) of its own."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from onkel.errors import DivergenceError
from onkel.experiments.entry import Experiment
from onkel.experiments.runner import load_rows, order, stream_once

#: of the orders that steps are chosen on: none of them is reported
SEARCH_SEED = 2016


@dataclass(frozen=True)
class Trial:
    """One point of the grid and its metric, the mean over the search's orders."""

    parameters: dict[str, Any]
    value: float


def search(
    experiment: Experiment,
    n_runs: int = 3,
    progress: Callable[[int, int], object] | None = None,
) -> list[Trial]:
    """Try the grid of an experiment.

    Parameters
    ----------
    experiment : Experiment
        With a grid.
    n_runs : int, default=3
        Orders a point is tried on; the same for all points.
    progress : callable, optional
        Called with (points done, points in all).

    Returns
    -------
    list of Trial
        Best first; a learner that diverged has an infinite value.

    Raises
    ------
    ValueError
        The experiment has no grid.
    """
    if not experiment.grid:
        raise ValueError(f"experiment {experiment.name!r} has no grid to search")
    X, y, _ = load_rows(experiment)
    if experiment.search_share < 1.0:
        part = order(len(y), 0, SEARCH_SEED)[: math.ceil(experiment.search_share * len(y))]
        X, y = X[part], y[part]
    orders = [order(len(y), r + 1, SEARCH_SEED) for r in range(n_runs)]
    points = list(itertools.product(*experiment.grid.values()))
    trials = []
    for i, point in enumerate(points):
        parameters = dict(zip(experiment.grid, point, strict=True))
        try:
            values = [
                stream_once(experiment, X[rows], y[rows], random_state=1000 + r, **parameters)
                for r, rows in enumerate(orders)
            ]
            value = float(np.mean(values))
        except DivergenceError:
            value = math.inf
        trials.append(Trial(parameters, value))
        if progress is not None:
            progress(i + 1, len(points))
    return sorted(trials, key=lambda trial: trial.value)
