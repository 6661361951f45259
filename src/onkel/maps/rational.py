"""The rational kernel κ(x, s) = 1/(1 + ‖w ∘ (x - s)‖²), and derivatives through its distances.

Widths w are common to all landmarks s, (d,), or every landmark has its own, (m, d).
"""

from __future__ import annotations

import numpy as np

from onkel._jit import jit

__all__ = ["chain", "kernel_columns", "through_distances"]


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


def kernel_columns(
    X: np.ndarray, S: np.ndarray, w: np.ndarray, out: np.ndarray | None = None
) -> np.ndarray:
    """κ(X, S), (n, m), of rows X (n, d), landmarks S (m, d) and widths w (d,) or (m, d)."""
    S, w = S.astype(X.dtype, copy=False), w.astype(X.dtype, copy=False)
    if w.ndim == 1:
        A, B = X * w, S * w
        K = np.matmul(A, B.T, out=out)
        x2, s2 = np.einsum("ij,ij->i", A, A), np.einsum("ij,ij->i", B, B)
    else:
        # in units of the largest width of each column, or squares of X could overflow
        unit = w.max(axis=0)
        X, S, squares = X * unit, S * unit, (w / unit) ** 2
        B = squares * S
        K = np.matmul(np.hstack([X, X * X]), np.hstack([B, -0.5 * squares]).T, out=out)
        x2, s2 = np.zeros(len(X), X.dtype), np.einsum("ij,ij->i", B, S)
    _rational(K, x2, s2)
    return K


def through_distances(
    G: np.ndarray, X: np.ndarray, S: np.ndarray, w: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Σ G_ij ∂‖w ∘ (x_i - s_j)‖²/∂s_j, (m, d), and /∂log w, of w's shape; G (n, m)."""
    columns = G.sum(axis=0, dtype=np.float64)[:, None]
    GX, squares = G.T @ X, w * w
    of_S = 2.0 * squares * (columns * S - GX)
    if w.ndim == 1:
        around = G.sum(axis=1) @ X**2 + np.sum((columns * S - 2.0 * GX) * S, axis=0)
    else:
        around = G.T @ X**2 + (columns * S - 2.0 * GX) * S
    return of_S, 2.0 * squares * around
