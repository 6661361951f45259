"""Running an experiment: seeded orders, fresh learners, one verdict."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from onkel import datasets
from onkel.algorithms import make
from onkel.evaluation.curves import sample_std
from onkel.experiments.entry import Experiment

#: of the orders that are reported; searches have their own
SEED = 0


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Values of several runs of one learner on one data set.

    Attributes
    ----------
    n_rows : int
    values : tuple of float
        The metric of every run.
    seconds : tuple of float
        Time of every run, predicting and learning.
    """

    n_rows: int
    values: tuple[float, ...]
    seconds: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean over the runs."""
        return float(np.mean(self.values))

    @property
    def std(self) -> float:
        """Sample standard deviation over the runs; 0 for one run."""
        return sample_std(self.values)


@dataclass(frozen=True, kw_only=True)
class Result(Measured):
    """What an experiment gave; ``comparable``: whether the rows are the paper's."""

    experiment: Experiment
    comparable: bool

    @property
    def verdict(self) -> str:
        """In words: how it stands to the published value, or to the limit set instead.

        "met": within two of the paper's standard deviations; "better": below that; "not met":
        above it. Where the rows differ: "within 5.7", "over 5.7" if a limit is set, else "rows
        differ". "reference": nothing to compare with.
        """
        cell, limit = self.experiment.published, self.experiment.limit
        if cell is not None and self.comparable:
            if self.mean > cell.value + 2 * cell.std or not np.isfinite(self.mean):
                return "not met"
            return "met" if self.mean >= cell.value - 2 * cell.std else "better"
        if limit is not None:
            return f"within {limit:g}" if self.mean <= limit else f"over {limit:g}"
        return "reference" if cell is None else "rows differ"

    @property
    def failed(self) -> bool:
        """Whether a number that should be met isn't."""
        return self.verdict.startswith(("not", "over"))

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        e = self.experiment
        told = ("name", "paper", "table", "dataset", "algorithm", "step", "metric", "limit")
        return {
            **{field: getattr(e, field) for field in told},
            "parameters": dict(e.parameters),
            "n_rows": self.n_rows,
            "comparable": self.comparable,
            "values": list(self.values),
            "mean": self.mean,
            "std": self.std,
            "published": None if e.published is None else e.published.value,
            "published_std": None if e.published is None else e.published.std,
            "verdict": self.verdict,
            "seconds": list(self.seconds),
        }


@lru_cache(maxsize=2)
def _load(
    name: str, subset: str | None, scaling: str | None, n_first: int | None, dtype: str
) -> tuple[np.ndarray, np.ndarray, bool]:
    data = datasets.load(name, subset=subset, scaling=scaling, dtype=dtype)
    return data.X[:n_first], data.y[:n_first], data.complete


def load_rows(experiment: Experiment) -> tuple[np.ndarray, np.ndarray, bool]:
    """X (n, d), y (n,), and whether these are the paper's rows."""
    e = experiment
    X, y, complete = _load(e.dataset, e.subset, e.scaling, e.n_first, e.dtype)
    return X, y, complete and e.same_rows


def order(n_rows: int, run: int, seed: int = SEED) -> np.ndarray:
    """The order of the rows in a run, a permutation of 0, ..., n_rows - 1."""
    return np.random.default_rng([seed, run]).permutation(n_rows)


def stream_once(
    experiment: Experiment, X: np.ndarray, y: np.ndarray, random_state: int, **parameters: Any
) -> float:
    """The metric of one pass over the rows as they stand; ``parameters`` replace the entry's."""
    learner = make(experiment.algorithm, experiment.task, **{**experiment.parameters, **parameters})
    if "random_state" in learner.get_params(deep=False):
        learner.set_params(random_state=random_state)
    with np.errstate(over="ignore", invalid="ignore"):
        if experiment.task == "regression":
            return float(np.mean((learner.predict_then_learn(X, y) - y) ** 2))
        predicted = learner.predict_then_learn(X, y, classes=np.unique(y))
    return 100.0 * float(np.mean(predicted != y))


def run(
    experiment: Experiment,
    n_runs: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Result:
    """Run an experiment.

    Parameters
    ----------
    experiment : Experiment
    n_runs : int, optional
        Number of orders; left out, the paper's.
    progress : callable, optional
        Called with (runs done, runs in all) after every run.

    Returns
    -------
    Result

    Raises
    ------
    ValueError
        n_runs < 1.
    FileNotFoundError
        The data set isn't on this machine; the message says how to get it.
    """
    n_runs = experiment.n_runs if n_runs is None else n_runs
    if n_runs < 1:
        raise ValueError(f"n_runs={n_runs!r} must be at least 1")
    X, y, comparable = load_rows(experiment)
    values, seconds = [], []
    for r in range(n_runs):
        rows = order(len(y), r)
        X_run, y_run = X[rows], y[rows]
        begin = time.perf_counter()
        values.append(stream_once(experiment, X_run, y_run, random_state=r))
        seconds.append(time.perf_counter() - begin)
        if progress is not None:
            progress(r + 1, n_runs)
    return Result(
        experiment=experiment,
        comparable=comparable,
        n_rows=len(y),
        values=tuple(values),
        seconds=tuple(seconds),
    )
