"""What comes back to a model with each label: how far its prediction was off."""

from __future__ import annotations

import numpy as np

from onkel.intervals import Alarm, Intervals
from onkel.intervals.intervals import LARGEST
from onkel.state import Fields, Part, Stateful

#: the levels that are tracked; bounds of others are read between them
LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)


class Feedback(Stateful):
    """Bounds that keep their coverage, and an alarm, over the predictions that a model made.

    Parameters
    ----------
    task : {"classification", "regression"}
    """

    def __init__(self, task: str) -> None:
        self.task = task
        #: around the next row's prediction, and around one of a row that stands alone
        self.next, self.alone = Intervals(LEVELS), Intervals(LEVELS, local=False)
        self.alarm = Alarm()

    def state_fields(self) -> Fields:
        """Classes have no bounds."""
        if self.task == "classification":
            return {"alarm": Part()}
        return {"next": Part(), "alone": Part(), "alarm": Part()}

    def learn(self, y: np.ndarray, predictions: np.ndarray) -> None:
        """Learn targets (n,) and what was predicted for them, each before it was learned."""
        if self.task == "classification":
            self.alarm.learn((np.asarray(predictions) != y).astype(np.float64))
            return
        y, p = y.astype(np.float64), np.asarray(predictions, dtype=np.float64)
        # the square of an error must be finite; NaN is not below the limit
        good = (np.abs(y) < LARGEST) & (np.abs(p) < LARGEST)
        if not good.all():
            y, p = y[good], p[good]
        self.alarm.learn(np.abs(y - p))
        self.alone.learn(p, y)
        self.next.learn(p, y)

    def take_in(self, other: Feedback) -> None:
        """Merge with the feedback of a model that is merged in."""
        self.alarm.take_in(other.alarm)
        self.next.take_in(other.next)
        self.alone.take_in(other.alone)
