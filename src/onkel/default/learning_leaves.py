"""Leaves of boosted trees that go on learning: each row moves those it falls into.

What trees ask is known after some thousands of rows; what their leaves say gains from each further
row. Let F be the sum of the trees before one, g and h the slope and the curvature of the loss at F,
times the row's weight (:mod:`onkel.default.boosting`). A leaf's value v is a mean of the steps of
Newton of the rows that fell into it, N the sum of their h:

    N ← N + h,   v ← v + (rate · g - h v)/(N + penalty).

With forgetting γ < 1, N is multiplied by γ^256 after each 256 rows. So each tree learns what those
before it leave, as it did when it was grown. Of squared errors and one tree v is
rate · Σ g/(Σ h + penalty), the value that boosting gives it for all rows so far. Where trees were
grown twice, F begins anew with the second ones, and the sums of both are averaged.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from onkel.default.cells import N_SUMS, PERIOD
from onkel.default.losses import slopes_of_row
from onkel.default.tree_loops import TOGETHER, find_leaves
from onkel.fields import Array, Fields, Number, Whole
from onkel.numerics.arrays import inserted
from onkel.numerics.jit import jit
from onkel.state import Stateful

# N in float32, and the targets of numbers, in units of their spread, are at most so large.
_MOST, _FARTHEST = 1e30, 1e15


class LearningLeaves(Stateful):
    """N of each leaf, (T, 2^D, K)."""

    STATE: ClassVar[Fields] = {
        "counts": Array(np.float32, ("trees", "leaves", "n_outputs"), low=0.0),
        # files of before have none
        "n_first": Whole(optional=True),
        "rows": Whole(),
        "rate": Number(low=0.0, high=1.0),
        "penalty": Number(low=0.0),
        "recent": Array(shape=(N_SUMS,), low=-1e300, high=1e300),
    }

    def __init__(
        self,
        shape: tuple[int, ...],
        forgetting: float = 1.0,
        rate: float = 0.0,
        penalty: float = 0.0,
    ) -> None:
        self.counts: np.ndarray = np.zeros(shape, np.float32)
        #: trees that were grown first: their sum and that of the others are averaged
        self.n_first: int = shape[0]
        #: the sums of the share among the last rows
        self.recent: np.ndarray = np.zeros(N_SUMS)
        #: rows that counted (weight > 0)
        self.rows: int = 0
        self.rate: float = rate
        self.penalty: float = penalty
        self._kept = forgetting**PERIOD

    def state_is_set(self) -> None:
        self.n_first = len(self.counts) if self.n_first is None else self.n_first

    def learn(
        self,
        X: np.ndarray,
        T: np.ndarray,
        weight: np.ndarray,
        loss: int,
        columns: np.ndarray,
        edges: np.ndarray,
        values: np.ndarray,
        base: np.ndarray,
    ) -> np.ndarray:
        """Move ``values`` by rows X (n, d) with targets T (n, K); returns F (n, K) before each."""
        F, T = np.empty(T.shape), np.clip(T, -_FARTHEST, _FARTHEST)
        trees = columns, edges, values, self.counts, self.n_first, base
        how = loss, self.rate, self.penalty, self._kept, self.rows
        self.rows = learn_leaves(X, *trees, T, weight, *how, F)
        return F

    def join(self, before: LearningLeaves) -> None:
        """Learn beside trees that were grown ``before`` these."""
        self.counts = np.concatenate([before.counts, self.counts])
        self.n_first = before.n_first

    def add_output(self, position: int) -> None:
        """Make room for a class; both indicators of two classes are as certain as their sign."""
        counts = self.counts
        if counts.shape[2] == 1:
            counts = np.repeat(counts, 2, axis=2)
        self.counts = inserted(counts, position)


@jit
def learn_leaves(
    X, columns, edges, values, counts, n_first, base, Y, weight, loss, rate, penalty, kept, rows, F
):
    """F (n, K) ← the values of the leaves of each row of X (n, d), before it moves these leaves.

    Where the ``n_first`` trees are not all, their sum and that of the others are averaged: a value
    is half of v. ``rows`` have counted before; returns how many have now.

    A tree learns some rows before the next one does: no other tree's leaves change what it does.
    """
    K, end, times = F.shape[1], 0, 2 if n_first < len(columns) else 1
    leaves, f = np.empty(TOGETHER, np.uint8), np.empty((TOGETHER, K))
    g, h = np.empty(K), np.empty(K)
    while end < len(X):
        start, left = end, PERIOD - rows % PERIOD
        while end < min(start + TOGETHER, len(X)) and left > 0:
            left -= weight[end] > 0.0
            end += 1
        x, leaf = X[start:end].T.copy(), leaves[: end - start]
        F[start:end] = base
        for t in range(len(columns)):
            if t == 0 or t == n_first:
                f[:] = base
            find_leaves(x, columns[t], edges[t], leaf)
            for i in range(len(leaf)):
                v, n, w = values[t, leaf[i]], counts[t, leaf[i]], weight[start + i]
                slopes_of_row(f[i], Y[start + i], w, loss, g, h)
                for k in range(K):
                    f[i, k] += times * v[k]
                    F[start + i, k] += v[k]
                if w > 0.0:
                    for k in range(K):
                        N = n[k] + h[k]
                        n[k] = min(N, _MOST)
                        v[k] += (rate * g[k] - h[k] * times * v[k]) / (times * (N + penalty))
        for i in range(start, end):
            rows += weight[i] > 0.0
        if kept < 1.0 and left == 0:
            counts *= np.float32(kept)
    return rows
