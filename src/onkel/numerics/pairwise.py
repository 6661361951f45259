"""Squared distances and inner products whose values do not depend on the block of a row.

BLAS adds the products of two rows in an order that depends on the shape of the whole block, so the
last digit of a kernel value changes with the block. Where a decision hangs on one digit (a
perceptron at a score near 0, a tie between stored rows), a learner then learns something else. Here
every pair is summed feature by feature. The loops run over many pairs at once, which is as fast as
BLAS for the few features of a support set.
"""

from __future__ import annotations

import numpy as np

from onkel.numerics.jit import jit_in_order, jit_inline_in_order
from onkel.numerics.workspace import scratch

# Features handled together: their columns stay in the first-level cache.
_FEATURES = 32
# Features added at once: the sum is read and written once for all of them.
_TOGETHER = 8
# Columns filled in a row: a multiple of this, the vectors of a loop, where the block has so many.
_VECTORS = 16


@jit_in_order
def _columns(X, S, C):
    """C (d, m) ← Sᵀ, or (d, m + n) ← [S; X]ᵀ."""
    m = S.shape[0]
    for k in range(S.shape[1]):
        for j in range(m):
            C[k, j] = S[j, k]
        for j in range(m, C.shape[1]):
            C[k, j] = X[j - m, k]


@jit_inline_in_order
def _eight_squares(X, t, k, C, j, total):
    """The sum with the squared differences of features k to k + 7 of row t and column j."""
    for i in range(k, k + _TOGETHER):
        gap = X[t, i] - C[i, j]
        total = total + gap * gap
    return total


@jit_inline_in_order
def _eight_products(X, t, k, C, j, total):
    """As :func:`_eight_squares`, of the products."""
    for i in range(k, k + _TOGETHER):
        total = total + X[t, i] * C[i, j]
    return total


@jit_inline_in_order
def _add_squares(X, t, C, first, last, size, out):
    """out[t, :size] += the squared differences of features ``first`` to ``last``."""
    k = first
    while k + _TOGETHER <= last:
        for j in range(size):
            out[t, j] = _eight_squares(X, t, k, C, j, out[t, j])
        k += _TOGETHER
    while k < last:
        for j in range(size):
            gap = X[t, k] - C[k, j]
            out[t, j] += gap * gap
        k += 1


@jit_inline_in_order
def _add_products(X, t, C, first, last, size, out):
    """out[t, :size] += the products of features ``first`` to ``last``."""
    k = first
    while k + _TOGETHER <= last:
        for j in range(size):
            out[t, j] = _eight_products(X, t, k, C, j, out[t, j])
        k += _TOGETHER
    while k < last:
        for j in range(size):
            out[t, j] += X[t, k] * C[k, j]
        k += 1


@jit_in_order
def _sum_over_features(X, C, m, squares, out):
    """Column m + t of row t and what follows it, up to whole vectors, may hold anything finite."""
    d, width = C.shape
    out[:] = 0.0
    for first in range(0, d, _FEATURES):
        last = min(first + _FEATURES, d)
        for t in range(X.shape[0]):
            size = min((m + t + _VECTORS - 1) // _VECTORS * _VECTORS, width)
            if squares:
                _add_squares(X, t, C, first, last, size, out)
            else:
                _add_products(X, t, C, first, last, size, out)


def _pairs(
    X: np.ndarray, S: np.ndarray, squares: bool, out: np.ndarray | None, earlier: bool
) -> np.ndarray:
    shape = len(X), len(S) + (len(X) if earlier else 0)
    C = scratch("pair columns", (S.shape[1], shape[1]), X.dtype)
    _columns(X, S, C)
    if out is None:
        out = np.empty(shape, X.dtype)
    _sum_over_features(X, C, len(S), squares, out)
    return out


def ordered_squared_distances(
    X: np.ndarray, S: np.ndarray, out: np.ndarray | None = None, earlier: bool = False
) -> np.ndarray:
    """‖x - s‖², (n, m), of rows X (n, d) to the rows S (m, d).

    ``earlier``: (n, m + n), also to the rows of X; of row t only the first m + t are to be read.
    """
    return _pairs(X, S, True, out, earlier)


def ordered_products(
    X: np.ndarray, S: np.ndarray, out: np.ndarray | None = None, earlier: bool = False
) -> np.ndarray:
    """⟨x, s⟩ of rows X (n, d) with the rows S (m, d), as :func:`ordered_squared_distances`."""
    return _pairs(X, S, False, out, earlier)
