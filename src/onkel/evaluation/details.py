"""Measures of a run besides its score, updated row by row, in bounded memory."""

from __future__ import annotations

import copy
import math
from typing import Any, ClassVar

import numpy as np

from onkel.evaluation.baselines import Baselines
from onkel.evaluation.bounds import RunBounds
from onkel.evaluation.class_details import ClassCounts, Labels, Probabilities, Ranking
from onkel.fields import Array, Fields, Number, Sizes, State, Whole, require
from onkel.learners.predictions import Predictions
from onkel.numerics.random import splitmix64
from onkel.state import Part, Stateful


class Details(Stateful):
    """Baselines, windows, and what belongs to the task.

    ``link``: how probabilities follow from scores, "softmax" or "calibrated"; None if the learner
    has none. ``level``: of bounds around the predictions of a regression, or of sets of classes;
    None if there are none.
    """

    probabilities: Probabilities | None

    def __init__(self, task: str, link: str | None = None, level: float | None = None) -> None:
        self.task = task
        self.baselines: Baselines = Baselines(task)
        self.windows: Windows = Windows()
        self.labels: Labels = Labels()
        self.values: ValueDetails = ValueDetails()
        self.classes: ClassCounts = ClassCounts()
        self.ranking: Ranking = Ranking()
        self.probabilities = None if link is None else Probabilities(link == "calibrated", level)
        self.level = level
        values = task == "regression"
        self.bounds = RunBounds(level) if values and level is not None else None
        self.loss: float = 0.0
        #: how many classes the targets have had so far; predictions don't count
        self._n_seen = 0

    def state_fields(self) -> Fields:
        """What the task keeps; a run with a delay keeps no probabilities."""
        common = {
            "loss": Number(low=0.0),
            "_n_seen": Whole(),
            "baselines": Part(),
            "windows": Part(),
        }
        if self.task == "regression":
            bounds = Part(optional=True, begin=lambda _: RunBounds())
            return {**common, "values": Part(), "bounds": bounds}
        classes = {"labels": Part(), "classes": Part(), "ranking": Part()}
        return {**common, **classes, "probabilities": Part(optional=True)}

    def state_is_set(self) -> None:
        """A run that goes on with bounds after rows without begins them now."""
        if self.bounds is None and self.level is not None and self.task == "regression":
            self.bounds = RunBounds(self.level)

    def anew(self, link: str | None = None) -> Details:
        """Measures of the rows from here on, with baselines that know the labels so far.

        ``link``: how probabilities follow from the scores of these rows; None: as before.
        """
        own = copy.deepcopy(self)
        fresh = Details(self.task)
        for name in ("loss", "windows", "values", "classes", "ranking"):
            setattr(own, name, getattr(fresh, name))
        for part in (own.baselines, own.probabilities, own.bounds):
            if part is not None:
                part.forget_score()
        if link is not None and own.probabilities is not None:
            own.probabilities = Probabilities(link == "calibrated", own.level)
        return own

    def add(
        self,
        y: np.ndarray,
        predicted: Predictions,
        losses: np.ndarray,
        missing: list[int] | None = None,
    ) -> int:
        """Take in the next targets (n,), what was predicted for them, and their losses (n,).

        Returns how many of these rows are scored: the last ones, before which a label was known.
        ``missing`` (n,): how many labels had not come when each row was predicted.
        """
        if not len(y):
            return 0
        classes = self.task == "classification"
        values = self.labels.codes(y) if classes else y.astype(np.float64)
        simple = self.baselines.add(values, missing)
        scored = slice(len(y) - len(simple), None)
        if classes:
            self._add_classes(values, predicted, scored)
        else:
            predictions = np.asarray(predicted.predictions, dtype=np.float64)
            self.values.add(values[scored], predictions[scored])
            if self.bounds is not None:
                self.bounds.add(values, predictions, len(simple), missing)
        self.loss += float(losses[scored].sum())
        self.windows.add(np.column_stack([losses[scored], simple]))
        return len(simple)

    def _add_classes(self, codes: np.ndarray, predicted: Predictions, scored: slice) -> None:
        predicted_codes = self.labels.codes(np.asarray(predicted.predictions)[scored])
        self.classes.add(codes[scored], predicted_codes, len(self.labels.names))
        before = np.concatenate([[self._n_seen], 1 + codes[:-1]])
        known = np.maximum.accumulate(before).astype(np.int64)
        self._n_seen = max(int(known[-1]), int(codes[-1]) + 1)
        if predicted.scores is None or predicted.classes is None:
            return
        scores = self._in_order(predicted.scores, predicted.classes)
        if len(predicted.classes) >= 2:
            self.ranking.add(codes, scores, known * (known >= 2))
        if self.probabilities is not None:
            self.probabilities.add(codes, scores, known, self.labels.names)

    def _in_order(self, scores: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """Scores (n, K) in the order of ``self.labels``; 0 while one class is known.

        A class that the model has not learned, as where it only predicts, has the score -inf.
        """
        at = self.labels.codes(classes)
        out = np.full((len(scores), len(self.labels.names)), -np.inf)
        out[:, at] = 0.0
        if len(classes) >= 2:
            out[:, at] = scores * np.array([-0.5, 0.5]) if scores.shape[1] == 1 else scores
        return out

    def summary(self) -> dict[str, Any]:
        """JSON-able; percentages for shares of classes, losses for baselines."""
        n = self.baselines.n_scored
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
            "windows": self.windows.summary(self.baselines.n_rows - n),
        }
        if self.task == "regression":
            if self.bounds is not None:
                found["intervals"] = self.bounds.summary()
            return found | self.values.summary(mean)
        found |= self.classes.summary(self.labels.names) | {"auc": self.ranking.area()}
        return found if self.probabilities is None else found | self.probabilities.summary()


