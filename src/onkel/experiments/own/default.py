"""The default learner on every data set that something is asked for on: one setting, one call.

What is measured is what ``onkel learn FILE --target y`` does: the default algorithm with nothing
set, every row predicted before it is learned. The only thing that differs between data sets is the
task.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from onkel import algorithms
from onkel._version import __version__
from onkel.evaluation import prequential
from onkel.experiments.data import order
from onkel.experiments.own.goals import Goal
from onkel.experiments.records import Record
from onkel.experiments.results import Measured
from onkel.pipeline import StreamModel

#: random orders of the rows
N_RUNS = 10


@dataclass(frozen=True, kw_only=True)
class Outcome(Measured):
    """What the default learner did on the data set of a goal."""

    goal: Goal

    @property
    def met(self) -> bool:
        """Whether the mean is at most the goal's number, digit for digit."""
        return self.mean <= self.goal.target

    @property
    def rows_per_second(self) -> float:
        """Rows a second of the median run."""
        return self.n_rows / float(np.median(self.seconds))


def learner(task: str, seed: int) -> StreamModel:
    """A new default model: no parameter of it depends on the data set."""
    estimator = algorithms.make(algorithms.DEFAULT, task)
    if "random_state" in estimator.get_params(deep=False):
        estimator.set_params(random_state=seed)
    return StreamModel(estimator)


def about() -> dict[str, Any]:
    """What a record of these runs is about: another default or version is another record."""
    return {
        "algorithm": algorithms.DEFAULT,
        "version": __version__,
        "parameters": {
            task: algorithms.make(algorithms.DEFAULT, task).get_params(deep=False)
            for task in ("classification", "regression")
        },
    }


def measure(
    goal: Goal,
    record: Record,
    n_runs: int = N_RUNS,
    progress: Callable[[int, int], object] | None = None,
) -> Outcome:
    """Run the default learner on one data set, in orders that are the same for every learner.

    Parameters
    ----------
    goal : Goal
    record : Record
        Runs by data set. Those it holds are not run again; it is saved after every run.
    n_runs : int, default=10
    progress : callable, optional
        Called with (runs done, runs in all) after every run.

    Raises
    ------
    ValueError
        n_runs < 1.
    FileNotFoundError
        The data set isn't on this machine; the message says how to get it.
    """
    if n_runs < 1:
        raise ValueError(f"n_runs={n_runs!r} must be at least 1")
    found = record.results.get(goal.dataset, {"rows": 0, "values": [], "seconds": []})
    if len(found["values"]) < n_runs:
        X, y = goal.load()
        found["rows"] = len(y)
        for run in range(len(found["values"]), n_runs):
            value, seconds = run_default(goal, X, y, run)
            found["values"].append(value)
            found["seconds"].append(seconds)
            record.results[goal.dataset] = found
            record.save()
            if progress is not None:
                progress(run + 1, n_runs)
    return Outcome(
        goal=goal,
        n_rows=found["rows"],
        values=tuple(found["values"]),
        seconds=tuple(found["seconds"]),
    )


def run_default(goal: Goal, X: np.ndarray, y: np.ndarray, run: int) -> tuple[float, float]:
    """The goal's metric of one pass in the run's order, and the seconds it took."""
    rows = order(len(y), run)
    result = prequential(
        learner(goal.task, run), (X[rows], y[rows]), checkpoints="none", warm_up=run == 0
    )
    value = result.value**2 if goal.metric == "mse" else result.value
    return value, result.final.learn_seconds
