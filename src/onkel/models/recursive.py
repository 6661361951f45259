"""Recursive least squares for a block of rows at once, at level-3 BLAS speed.

The recursion of one row, with P = R⁻¹ and R = ridge·I + Σ z zᵀ,

    e = y - w·z,   k = P z/(1 + zᵀ P z),   w ← w + k e,   P ← P - k (P z)ᵀ,

is done for the rows Z of a block together and gives the same numbers: with A = Z P and
S = A Zᵀ + I = L Lᵀ, the innovations are e = diag(L)·u with u = L⁻¹(Y - Z w); K = L⁻¹ A;
w ← w + Kᵀ u; P ← P - Kᵀ K.

P - KᵀK loses digits as P shrinks. The sums R and b = Σ z y don't, so they are carried along, and
P and w are made anew from them every :data:`REFRESH_ROWS` rows: over any length of stream the
model is batch ridge regression, and R and b of two streams add.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.blas import dsymm, dsyrk, dtrsm
from scipy.linalg.lapack import dpotrf, dpotri

__all__ = ["REFRESH_ROWS", "RecursiveLeastSquares"]

REFRESH_ROWS = 10_000
# Stands for a weight of 0 where only the prediction is wanted: its own size cancels there.
_WEIGHTLESS = 1e-30
_ARRAYS = ("P", "R", "b", "z_sum", "noise")


class RecursiveLeastSquares:
    """P, R (m, m; upper triangles), b (m, K), and what a second class or a noise level needs."""

    def __init__(self, m: int, n_outputs: int, ridge: float, forgetting: float) -> None:
        self.ridge, self.forgetting = ridge, forgetting
        self.P = np.asfortranarray(np.eye(m) / ridge)
        self.R = np.asfortranarray(np.eye(m) * ridge)
        self.b = np.zeros((m, n_outputs))
        self.z_sum = np.zeros(m)
        #: rows learned since the last refresh; Σu² over all rows; Σ of their number
        self.noise = np.zeros(3)

    def learn(self, Z: np.ndarray, Y: np.ndarray, weight: np.ndarray, W: np.ndarray) -> np.ndarray:
        """Learn the rows Z (n, m) with targets Y (n, K); W (K, m) moves; predictions (n, K)."""
        Z = np.asarray(Z, dtype=np.float64)
        counted = self.noise[0] + np.cumsum(weight > 0.0)
        # refreshes fall on row numbers, not on the ends of blocks
        cut = int(np.searchsorted(counted, REFRESH_ROWS)) + 1
        if cut > len(Z):
            return self._learn_block(Z, Y, weight, W)
        before = self._learn_block(Z[:cut], Y[:cut], weight[:cut], W)
        self.refresh(W)
        if cut == len(Z):
            return before
        return np.concatenate([before, self.learn(Z[cut:], Y[cut:], weight[cut:], W)])

    def _learn_block(
        self, Z: np.ndarray, Y: np.ndarray, weight: np.ndarray, W: np.ndarray
    ) -> np.ndarray:
        used = weight > 0.0
        scale = np.sqrt(np.maximum(weight, _WEIGHTLESS))
        if self.forgetting < 1.0:
            # a row of weight 0 is no step of the clock either
            scale = scale * self.forgetting ** (-0.5 * np.cumsum(used))
        K, u, predictions = self._innovations(Z, Y, scale, W)
        if not used.all():
            if not used.any():
                return predictions
            Z, Y, scale = Z[used], Y[used], scale[used]
            K, u, _ = self._innovations(Z, Y, scale, W)
        W += u.T @ K.T
        self.P = dsyrk(-1.0, K, beta=1.0, c=self.P, overwrite_c=1)
        self._carry_sums(Z * scale[:, None], Y * scale[:, None], scale)
        self.noise += [len(Z), float((u**2).mean(axis=1).sum()), len(Z)]
        if self.forgetting < 1.0:
            self._fade(len(Z))
        return predictions

    def _innovations(
        self, Z: np.ndarray, Y: np.ndarray, scale: np.ndarray, W: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Kᵀ (m, n), u (n, K), and the prediction of each row from the rows before it."""
        Zs = np.asfortranarray((Z * scale[:, None]).T)
        A = dsymm(1.0, self.P, Zs)
        S = Zs.T @ A
        S.flat[:: len(S) + 1] += 1.0
        L = np.linalg.cholesky(S)
        u = solve_triangular(L, (Y - Z @ W.T) * scale[:, None], lower=True, check_finite=False)
        K = dtrsm(1.0, np.asfortranarray(L), A, side=1, lower=1, trans_a=1, overwrite_b=1)
        return K, u, Y - np.diag(L)[:, None] * u / scale[:, None]

    def _carry_sums(self, Zs: np.ndarray, Ys: np.ndarray, scale: np.ndarray) -> None:
        self.R = dsyrk(1.0, Zs.T, beta=1.0, c=self.R, overwrite_c=1)
        self.b += Zs.T @ Ys
        self.z_sum += Zs.T @ scale

    def _fade(self, n: int) -> None:
        """Rows were weighted by λ^-i, i = 1..n: bring all sums to the end of the block."""
        fade = self.forgetting**n
        self.P /= fade
        for sums in (self.R, self.b, self.z_sum):
            sums *= fade

    def refresh(self, W: np.ndarray) -> None:
        """P = R⁻¹ and w = P b from the sums, without the rounding of the recursion."""
        self.noise[0] = 0.0
        if self.forgetting < 1.0:
            # the ridge is no row and doesn't fade
            faded = self.forgetting**REFRESH_ROWS
            self.R.flat[:: len(self.R) + 1] += (1.0 - faded) * self.ridge
        self._solve(W)

    def carry(self, A: np.ndarray, W: np.ndarray) -> None:
        """Go on over other features: as if all rows so far had had A z (m, m) for z."""
        rows = np.triu(self.R) + np.triu(self.R, 1).T
        rows.flat[:: len(rows) + 1] -= self.ridge
        self.R = np.asfortranarray(A @ rows @ A.T)
        self.R.flat[:: len(self.R) + 1] += self.ridge
        self.b, self.z_sum = A @ self.b, A @ self.z_sum
        self._solve(W)

    def _solve(self, W: np.ndarray) -> None:
        """P = R⁻¹ and w = P b from the sums."""
        factor, failed = dpotrf(self.R)
        if not failed:
            self.P, _ = dpotri(factor, overwrite_c=1)
            W[:] = dsymm(1.0, self.P, self.b).T

    def variance(self, Z: np.ndarray) -> np.ndarray:
        """Predictive variance σ²(1 + zᵀ P z) of each row, σ² estimated from the innovations."""
        Zs = np.asfortranarray(np.asarray(Z, dtype=np.float64).T)
        spread = np.einsum("ij,ij->j", Zs, dsymm(1.0, self.P, Zs))
        return (1.0 + spread) * self.noise[1] / max(self.noise[2], 1.0)

    def add_output(self, position: int, W: np.ndarray) -> np.ndarray:
        """New weights (K, m) with a class of no rows at ``position``.

        Two classes were one output of targets ±1; their indicators are (1 ± y)/2.
        """
        if self.b.shape[1] == 1:
            both = 0.5 * np.concatenate(
                [self.z_sum[:, None] - self.b, self.z_sum[:, None] + self.b], 1
            )
            self.b = both
            W = np.ascontiguousarray(dsymm(1.0, self.P, np.asfortranarray(both)).T)
        self.b = np.insert(self.b, position, 0.0, axis=1)
        return np.insert(W, position, 0.0, axis=0)

    def get_state(self) -> dict[str, Any]:
        """The matrices by name."""
        return {name: getattr(self, name) for name in _ARRAYS}

    def set_state(self, state: dict[str, Any]) -> None:
        """The inverse of :meth:`get_state`."""
        for name in _ARRAYS:
            copied = np.asfortranarray if name in ("P", "R") else np.ascontiguousarray
            setattr(self, name, copied(np.array(state[name])))
