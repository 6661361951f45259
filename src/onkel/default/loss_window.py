"""Losses of the last rows: have they risen, and is a challenger better?

Losses are summed over bins of ``BIN_ROWS`` rows, and decisions fall on the ends of bins, never on
the end of a block. Both tests compare means, and ask for several standard errors. Both also ask for
a tenth of the usual loss: where the last losses are next to nothing, so is what a new model gains.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from onkel.fields import Array, Fields, Number, Whole, require
from onkel.numerics.arrays import end_of_counted
from onkel.numerics.jit import jit
from onkel.state import Stateful

#: rows of a bin
BIN_ROWS = 64
#: rows after which a challenger that is not better is dropped
PATIENCE = 8192
_MOST_BINS = 128
#: a model's first bins are left out: their losses are high while it learns
FIRST_BINS = 4
_FEWEST_BEFORE = 8
_RECENT = (1, 2, 4, 8, 16, 32)
# Standard errors that raise an alarm: one false alarm in millions of rows. Each alarm that was in
# vain raises the threshold.
_ALARM, _MORE, _MOST = 5.0, 2.5, 15.0
# A single loss is capped at so many times the mean so far: an outlier is no change.
_LARGEST = 25.0
# A challenger is better if it gains so many standard errors over its last bins, as if rows were
# independent. Losses come in bursts, so from _FEWEST_SPREAD bins on it must also gain so many
# standard errors of the bins' means.
_BETTER, _COMPARED_BINS, _FEWEST_COMPARED = 4.0, 8, 2
_BETTER_IN_BINS, _FEWEST_SPREAD = 2.0, 4
# A change by less than this share of the usual loss is none.
_WORTH = 0.1
#: in units; sums of squares of larger losses are not finite, and they count as equal
LARGEST_LOSS = 1e140
_LARGEST_NUMBER = 1e300
# Losses are as they are if the median of the first bin is in this range, and in units of it else.
_USUAL = 1e-100, 1e100


class LossWindow(Stateful):
    """Losses (n, 2) of the rows since the last whole bin: the model's and the challenger's.

    The second is 0 where there is no challenger.
    """

    STATE: ClassVar[Fields] = {"losses": Array(shape=("rows", 2), low=-1e300, high=1e300)}

    def __init__(self) -> None:
        self.losses: np.ndarray = np.zeros((0, 2))

    def __len__(self) -> int:
        return len(self.losses)

    def end_of_bin(self, weight: np.ndarray, start: int) -> int:
        """Where the bin ends that goes on with the rows from ``start``: at the last at most."""
        return end_of_counted(weight, start, BIN_ROWS - len(self.losses))

    def add(self, losses: np.ndarray, weight: np.ndarray) -> list[tuple[int, np.ndarray]]:
        """Add losses (n, 2) of rows of positive weight; the bins that are whole, and their ends."""
        counted, before = np.flatnonzero(weight > 0.0), len(self.losses)
        rows = np.concatenate([self.losses, np.minimum(losses[counted], _LARGEST_NUMBER)])
        ends = range(BIN_ROWS, len(rows) + 1, BIN_ROWS)
        self.losses = rows[len(ends) * BIN_ROWS :]
        return [(int(counted[b - before - 1]) + 1, rows[b - BIN_ROWS : b]) for b in ends]

    def count_as_equal(self) -> None:
        """A challenger begins: on the rows so far, which it has not seen, it counts as equal."""
        self.losses[:, 1] = self.losses[:, 0]

    def state_is_set(self) -> None:
        require(len(self) < BIN_ROWS, f"losses: holds {len(self)} rows, a whole bin")


class LossHistory(Stateful):
    """Sums and squares of the losses of the last bins: have they risen?

    ``in_vain`` counts the alarms since the last change that led to no better model. The usual loss
    is the mean over 128 to 256 bins, also of former models.
    """

    STATE: ClassVar[Fields] = {
        "sums": Array(shape=("bins", 2), low=0.0, high=1e300),
        "waiting": Whole(high=FIRST_BINS),
        "in_vain": Whole(),
        "of_many": Array(shape=(2, 2), low=0.0, high=1e300, optional=True),
        "unit": Number(low=5e-324, high=1e301, optional=True),
    }

    def __init__(self) -> None:
        self.begin_again(in_vain=0)
        #: what losses are divided by, where their squares would be out of range else
        self.unit: float | None = None
        #: how many bins, and the sum of their mean losses: of the last ones, and of those before
        self.of_many: np.ndarray = np.zeros((2, 2))

    def begin_again(self, in_vain: int) -> None:
        """Forget all bins; only the usual loss stays."""
        self.sums: np.ndarray = np.zeros((0, 2))
        #: first bins still to leave out
        self.waiting: int = FIRST_BINS
        self.in_vain: int = in_vain

    def choose_unit(self, losses: np.ndarray) -> None:
        """Choose the unit by the first bin of losses (BIN_ROWS, 2)."""
        if not self.of_many.any():
            usual = float(np.median(losses[:, 0]))
            is_plain = usual == 0.0 or _USUAL[0] < usual < _USUAL[1]
            # a power of two, so that no digit changes
            self.unit = None if is_plain else math.ldexp(0.5, math.frexp(usual)[1])

    def add(self, losses: np.ndarray) -> bool:
        """One bin of losses (BIN_ROWS,) ≥ 0; returns :meth:`risen`."""
        if self.waiting:
            self.waiting -= 1
            return False
        mean = float(self.sums[:, 0].sum()) / (max(len(self.sums), 1) * BIN_ROWS)
        if mean > 0.0:
            losses = np.minimum(losses, _LARGEST * mean)
        self.sums = np.concatenate([self.sums, [[losses.sum(), losses @ losses]]])[-_MOST_BINS:]
        if self.of_many[0, 0] == _MOST_BINS:
            self.of_many = np.array([np.zeros(2), self.of_many[0]])
        self.of_many[0] += 1.0, losses.mean()
        return self.risen()

    @property
    def worth(self) -> float:
        """A tenth of the usual loss: a smaller change is none."""
        n, total = self.of_many.sum(axis=0)
        return _WORTH * float(total) / max(float(n), 1.0)

    def risen(self) -> bool:
        """True where the mean loss of the last 1, 2, 4, ... or 32 bins is far above that before."""
        return bool(_risen(self.sums, min(_ALARM + _MORE * self.in_vain, _MOST), self.worth))


@jit
def _risen(sums, alarm, worth):
    """Whether a mean exceeds that before by ``alarm`` standard errors, and by ``worth``."""
    for recent in _RECENT:
        if len(sums) < recent + _FEWEST_BEFORE:
            break
        before, error = _mean_and_error(sums[:-recent])
        after, own_error = _mean_and_error(sums[-recent:])
        spread = math.sqrt(error + own_error)
        if spread > 0.0 and after - before > max(alarm * spread, worth):
            return True
    return False


@jit
def _mean_and_error(bins):
    """The mean over all rows of bins (n, 2), sums and squares, and its squared standard error."""
    total, squares = 0.0, 0.0
    for b in range(len(bins)):
        total += bins[b, 0]
        squares += bins[b, 1]
    n = len(bins) * BIN_ROWS
    mean = total / n
    return mean, max(squares / n - mean**2, 0.0) / n


class Comparison(Stateful):
    """Losses of a model and its challenger on the same rows, in bins of ``BIN_ROWS``."""

    STATE: ClassVar[Fields] = {"bins": Array(shape=("bins", 2), low=-1e300, high=1e300)}

    def __init__(self) -> None:
        #: for each bin, the sum of the differences of the losses, and that of their squares
        self.bins: np.ndarray = np.zeros((0, 2))

    def add(self, losses: np.ndarray) -> None:
        """Take in the losses of a bin, (n, 2): the model's and the challenger's."""
        gain = losses[:, 0] - losses[:, 1]
        self.bins = np.concatenate([self.bins, [[gain.sum(), gain @ gain]]])

    def better(self, worth: float) -> bool:
        """Whether the challenger gains ``worth``, and 4 standard errors, over the last 8 bins.

        It must also gain two standard errors of the bins' means, so that one burst of losses is no
        proof. And it must not lose over the second half of its rows: one that is no better for
        thousands of rows looks better at one of so many bins by chance.
        """
        n, bins = len(self.bins), self.bins[-_COMPARED_BINS:]
        if n < _FEWEST_COMPARED or self.bins[-max(n // 2, _COMPARED_BINS) :, 0].sum() <= 0.0:
            return False
        mean, error = _mean_and_error(bins)
        least = max(_BETTER * math.sqrt(error), worth)
        if len(bins) >= _FEWEST_SPREAD:
            spread = float(bins[:, 0].std(ddof=1)) / BIN_ROWS
            least = max(least, _BETTER_IN_BINS * spread / math.sqrt(len(bins)))
        return mean > least

    def too_long(self) -> bool:
        """Whether the challenger has had its ``PATIENCE`` rows."""
        return len(self.bins) * BIN_ROWS >= PATIENCE
