"""Landmarks, widths and penalty, in the units they were learned in; features come from them.

Units are those of the first rows: each column has mean 0 and standard deviation 1, and columns with
heavy tails are compressed before. In a column of counts or amounts a few extreme rows determine the
spread; on that scale all other rows lie close together, and a kernel cannot tell them apart. A
column x whose kurtosis is far above that of a normal one becomes

    asinh((x - m)/a),   m = median of x,   a = mean |x - m|,

if this at least halves the kurtosis. The curve is linear near m and logarithmic far out, on both
sides; it keeps the order of the rows, and leaves a column of two values as it is. Where a column
goes over many decades, a is far above most |x - m|, and all these would be next to 0. Then m is 0
and a is a small one of the |x|: the curve is a logarithm. Where one value, such as -999, stands for
a gap, it is far from all others and would make them look the same. So m and a are those of the
others. The values of a category have a common
scale (:mod:`onkel.maps.landmarks.indicators`).
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from itertools import pairwise
from typing import ClassVar, NamedTuple, Self

import numpy as np
from scipy.linalg import block_diag

from onkel.fields import Array, Fields, Number, Sizes
from onkel.maps.landmarks.evidence import Landmarks, penalty_of
from onkel.maps.landmarks.indicators import common_scales, groups_of
from onkel.maps.landmarks.rational import KernelColumns
from onkel.numerics.arrays import with_zero_columns
from onkel.state import Stateful

#: steps in which the curves of some columns are found
STEPS = 4
# Kurtosis of a heavy column; a normal one has 3, an exponential one 9.
_HEAVY = 10.0
_TAKEN_AWAY = 0.5
# A heavy column goes over many decades where the mean of |x - m| is so many times their median,
# zeros left out, and x never changes its sign. Its logarithm begins at this quantile of |x|.
_DECADES, _SMALL = 300.0, 0.05
# A value stands for a gap where this share of the rows have it, at least so many others do not, and
# it is so many times as far from m as these.
_OFTEN, _FEWEST, _APART = 0.005, 32, 10.0
# A column whose spread is below this counts as constant: squares of it are lost, and a row's value
# in units of it may be infinite.
_TINY = 1e-150


class TailCurves:
    """m (d,) and a (d,) of each column; a = 0 where a column stays as it is."""

    def __init__(self, middle: np.ndarray, spread: np.ndarray) -> None:
        self.middle: np.ndarray = middle
        self.spread: np.ndarray = spread
        self._heavy = np.flatnonzero(spread)
        self._of_heavy = middle[self._heavy], spread[self._heavy]

    @classmethod
    def in_steps(cls, X: np.ndarray) -> Generator[bool, None, TailCurves]:
        """The curves that rows X (n, d) need, in :data:`STEPS` steps."""
        kurtosis = _kurtosis(X)
        yield True
        # comparisons with nan are false
        heavy = np.flatnonzero(kurtosis > _HEAVY)
        middle, spread = np.zeros((2, X.shape[1]))
        middle[heavy] = np.median(X[:, heavy], axis=0)
        yield True
        away = X[:, heavy] - middle[heavy]
        scale = np.abs(away).mean(axis=0)
        for k in _over_decades(X[:, heavy], np.abs(away), scale):
            column = X[:, heavy[k]]
            middle[heavy[k]], away[:, k] = 0.0, column
            scale[k] = np.quantile(np.abs(column), _SMALL)
        yield True
        with np.errstate(invalid="ignore", divide="ignore"):
            drawn_in = _kurtosis(np.arcsinh(away / scale))
        yield True
        curved = (drawn_in < _TAKEN_AWAY * kurtosis[heavy]) & (scale > _TINY)
        spread[heavy] = np.where(curved, scale, 0.0)
        for j, m, a in _with_stand_ins(X):
            middle[j], spread[j] = m, a
        return cls(middle, spread)

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


def _over_decades(X: np.ndarray, away: np.ndarray, scale: np.ndarray) -> list[int]:
    """Which of the heavy columns X (n, d), with |x - m| and their means, go over many decades."""
    one_sign = (X > 0.0).all(axis=0) | (X < 0.0).all(axis=0)
    return [
        k
        for k in np.flatnonzero(one_sign & (scale > 0.0)).tolist()
        if scale[k] > _DECADES * np.median(away[away[:, k] > 0.0, k])
    ]


def _with_stand_ins(rows: np.ndarray) -> Iterator[tuple[int, float, float]]:
    """Columns of rows (n, d) with a value far from all others, and m and a of the others."""
    low, high, n = rows.min(axis=0), rows.max(axis=0), len(rows)
    middle = 0.5 * low + 0.5 * high
    more_than_two = ~((rows == low) | (rows == high)).all(axis=0)
    for end, on_its_side in ((low, rows < middle), (high, rows > middle)):
        same = rows == end
        # it comes and goes: the last value of a column that grows is far from the others, too
        halves = same[: n // 2].sum(axis=0), same[n // 2 :].sum(axis=0)
        often = more_than_two & (np.minimum(*halves) > 0) & (sum(halves) >= _OFTEN * n)
        alone = often & (sum(halves) == on_its_side.sum(axis=0))
        for j in np.flatnonzero(alone & (n - sum(halves) >= _FEWEST)).tolist():
            others = rows[rows[:, j] != end[j], j]
            m = float(np.median(others))
            away = np.abs(others - m)
            far = abs(end[j] - m) > _APART * away.max()
            # most of them differ from each other
            if far and np.median(away) > _TINY:
                yield j, m, float(away.mean())


def _kurtosis(X: np.ndarray) -> np.ndarray:
    """E(x - μ)⁴/σ⁴ of each column; nan of a constant one."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        away = X - X.mean(axis=0)
        squares = (away / away.std(axis=0)) ** 2
        return np.asarray(np.mean(squares**2, axis=0))


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
    varies = spread > np.maximum(rounding, _TINY)
    return np.where(varies, spread, np.maximum(rounding, 1.0))


