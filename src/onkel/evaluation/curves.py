"""Learning curves: runs grouped by name, and the mean and spread of a group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from onkel.evaluation.metrics import Metric

_FIRST_ROW = 16
"""Below this, a curve shows the luck of single rows, and would stretch the scale."""


class CurveRun(Protocol):
    """What a figure needs of a run."""

    name: str
    task: str
    curve: list[Any]

    @property
    def metric(self) -> Metric:
        """Main metric of the task."""


Run = TypeVar("Run", bound=CurveRun)


class MeanCurve(NamedTuple):
    """Rows, and the main metric's mean and sample standard deviation there."""

    rows: list[int]
    mean: np.ndarray
    std: np.ndarray


def by_name(runs: Iterable[Run]) -> dict[str, list[Run]]:
    """Runs grouped by name, in the order they first appear."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.name, []).append(run)
    return groups


def sample_std(values: Sequence[float]) -> float:
    """Sample standard deviation (n - 1 in the denominator); 0 for a single value."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def mean_curve(runs: Sequence[CurveRun]) -> MeanCurve:
    """The mean curve of one learner over its runs, at the checkpoints that all of them have."""
    points: dict[int, list[float]] = {}
    for run in runs:
        for row in run.curve:
            points.setdefault(row.n_rows, []).append(row.metrics[run.metric.name])
    shared = [n for n in sorted(points) if len(points[n]) == len(runs)]
    first = min(_FIRST_ROW, max(shared, default=0))
    rows = [n for n in shared if n >= first]
    mean = np.array([np.mean(points[n]) for n in rows])
    return MeanCurve(rows, mean, np.array([sample_std(points[n]) for n in rows]))
