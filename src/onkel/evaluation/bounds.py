"""Bounds around the predictions of a run, each made before its label was known."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from onkel.fields import Array, Fields, Whole
from onkel.intervals import ClassSets, Intervals
from onkel.intervals.intervals import LARGEST
from onkel.intervals.score import IntervalScore
from onkel.state import Part, Stateful

#: the last rows that are kept for a picture
_LAST = 200


class RunSets(Stateful):
    """Sets of labels around the probabilities of a run: their coverage and size.

    ``level``, in (0, 1), is the share of labels that should be in their sets.
    """

    STATE: ClassVar[Fields] = {"sets": Part(), "score": Part(), "size": Whole()}

    def __init__(self, level: float = 0.9) -> None:
        self.sets: ClassSets = ClassSets(level)
        self.score: IntervalScore = IntervalScore(level)
        self.size: int = 0

    def forget_score(self) -> None:
        """Count rows from here on; what the sets have learned stays."""
        self.score, self.size = IntervalScore(self.score.level), 0

    def add(self, codes: np.ndarray, P: np.ndarray) -> None:
        """Take in class codes (n,) and the probabilities (n, K) before each row."""
        self.count(codes, self.sets.learn(P, codes))

    def count(self, codes: np.ndarray, inside: np.ndarray) -> None:
        """Measure sets (n, K) made elsewhere; codes (n,) of classes without a column are -1."""
        self.size += int(inside.sum())
        # as bounds: a row that is missed has its target 0 outside of [1, 1]
        missed = 1.0 - (inside[np.arange(len(codes)), codes] & (codes >= 0))
        self.score.add(np.zeros(len(codes)), np.column_stack([missed, missed]))

    def summary(self) -> dict[str, Any]:
        """JSON-able: level, rows, coverage, mean size of a set, worst window of 500 rows."""
        found = self.score.summary()
        kept = {name: found[name] for name in ("level", "rows", "coverage", "worst_window")}
        return kept | {"size": self.size / found["rows"] if found["rows"] else float("nan")}


class RunBounds(Stateful):
    """Intervals around the predictions of any model, and how good they were.

    ``level``, in (0, 1), is the share of targets that should lie inside.
    """

    STATE: ClassVar[Fields] = {
        "intervals": Part(),
        "score": Part(),
        "late": Array(shape=("late", 2), finite=False),
        # a file of before has none
        "made": Array(shape=("late", 4), optional=True),
        "last": Array(shape=("last", 4), finite=False),
    }

    def __init__(self, level: float = 0.9) -> None:
        self.intervals: Intervals = Intervals(level)
        self.score: IntervalScore = IntervalScore(level)
        #: predictions and targets of rows whose labels have not come; inf: of no use
        self.late: np.ndarray = np.zeros((0, 2))
        #: how their bounds were made (`Intervals.way`)
        self.made: np.ndarray = np.zeros((0, 4))
        #: target, prediction and bounds of the last rows
        self.last: np.ndarray = np.zeros((0, 4))

    def forget_score(self) -> None:
        """Count rows from here on; what the bounds have learned stays."""
        self.score = IntervalScore(self.score.level)
        self.last = self.last[:0]

    def add(
        self, y: np.ndarray, p: np.ndarray, n_scored: int, missing: list[int] | None = None
    ) -> None:
        """Take in targets (n,) and predictions (n,), of which the last ``n_scored`` count.

        ``missing`` (n,): how many labels had not come when each row was predicted.
        """
        first = len(y) - n_scored
        if missing is None:
            bounds = self.intervals.learn(p[first:], y[first:])
        else:
            rows = np.column_stack([p, y])
            rows[:first] = np.inf
            bounds = np.empty((len(y), 2))
            self.late = np.concatenate([self.late, rows])
            self.made = np.concatenate([self.made, np.empty((len(y), 4))])
            for t, waiting in enumerate(missing):
                # rows before this one whose labels have come; this and later rows stand behind
                known = max(len(self.late) - (len(y) - t) - waiting, 0)
                due, self.late = self.late[:known], self.late[known:]
                made, self.made = self.made[:known], self.made[known:]
                good = (np.abs(due) < LARGEST).all(axis=1)
                self.intervals.learn_late(due[good, 0], due[good, 1], made[good])
                bounds[t] = self.intervals.bounds(p[t])
                self.made[t - len(y)] = self.intervals.way()
            bounds = bounds[first:]
        self.count(y[first:], p[first:], bounds)

    def count(self, y: np.ndarray, p: np.ndarray, bounds: np.ndarray) -> None:
        """Measure bounds (n, 2) made elsewhere around predictions (n,) of targets (n,)."""
        self.score.add(y, bounds)
        self.last = np.concatenate([self.last, np.column_stack([y, p, bounds])])[-_LAST:]

    def state_is_set(self) -> None:
        if self.made is None:
            self.made = np.tile(self.intervals.way(), (len(self.late), 1))

    def summary(self) -> dict[str, Any]:
        """JSON-able: see `onkel.intervals.score`; the last rows with finite bounds."""
        last = self.last[np.isfinite(self.last).all(axis=1)]
        names = ("target", "prediction", "low", "high")
        rows = {name: column.tolist() for name, column in zip(names, last.T, strict=True)}
        return self.score.summary() | {"last": rows}
