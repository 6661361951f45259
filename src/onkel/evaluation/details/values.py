"""How much of a target's variance is explained, and a sample of predictions to look at."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_SAMPLE = 250


class Variance:
    """Mean and squared deviations of the targets so far."""

    def __init__(self) -> None:
        self.n, self.mean, self.squares = 0, 0.0, 0.0

    def add(self, y: np.ndarray) -> None:
        """The next targets."""
        if not len(y):
            return
        n, mean = len(y), float(y.mean())
        apart, total = mean - self.mean, self.n + n
        self.squares += float(np.square(y - mean).sum()) + apart * apart * self.n * n / total
        self.mean += apart * n / total
        self.n = total

    def r2(self, squared_error: float) -> float:
        """R² of predictions with this mean squared error."""
        return 1.0 - squared_error * self.n / self.squares if self.squares > 0 else math.nan


class Sample:
    """Targets and predictions of rows drawn by their number: the same rows whatever the blocks."""

    def __init__(self) -> None:
        self.n_rows = 0
        #: rows (priority, target, prediction) of the lowest priorities
        self.rows = np.empty((0, 3))

    def add(self, y: np.ndarray, p: np.ndarray) -> None:
        """The next targets and their predictions."""
        number = np.arange(self.n_rows, self.n_rows + len(y), dtype=np.uint64)
        self.n_rows += len(y)
        rows = np.column_stack([_priority(number), y, p])
        if len(self.rows) == _SAMPLE:
            rows = rows[rows[:, 0] < self.rows[-1, 0]]
        rows = np.concatenate([self.rows, rows])
        self.rows = rows[np.argsort(rows[:, 0], kind="stable")[:_SAMPLE]]


def _priority(number: np.ndarray) -> np.ndarray:
    """Numbers in [0, 1) that look random: the finaliser of splitmix64 (Steele et al. 2014)."""
    z = (number + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))).astype(np.float64) / 2.0**64


class ValueDetails:
    """R² and a sample of a regression."""

    def __init__(self) -> None:
        self.variance, self.sample = Variance(), Sample()

    def add(self, y: np.ndarray, p: np.ndarray) -> None:
        """The next targets and their predictions."""
        self.variance.add(y)
        self.sample.add(y, p)

    def summary(self, squared_error: float) -> dict[str, Any]:
        """R² and the sample's targets and predictions."""
        _, y, p = self.sample.rows.T
        sample = {"target": y.tolist(), "prediction": p.tolist()}
        return {"r2": self.variance.r2(squared_error), "sample": sample}

    def get_state(self) -> dict[str, Any]:
        """JSON-able."""
        v = self.variance
        return {"variance": [v.n, v.mean, v.squares], "sample": self.sample.rows.tolist(),
                "n_rows": self.sample.n_rows}  # fmt: skip

    def set_state(self, state: dict[str, Any]) -> None:
        """The inverse of :meth:`get_state`."""
        v = self.variance
        v.n, v.mean, v.squares = state["variance"]
        self.sample.rows = np.array(state["sample"], dtype=np.float64).reshape(-1, 3)
        self.sample.n_rows = state["n_rows"]
