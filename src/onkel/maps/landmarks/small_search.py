"""Whether a search would gain anything: a small one says.

A search takes several times as long as learning its rows, and on many streams it gains nothing. How
much the last one gained does not tell how much the next one will. A small search does: a few steps
of every other landmark on some of the rows. It takes less than a tenth of the time. Where the last
whole search gained much less than was promised, the next small one must promise more. Where the
labels before are known when a row is predicted, what they tell is no gain
(:mod:`onkel.maps.landmarks.labels_before`).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from onkel.annotations import DTypeLike
from onkel.maps.landmarks.climb import (
    Judged,
    better,
    climb,
    judged,
    parts_of_many,
    steps_of_climb,
    steps_of_start,
)
from onkel.maps.landmarks.drawn_rows import Split, parts_of, scaled
from onkel.maps.landmarks.evidence import Landmarks, Sums, steps_of_sums
from onkel.maps.landmarks.fitted import Units
from onkel.maps.landmarks.labels_before import (
    N_BEFORE,
    left_of_last,
    rows_before,
    squares_left,
    steps_of_last,
)
from onkel.maps.landmarks.labels_before import STEPS as STEPS_BEFORE
from onkel.maps.landmarks.searched import Rows, Searched

# One landmark and one row in so many, at least so many rows to learn from and to be judged by, and
# its steps.
_ONE_IN, _FEWEST, _FEWEST_HELD_OUT, _STEPS = 2, 4096, 1024, 8
# After so many steps it may already be decided: where it gains enough, or less than this share of
# that.
_DECIDED, _HOPELESS = 4, 0.25
# Widths of landmarks' own are not tried where they begin with errors so many times as large.
_FAR = 1.25
# A search of so many rows a landmark is dear: it is left out where the labels before tell nearly
# all of the last rows. Without the first searches f would be so bad that other models begin.
_DEAR = 6
# A whole search that gained less than this share of what was promised has broken the promise; then
# the next small search must promise so many times as much.
_KEPT, _MORE = 0.5, 2.0


class Promises:
    """What small searches must promise, and whether the last whole one gained what was promised.

    A small search must promise the share ``least_gain`` of the squared errors; with
    ``labels_before`` what the labels of the rows before tell is no gain. Half of the landmarks
    leave more to gain than all of them: where these are as good as they can be, a small search goes
    on to promise, and whole ones gain nothing. So after a ``broken`` promise it must promise more.
    """

    def __init__(
        self, least_gain: float, labels_before: bool = False, broken: bool = False
    ) -> None:
        self._least_gain = least_gain
        self.labels_before: bool = labels_before
        self.broken: bool = broken

    def learn(self, promised: float, gained: float) -> None:
        """A whole search gained so much."""
        self.broken = gained < _KEPT * promised

    def least(self, new: bool) -> float:
        """The share to be promised; ``new``: by a search for what those before did not look for."""
        return _MORE * self._least_gain if self.broken and not new else self._least_gain


class SmallSearch(NamedTuple):
    """A small search: its rows, their sums where it begins, and that point."""

    rows: Searched
    sums: Sums
    begun: Judged


def _rows_of(n: int) -> int:
    """Rows of a small search among n: what well-placed landmarks still gain shows on many only."""
    return min(n, max(n // _ONE_IN, _FEWEST))


def _held_out_of(some: int) -> int:
    return max(_FEWEST_HELD_OUT, some // 4)


def begin_small(
    at: Landmarks, rows: Searched, dtype: DTypeLike
) -> Generator[bool, None, SmallSearch]:
    """The small search from every other landmark of ``at``, in this precision."""
    width = at.log_width if at.log_width.ndim == 1 else at.log_width[::_ONE_IN]
    at = at._replace(S=at.S[::_ONE_IN], log_width=width)
    some = _rows_of(rows.n)
    few = rows.few(some, _held_out_of(some), len(at.S), dtype)
    sums = yield from few.sums(at)
    return SmallSearch(few, sums, (yield from judged(at, sums, few)))


def promises(
    small: SmallSearch,
    least_gain: float,
    doubt: float,
    m: int,
    tried: bool,
    of: Split,
    learn: Rows,
    in_time: tuple[np.ndarray, np.ndarray, np.ndarray, Units] | None,
) -> Generator[bool, None, float]:
    """The share of squared errors that a search of m landmarks promises to gain; 0: not enough.

    The small one must gain the share ``least_gain`` of the squared errors on rows held out, and
    ``doubt`` standard errors. ``tried``: the whole search also tries landmarks' own widths. ``of``:
    which rows are held out; ``learn``: the others. ``in_time``: X, Y, weight and units of all rows,
    where they came in the order of time and the labels before are known: what these tell is then no
    gain.
    """
    before: list[Rows] = []
    if in_time:
        few, dtype, n = len(small.rows.judging_weight), small.sums.K.dtype, len(in_time[0])
        if len(learn.X) >= _DEAR * m:
            last_rows = np.arange(n - few, n)
            early = learn.chosen(of.learned < last_rows[0]).first(small.rows.n, dtype)
            known = yield from scaled(rows_before(last_rows), *in_time, dtype)
            if (yield from left_of_last(small.begun.at, early, known)).nearly_all_of_last:
                return 0.0
        before = yield from scaled(rows_before(of.held[:few]), *in_time, dtype)
    return (yield from _enough_gained(small, tried, least_gain, doubt, before))


def _enough_gained(
    small: SmallSearch, tried: bool, least_gain: float, doubt: float, before: list[Rows]
) -> Generator[bool, None, float]:
    """The share of the squared errors on rows held out that a small search gains; 0: not enough.

    It must also gain ``doubt`` standard errors. ``before``: those rows and the ones before them,
    where labels that are known do not count as gained.
    """
    few, sums, begun = small
    left = None
    if before:
        left = yield from squares_left(begun.at, sums.alpha(begun.factor), before)
        if left.nearly_all:
            return 0.0

    def gains(errors: np.ndarray) -> bool:
        enough = bool(errors.sum() <= (1.0 - least_gain) * begun.errors.sum())
        return enough and better(errors, begun.errors, doubt)

    def decided(errors: np.ndarray) -> bool:
        # those that have gained next to nothing are not followed by others
        hopeless = errors.sum() >= (1.0 - _HOPELESS * least_gain) * begun.errors.sum()
        return gains(errors) or bool(hopeless)

    of_parts = parts_of_many(few.n, len(begun.at.S))
    how = _DECIDED, decided
    found, errors = yield from climb(begun, few, _STEPS, sums, *how, n_parts=of_parts)
    if begun.at.log_width.ndim == 1 and tried and not gains(errors):
        owning = found.owning()
        sums = yield from few.sums(owning)
        begins = yield from judged(owning, sums, few)
        if begins.error <= _FAR * begun.error:
            found, errors = yield from climb(begins, few, _STEPS, sums, *how, n_parts=of_parts)
    gained = 1.0 - float(errors.sum()) / (begun.error or 1.0) if gains(errors) else 0.0
    if left is None or not left.telling or not gained:
        return gained
    sums = yield from few.sums(found)
    factor, _ = yield from sums.factor_in_steps(found.ridge)
    then = yield from squares_left(found, sums.alpha(factor), before)
    return gained if left.left - then.left >= least_gain * left.of_f else 0.0


def steps_of_small(n: int, d: int, m: int, n_climbs: int) -> int:
    """Steps before a search of m landmarks on n rows of d columns; of what labels tell, too."""
    few = _rows_of(n)
    of_parts = parts_of_many(few, -(-m // _ONE_IN))
    # it begins in both precisions, and with landmarks' own widths
    of_climb = steps_of_climb(few, _STEPS, _DECIDED, of_parts)
    steps = (n_climbs + 1) * of_climb + 3 * steps_of_start(few)
    # what the labels before tell of the last rows; of others, where it begins and where it ends
    steps += 2 * (N_BEFORE + 1) * len(parts_of(_held_out_of(few), d)) + steps_of_last(few)
    return steps + 2 * STEPS_BEFORE + steps_of_sums(few) + 1