def n_steps(n: int, d: int) -> int:
    """Steps in which the units of n rows of d columns are found."""
    return (STEPS + 1) * len(_some_columns(n, d)) + 1


def _some_columns(n: int, d: int) -> list[slice]:
    """Never a single column of several: NumPy would sum it in another order."""
    ends = np.linspace(0, d, math.ceil(d / max(_COLUMNS, _NUMBERS // n)) + 1).astype(int)
    return [slice(a, b) for a, b in pairwise(ends.tolist())]


# The penalty of the constant feature, as a share of λ: so small that targets need no centring.
_CONSTANT = 1e-4


class FittedLandmarks(Stateful):
    """Landmarks ``at`` in ``units``."""

    STATE: ClassVar[Fields] = {
        "S": Array(shape=("landmarks", "d"), low=-1e152, high=1e152),
        # common to all, or of each landmark
        "log_width": Array(shape=("d",), low=-300.0, high=300.0, each="landmarks"),
        "log_ridge": Number(low=-300.0, high=300.0),
        **OF_UNITS,
    }

    def __init__(self, units: Units, at: Landmarks) -> None:
        self.S: np.ndarray = at.S
        self.log_width: np.ndarray = at.log_width
        self.log_ridge: float = at.log_ridge
        self.tails: np.ndarray = units.tails.as_array()
        self.middle: np.ndarray = units.middle
        self.scale: np.ndarray = units.scale
        self.state_is_set()

    @classmethod
    def none(cls, d: int) -> Self:
        """Without landmarks, of d columns: it takes a state."""
        return cls(Units.none(d), Landmarks(np.zeros((0, d)), np.zeros(d), 0.0))

    def __len__(self) -> int:
        return len(self.at.S)

    @property
    def landmarks(self) -> np.ndarray:
        """(B, d), in the units of the rows."""
        return self.units.inverse(self.at.S)

    @property
    def width(self) -> np.ndarray:
        """(d,) or (B, d), in the units of the rows."""
        return np.asarray(np.exp(self.at.log_width) / self.units.scale)

    def fill(self, X: np.ndarray, Z: np.ndarray) -> None:
        """Z (n, B + 1) ← κ(X, S) and the constant feature, of rows X (n, d)."""
        m = len(self.at.S)
        self._kernel(self.units(X), Z[:, :m])
        Z[:, m] = 1.0

    def prior(self) -> np.ndarray:
        """The penalty of the weights: λ κ(S, S), or λ I, and a little for the constant."""
        K0 = penalty_of(self.at.S, np.exp(self.at.log_width))
        return np.asarray(self.at.ridge * block_diag(K0, _CONSTANT))

    def in_units(self, units: Units, S: np.ndarray | None = None) -> Landmarks:
        """The same in other units; with the landmarks S, in those, where they are given."""
        S = units(self.landmarks) if S is None else S
        log_width = self.at.log_width + self.units.log_finer(units)
        return Landmarks(S, log_width, self.at.log_ridge)

    def with_columns(self, n: int) -> FittedLandmarks:
        """With n more columns: landmarks are 0 there, the width is the median of all columns'."""
        middling = np.log(np.median(self.width, axis=-1, keepdims=True))
        log_width = np.append(self.at.log_width, np.repeat(middling, n, axis=-1), axis=-1)
        S = with_zero_columns(self.at.S, n)
        at = Landmarks(S, log_width, self.at.log_ridge)
        return FittedLandmarks(self.units.with_columns(n), at)

    def state_sizes(self) -> Sizes:
        return {"d": self.S.shape[1]}

    def state_is_set(self) -> None:
        self.units: Units = Units(TailCurves(*self.tails), self.middle, self.scale)
        self.at: Landmarks = Landmarks(self.S, self.log_width, self.log_ridge)
        self._kernel = KernelColumns(self.S, np.exp(self.log_width))
