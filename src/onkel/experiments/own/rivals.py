"""FOGD, NOGD and RRF at their best: the papers' grids, searched on the data of the goals.

A grid is searched on a random tenth of the rows (but at least 1 000 and at most
10 000), in one order that is not reported; the best point then learns all rows in three others.
All of it twice: on the rows as the papers scaled them, and as the default learner gets them.
"""

from __future__ import annotations

import itertools
import json
import math
import time
from collections.abc import Callable
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np

from onkel import datasets
from onkel.algorithms import make
from onkel.experiments.data import SEARCH_SEED, order
from onkel.experiments.own.goals import Goal
from onkel.experiments.own.rivals_grid import grid
from onkel.experiments.records import Record
from onkel.experiments.search import Point, mean_loss, race
from onkel.pipeline import StreamModel

RIVALS = ("fogd", "nogd", "rrf")
#: "papers": scaled as in the papers, beforehand; "online": by the stream's own running statistics
INPUTS = ("papers", "online")
N_RUNS = 3
ABOUT = {"rivals": list(RIVALS), "inputs": list(INPUTS), "runs": N_RUNS}


def _model(goal: Goal, rival: str, inputs: str, point: Point, seed: int) -> StreamModel:
    estimator = make(rival, goal.task, **point)
    if "random_state" in estimator.get_params(deep=False):
        estimator.set_params(random_state=seed)
    online = inputs == "online"
    return StreamModel(estimator, scaling="standard" if online else "none", scale_target=online)


def learn(
    goal: Goal, rival: str, inputs: str, point: Point, X: np.ndarray, y: np.ndarray, seed: int
) -> float:
    """The goal's metric of one pass over the rows as they stand; infinite if it diverges."""
    model = _model(goal, rival, inputs, point, seed)
    loss = mean_loss(model, X, y, goal.metric == "mistakes")
    return {"mistakes": 100.0 * loss, "mse": loss}.get(goal.metric, math.sqrt(loss))


@lru_cache(maxsize=1)
def _rows(goal: Goal, inputs: str) -> tuple[np.ndarray, np.ndarray]:
    if inputs == "online":
        return goal.load()
    rows = datasets.load(goal.dataset)
    return rows.X, rows.y


def search(goal: Goal, rival: str, inputs: str) -> tuple[Point, int]:
    """The best point of the grid on a part of the rows, and how many rows that were."""
    X, y = _rows(goal, inputs)
    n = min(len(y), max(1000, min(len(y) // 10, 10_000)))
    part = order(len(y), 0, SEARCH_SEED)[:n]
    X_part, y_part = X[part], y[part]

    def loss(point: Point, most: float) -> float:
        model = _model(goal, rival, inputs, point, 1000)
        return mean_loss(model, X_part, y_part, goal.metric == "mistakes", most)

    best, _ = race(grid(goal, rival, inputs, len(y)), loss)
    return best, n


def measure_rivals(
    goal: Goal, record: Record, progress: Callable[[int, int], object] | None = None
) -> None:
    """Search and run all rivals on one data set; what the record holds already is kept.

    Parameters
    ----------
    goal : Goal
    record : Record
        Results by data set; saved after every rival.
    progress : callable, optional
        Called with (rivals done, rivals in all).
    """
    found = record.results.setdefault(goal.dataset, {})
    pairs = list(itertools.product(INPUTS, RIVALS))
    for done, (inputs, rival) in enumerate(pairs):
        if progress is not None:
            progress(done, len(pairs))
        name = f"{rival}, {inputs}"
        if name in found:
            continue
        began = time.perf_counter()
        point, searched = search(goal, rival, inputs)
        middle = time.perf_counter()
        X, y = _rows(goal, inputs)
        values = []
        for run in range(N_RUNS):
            rows = order(len(y), run)
            values.append(learn(goal, rival, inputs, point, X[rows], y[rows], run))
        found[name] = {
            "parameters": point,
            "values": [round(value, 6) for value in values],
            "rows": len(y),
            "rows_searched": searched,
            "seconds_searching": round(middle - began, 1),
            "seconds_running": round(time.perf_counter() - middle, 1),
        }
        record.save()


def stored() -> dict[str, Any]:
    """The rivals' results that come with the package; written by ``onkel reproduce rivals``."""
    file = resources.files("onkel.experiments.own") / "rivals.json"
    if not file.is_file():
        return {}
    return dict(json.loads(file.read_text(encoding="utf-8"))["results"])


def best_of(results: dict[str, Any], inputs: str | None = None) -> tuple[str, float] | None:
    """The rival with the lowest mean on one data set, its name and that mean.

    Parameters
    ----------
    results : dict
        Of one data set, as in :func:`stored`.
    inputs : {"papers", "online"}, optional
        Look at these alone.
    """
    means = {
        name: float(np.mean(entry["values"]))
        for name, entry in results.items()
        if inputs is None or name.endswith(f", {inputs}")
    }
    if not means:
        return None
    best = min(means, key=lambda name: means[name])
    return best, means[best]
