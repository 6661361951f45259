"""Rows in the units of the first rows: heavy tails compressed, mean 0 and standard deviation 1."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from onkel.maps.landmarks.heavy_tails import TailCurves


class Units(NamedTuple):
    """Curves of the heavy columns; then the mean and the standard deviation of each, (d,)."""

    tails: TailCurves
    middle: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray) -> Units:
        """The units that standardise rows X (n, d); a constant column has scale 1."""
        tails = TailCurves.of(X)
        U = tails(X)
        middle, spread = U.mean(axis=0), U.std(axis=0)
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

        0 where the column has a curve in either units: its widths stay in units of its spread.
        """
        curved = (self.tails.spread > 0.0) | (than.tails.spread > 0.0)
        return np.where(curved, 0.0, np.log(than.scale) - np.log(self.scale))

    def with_columns(self, n: int) -> Units:
        """With n columns more, which stay as they are."""
        middle, scale = np.append(self.middle, np.zeros(n)), np.append(self.scale, np.ones(n))
        return Units(self.tails.with_columns(n), middle, scale)
