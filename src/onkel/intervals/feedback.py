"""What comes back to a model with each label: how far its prediction was off."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from onkel.annotations import ArrayLike
from onkel.fields import Fields
from onkel.intervals.alarm import Alarm, watch_score, with_splitmix
from onkel.intervals.intervals import LARGEST, Intervals
from onkel.intervals.sets import STEP, ClassSets, follow_share, steady_step
from onkel.intervals.tracking import THEN_Q, follow_late, follow_row
from onkel.numerics.jit import jit_in_order
from onkel.state import Part, Stateful

#: the levels that are tracked; bounds and sets of others are read between them
LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
#: the way of bounds of these levels that is not known (`Intervals.way`)
UNKNOWN_WAY = np.full(THEN_Q + len(LEVELS), np.inf)
# A row by itself has a loop of its own from so many rows on: most streams then come in blocks.
_FIRST_ROWS = 32


# One call from Python for a row by itself: each array handed over takes as long as its work.


@with_splitmix
@jit_in_order
def _follow_value(y, prediction, alone, following, apart, threshold, quiet, seed, whole, numbers):
    """Learn a target; returns whether the alarm rings."""
    follow_row(following, prediction, y)
    follow_row(apart, alone, y)
    error = abs(y - prediction)
    return watch_score(error, threshold, quiet, seed, whole, numbers)


@with_splitmix
@jit_in_order
def _follow_late(
    y, prediction, alone, way, following, apart, threshold, quiet, seed, whole, numbers
):
    """As :func:`_follow_value`, of a target that comes late."""
    follow_late(following, prediction, y, way)
    follow_row(apart, alone, y)
    error = abs(y - prediction)
    return watch_score(error, threshold, quiet, seed, whole, numbers)


@with_splitmix
@jit_in_order
def _follow_class(
    wrong, share, alone, levels, q, apart, n_rows, threshold, quiet, seed, whole, numbers
):
    """As :func:`_follow_value`, of a label with these probabilities."""
    played = np.empty(levels.shape[0])
    follow_share(share, levels, q, played, STEP)
    follow_share(alone, levels, apart, played, steady_step(n_rows))
    return watch_score(wrong, threshold, quiet, seed, whole, numbers)


def check_tracked(level: float) -> None:
    """Raise a ValueError unless a level is tracked."""
    if level not in LEVELS:
        raise ValueError(f"level={level!r}: bounds before learning are those of {LEVELS}")


class SetsThen(NamedTuple):
    """What was known of the classes of a row when it came, before its label."""

    #: rows learned by then
    learned: int
    #: code of the class that was predicted
    best: int
    #: of each class, in how many of the tracked sets it was not
    outside: bytes


class Feedback(Stateful):
    """Bounds or sets that keep their coverage, and an alarm, over predictions that were made."""

    def __init__(self, task: str) -> None:
        self.task = task
        #: of the row that comes next, and of a row that stands alone
        self.next: Any
        self.alone: Any
        if task == "classification":
            self.next, self.alone = ClassSets(LEVELS), ClassSets(LEVELS, local=False)
        else:
            self.next, self.alone = Intervals(LEVELS), Intervals(LEVELS, local=False)
        self.alarm: Alarm = Alarm()
        #: of the rows to be learned next, where their labels are late: the prediction that was made
        #: when the row came (NaN: none), and the way of its bounds, side by side; of classes what
        #: was known of each row (None: nothing)
        self.forecasts: Any = None

    def state_fields(self) -> Fields:
        return {"next": Part(), "alone": Part(), "alarm": Part()}

    def replayed(
        self, y: ArrayLike, predictions: np.ndarray, first: int, level: float
    ) -> np.ndarray:
        """Bounds (n, 2) of rows, each before its target was known; they are learned by that.

        Nothing is known of the rows before ``first``.
        """
        out = np.full((len(predictions), 2), [-np.inf, np.inf])
        y, p = (np.asarray(a, dtype=np.float64) for a in (y, predictions))
        rows = np.flatnonzero((np.abs(y) < LARGEST) & (np.abs(p) < LARGEST))
        rows = rows[rows >= first]
        out[rows] = self.next.learn(p[rows], y[rows])[:, LEVELS.index(level)]
        return out

    def learn_values(self, y: np.ndarray, predictions: np.ndarray, alone: np.ndarray) -> None:
        """Learn targets (n,), with what was predicted for them before each was learned.

        ``alone`` (n,): what would have been predicted without a memory of the targets before.
        """
        ways = None
        if self.forecasts is not None:
            forecasts, self.forecasts = self.forecasts[: len(y)], self.forecasts[len(y) :]
            predictions, ways = forecasts[:, 0], forecasts[:, 1:]
        if len(y) == 1 and self.alarm.n_rows >= _FIRST_ROWS:
            way = () if ways is None else (ways[0],)
            self._learn_value(float(y[0]), float(predictions[0]), float(alone[0]), *way)
            return
        y, p, alone = (np.asarray(a, dtype=np.float64) for a in (y, predictions, alone))
        # the square of an error must be finite; NaN is not below the limit
        good = (np.abs(y) < LARGEST) & (np.abs(p) < LARGEST) & (np.abs(alone) < LARGEST)
        if not good.all():
            y, p, alone = y[good], p[good], alone[good]
            ways = None if ways is None else ways[good]
        self.alarm.learn(np.abs(y - p))
        self.alone.learn(alone, y)
        if ways is None:
            self.next.learn(p, y)
        else:
            self.next.learn_late(p, y, ways)

    def _learn_value(self, y: float, prediction: float, alone: float, *way: np.ndarray) -> None:
        if abs(y) < LARGEST and abs(prediction) < LARGEST and abs(alone) < LARGEST:
            alarm, numbers = self.alarm, (self.next.numbers, self.alone.numbers)
            follow = _follow_late if way else _follow_value
            if follow(y, prediction, alone, *way, *numbers, *alarm.watching):
                alarm.ring(np.array([alarm.n_rows]))

    def learn_late_classes(
        self, codes: np.ndarray, best: np.ndarray, shares: np.ndarray, alone: np.ndarray, K: int
    ) -> None:
        """As `learn_classes`, of labels that come late: the forecasts of then are judged.

        ``codes`` (n,) are the labels that came and ``best`` (n,) those predicted now, of K classes;
        a class that came since then has changed the codes, and those of now are judged.
        """
        taken, self.forecasts = self.forecasts[: len(codes)], self.forecasts[len(codes) :]
        outside, learned, best = (
            np.zeros(len(codes), np.int64),
            np.full(len(codes), -1),
            best.copy(),
        )
        for t, then in enumerate(taken):
            if then is not None and len(then.outside) == K:
                outside[t], learned[t], best[t] = then.outside[codes[t]], then.learned, then.best
        self.alarm.learn((best != codes).astype(np.float64))
        self.next.learn_late(shares, outside, learned)
        self.alone.learn_shares(alone)

    def learn_classes(
        self, wrong: np.ndarray, shares: np.ndarray | None, alone: np.ndarray | None
    ) -> None:
        """Learn mistakes (n,), and the probabilities (n,) that the labels that came had.

        ``alone`` (n,): as in `learn_values`. None where the model has no probabilities.
        """
        by_itself = len(wrong) == 1 and self.alarm.n_rows >= _FIRST_ROWS
        if by_itself and shares is not None and alone is not None:
            sets, apart = self.next, self.alone
            state = sets.levels, sets.q_, apart.q_, apart.n_rows, *self.alarm.watching
            sets.n_rows += 1
            apart.n_rows += 1
            if _follow_class(float(wrong[0]), float(shares[0]), float(alone[0]), *state):
                self.alarm.ring(np.array([self.alarm.n_rows]))
            return
        self.alarm.learn(wrong.astype(np.float64))
        if shares is not None and alone is not None:
            self.next.learn_shares(shares)
            self.alone.learn_shares(alone)

    def take_in(self, other: Feedback, since: Feedback | None = None) -> None:
        """Merge with the feedback of a model that is merged in.

        ``since``: that of the model which both went on from; what it knew counts once.
        """
        for name in ("alarm", "next", "alone"):
            origin = None if since is None else getattr(since, name)
            getattr(self, name).take_in(getattr(other, name), origin)
