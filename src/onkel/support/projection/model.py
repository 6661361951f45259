"""The support set that rows are projected onto."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from onkel.numerics.arrays import scratch
from onkel.state import Array
from onkel.support.budgeted import BudgetModel
from onkel.support.model import MOST_ROWS
from onkel.support.projection.coordinates import solve
from onkel.support.projection.loop import Basis, learn_projection
from onkel.support.slots import Rows, Slots
from onkel.support.stored_rows import SLOTS


class ProjectionModel(BudgetModel):
    """f over an orthonormal basis of the stored rows: A (K, capacity) are its weights there.

    ``factor`` (capacity, capacity) is Lᵀ, the Cholesky factor of κ(S, S); see
    :mod:`onkel.support.projection.loop`.
    """

    factor: np.ndarray

    def arrays(self) -> dict[str, Array]:
        return super().arrays() | {"factor": Array(dtype=self.dtype, shape=(SLOTS, SLOTS))}

    @property
    def coef(self) -> np.ndarray:
        """Coefficients (K, size) of the stored rows: Lᵀ α = A."""
        m = self.size
        if m == 0:
            return super().coef
        upper = self.factor[:m, :m].astype(np.float64)
        return np.asarray(solve_triangular(upper, super().coef.T).T, self.dtype)

    @property
    def basis_coef(self) -> np.ndarray:
        """Weights (K, size) of the basis."""
        return super().coef

    def _weights(self) -> np.ndarray:
        return self.basis_coef

    def _coordinates(self, K: np.ndarray) -> np.ndarray:
        Z = np.ascontiguousarray(K, self.dtype)
        solve(Z, self.size, self.factor)
        return Z

    def _block_rows(self) -> int:
        return MOST_ROWS if self.size == self.limit else super()._block_rows()

    def panel(self, X: np.ndarray) -> np.ndarray:
        """As for all budgets, but without κ(block, block) once the set is full and stays so."""
        if self.size != self.limit:
            return super().panel(X)
        X = X.astype(self.dtype, copy=False)
        out = scratch("panel", (len(X), self.size), self.dtype)
        return np.asarray(self.kernel.ordered_gram(X, self.S, self.gamma_, out), self.dtype)

    def _learn(self, X: np.ndarray, rows: Rows, slots: Slots) -> None:
        m = self.size
        Z = scratch("coordinates", (len(X), len(self.S)), self.dtype)
        Z[:, :m] = rows.panel[:, :m]
        solve(Z, m, self.factor)
        learn_projection(rows, slots, Basis(Z, self.factor), self._limits(), self.context())
        self._keep_rows(X, rows, slots)
