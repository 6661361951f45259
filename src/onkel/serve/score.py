"""How well a live model does: its score and skill, in all and since the last report."""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.evaluation.baselines import Baselines
from onkel.metrics import Score

# Labels that are collected before they are scored: one by one would take longer than learning.
_BLOCK = 1024


class LiveScore:
    """The score of predictions made before their labels came.

    Skill is the share of the loss of the better baseline that the model avoids. A baseline
    knows the labels that had come when the row was predicted.
    """

    def __init__(self, task: str) -> None:
        self.task = task
        self.n_labels = 0
        self._baselines = Baselines(task)
        self._codes: dict[Any, int] = {}
        self._loss = 0.0
        self._all, self._recent = Score(task), Score(task)
        # intervals, and those with their label inside: in all, and since the last report
        self._bounded, self._inside = [0, 0], [0, 0]
        # since the last block: (label, prediction, labels that had not come by its row)
        self._waiting: list[tuple[Any, Any, int]] = []

    def add(self, y: Any, predicted: Any, known: int, interval: Any = None) -> None:
        """Take in a label; ``known`` labels had come when its row was predicted.

        ``interval``: the bounds that were answered; None, or None in place of a bound, if there
        was none.
        """
        if interval is not None:
            low, high = interval
            inside = (low is None or low <= y) and (high is None or y <= high)
            for k in range(2):
                self._bounded[k] += 1
                self._inside[k] += inside
        self._waiting.append((y, predicted, max(self.n_labels - known, 0)))
        self.n_labels += 1
        if len(self._waiting) == _BLOCK:
            self._take()

    def report(self) -> dict[str, Any]:
        """The metrics so far, and those ``recent`` since the last report; JSON-able.

        ``coverage`` is the share of labels inside the intervals.
        """
        self._take()
        found: dict[str, Any] = {"score": _values(self._all), "recent": _values(self._recent)}
        if self._bounded[0]:
            found["score"]["coverage"] = self._inside[0] / self._bounded[0]
        if self._bounded[1]:
            found["recent"]["coverage"] = self._inside[1] / self._bounded[1]
        self._bounded[1] = self._inside[1] = 0
        n = self._baselines.n_scored
        baseline = float(self._baselines.sums.min()) if n else 0.0
        found["skill"] = 1.0 - self._loss / baseline if baseline > 0 else None
        self._recent = Score(self.task)
        return found

    def _take(self) -> None:
        if not self._waiting:
            return
        labels, predicted, missing = zip(*self._waiting, strict=True)
        self._waiting = []
        if self.task == "classification":
            y = np.array([self._codes.setdefault(str(v), len(self._codes)) for v in labels], float)
            p = np.array([self._codes.get(str(v), -1) for v in predicted], float)
            losses = (y != p).astype(float)
        else:
            y, p = np.array(labels, float), np.array(predicted, float)
            losses = np.square(y - p)
        scored = len(self._baselines.add(y, missing))
        first = len(y) - scored
        self._loss += float(losses[first:].sum())
        # rows before the first label had no prediction
        for score in (self._all, self._recent):
            score.add(y[first:], p[first:])


def _values(score: Score) -> dict[str, float]:
    if not score.n_rows:
        return {}
    return {m.name: m.finish(score.sums[m.name] / score.n_rows) for m in score.metrics}
