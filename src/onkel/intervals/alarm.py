"""An alarm with a known rate of false ones: a conformal test martingale over scores.

**p-values.** The sorted scores of ``reference`` rows cut the line into bins; random numbers order
equal scores. The share of a bin is 1 plus the rows that fell into it since. Bins between equal
scores count as one: in all of them lies that score. As long as the scores are exchangeable, as
they are where nothing changes, a row falls into a bin with the probability of its share, whatever
the scores' distribution. With a = share above the bin and b = a + its own share, as parts of all
shares, the row's p-value is spread evenly over [a, b]. Large scores have small p-values.

**Betting.** Four bettors bet on small p-values. Each multiplies its capital by the mean over [a, b]
of its density g on (0, 1):

    C ← C · (G(b) - G(a))/(b - a),    G the integral of g.

This is a fair bet, as the mean of these factors, weighted by the shares, is G(1) - G(0) = 1. A bet
on the mean grows faster than one on a random p in [a, b], above all where many scores are equal,
such as mistakes, 0 or 1. The densities are 1 + e(½ - p) with e = 2/5 and 6/5, for many scores
that became somewhat larger, and κ·p^(κ-1) with κ = 7/8 and 1/2, for a few that became much larger.
Before each bet a share J = 1/1000 of the capitals is dealt out evenly, as in the Simple Jumper, so
that bettors who were wrong so far can come back.

**Watching.** Shiryaev and Roberts let a new bettor start with every row, here with 4/5. The sum R
of all capitals grows by 4/5 a row on average where nothing changes. So the mean number of rows
until R reaches a threshold A is at least 5/4·A. The alarm then rings. The quarter is a margin: the
number of false alarms in a stretch of rows varies around its mean.

A second sum bets on large p-values. When it reaches A, the scores have become smaller: the
reference is renewed without an alarm.

Source: Vovk, Petej, Nouretdinov, Ahlberg, Carlsson & Gammerman 2021, arXiv:2102.10439 (Simple
Jumper, conformal Shiryaev-Roberts); Fedorova, Gammerman, Nouretdinov & Vovk 2012, arXiv:1204.3251
(powers of p). The mean over equal scores is ours.
"""

from __future__ import annotations

import logging
import math
from typing import Any, ClassVar

import numba
import numpy as np

from onkel.annotations import ArrayLike
from onkel.errors import DataError
from onkel.fields import Array, Fields, Number, Sizes, State, Whole, require
from onkel.numerics.jit import jit_in_order, jit_inline_in_order
from onkel.parameters import is_number, whole
from onkel.state import Stateful

_log = logging.getLogger("onkel.alarm")
#: the last rings that are kept
MOST_KEPT = 64
_BETTORS = 4
# e of the two bettors that are linear in p
_SMALL, _LARGE = 0.4, 1.2
# what is dealt out evenly before each bet, and what a new bettor puts into each capital: 4/5 in all
_JUMP, _BEGUN = 0.001, 0.2
_MOST = 2**40


@jit_inline_in_order
def _uniform(seed, number):
    """A number in (0, 1) that depends on the seed and a running number only (splitmix64)."""
    z = np.uint64(seed) * np.uint64(0xD1342543DE82EF95)
    z += np.uint64(number + 1) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (float(z >> np.uint64(11)) + 0.5) / 9007199254740992.0


@jit_inline_in_order
def _begin(edges, ties, shares, capital):
    """Put the edges in order, equal ones by their tie-breaking numbers; all bins count 1."""
    E = edges.shape[0]
    for i in range(1, E):
        # insertion: once in a while, and no array is made
        score, tie, j = edges[i], ties[i], i
        while j > 0 and (edges[j - 1] > score or (edges[j - 1] == score and ties[j - 1] > tie)):
            edges[j], ties[j] = edges[j - 1], ties[j - 1]
            j -= 1
        edges[j], ties[j] = score, tie
    first = 0
    for k in range(E + 1):
        shares[k] = 1
        if k > 1 and k < E and edges[k - 2] == edges[k]:
            # a bin between equal edges, after another one: the first of them stands for all
            shares[k] = 0
            shares[first] += 1
        else:
            first = k
    capital[:] = 0.0


