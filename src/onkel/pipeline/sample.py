"""A few rows, drawn from the whole stream, that show how a model uses its columns."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from onkel.annotations import Matrix
from onkel.fields import Array, Fields, Sizes, State, Whole, require
from onkel.numerics.arrays import as_dense, with_zero_columns
from onkel.numerics.random import splitmix64, splitmix64_of
from onkel.state import Stateful

_MOST_ROWS = 128
_MOST_NUMBERS = 1 << 17
# Larger values are drawn in to this.
_LARGEST = np.finfo(np.float32).max


class SampledRows(Stateful):
    """Up to 128 rows (n, d), each row so far as likely as any other.

    Fewer where they are wide, and none above 131 072 columns. Row t, from 0, has a number u_t that
    depends on t alone (splitmix64); the rows with the smallest numbers are kept. So the sample does
    not depend on blocks, and stays uniform where wider rows leave room for fewer. ``X`` (n, d) has
    the rows in order, ``at`` (n,) the number t of each; ``count``: rows so far.
    """

    STATE: ClassVar[Fields] = {
        # files of before have infinities
        "X": Array(dtype=np.float32, shape=("n", "d"), finite=False),
        "at": Array(dtype=np.int64, shape=("n",), low=0),
        "count": Whole(),
    }

    def __init__(self) -> None:
        self.X = np.empty((0, 0), dtype=np.float32)
        self.at: np.ndarray = np.empty(0, dtype=np.int64)
        self.count: int = 0
        #: rows with a number of at least this are not kept
        self._below = 0

    def add(self, X: Matrix) -> None:
        """Add the next rows (n, d), dense or sparse."""
        n, d = X.shape
        first, self.count = self.count, self.count + n
        if n == 1 and d == self.X.shape[1] and splitmix64_of(first) >= self._below:
            return
        at = first + np.arange(n)
        if d == self.X.shape[1]:
            at = at[splitmix64(at) < self._below]
        if len(at) or d > self.X.shape[1]:
            with np.errstate(over="ignore"):
                self._take(as_dense(X[at - first]).astype(np.float32), at)

    def take_in(self, other: SampledRows, since: SampledRows | None) -> None:
        """Add the rows of another sample; those before ``since`` are in both."""
        common = 0 if since is None else since.count
        new = other.at >= common
        self.count += other.count - common
        self._take(other.X[new], other.at[new])

    def _take(self, X: np.ndarray, at: np.ndarray) -> None:
        """Keep these rows, too, as far as their numbers are among the smallest."""
        d = max(X.shape[1], self.X.shape[1])
        X, held = (with_zero_columns(A, d - A.shape[1]) for A in (X, self.X))
        X, at = np.concatenate([held, X]), np.concatenate([self.at, at])
        best = np.argsort(splitmix64(at), kind="stable")[: _room(d)]
        best = best[np.argsort(at[best], kind="stable")]
        self.X, self.at = X[best], at[best]
        self.state_is_set()

    def check_state(self, state: State, sizes: Sizes) -> None:
        require(state["X"].size <= _MOST_NUMBERS, "X: holds more rows than are kept")
        known = not len(state["at"]) or state["at"].max() < state["count"]
        require(known, "at: names rows that have not come")

    def state_is_set(self) -> None:
        np.clip(self.X, -_LARGEST, _LARGEST, out=self.X)
        room = _room(self.X.shape[1])
        full = len(self.at) >= room
        self._below = (int(splitmix64(self.at).max()) if room else 0) if full else 1 << 64


def _room(d: int) -> int:
    """Rows of d columns to keep."""
    return min(_MOST_ROWS, _MOST_NUMBERS // max(d, 1))
