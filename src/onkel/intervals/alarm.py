"""An alarm that rings when scores have become larger, and seldom otherwise."""

from __future__ import annotations

import logging
import math
from typing import Any, ClassVar

import numpy as np

from onkel.annotations import ArrayLike
from onkel.errors import DataError
from onkel.fields import Array, Fields, Number, Sizes, State, Whole, require
from onkel.intervals.watching import BETTORS, COUNTS, watch, watch_row
from onkel.parameters import is_number, whole
from onkel.state import Stateful

_log = logging.getLogger("onkel.alarm")
#: the last rings that are kept
MOST_KEPT = 64
_MOST = 2**40
_NOWHERE = np.zeros(0, np.int64)


class Alarm(Stateful):
    """Rings when scores have become larger; false alarms are at least ``threshold`` rows apart.

    Scores are numbers that say how badly a row was predicted: |y - p|, 1 - p_y, a loss. Conformal
    p-values compare each score with those before it; test martingales bet on small ones; the sum
    R of the capitals of bettors that start at every row is watched. Where nothing changes, R grows
    by less than 1 a row on average, so the mean number of rows until R reaches ``threshold`` is at
    least ``threshold``, for scores of any distribution. See :mod:`onkel.intervals.watching`.

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
        "capital_": Array(shape=(2, BETTORS), low=0.0),
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
        self._name_pieces(whole_numbers, np.zeros(2 * reference + 2 * BETTORS))

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
            if not watch_row(scores, *self.watching):
                return _NOWHERE.copy()
            self.ring(np.array([self.n_rows]))
            return np.zeros(1, np.int64)
        given = np.atleast_1d(np.ascontiguousarray(scores, dtype=np.float64))
        if given.ndim != 1:
            raise ValueError(f"scores must be of shape (n,), not {given.shape}")
        good = np.isfinite(given)
        n = len(given) if good.all() else int(np.argmin(good))
        before, rings = self.n_rows, np.zeros(n, np.int8)
        watch(given[:n], *self.watching, rings)
        at = np.flatnonzero(rings)
        if len(at):
            self.ring(before + at + 1)
        if n < len(given):
            raise DataError(f"score {given[n]!r} is not finite", row=n, value=float(given[n]))
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
        self.capital_: np.ndarray = numbers[2 * E :].reshape(2, BETTORS)
        #: the threshold, and what `watch_score` takes after it
        self.watching: tuple[Any, ...] = (
            self.threshold, self.quiet, self.random_state, whole, numbers,
        )  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        # in a copy the pieces are arrays of their own
        self.__dict__.update(state)
        self._name_pieces(*self.watching[3:])
