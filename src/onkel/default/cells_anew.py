"""Cells that learn anew what a new fit of the landmarks leaves.

Cells learn the residuals of predictions by f. A search moves the landmarks, and f leaves something
else from then on. Cells of many rows would take as many again to learn that. So they learn it at
once, in the same bins, from all rows kept, in order.

f has learned these rows, and leaves less of them than of new ones. Were each predicted by all
others, its residual would be r/(1 - h), with h = w zᵀ P z for a row of weight w. In many rows h
hardly differs, so its mean serves for all, as in generalised cross-validation.

Cells have no covariances: what one cell of a row learns, the others do not know in time. So one
epoch leaves much where many cells matter together. Each further one begins with the weights so far,
and with the variances of no rows; a few come near to a filter with covariances. But they fit cells
to these very rows, and rows of a stream depend on those before. The rows that follow choose.

Source: Golub, Heath & Wahba 1979 (generalised cross-validation).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator

import numpy as np

from onkel.default.cells import PairCells
from onkel.explicit.training_loop import MOST_OWN, TrainingLoop
from onkel.numerics.arrays import targets_of

# Rows that are learned at once, and from which the mean of h comes.
_TOGETHER, _SAMPLED = 512, 128
# Rows are at least so many times B (landmarks), and residuals at most so many times B² numbers:
# not those of very many classes.
_ROWS_A_LANDMARK, _MOST_NUMBERS = 1.5, 4
# Cells that leave more than this share of the squared residuals hardly matter: the former go on.
_MOST_LEFT = 0.97
# Those that leave more than this one after half of the rows are given up.
_NOTHING = 0.999
# Further epochs, from so many rows on: a 32nd of them follows. They must be better by so many
# standard errors.
_EPOCHS, _FEWEST_ROWS, _DOUBT = 2, 7936, 2.0


class CellsAnew:
    """Cells in the bins of ``others`` that learn what f leaves: f is that of ``training``."""

    def __init__(self, others: PairCells, training: TrainingLoop) -> None:
        n_outputs = training.weights.shape[0]
        self._once: PairCells = PairCells(others.bins, n_outputs, others.forgetting)
        #: None without further epochs
        self._often: PairCells | None = None
        self._training = training
        self._learns = False
        # by how much squared errors are smaller after several epochs, and the root of the sum of
        # the squares of that, as sums of fourth powers would overflow
        self._gained, self._spread = 0.0, 0.0

    @property
    def cells(self) -> PairCells | None:
        """The cells that go on; None where the former do."""
        if self._often is not None and self._gained > _DOUBT * self._spread:
            return self._often
        return self._once if self._once.left <= _MOST_LEFT else None

    def work(self, n: int) -> int:
        """About how much :meth:`learn_first` has to do, in rows."""
        return (1 + _EPOCHS) * n

    def learn_first(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> Iterator[int]:
        """Learn rows X (n, d) that f has learned; yields how many are done, in steps."""
        (n_outputs, m), n = self._training.weights.shape, len(X)
        self._learns = n >= _ROWS_A_LANDMARK * m and n * n_outputs <= _MOST_NUMBERS * m**2
        if not self._learns:
            return
        some = slice(None, None, max(n // _SAMPLED, 1))
        own = float(self._training.own_shares(X[some], weight[some]).mean())
        times = 1.0 / (1.0 - min(own, MOST_OWN))
        R = np.empty((n, n_outputs))
        for some in _blocks(n):
            R[some] = times * self._residuals(X[some], y[some])
            self._once.learn(X[some], R[some], weight[some])
            if some.stop >= n // 2 and self._once.left > _NOTHING:
                self._learns = False
                return
            yield len(X[some])
        if n < _FEWEST_ROWS or self._once.left > _MOST_LEFT:
            return
        self._often = copy.deepcopy(self._once)
        for _ in range(_EPOCHS):
            self._often.V[:] = self._often.first
            for some in _blocks(n):
                self._often.learn(X[some], R[some], weight[some])
                yield len(X[some])
        # a row counts once, and proves cells right only before they have learned it
        self._often.V[:], self._often.sums[:] = self._once.V, self._once.sums

    def learn(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> None:
        """Learn rows that f has not learned."""
        if not self._learns:
            return
        R = self._residuals(X, y)
        left = R - self._once.learn(X, R, weight)
        if self._often is None:
            return
        left_often = R - self._often.learn(X, R, weight)
        with np.errstate(over="ignore", invalid="ignore"):
            gains = weight * (left**2 - left_often**2).sum(axis=1)
            self._gained += float(gains.sum())
            self._spread = math.hypot(self._spread, *gains.tolist())

    def _residuals(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        P = self._training.features(X) @ self._training.coef.T
        return np.asarray(targets_of(y, len(P.T)) - P)


def _blocks(n: int) -> Iterator[slice]:
    return (slice(start, start + _TOGETHER) for start in range(0, n, _TOGETHER))
