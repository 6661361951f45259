"""The score of predictions whose targets are known."""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.evaluation.metrics import metrics_of


class Score:
    """The metrics of a task over the rows given so far."""

    def __init__(self, task: str) -> None:
        self.metrics = [metric for metric in metrics_of(task) if metric.lower_is_better]
        self.n_rows = 0
        self._sums = [0.0] * len(self.metrics)

    def add(self, y: Any, predictions: np.ndarray) -> None:
        """Take in targets (None: there are none) and their predictions."""
        if y is None:
            return
        y = np.asarray(y)
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

    def text(self) -> str:
        """Such as "mistakes 3.20 %"."""
        values = [total / self.n_rows for total in self._sums]
        return ", ".join(
            f"{m.title} {m.format(m.finish(v))}" for m, v in zip(self.metrics, values, strict=True)
        )
