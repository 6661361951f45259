"""Metrics of predictions: each knows its direction, whether lower or higher is better."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from onkel.annotations import ArrayLike


@dataclass(frozen=True)
class Metric:
    """A metric that is a function of the mean of a per-row value.

    So it can be summed over blocks, and "since the last checkpoint" is a difference of sums.
    """

    #: key in tables and JSON
    name: str
    #: name shown to people
    title: str
    #: "%", or "target" for the target's own units
    unit: str
    lower_is_better: bool
    task: str
    #: values (n,) of targets (n,) and their predictions
    per_row: Callable[[np.ndarray, np.ndarray], np.ndarray]
    #: the metric of their mean
    finish: Callable[[float], float]

    def better(self, a: float, b: float) -> bool:
        """Whether value a is better than value b, and not equal to it."""
        return a < b if self.lower_is_better else a > b

    def format(self, value: float) -> str:
        """The value with the digits that mean something: "3.42 %", "0.1873", "47,740"."""
        if not math.isfinite(value):
            return "-"
        if self.unit == "%":
            return f"{value:.2f} %"
        return f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"


def _mistake(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.asarray(np.asarray(y) != np.asarray(p), dtype=np.float64)


def _squared(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.square(_difference(y, p))


def _absolute(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.abs(_difference(y, p))


def _difference(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.asarray(y, dtype=np.float64) - np.asarray(p, dtype=np.float64)


def _percent(mean: float) -> float:
    return 100.0 * mean


def _percent_right(mean: float) -> float:
    return 100.0 * (1.0 - mean)


def _same(mean: float) -> float:
    return mean


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("mistakes", "mistakes", "%", True, "classification", _mistake, _percent),
        Metric("accuracy", "accuracy", "%", False, "classification", _mistake, _percent_right),
        Metric("rmse", "RMSE", "target", True, "regression", _squared, math.sqrt),
        Metric("mae", "MAE", "target", True, "regression", _absolute, _same),
    )
}
"""All metrics by name; the first of a task is the one its curves show."""


def metrics_of(task: str) -> tuple[Metric, ...]:
    """Metrics of a task, "classification" or "regression", the main one first.

    >>> [metric.name for metric in metrics_of("regression")]
    ['rmse', 'mae']
    """
    found = tuple(metric for metric in METRICS.values() if metric.task == task)
    if not found:
        raise ValueError(f"task={task!r}: must be 'classification' or 'regression'")
    return found


class Score:
    """The metrics of a task over the rows given so far."""

    metrics: list[Metric]

    def __init__(self, task: str) -> None:
        self.metrics = [metric for metric in metrics_of(task) if metric.lower_is_better]
        self.n_rows: int = 0
        self._sums = [0.0] * len(self.metrics)

    def add(self, y: ArrayLike | None, predictions: np.ndarray) -> None:
        """Take in targets (None: there are none) and their predictions.

        A row whose target is None or NaN is left out.
        """
        if y is None:
            return
        y = np.asarray(y)
        # NaN differs from itself
        known = np.array([v is not None and v == v for v in y]) if y.dtype == object else y == y
        if not known.all():
            y, predictions = np.array(y[known].tolist()), predictions[known]
        if (y.dtype.kind == "U") != (predictions.dtype.kind == "U"):
            # compare labels of different types by their text
            y, predictions = y.astype(str), predictions.astype(str)
        for k, metric in enumerate(self.metrics):
            self._sums[k] += float(np.sum(metric.per_row(y, predictions)))
        self.n_rows += len(y)

    @property
    def sums(self) -> dict[str, float]:
        """By metric, the sum of its value of each row."""
        return {metric.name: total for metric, total in zip(self.metrics, self._sums, strict=True)}

    def restore(self, n_rows: int, sums: list[float]) -> None:
        """Go on after ``n_rows`` rows, with the `sums` that they had."""
        self.n_rows, self._sums = n_rows, list(sums)

    def text(self) -> str:
        """Such as "mistakes 3.20 %"."""
        values = [total / self.n_rows for total in self._sums]
        return ", ".join(
            f"{m.title} {m.format(m.finish(v))}" for m, v in zip(self.metrics, values, strict=True)
        )
