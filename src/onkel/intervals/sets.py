"""Predictive sets of labels, with a coverage that feedback keeps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from onkel.annotations import ArrayLike
from onkel.errors import DataError
from onkel.fields import Array, Fields, Flag, Number, Sizes, State, Whole, require
from onkel.intervals.levels import between, checked_levels, in_order
from onkel.intervals.tracking import FEW_BETWEEN
from onkel.numerics.jit import jit_in_order, jit_inline_in_order
from onkel.state import Stateful

#: η, in log-odds
STEP = 0.5
#: rows that stand alone may come at any time: their q is to be steady. η falls with the root of the
#: rows, to a fifth
STEADY_ROWS, LEAST_STEP = 50.0, 0.1
#: the labels that come between a row and its own are a mean over so many rows
BETWEEN_ROWS = 50.0
#: probabilities keep this far from 0 and 1
_SURE = 1e-6
# sums of shares may round to just outside of [0, 1]
_HALF = 0.5 + 1e-9
LARGEST_SCORE = float(np.log((1.0 - _SURE) / _SURE))
# late labels move q no farther: beyond the scores it decides nothing
_FARTHEST = LARGEST_SCORE + STEP


@jit_inline_in_order
def _score(share):
    p = min(max(share, _SURE), 1.0 - _SURE)
    return math.log((1.0 - p) / p)


@jit_inline_in_order
def steady_step(n_rows):
    """η of rows that stand alone, after so many rows."""
    return max(LEAST_STEP, STEP / math.sqrt(1.0 + n_rows / STEADY_ROWS))


@jit_inline_in_order
def follow_share(share, levels, q, played, step):
    """played (L,) ← q in order; q then follows the score of a label of this probability."""
    L, score = levels.shape[0], _score(share)
    in_order(q, L, played)
    for i in range(L):
        q[i] += step * ((1.0 if score > played[i] else 0.0) - (1.0 - levels[i]))


@jit_in_order
def _track(shares, levels, q, out, local, n_rows):
    """out (n, L) ← q in order before each row."""
    for t in range(shares.shape[0]):
        step = STEP if local else steady_step(n_rows + t)
        follow_share(shares[t], levels, q, out[t], step)


@jit_in_order
def _track_late(shares, outside, learned, levels, q, n_rows, between):
    """q follows labels whose sets were made after ``learned`` (n,) rows; the new ``between``.

    ``outside`` (n,): how many of the sets, from the lowest level on, had not the label.
    """
    played = np.empty(levels.shape[0])
    for t in range(shares.shape[0]):
        if learned[t] < 0:
            follow_share(shares[t], levels, q, played, STEP)
            continue
        between += (n_rows + t - learned[t] - between) / BETWEEN_ROWS
        step = STEP / (1.0 + between / FEW_BETWEEN)
        for i in range(levels.shape[0]):
            moved = q[i] + step * ((1.0 if outside[t] > i else 0.0) - (1.0 - levels[i]))
            q[i] = min(max(moved, -_FARTHEST), _FARTHEST)
    return between


@jit_in_order
def _fill_scores(shares, out):
    for i in range(shares.shape[0]):
        out[i] = _score(shares[i])


class ClassSets(Stateful):
    """Sets of labels that hold a share ``level`` of the labels that come, whatever happens.

    The score of a label of probability p is its log-odds against it, s = log((1-p)/p). The set has
    every label with s ≤ q. When the label y comes, q ← q + η(1[s_y > q] - α), α = 1 - level,
    η = ½. So in every window of m rows |misses/m - α| ≤ (max q - min q)/(ηm), and q stays between
    -14 and 15: this needs no assumption on the stream or on the probabilities.

    Where labels come late, a miss is judged by the set that was made when the row came
    (`learn_late`). The more labels come between a row and its own, the smaller η is: else the sets
    would swing, as each miss is answered too late.

    Use it where one label is not enough: the size of a set says how sure the model is. A set may be
    empty: where the likeliest label is right more often than ``level``, sets of one label each
    would cover too much, so the least sure rows get none. Ask for a higher level then. Better
    probabilities make smaller sets, not a better coverage.

    Parameters
    ----------
    level : float or sequence of floats, default=0.9
        In (0, 1): the share of labels inside the sets. Several levels must be in growing order.
    local : bool, default=True
        Whether q follows the last labels as fast as it can, which is right for the row that comes
        next. False: for rows that stand alone; η then falls to a fifth, so that q is steadier.

    Attributes
    ----------
    n_rows : int
        Rows learned.
    q_ : ndarray of shape (L,)
        The tracked thresholds, by level.

    Raises
    ------
    ValueError
        A level is not in (0, 1), or several are not in growing order.
    DataError
        In `learn`, at the first row whose label has no column, or whose probabilities are not in
        [0, 1]; the rows before it are learned.

    Notes
    -----
    Source: Gibbs & Candès 2021, arXiv:2106.00170 (feedback); Angelopoulos, Candès & Tibshirani
    2023, arXiv:2307.16895 (quantile tracking). The score is ours.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel import ClassSets
    >>> rng = np.random.default_rng(0)
    >>> P = rng.dirichlet(np.ones(4), 5000)
    >>> labels = (P.cumsum(axis=1) < rng.random((5000, 1))).sum(axis=1)
    >>> before = ClassSets(0.9).learn(P, labels)  # the set of each row before its label was learned
    >>> print(f"{before[np.arange(5000), labels].mean():.3f} {before.sum(axis=1).mean():.2f}")
    0.899 2.59
    """

    levels: np.ndarray
    one_level: bool

    STATE: ClassVar[Fields] = {
        "levels": Array(shape=("levels",), low=1e-9, high=1.0 - 1e-9),
        "one_level": Flag(),
        "local": Flag(optional=True),
        "n_rows": Whole(),
        "q_": Array(shape=("levels",), low=-LARGEST_SCORE - 1.0, high=LARGEST_SCORE + 1.0),
        # a file of before has none
        "between_": Number(low=0.0, optional=True),
    }

    def __init__(self, level: float | Sequence[float] = 0.9, *, local: bool = True) -> None:
        self.levels, self.one_level = checked_levels(level)
        self.local: bool = bool(local)
        self.q_: np.ndarray = np.zeros(len(self.levels))
        self.n_rows: int = 0
        #: how many labels come between a row and its own, in the mean
        self.between_: float | None = 0.0

    def __repr__(self) -> str:
        return f"ClassSets({self.level!r}, n_rows={self.n_rows})"

    @property
    def level(self) -> float | list[float]:
        """The level, or the levels."""
        return float(self.levels[0]) if self.one_level else self.levels.tolist()

    def sets(self, probabilities: ArrayLike, level: float | None = None) -> np.ndarray:
        """The sets of rows with probabilities (n, K), whose labels are not known; learns nothing.

        A bool (n, K): which labels are in each set. With several levels (n, L, K), unless another
        ``level`` is given: its threshold is read between those that are tracked.
        """
        # a tracked q may be out of order for a while
        q = np.maximum.accumulate(self.q_)
        q = q if level is None else between(self.levels, q, level)
        scores = _scores(np.asarray(probabilities, dtype=np.float64))
        return self._shaped(scores, np.broadcast_to(q, (len(scores), len(q))), level is not None)

    def learn(self, probabilities: ArrayLike, labels: ArrayLike) -> np.ndarray:
        """Learn probabilities (n, K) and the labels that came, row by row.

        A row's probabilities are from before its label was known. ``labels`` (n,) are the columns
        of those that came; -1 for one that has none yet: it is a miss. Returns the set of each row
        before its label was learned, as `sets`. A DataError at the first row whose label has no
        column, or whose probabilities are not in [0, 1]; the rows before it are learned.
        """
        P, codes = np.asarray(probabilities, dtype=np.float64), np.asarray(labels)
        if P.ndim != 2 or codes.shape != P.shape[:1] or codes.dtype.kind not in "iu":
            raise ValueError(
                "probabilities must be (n, K) and labels (n,) whole numbers, not of shapes "
                f"{P.shape} and {codes.shape}, {codes.dtype}"
            )
        good = (codes >= -1) & (codes < P.shape[1]) & np.all(np.abs(P - 0.5) <= _HALF, axis=1)
        n = len(P) if good.all() else int(np.argmin(good))
        q = self.learn_shares(np.where(codes[:n] < 0, 0.0, P[np.arange(n), codes[:n]]))
        if n < len(P):
            raise DataError(
                f"label {int(codes[n])}, probabilities {P[n]}: a label must be from -1 to "
                f"{P.shape[1] - 1}, and probabilities in [0, 1]",
                row=n,
            )
        return self._shaped(_scores(P), q, False)

    def learn_shares(self, shares: np.ndarray) -> np.ndarray:
        """As `learn`, from the probability (n,) of each label that came.

        Returns the thresholds (n, L) before each row.
        """
        q = np.empty((len(shares), len(self.levels)))
        given = np.ascontiguousarray(shares, dtype=np.float64)
        _track(given, self.levels, self.q_, q, self.local, self.n_rows)
        self.n_rows += len(shares)
        return q

    def outside(self, probabilities: np.ndarray) -> np.ndarray:
        """In how many of the tracked sets, from the lowest level on, each label (n, K) is not."""
        scores = _scores(np.asarray(probabilities, dtype=np.float64))
        q = np.maximum.accumulate(self.q_)
        found: np.ndarray = (scores[:, :, None] > q).sum(axis=2, dtype=np.uint8)
        return found

    def learn_late(self, shares: np.ndarray, outside: np.ndarray, learned: np.ndarray) -> None:
        """Learn labels (n,) that come later than the sets of their rows.

        ``outside`` (n,): in how many of the sets of then the label was not; ``learned`` (n,): rows
        learned by then, -1 where that is not known: the sets of now are judged then, by ``shares``.
        """
        given = (np.ascontiguousarray(own, dtype=np.int64) for own in (outside, learned))
        self.between_ = float(
            _track_late(
                np.ascontiguousarray(shares, dtype=np.float64), *given,
                self.levels, self.q_, self.n_rows, self.between_ or 0.0,
            )
        )  # fmt: skip
        self.n_rows += len(shares)

    def _shaped(self, scores: np.ndarray, q: np.ndarray, one: bool) -> np.ndarray:
        inside = scores[:, None, :] <= q[:, :, None]
        return inside[:, 0] if one or self.one_level else inside

    def take_in(self, other: ClassSets, since: ClassSets | None = None) -> None:
        """Merge with sets learned apart, for the merged model: it starts from the larger ones.

        ``since``: the sets that both went on from; their rows count once.
        """
        mine, its = ([*of.levels.tolist(), of.local] for of in (self, other))
        if mine != its:
            raise ValueError(f"sets cannot be merged: they differ, {self!r} and {other!r}")
        known = 0 if since is None else since.n_rows
        if other.n_rows > known:
            np.maximum(self.q_, other.q_, out=self.q_)
            self.between_ = max(self.between_ or 0.0, other.between_ or 0.0)
            self.n_rows += other.n_rows - known

    def check_state(self, state: State, sizes: Sizes) -> None:
        levels = state["levels"]
        require(len(levels) and np.all(np.diff(levels) > 0.0), "levels: are not in growing order")
        require(len(levels) == 1 or not state["one_level"], "one_level: there are several levels")


def _scores(P: np.ndarray) -> np.ndarray:
    scores = np.empty(P.shape)
    _fill_scores(P.ravel(), scores.ravel())
    return scores