def _gain(loss: float, baseline: float) -> float:
    """The share of a baseline's loss that the model avoids; below 0 the model is worse."""
    return float(1.0 - loss / baseline) if baseline > 0 else math.nan


_WINDOWS = 128
_FIRST_WIDTH = 16


class Windows(Stateful):
    """Sums of losses, and of the baselines' losses, in windows that double as rows come."""

    STATE: ClassVar[Fields] = {
        "width": Whole(low=_FIRST_WIDTH),
        "n_rows": Whole(),
        "sums": Array(shape=(_WINDOWS, 3), low=0.0, finite=False),
    }

    def check_state(self, state: State, sizes: Sizes) -> None:
        """Raise a ModelFileError unless the rows fit into the windows."""
        fit = state["n_rows"] <= _WINDOWS * state["width"]
        require(fit, "n_rows: are more than the windows hold")

    def __init__(self) -> None:
        self.width: int = _FIRST_WIDTH
        self.n_rows: int = 0
        self.sums: np.ndarray = np.zeros((_WINDOWS, 3))

    def add(self, losses: np.ndarray) -> None:
        """Losses (n, 3) of the next rows."""
        while self.n_rows + len(losses) > _WINDOWS * self.width:
            paired = self.sums[0::2] + self.sums[1::2]
            self.sums = np.concatenate([paired, np.zeros_like(paired)])
            self.width *= 2
        at = np.arange(self.n_rows, self.n_rows + len(losses)) // self.width
        for column in range(3):
            self.sums[:, column] += np.bincount(at, weights=losses[:, column], minlength=_WINDOWS)
        self.n_rows += len(losses)

    def summary(self, rows_before: int) -> dict[str, Any]:
        """Rows at the end of each window, and mean losses there: the learner's, the baselines'.

        ``rows_before``: rows before the first window, which are not scored.
        """
        n = -(-self.n_rows // self.width)
        ends = np.minimum(np.arange(1, n + 1) * self.width, self.n_rows)
        means = self.sums[:n] / np.diff(ends, prepend=0)[:, None]
        return {
            "width": self.width,
            "rows_before": rows_before,
            "rows": (ends + rows_before).tolist(),
            "loss": means[:, 0].tolist(),
            "baselines": means[:, 1:].T.tolist(),
        }


_SAMPLE = 250
_ROUNDING = 2.0**-46
"""Deviations of this share of the mean are rounding."""


class Variance(Stateful):
    """Mean and squared deviations of the targets so far."""

    STATE: ClassVar[Fields] = {"n": Whole(), "mean": Number(), "squares": Number(low=0.0)}

    def __init__(self) -> None:
        self.n: int = 0
        self.mean: float = 0.0
        self.squares: float = 0.0

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
        """R² of predictions with this mean squared error; NaN if the targets are all the same."""
        if self.squares <= self.n * (_ROUNDING * self.mean) ** 2:
            return math.nan
        return 1.0 - squared_error * self.n / self.squares


class Sample(Stateful):
    """Targets and predictions of rows drawn by their number: the same rows whatever the blocks."""

    STATE: ClassVar[Fields] = {"n_rows": Whole(), "rows": Array(shape=("sampled", 3), finite=False)}

    def check_state(self, state: State, sizes: Sizes) -> None:
        """Raise a ModelFileError where there are more rows than a sample has."""
        require(sizes["sampled"] <= _SAMPLE, f"rows: are more than {_SAMPLE}")

    def __init__(self) -> None:
        self.n_rows: int = 0
        #: rows (priority, target, prediction) of the lowest priorities
        self.rows: np.ndarray = np.empty((0, 3))

    def add(self, y: np.ndarray, p: np.ndarray) -> None:
        """The next targets and their predictions."""
        number = np.arange(self.n_rows, self.n_rows + len(y), dtype=np.uint64)
        self.n_rows += len(y)
        # numbers in [0, 1) that look random
        priority = splitmix64(number).astype(np.float64) / 2.0**64
        rows = np.column_stack([priority, y, p])
        if len(self.rows) == _SAMPLE:
            rows = rows[rows[:, 0] < self.rows[-1, 0]]
        rows = np.concatenate([self.rows, rows])
        self.rows = rows[np.argsort(rows[:, 0], kind="stable")[:_SAMPLE]]


class ValueDetails(Stateful):
    """R² and a sample of a regression."""

    STATE: ClassVar[Fields] = {"variance": Part(), "sample": Part()}

    def __init__(self) -> None:
        self.variance: Variance = Variance()
        self.sample: Sample = Sample()

    def add(self, y: np.ndarray, p: np.ndarray) -> None:
        """The next targets and their predictions."""
        self.variance.add(y)
        self.sample.add(y, p)

    def summary(self, squared_error: float) -> dict[str, Any]:
        """R² and the sample's targets and predictions."""
        _, y, p = self.sample.rows.T
        sample = {"target": y.tolist(), "prediction": p.tolist()}
        return {"r2": self.variance.r2(squared_error), "sample": sample}
