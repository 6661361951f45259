"""The rows that least squares has learned since it last factored its matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.lapack import dtrtrs


class RowsSince:
    """Up to ``most`` rows beside the factor C: U = C⁻ᵀ Zᵀ (m, n), S = Uᵀ U + I = L Lᵀ, v (n, K).

    Room for all is made at the start, so that a new row copies no other.
    """

    def __init__(self, m: int, n_outputs: int, most: int) -> None:
        self._U = np.empty((most, m))
        self._L = np.zeros((most, most), order="F")
        self._v = np.empty((most, n_outputs))
        self.count = 0

    def __len__(self) -> int:
        return self.count

    @property
    def U(self) -> np.ndarray:
        """(m, n)."""
        return self._U[: self.count].T

    @property
    def L(self) -> np.ndarray:
        """(n, n)."""
        return self._L[: self.count, : self.count]

    @property
    def v(self) -> np.ndarray:
        """(n, K)."""
        return self._v[: self.count]

    def append(self, U: np.ndarray, L21: np.ndarray, L22: np.ndarray, v: np.ndarray) -> None:
        """Append n rows: their U (m, n), the rows [L21, L22] of L, and their v."""
        a, b = self.count, self.count + len(v)
        self._U[a:b] = U.T
        self._L[a:b, :a] = L21
        self._L[a:b, a:b] = np.tril(L22) if len(v) > 1 else L22
        self._v[a:b] = v
        self.count = b

    def rows_of_L(self, U: np.ndarray) -> np.ndarray:
        """The rows L21 (n, count) that the columns of U (m, n) add to L."""
        if not self.count:
            return np.empty((U.shape[1], 0))
        return solve_lower(self.L, self._U[: self.count] @ U).T

    def inner(self) -> np.ndarray:
        """U L⁻ᵀ v (m, K)."""
        return np.asarray(self.U @ solve_lower(self.L, self.v, transposed=True))

    def add_features(self, where: list[int]) -> None:
        """Insert features before those of ``where``; they were 0 in all rows so far."""
        self._U = np.insert(self._U, where, 0.0, axis=1)

    def get_state(self) -> dict[str, Any]:
        """Named arrays."""
        return {"U": self.U, "L": self.L, "v": self.v}

    def set_state(self, state: dict[str, Any]) -> None:
        """The inverse of :meth:`get_state`."""
        self.count = 0
        L = np.asarray(state["L"])
        self.append(np.asarray(state["U"]), np.empty((len(L), 0)), L, np.asarray(state["v"]))


def solve_lower(L: np.ndarray, B: np.ndarray, transposed: bool = False) -> np.ndarray:
    """L⁻¹ B or L⁻ᵀ B of a lower triangular L with no 0 on its diagonal."""
    return np.asarray(dtrtrs(L, B, lower=1, trans=int(transposed))[0])
