"""Everything kept of a run besides its curve, updated row by row, in bounded memory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onkel.evaluation.details.baselines import Baselines
from onkel.evaluation.details.classes import ClassCounts, Labels
from onkel.evaluation.details.probabilities import Probabilities
from onkel.evaluation.details.ranking import Ranking
from onkel.evaluation.details.values import ValueDetails
from onkel.evaluation.details.windows import Windows
from onkel.learners.told import Told


class Details:
    """Baselines, windows, and what belongs to the task.

    Parameters
    ----------
    task : {"classification", "regression"}
    link : {"softmax", "calibrated"} or None
        How probabilities follow from scores; None: the learner has none.
    """

    def __init__(self, task: str, link: str | None = None) -> None:
        self.task = task
        self.baselines = Baselines(task)
        self.windows = Windows()
        self.labels = Labels()
        self.values = ValueDetails()
        self.classes = ClassCounts()
        self.ranking = Ranking()
        self.probabilities = None if link is None else Probabilities(link == "calibrated")
        self.loss = 0.0
        #: how many classes the targets have had so far; predictions don't count
        self._n_seen = 0

    def add(
        self, y: np.ndarray, told: Told, losses: np.ndarray, missing: list[int] | None = None
    ) -> None:
        """Take in the next targets (n,), what was predicted for them, and their losses (n,).

        ``missing`` (n,): how many labels had not come when each row was predicted.
        """
        if not len(y):
            return
        self.loss += float(losses.sum())
        if self.task == "regression":
            y = y.astype(np.float64)
            self.values.add(y, np.asarray(told.predictions, dtype=np.float64))
        else:
            y = self._add_classes(y, told)
        self.windows.add(np.column_stack([losses, self.baselines.add(y, missing)]))

    def _add_classes(self, y: np.ndarray, told: Told) -> np.ndarray:
        codes = self.labels.codes(y)
        predicted = self.labels.codes(np.asarray(told.predictions))
        self.classes.add(codes, predicted, len(self.labels.names))
        before = np.concatenate([[self._n_seen], 1 + codes[:-1]])
        known = np.maximum.accumulate(before).astype(np.int64)
        self._n_seen = max(int(known[-1]), int(codes[-1]) + 1)
        if told.scores is None or told.classes is None or len(told.classes) < 2:
            return codes
        scores = self._in_order(told.scores, told.classes)
        self.ranking.add(codes, scores, known * (known >= 2))
        if self.probabilities is not None:
            self.probabilities.add(codes, scores, known)
        return codes

    def _in_order(self, scores: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """Scores (n, K) in the order of ``self.labels``."""
        if scores.shape[1] == 1:
            scores = scores * np.array([-0.5, 0.5])
        at = self.labels.codes(classes)
        out = np.zeros((len(scores), len(self.labels.names)))
        out[:, at] = scores
        return out

    def summary(self) -> dict[str, Any]:
        """JSON-able; percentages for shares of classes, losses for baselines."""
        n = self.baselines.n_rows
        if not n:
            return {}
        mean = self.loss / n
        baselines = self.baselines.sums / n
        better = int(np.argmin(baselines))
        found: dict[str, Any] = {
            "baselines": dict(zip(self.baselines.names, baselines.tolist(), strict=True)),
            "baseline": self.baselines.names[better],
            "skill": _gain(mean, baselines[better]),
            "skills": {
                name: _gain(mean, loss)
                for name, loss in zip(self.baselines.names, baselines, strict=True)
            },
            "windows": self.windows.summary(),
        }
        if self.task == "regression":
            return found | self.values.summary(mean)
        found |= self.classes.summary(self.labels.names) | {"auc": self.ranking.area()}
        return found if self.probabilities is None else found | self.probabilities.summary()

    def get_state(self) -> dict[str, Any]:
        """JSON-able."""
        parts: dict[str, Any] = {"baselines": self.baselines, "windows": self.windows}
        if self.task == "regression":
            parts |= {"values": self.values}
        else:
            parts |= {"classes": self.classes, "ranking": self.ranking}
            parts |= {"probabilities": self.probabilities} if self.probabilities else {}
        state = {name: part.get_state() for name, part in parts.items()}
        return state | {"labels": self.labels.names, "loss": self.loss, "n_seen": self._n_seen}

    def set_state(self, state: dict[str, Any]) -> None:
        """The inverse of :meth:`get_state`."""
        self.labels = Labels(state["labels"])
        self.loss, self._n_seen = state["loss"], state["n_seen"]
        self.baselines.set_state(state["baselines"])
        self.windows.set_state(state["windows"])
        if self.task == "regression":
            self.values.set_state(state["values"])
            return
        self.classes.set_state(state["classes"])
        self.ranking.set_state(state["ranking"])
        if "probabilities" not in state:
            self.probabilities = None
        if self.probabilities is not None:
            self.probabilities.set_state(state["probabilities"])


def _gain(loss: float, baseline: float) -> float:
    """The share of a baseline's loss that the model avoids; below 0 the model is worse."""
    return float(1.0 - loss / baseline) if baseline > 0 else math.nan
