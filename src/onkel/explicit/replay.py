"""Rows that have been predicted already, learned again over a map that was fitted anew.

Least squares predicts each row from those before it, which takes most of its time. A replay needs
no predictions, so whole periods of rows are summed, and the matrix is factored once. The noise is
the same up to rounding: the minimum of J = Σ w (y - zᵀu)² + uᵀ K₀ u grows with each row by
e²/(1 + zᵀ P z), and it equals Σ w y² - bᵀ u.
"""

from __future__ import annotations

import numpy as np

from onkel.exact.least_squares import RecursiveLeastSquares
from onkel.explicit.walk import Walk


class Replay:
    """Takes the rows in order; afterwards ``walk`` is as if it had learned them."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._pending: _Period | None = None

    def learn(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> None:
        """Take the rows X (n, d); a whole period where it can be summed."""
        weights = self._walk.weights
        matrix = weights.matrix
        if matrix is not None and matrix.can_sum(weight):
            if self._pending is None:
                self._pending = _Period(matrix)
            Z = np.asarray(self._walk.features(X), dtype=np.float64)
            self._pending.take(Z, weights.targets(y), weight)
            weights.count(weight)
            return
        self.finish()
        self._walk.learn(X, y, weight, np.zeros((len(y), weights.n_outputs)))

    def finish(self) -> None:
        """Factor what has been summed."""
        if self._pending is not None:
            self._pending.finish()
            self._pending = None


class _Period:
    """Rows summed into a matrix that is not factored."""

    def __init__(self, matrix: RecursiveLeastSquares) -> None:
        self.matrix, self.rows, self.squares = matrix, 0, 0.0
        self.explained = float(np.vdot(matrix.sums.b, matrix.w0))

    def take(self, Z: np.ndarray, Y: np.ndarray, weight: np.ndarray) -> None:
        root = np.sqrt(weight)
        Zs, Ys = Z * root[:, None], Y * root[:, None]
        self.matrix.sums.add(Zs, Ys)
        self.matrix.sums.z_sum += Zs.T @ root
        self.squares += float(np.vdot(Ys, Ys))
        self.rows += len(Z)

    def finish(self) -> None:
        matrix = self.matrix
        matrix.factor_anew()
        explained = float(np.vdot(matrix.sums.b, matrix.w0)) - self.explained
        residual = max(self.squares - explained, 0.0) / matrix.sums.b.shape[1]
        matrix.sums.noise += [residual, self.rows]
