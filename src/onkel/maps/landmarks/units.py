"""Units: columns with heavy tails are compressed, then all are standardised by the first rows.

The values of a category have a common scale (:mod:`onkel.maps.landmarks.indicators`).
"""

from __future__ import annotations

import math
from collections.abc import Generator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from onkel.fields import Array, Fields
from onkel.maps.landmarks.indicators import common_scales, groups_of
from onkel.maps.landmarks.tails import STEPS, TINY, TailCurves

#: the fields of units
OF_UNITS: Fields = {
    "tails": Array(shape=(2, "d"), low=-1e152, high=1e152),
    "middle": Array(shape=("d",), low=-1e152, high=1e152),
    "scale": Array(shape=("d",), low=1e-300, high=1e152),
}
# A spread below this share of the mean, or below n roundings of it, is rounding: the column counts
# as constant. Where such a column is huge, so is the rounding of its mean: in these units it is
# next to 0.
_ROUNDING = 1e-12
# Numbers, and columns, that are looked at in a step, at least.
_NUMBERS, _COLUMNS = 1 << 19, 4
# Log of the largest factor by which a width becomes finer as a scale grows.
_FINER = math.log(2.0)
# The largest factor between scales that are near each other.
_NEAR = 2.0


class Units(NamedTuple):
    """Curves of the heavy columns; then the mean and standard deviation of each column, (d,)."""

    tails: TailCurves
    middle: np.ndarray
    scale: np.ndarray

    @classmethod
    def in_steps(cls, X: np.ndarray) -> Generator[bool, None, Units]:
        """The units that standardise rows X (n, d).

        A constant column has scale 1, a huge one more.

        In :func:`n_steps` steps: some columns at a time.
        """
        parts = []
        for columns in _some_columns(*X.shape):
            own = X[:, columns].astype(np.float64)
            tails = yield from TailCurves.in_steps(own)
            U = tails(own)
            parts.append((tails, U.mean(axis=0), U.std(axis=0)))
            yield True
        tails = TailCurves.joined([part[0] for part in parts])
        middle, spread = (np.concatenate([part[i] for part in parts]) for i in (1, 2))
        scale = _scales(len(X), middle, spread)
        yield True
        return cls(tails, middle, common_scales(groups_of(X), spread, scale))

    @classmethod
    def straight(cls, X: np.ndarray) -> Units:
        """Those of rows X (n, d) without curves: columns have mean 0 and standard deviation 1."""
        V = X.astype(np.float64)
        middle, zeros = V.mean(axis=0), np.zeros(X.shape[1])
        return cls(TailCurves(zeros, zeros), middle, _scales(len(X), middle, V.std(axis=0)))

    @classmethod
    def none(cls, d: int) -> Units:
        """Those of d columns that stay as they are."""
        return cls(TailCurves(np.zeros(d), np.zeros(d)), np.zeros(d), np.ones(d))

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

    def are_near(self, others: Units) -> bool:
        """Whether rows are nearly the same in these units and in others.

        The same columns have curves, no scale is more than twice the other, and no middle is
        farther from the other than a scale.
        """
        (m, a), (other_m, other_a) = self.tails.as_array(), others.tails.as_array()
        heavy = a > 0.0
        if (heavy != (other_a > 0.0)).any():
            return False
        own = np.append(self.scale, a[heavy]), np.append(self.middle, m[heavy])
        other = np.append(others.scale, other_a[heavy]), np.append(others.middle, other_m[heavy])
        times = own[0] / other[0]
        near = np.abs(own[1] - other[1]) <= np.minimum(own[0], other[0])
        return bool(near.all() and (np.maximum(times, 1.0 / times) <= _NEAR).all())

    def with_columns(self, n: int) -> Units:
        """With n columns more, which stay as they are."""
        middle, scale = np.append(self.middle, np.zeros(n)), np.append(self.scale, np.ones(n))
        return Units(self.tails.with_columns(n), middle, scale)


def _scales(n: int, middle: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Scales of columns with these means and standard deviations of n rows."""
    rounding = max(_ROUNDING, n * np.finfo(np.float64).eps) * np.abs(middle)
    varies = spread > np.maximum(rounding, TINY)
    return np.where(varies, spread, np.maximum(rounding, 1.0))


def n_steps(n: int, d: int) -> int:
    """Steps in which the units of n rows of d columns are found."""
    return (STEPS + 1) * len(_some_columns(n, d)) + 1


def _some_columns(n: int, d: int) -> list[slice]:
    """Never a single column of several: NumPy would sum it in another order."""
    ends = np.linspace(0, d, math.ceil(d / max(_COLUMNS, _NUMBERS // n)) + 1).astype(int)
    return [slice(a, b) for a, b in pairwise(ends.tolist())]