@jit_inline_in_order
def _first_edge(edges, score, equal_too):
    """The first edge at or above a score; with ``equal_too`` the first above it."""
    first, last = 0, edges.shape[0]
    while first < last:
        middle = (first + last) // 2
        if edges[middle] < score or (equal_too and edges[middle] == score):
            first = middle + 1
        else:
            last = middle
    return first


@jit_inline_in_order
def _place(score, tie, edges, ties, shares, total):
    """The shares above a score's bin, and those of its bin, which then grow by 1.

    ``total``: of all shares; the shorter side of the bin is added up.
    """
    k = _first_edge(edges, score, False)
    if k < edges.shape[0] and edges[k] == score and ties[k] < tie:
        end = _first_edge(edges, score, True)
        k = end if ties[end - 1] < tie else k + 1
    above, own = 0, shares[k]
    if 2 * k < shares.shape[0]:
        above = total - own
        for i in range(k):
            above -= shares[i]
    else:
        for i in range(k + 1, shares.shape[0]):
            above += shares[i]
    shares[k] += 1
    return above, own


@jit_inline_in_order
def _bet(C, a, b):
    """Let a new bettor start, and all bet on a p-value in [a, b]; returns the sum of capitals."""
    dealt = 0.0
    for k in range(_BETTORS):
        C[k] += _BEGUN
        dealt += _JUMP / _BETTORS * C[k]
    for k in range(_BETTORS):
        C[k] = (1.0 - _JUMP) * C[k] + dealt
    low = 0.5 - 0.5 * (a + b)
    C[0] *= 1.0 + _SMALL * low
    C[1] *= 1.0 + _LARGE * low
    # of √p and of p^(7/8)
    of_a, of_b = np.sqrt(a), np.sqrt(b)
    C[2] *= 1.0 / (of_a + of_b)
    of_a *= np.sqrt(of_a) * np.sqrt(np.sqrt(of_a))
    of_b *= np.sqrt(of_b) * np.sqrt(np.sqrt(of_b))
    C[3] *= (of_b - of_a) / (b - a)
    return C[0] + C[1] + C[2] + C[3]


# The state is two arrays, as a call from Python takes long for each array that it hands over. The
# first holds whole numbers: the rows, the rows since the renewal, and the shares; the second the
# edges, their ties and both capitals.
COUNTS = 2


@jit_inline_in_order
def watch_score(score, threshold, quiet, seed, whole, numbers):
    """Learn a score; returns whether the alarm rings."""
    E = whole.shape[0] - COUNTS - 1
    edges, ties, shares = numbers[:E], numbers[E : 2 * E], whole[COUNTS:]
    at = whole[1]
    tie = _uniform(seed, whole[0])
    whole[0] += 1
    whole[1] += 1
    if at < 0:
        return False  # the quiet period
    if at < E:
        edges[at], ties[at] = score, tie
        if at == E - 1:
            _begin(edges, ties, shares, numbers[2 * E :])
        return False
    total = at + 1
    above, own = _place(score, tie, edges, ties, shares, total)
    worse, better = numbers[2 * E : 2 * E + _BETTORS], numbers[2 * E + _BETTORS :]
    if _bet(worse, above / total, (above + own) / total) >= threshold:
        whole[1] = -quiet
        return True
    if _bet(better, (total - above - own) / total, (total - above) / total) >= threshold:
        whole[1] = 0
    return False


def with_splitmix(loop: Any) -> Any:
    """A loop with `watch_score`: without the compiler NumPy warns of products that wrap around."""
    plain = numba.config.DISABLE_JIT  # type: ignore[attr-defined]
    return np.errstate(over="ignore")(loop) if plain else loop


@with_splitmix
@jit_in_order
def _watch(scores, threshold, quiet, seed, whole, numbers, rings):
    """Learn scores; ``rings`` ← 1 where the alarm rings."""
    for t in range(scores.shape[0]):
        rings[t] = watch_score(scores[t], threshold, quiet, seed, whole, numbers)


@with_splitmix
@jit_in_order
def _watch_row(score, threshold, quiet, seed, whole, numbers):
    return watch_score(score, threshold, quiet, seed, whole, numbers)


