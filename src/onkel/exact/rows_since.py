"""The rows since the last factorisation, which exact least squares keeps beside the factor."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtrs

from onkel.exact.sums import FEW_ROWS, matrix
from onkel.fields import Fields, Sizes, State, require
from onkel.numerics.arrays import inserted
from onkel.numerics.linalg import cholesky_lower
from onkel.state import Stateful

# rows that there is room for at first
_FIRST_ROOM = 32
# the relative difference allowed between the matrices of a loaded state
_ROUNDING = 1e-5


class RowsSince(Stateful):
    """Up to ``most`` rows beside the factor C: U = C⁻ᵀ Zᵀ (m, n), S = Uᵀ U + I = L Lᵀ, v (n, K).

    Room for rows doubles when it is needed: a small model of many takes little memory.
    """

    def __init__(self, m: int, n_outputs: int, most: int) -> None:
        self._most = most
        room = min(_FIRST_ROOM, most)
        self._U = np.empty((room, m))
        self._L = np.zeros((room, room), order="F")
        self._v = np.empty((room, n_outputs))
        self.count: int = 0

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
        if b > len(self._v):
            more = min(self._most, max(b, 2 * len(self._v))) - len(self._v)
            self._U = np.pad(self._U, ((0, more), (0, 0)))
            self._L = np.asfortranarray(np.pad(self._L, (0, more)))
            self._v = np.pad(self._v, ((0, more), (0, 0)))
        self._U[a:b] = U.T
        self._L[a:b, :a] = L21
        self._L[a:b, a:b] = np.tril(L22) if len(v) > 1 else L22
        self._v[a:b] = v
        self.count = b

    def rows_of_L(self, U: np.ndarray) -> np.ndarray:
        """The rows L21 (n, count) that the columns of U (m, n) add to L."""
        if not self.count:
            return np.empty((U.shape[1], 0))
        n = self.count
        return np.asarray(dtrtrs(self._L[:n, :n], self._U[:n] @ U, lower=1)[0]).T

    def products(self, U: np.ndarray, gram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """:meth:`rows_of_L`, and Z P Zᵀ of the rows, lower triangle (n, n).

        ``gram``: UᵀU, its lower triangle, which is returned where no row came before.
        """
        L21 = self.rows_of_L(U)
        return L21, gram - L21 @ L21.T if L21.size else gram

    def innovations(
        self, U: np.ndarray, gram: np.ndarray, residual: np.ndarray, keep: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """L22 (n, n) and v (n, K) of rows with U (m, n) and residuals Y - Z w₀; see :meth:`append`.

        ``gram``: UᵀU, its lower triangle, which may be overwritten. ``keep``: append the rows,
        unless they reach ``most``, where the matrix is factored anew.
        """
        L21, S = self.products(U, gram)
        if len(S) == 1:
            S += 1.0
        else:
            S.flat[:: len(S) + 1] += 1.0
        if len(S) < FEW_ROWS:
            L22, _ = dpotrf(S, lower=1, overwrite_a=1)
        else:
            L22 = np.asfortranarray(S)
            cholesky_lower(L22)
        v = solve_lower(L22, residual - L21 @ self._v[: self.count])
        if keep and self.count + len(v) < self._most:
            self.append(U, L21, L22, v)
        return L22, v

    def inner(self) -> np.ndarray:
        """U L⁻ᵀ v (m, K)."""
        return np.asarray(self.U @ solve_lower(self.L, self.v, transposed=True))

    def add_output(self, position: int) -> None:
        """Insert a class without rows at ``position``."""
        self._v = inserted(self._v, position)

    def add_features(self, where: list[int]) -> None:
        """Insert features before those of ``where``; they were 0 in all rows so far."""
        self._U = np.insert(self._U, where, 0.0, axis=1)

    STATE: ClassVar[Fields] = {
        "U": matrix("m", "rows"),
        "L": matrix("rows", "rows"),
        "v": matrix("rows", "K"),
    }

    def state_sizes(self) -> Sizes:
        return {"m": self._U.shape[1], "K": self._v.shape[1]}

    def check_state(self, state: State, sizes: Sizes) -> None:
        rows, most = sizes["rows"], self._most - 1
        require(rows <= most, f"U: holds {rows} rows since the anchor, not {most}")
        U, L = state["U"], state["L"]
        require((L.diagonal() > 0.0).all(), "L: is no factor; its diagonal must be above 0")
        require_equal("L", L @ L.T, U.T @ U + np.eye(rows))

    def set_fields(self, values: State) -> None:
        self.count, L = 0, values["L"]
        self.append(values["U"], np.empty((len(L), 0)), L, values["v"])


def solve_lower(L: np.ndarray, B: np.ndarray, transposed: bool = False) -> np.ndarray:
    """L⁻¹ B or L⁻ᵀ B of a lower triangular L with no 0 on its diagonal."""
    return np.asarray(dtrtrs(L, B, lower=1, trans=int(transposed))[0])


def require_equal(name: str, found: np.ndarray, wanted: np.ndarray) -> None:
    """Raise a ModelFileError if two matrices differ by more than rounding."""
    largest = np.abs(wanted).max(initial=0.0)
    near = np.abs(found - wanted).max(initial=0.0) <= _ROUNDING * largest
    require(near, f"{name}: is not the factor of the matrix that is saved with it")
