"""Rows in the units of the first rows: heavy tails compressed, mean 0 and standard deviation 1."""

from __future__ import annotations

import math
from collections.abc import Generator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from onkel.maps.landmarks.heavy_tails import STEPS, TailCurves
from onkel.numerics.in_steps import finished

# Numbers, and columns, that are looked at in a step, at least.
_NUMBERS, _COLUMNS = 1 << 19, 4
# Log of the largest factor by which a width becomes finer as a scale grows.
_FINER = math.log(2.0)


class Units(NamedTuple):
    """Curves of the heavy columns; then the mean and standard deviation of each column, (d,)."""

    tails: TailCurves
    middle: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray) -> Units:
        """The units that standardise rows X (n, d); a constant column has scale 1."""
        return finished(cls.in_steps(X))

    @classmethod
    def in_steps(cls, X: np.ndarray) -> Generator[bool, None, Units]:
        """As :meth:`of`, in :func:`n_steps` steps: some columns at a time."""
        parts = []
        for columns in _some_columns(*X.shape):
            own = X[:, columns].astype(np.float64)
            tails = yield from TailCurves.in_steps(own)
            U = tails(own)
            parts.append((tails, U.mean(axis=0), U.std(axis=0)))
            yield True
        tails = TailCurves.joined([part[0] for part in parts])
        middle, spread = (np.concatenate([part[i] for part in parts]) for i in (1, 2))
        return cls(tails, middle, np.where(spread > 1e-12 * (1.0 + np.abs(middle)), spread, 1.0))

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Rows X (n, d) in these units, in float64."""
        U = self.tails(X) - self.middle
        U /= self.scale
        return U

    def inverse(self, U: np.ndarray) -> np.ndarray:
        """The rows X (n, d) that are U in these units."""
        return self.tails.inverse(U * self.scale + self.middle)

    def log_finer(self, than: Units) -> np.ndarray:
        """log(scale of ``than``/own scale) of each column: the change of log-widths.

        0 where the column has a curve in either units: its widths stay in units of its spread. A
        width becomes at most twice as fine. Where the scale has grown by more, old rows hardly had
        such values, and finer widths would leave the rows that have them without neighbours.
        """
        curved = (self.tails.spread > 0.0) | (than.tails.spread > 0.0)
        finer = np.log(than.scale) - np.log(self.scale)
        return np.where(curved, 0.0, np.minimum(finer, _FINER))

    def with_columns(self, n: int) -> Units:
        """With n columns more, which stay as they are."""
        middle, scale = np.append(self.middle, np.zeros(n)), np.append(self.scale, np.ones(n))
        return Units(self.tails.with_columns(n), middle, scale)


def n_steps(n: int, d: int) -> int:
    """Steps in which the units of n rows of d columns are found."""
    return (STEPS + 1) * len(_some_columns(n, d))


def _some_columns(n: int, d: int) -> list[slice]:
    """Never a single column of several: NumPy would sum it in another order."""
    ends = np.linspace(0, d, math.ceil(d / max(_COLUMNS, _NUMBERS // n)) + 1).astype(int)
    return [slice(a, b) for a, b in pairwise(ends.tolist())]
