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
def _pair_sum(X, t, k, count, C, j, squares, total):
    """``total`` with the squared differences, or products, of features k to k + count - 1."""
    for i in range(k, k + count):
        if squares:
            gap = X[t, i] - C[i, j]
            total = total + gap * gap
        else:
            total = total + X[t, i] * C[i, j]
    return total


@jit_inline_in_order
def _add_group(X, t, rows, k, count, C, size, squares, out):
    """Add features k to k + count - 1 to the sums of row t, and of row t + 1 if ``rows`` is 2."""
    for j in range(size):
        own = _pair_sum(X, t, k, count, C, j, squares, out[t, j])
        if rows == 2:
            out[t + 1, j] = _pair_sum(X, t + 1, k, count, C, j, squares, out[t + 1, j])
        out[t, j] = own


@jit_inline_in_order
def _add_features(X, t, rows, first, last, C, size, squares, out):
    """Add features ``first`` to ``last - 1`` in groups: a sum is read and written once a group."""
    k = first
    while k + 8 <= last:
        _add_group(X, t, rows, k, 8, C, size, squares, out)
        k += 8
    while k + 2 <= last:
        _add_group(X, t, rows, k, 2, C, size, squares, out)
        k += 2
    if k < last:
        _add_group(X, t, rows, k, 1, C, size, squares, out)


@jit_inline_in_order
def _sum_rows(X, C, m, first, last, squares, out):
    """Add features ``first`` to ``last - 1`` for all rows, two rows to each column of C read."""
    n, width = X.shape[0], C.shape[1]
    for t in range(0, n - 1, 2):
        size = min((m + t + _VECTORS) // _VECTORS * _VECTORS, width)
        _add_features(X, t, 2, first, last, C, size, squares, out)
    if n % 2:
        _add_features(X, n - 1, 1, first, last, C, width, squares, out)


@jit_in_order
def _sum_over_features(X, C, m, squares, out):
    """Column m + t of row t and what follows it, up to whole vectors, may hold anything finite."""
    out[:] = 0.0
    for first in range(0, C.shape[0], _FEATURES):
        last = min(first + _FEATURES, C.shape[0])
        # as a constant, so that no loop asks
        if squares:
            _sum_rows(X, C, m, first, last, True, out)
        else:
            _sum_rows(X, C, m, first, last, False, out)


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
