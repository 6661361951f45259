"""A block of rows walked over landmarks that move on the way."""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.kernels import make_kernel
from onkel.maps.landmarks.online_kmeans import next_move
from onkel.numerics.arrays import scratch


class Panel:
    """A block of rows X (n, d) seen by landmarks that move on the way.

    The inner products of all rows and all landmarks are one matrix product; a move recomputes one
    column of it for the later rows. The features of a row are those over the landmarks it meets.
    """

    def __init__(self, owner: Any, X: np.ndarray, weight: np.ndarray) -> None:
        self.map, self.X, self.weight = owner, X, weight
        self.middle = owner.landmarks_.mean(axis=0)
        self.around, self.centred = X - self.middle, owner.landmarks_ - self.middle
        shape = (len(X), len(self.centred))
        self.products = np.matmul(self.around, self.centred.T, out=scratch("panel", shape, X.dtype))
        #: rows start to stop meet the same landmarks; the last of them moves ``q``, if not -1
        self.start, self.stop, self.q = 0, 0, -1

    @property
    def done(self) -> bool:
        return self.stop == len(self.X)

    def walk(self) -> slice:
        """The next rows that meet the same landmarks."""
        m = self.map
        self.start = self.stop
        row, self.q = next_move(
            self.products, self.X, m.landmarks_, self.around, self.centred, self.start,
            self.weight, m.threshold_, m.expire is not None, bool(m.weighted),
            m.counts_, m._last, m._clock,
        )  # fmt: skip
        self.stop = min(row + 1, len(self.X))
        return slice(self.start, self.stop)

    def features(self) -> np.ndarray:
        """Features of these rows; overwrites their products."""
        m, rows = self.map, slice(self.start, self.stop)
        kernel = make_kernel(m.kernel)
        if kernel.radial:
            K = kernel.of_products(self.products[rows], self.around[rows], self.centred, m.gamma_)
        else:
            K = kernel.gram(self.X[rows], m.landmarks_, m.gamma_)
        shape = (len(K), m.n_features_out_)
        return np.matmul(K, m.projection_, out=scratch("features", shape, m.dtype_))

    def move(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Let the last row move its landmark, if it moves one.

        Returns the features of all landmarks before and after, (B, k) each.
        """
        if self.q < 0:
            return None
        t = self.stop - 1
        moved = self.map.move(self.q, self.X[t], float(self.weight[t]))
        if moved is None:
            return None
        q, before, after = moved
        self.centred[q] = self.map.landmarks_[q] - self.middle
        np.matmul(self.around[self.stop :], self.centred[q], out=self.products[self.stop :, q])
        return before, after
