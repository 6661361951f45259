"""Columns with heavy tails are compressed, so that a kernel can tell most of their rows apart.

In a column of counts or amounts a few extreme rows determine the spread; on that scale all other
rows lie close together. A column x whose kurtosis is far above that of a normal one becomes

    asinh((x - m)/a),   m = median of x,   a = mean |x - m|,

if this at least halves the kurtosis. The curve is linear near m and logarithmic far out, on both
sides; it keeps the order of the rows, and leaves a column of two values as it is.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np

from onkel.numerics.in_steps import finished

#: steps in which the curves of some columns are found
STEPS = 4
# Kurtosis of a heavy column; a normal one has 3, an exponential one 9.
_HEAVY = 10.0
_TAKEN_AWAY = 0.5


class TailCurves:
    """m (d,) and a (d,) of each column; a = 0 where a column stays as it is."""

    def __init__(self, middle: np.ndarray, spread: np.ndarray) -> None:
        self.middle, self.spread = middle, spread
        self._heavy = np.flatnonzero(spread)
        self._of_heavy = middle[self._heavy], spread[self._heavy]

    @classmethod
    def of(cls, X: np.ndarray) -> TailCurves:
        """The curves that rows X (n, d) need."""
        return finished(cls.in_steps(X))

    @classmethod
    def in_steps(cls, X: np.ndarray) -> Generator[bool, None, TailCurves]:
        """As :meth:`of`, in :data:`STEPS` steps."""
        middle = np.median(X, axis=0)
        yield True
        away = X - middle
        spread = np.abs(away).mean(axis=0)
        yield True
        kurtosis = _kurtosis(X)
        yield True
        with np.errstate(invalid="ignore", divide="ignore"):
            U = np.arcsinh(away / spread)
        drawn_in = _kurtosis(U)
        yield True
        # comparisons with nan are false
        heavy = (kurtosis > _HEAVY) & (drawn_in < _TAKEN_AWAY * kurtosis)
        return cls(middle, np.where(heavy, spread, 0.0))

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Rows X (n, d) with the heavy columns compressed; X itself where there are none."""
        if not len(self._heavy):
            return X
        U = X.astype(np.float64)
        middle, spread = self._of_heavy
        U[:, self._heavy] = np.arcsinh((U[:, self._heavy] - middle) / spread)
        return U

    def inverse(self, U: np.ndarray) -> np.ndarray:
        """The rows X (n, d) of which U are the compressed ones."""
        if not len(self._heavy):
            return U
        X = U.copy()
        away = np.sinh(U[:, self._heavy]) * self.spread[self._heavy]
        X[:, self._heavy] = away + self.middle[self._heavy]
        return X

    def as_array(self) -> np.ndarray:
        """m and a, (2, d)."""
        return np.stack([self.middle, self.spread])

    @classmethod
    def joined(cls, parts: Sequence[TailCurves]) -> TailCurves:
        """The curves of all parts' columns, side by side."""
        return cls(*np.concatenate([part.as_array() for part in parts], axis=1))

    def with_columns(self, n: int) -> TailCurves:
        """With n columns more, which stay as they are."""
        more = np.zeros(n)
        return TailCurves(np.append(self.middle, more), np.append(self.spread, more))


def _kurtosis(X: np.ndarray) -> np.ndarray:
    """E(x - μ)⁴/σ⁴ of each column; nan of a constant one."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        away = X - X.mean(axis=0)
        squares = (away / away.std(axis=0)) ** 2
        return np.asarray(np.mean(squares**2, axis=0))
