"""Curves that compress columns with heavy tails.

In a column of counts or amounts a few extreme rows determine the spread; on that scale all other
rows lie close together, and a kernel cannot tell them apart. A column x whose kurtosis is far above
that of a normal one becomes

    asinh((x - m)/a),   m = median of x,   a = mean |x - m|,

if this at least halves the kurtosis. The curve is linear near m and logarithmic far out, on both
sides; it keeps the order of the rows, and leaves a column of two values as it is. Where a column
goes over many decades, a is far above most |x - m|, and all these would be next to 0. Then m is 0
and a is a small one of the |x|: the curve is a logarithm. Where one value, such as -999, stands for
a gap, it is far from all others and would make them look the same. So m and a are those of the
others.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

import numpy as np

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
#: a column whose spread is below this counts as constant: squares of it are lost, and a row's value
#: in units of it may be infinite.
TINY = 1e-150


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
        curved = (drawn_in < _TAKEN_AWAY * kurtosis[heavy]) & (scale > TINY)
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
            if far and np.median(away) > TINY:
                yield j, m, float(away.mean())


def _kurtosis(X: np.ndarray) -> np.ndarray:
    """E(x - μ)⁴/σ⁴ of each column; nan of a constant one."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        away = X - X.mean(axis=0)
        squares = (away / away.std(axis=0)) ** 2
        return np.asarray(np.mean(squares**2, axis=0))