_NOWHERE = np.zeros(0, np.int64)


class Alarm(Stateful):
    """Rings when scores have become larger; false alarms are at least ``threshold`` rows apart.

    Scores are numbers that say how badly a row was predicted: |y - p|, 1 - p_y, a loss. Conformal
    p-values compare each score with those before it; test martingales bet on small ones; the sum
    R of the capitals of bettors that start at every row is watched. Where nothing changes, R grows
    by less than 1 a row on average, so the mean number of rows until R reaches ``threshold`` is at
    least ``threshold``, for scores of any distribution. See :mod:`onkel.intervals.alarm`.

    Use it beside any model whose labels come back, to hear of a change within some 50 rows of an
    abrupt one. Do not use it for scores that depend on each other where nothing changes, such as
    errors of a forecast that come in clusters: then it rings more often. Of a classifier's scores,
    take its mistakes, 0 or 1: its probabilities also change as it learns.

    Parameters
    ----------
    threshold : float, default=1e5
        The least mean number of rows between false alarms, above 1. A larger one rings later, by
        the logarithm.
    reference : int, default=200
        Rows at the beginning, and after each quiet period, that scores are compared with.
    quiet : int, default=500
        Rows after a ring in which it does not ring again, while the model follows the change.
    random_state : int, default=0
        Which random numbers order equal scores.

    Attributes
    ----------
    alarms_ : list of int
        How many scores had been learned at each ring, of the last 64 rings.
    n_rows : int
        Scores learned.
    evidence_ : float
        R; it rings when R reaches ``threshold``.

    Raises
    ------
    ValueError
        A parameter is out of its range.
    DataError
        In `learn`, at the first score that is not finite; those before it are learned.

    Notes
    -----
    Each ring is a line of the logger ``onkel.alarm``, at the level INFO. To be called, add a
    handler to it, or look at what `learn` returns.

    Source: Vovk et al. 2021, arXiv:2102.10439 (Simple Jumper, conformal Shiryaev-Roberts);
    Fedorova et al. 2012, arXiv:1204.3251 (powers of p). The mean over equal scores is ours.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel import Alarm
    >>> rng = np.random.default_rng(0)
    >>> errors = np.abs(rng.standard_normal(20_000) * np.where(np.arange(20_000) < 10_000, 1, 2))
    >>> alarm = Alarm()
    >>> alarm.learn(errors)
    array([10009])
    """

    STATE: ClassVar[Fields] = {
        "threshold": Number(low=1.0),
        "quiet": Whole(high=_MOST),
        "random_state": Whole(),
        "counts_": Array(dtype=np.int64, shape=(2,), low=-_MOST, high=2**62),
        "edges_": Array(shape=("reference",)),
        "ties_": Array(shape=("reference",), low=0.0, high=1.0),
        "shares_": Array(dtype=np.int64, shape=("bins",), low=0, high=2**62),
        "capital_": Array(shape=(2, _BETTORS), low=0.0),
        "rung_": Array(dtype=np.int64, shape=("rung",), low=0, high=2**62),
    }

    def __init__(
        self,
        threshold: float = 1e5,
        *,
        reference: int = 200,
        quiet: int = 500,
        random_state: int = 0,
    ) -> None:
        if not is_number(threshold) or not 1.0 < threshold < np.inf:
            raise ValueError(f"threshold={threshold!r} must be a number above 1")
        self.threshold: float = float(threshold)
        self.quiet: int = quiet
        self.random_state: int = random_state
        self.reference: int = reference
        whole(self, "reference", 1, 100_000)
        whole(self, "quiet", 0, _MOST)
        whole(self, "random_state", 0, 2**62)
        self.rung_: np.ndarray = np.zeros(0, np.int64)
        whole_numbers = np.ones(COUNTS + reference + 1, np.int64)
        whole_numbers[:COUNTS] = 0
        self._name_pieces(whole_numbers, np.zeros(2 * reference + 2 * _BETTORS))

    def __repr__(self) -> str:
        return f"Alarm({self.threshold:g}, n_rows={self.n_rows}, alarms={self.alarms_})"

    @property
    def n_rows(self) -> int:
        """Scores learned."""
        return int(self.counts_[0])

    @property
    def alarms_(self) -> list[int]:
        """Rows learned at each ring; the last 64."""
        return self.rung_.tolist()

    @property
    def evidence_(self) -> float:
        """R, the sum of the capitals that bet on larger scores; at ``threshold`` it rings."""
        return float(self.capital_[0].sum()) if self.counts_[1] > len(self.edges_) else 0.0

    def learn(self, scores: ArrayLike) -> np.ndarray:
        """Learn scores in order; how they are cut into calls has no effect.

        A number or an array (n,): the larger, the worse the row was predicted. Returns the
        positions at which the alarm rang; mostly none. A DataError at the first score that is not
        finite; those before it are learned.
        """
        if isinstance(scores, float) and math.isfinite(scores):
            if not _watch_row(scores, *self.watching):
                return _NOWHERE.copy()
            self.ring(np.array([self.n_rows]))
            return np.zeros(1, np.int64)
        given = np.atleast_1d(np.ascontiguousarray(scores, dtype=np.float64))
        if given.ndim != 1:
            raise ValueError(f"scores must be of shape (n,), not {given.shape}")
        good = np.isfinite(given)
        n = len(given) if good.all() else int(np.argmin(good))
        before, rings = self.n_rows, np.zeros(n, np.int8)
        _watch(given[:n], *self.watching, rings)
        at = np.flatnonzero(rings)
        if len(at):
            self.ring(before + at + 1)
        if n < len(given):
            value = float(given[n])
            raise DataError(f"score {value!r} is not finite", row=n, value=value)
        return at

    def ring(self, rows: np.ndarray) -> None:
        """It rang after these rows."""
        self.rung_ = np.concatenate([self.rung_, rows])[-MOST_KEPT:]
        for row in rows.tolist():
            _log.info("alarm: scores have become larger; it rang after row %d", row)

    def take_in(self, other: Alarm, since: Alarm | None = None) -> None:
        """Merge with an alarm over other rows: the reference is renewed, as the model is new.

        ``since``: the alarm that both went on from; its rows and rings count once.
        """
        known = 0 if since is None else since.n_rows
        if other.n_rows == known:
            return
        new = other.rung_[other.rung_ > known]
        self.rung_ = np.sort(np.concatenate([self.rung_, new]))[-MOST_KEPT:]
        self.counts_[:] = self.n_rows + other.n_rows - known, 0

    def check_state(self, state: State, sizes: Sizes) -> None:
        rows, since = state["counts"].tolist()
        E = sizes["reference"]
        require(E > 0 and sizes["bins"] == E + 1, "shares: are not one more than the edges")
        require(rows >= 0 and since <= rows, "counts: more rows since the renewal than in all")
        require(-since <= state["quiet"], "counts: a quiet period longer than quiet")
        require(sizes["rung"] <= MOST_KEPT, f"rung: more than {MOST_KEPT} rings")
        if since >= E:
            require(np.all(np.diff(state["edges"]) >= 0.0), "edges: are not in order")
            shares = state["shares"]
            require(shares.sum() == since + 1, "shares: are not one a row")

    def state_is_set(self) -> None:
        self.reference = len(self.edges_)
        self._name_pieces(
            np.concatenate([self.counts_, self.shares_]),
            np.concatenate([self.edges_, self.ties_, self.capital_.ravel()]),
        )

    def _name_pieces(self, whole: np.ndarray, numbers: np.ndarray) -> None:
        E = self.reference
        self.counts_: np.ndarray = whole[:COUNTS]
        self.shares_: np.ndarray = whole[COUNTS:]
        self.edges_: np.ndarray = numbers[:E]
        self.ties_: np.ndarray = numbers[E : 2 * E]
        self.capital_: np.ndarray = numbers[2 * E :].reshape(2, _BETTORS)
        #: the threshold, and what `watch_score` takes after it
        self.watching: tuple[Any, ...] = (
            self.threshold, self.quiet, self.random_state, whole, numbers,
        )  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        # in a copy the pieces are arrays of their own
        self.__dict__.update(state)
        self._name_pieces(*self.watching[3:])
