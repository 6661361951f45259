"""The rational kernel κ(x, s) = 1/(1 + ‖w ∘ (x - s)‖²), and derivatives through its distances.

Widths w are common to all landmarks s, (d,), or every landmark has its own, (m, d).
"""

from __future__ import annotations

import numpy as np

from onkel.annotations import Out
from onkel.numerics.jit import jit


@jit
def _rational(products, x2, s2):
    """⟨x, s⟩ → 1/(1 + ‖x - s‖²), in place."""
    number = products.dtype.type
    zero, one, two = number(0.0), number(1.0), number(2.0)
    for i in range(products.shape[0]):
        for j in range(products.shape[1]):
            products[i, j] = one / (one + max(x2[i] + s2[j] - two * products[i, j], zero))


@jit
def chain(of_kernel, K):
    """∂E/∂κ → ∂E/∂‖·‖², in place: κ' = -κ²."""
    for i in range(K.shape[0]):
        for j in range(K.shape[1]):
            of_kernel[i, j] *= -K[i, j] * K[i, j]


@jit
def chain_with(of_kernel, r, a, K):
    """As :func:`chain`, for ∂E/∂κ + r aᵀ with r (n, 1) and a (1, m)."""
    for i in range(K.shape[0]):
        for j in range(K.shape[1]):
            of_kernel[i, j] = -(of_kernel[i, j] + r[i, 0] * a[0, j]) * K[i, j] * K[i, j]


@jit
def chain_of(r, a, K, of_kernel):
    """As :func:`chain`, for r aᵀ alone."""
    for i in range(K.shape[0]):
        for j in range(K.shape[1]):
            of_kernel[i, j] = -r[i, 0] * a[0, j] * K[i, j] * K[i, j]


class KernelColumns:
    """X ↦ κ(X, S), (n, m), for landmarks S (m, d) and widths w (d,) or (m, d)."""

    def __init__(self, S: np.ndarray, w: np.ndarray) -> None:
        self.own: bool = w.ndim == 2
        # in units of each column's largest width, so that squares do not overflow
        self._unit = w.max(axis=0) if self.own else w
        B = S * self._unit
        if self.own:
            squares = (w / self._unit) ** 2
            self._s2 = np.einsum("ij,ij->i", squares * B, B)
            B = np.hstack([squares * B, -0.5 * squares])
        else:
            self._s2 = np.einsum("ij,ij->i", B, B)
        self._columns = np.ascontiguousarray(B.T)

    def __call__(self, X: np.ndarray, out: Out = None) -> np.ndarray:
        """κ(X, S) of rows X (n, d), in ``out`` if given."""
        A = X * self._unit
        # for landmarks' own widths, the product with w² gives ‖w ∘ x‖²
        x2 = np.zeros(len(A), A.dtype) if self.own else np.einsum("ij,ij->i", A, A)
        K = np.matmul(np.hstack([A, A * A]) if self.own else A, self._columns, out=out)
        _rational(K, x2, self._s2)
        return K


def kernel_columns(X: np.ndarray, S: np.ndarray, w: np.ndarray, out: Out = None) -> np.ndarray:
    """κ(X, S), (n, m), in the precision of X (n, d); in ``out`` if given."""
    return KernelColumns(S.astype(X.dtype, copy=False), w.astype(X.dtype, copy=False))(X, out)


class ThroughDistances:
    """Σ G_ij ∂‖w ∘ (x_i - s_j)‖²/∂s_j and /∂log w, over rows that come in parts."""

    w: np.ndarray

    def __init__(self, S: np.ndarray, w: np.ndarray) -> None:
        self.S, self.w, (m, d) = S, w, S.shape
        self._own = w.ndim == 2
        # Σ_i G_ij (1, x_i), for landmarks' own widths also of x_i²; otherwise Σ_ij G_ij x_i²
        self._sums = np.zeros((m, 1 + 2 * d if self._own else 1 + d))
        self._squares = np.zeros(d)

    def of_rows(self, G: np.ndarray, X: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """What the rows X (n, d) with G (n, m) add to the sums."""
        ones = np.ones((len(X), 1), X.dtype)
        if self._own:
            return G.T @ np.hstack([ones, X, X * X]), None
        squares = (G @ np.ones(G.shape[1], G.dtype)) @ (X * X)
        return G.T @ np.hstack([ones, X]), squares

    def add(self, of_rows: tuple[np.ndarray, np.ndarray | None]) -> None:
        """Take what some rows add."""
        sums, squares = of_rows
        self._sums += sums
        if squares is not None:
            self._squares += squares

    def slopes(self) -> tuple[np.ndarray, np.ndarray]:
        """The derivatives by s, (m, d), and by log w, in w's shape."""
        d, S, squares = self.S.shape[1], self.S, self.w * self.w
        columns, GX = self._sums[:, :1], self._sums[:, 1 : 1 + d]
        of_S = 2.0 * squares * (columns * S - GX)
        around = (columns * S - 2.0 * GX) * S
        if self._own:
            return of_S, 2.0 * squares * (self._sums[:, 1 + d :] + around)
        return of_S, 2.0 * squares * (self._squares + around.sum(axis=0))


def through_distances(
    G: np.ndarray, X: np.ndarray, S: np.ndarray, w: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The slopes of :class:`ThroughDistances` for the rows X (n, d) with G (n, m)."""
    through = ThroughDistances(S, w)
    through.add(through.of_rows(G, X))
    return through.slopes()
