"""Distances, inner products and Gaussian kernel values of pairs of rows.

BLAS adds the products of two rows in an order that depends on the shape of the whole block, so the
last digit of a kernel value changes with the block. Where a decision hangs on one digit (a
perceptron at a score near 0, a tie between stored rows), a learner then learns something else. The
``ordered_...`` functions sum every pair feature by feature. Their loops run over many pairs at
once, which is as fast as BLAS for the few features of a support set.

Elsewhere one matrix product gives the Gaussian kernel:
γ‖x - s‖² = γ‖x‖² + γ‖s‖² - 2γ⟨x, s⟩, around the mean of the rows s: far from the origin the squares
would cancel. At these sizes BLAS is fastest for a product of rows with *columns*. Sums of squares
run along columns, too: many rows fill a vector, the few features of a row don't.
"""

from __future__ import annotations

import math

import numpy as np

from onkel.annotations import Out
from onkel.numerics.jit import dot, jit, jit_in_order, jit_inline_in_order
from onkel.numerics.threads import scratch

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


def _pairs(X: np.ndarray, S: np.ndarray, squares: bool, out: Out, earlier: bool) -> np.ndarray:
    shape = len(X), len(S) + (len(X) if earlier else 0)
    C = scratch("pair columns", (S.shape[1], shape[1]), X.dtype)
    _columns(X, S, C)
    if out is None:
        out = np.empty(shape, X.dtype)
    _sum_over_features(X, C, len(S), squares, out)
    return out


def ordered_squared_distances(
    X: np.ndarray, S: np.ndarray, out: Out = None, earlier: bool = False
) -> np.ndarray:
    """‖x - s‖², (n, m), of rows X (n, d) to the rows S (m, d).

    ``earlier``: (n, m + n), also to the rows of X; of row t only the first m + t are to be read.
    """
    return _pairs(X, S, True, out, earlier)


def ordered_products(X: np.ndarray, S: np.ndarray, out: Out, earlier: bool) -> np.ndarray:
    """⟨x, s⟩ of rows X (n, d) with the rows S (m, d), as :func:`ordered_squared_distances`."""
    return _pairs(X, S, False, out, earlier)


# 2^f, |f| ≤ 1/2, as a polynomial: Taylor with the last coefficients made minimax for float32.
_E1, _E2, _E3, _E4, _E5, _E6 = (
    np.float32(c)
    for c in (0.693147180559945, 0.240226506959101, 0.0555041086648216, 0.00961812910762848,
              0.00133335581464284, 0.000154035303933816)
)  # fmt: skip
_ZERO, _ONE, _LEAST = np.float32(0.0), np.float32(1.0), np.float32(-127.0)
#: log₂ e: exp(u) is exp2(u log₂ e)
LOG2_E = math.log2(math.e)
_BIAS, _MANTISSA = np.int32(127), np.int32(23)


@jit_inline_in_order
def exp2(u):
    """2^u of a float32 ≤ 0; where rounding left u above 0, it counts as 0.

    Branch-free, so it vectorises: 2^u = 2^k 2^f with k = rint(u) written into the exponent bits.
    Relative error below 2e-7; values under 2^-126 become 0.
    """
    u = min(max(u, _LEAST), _ZERO)
    k = np.rint(u)
    f = u - k
    p = ((((_E6 * f + _E5) * f + _E4) * f + _E3) * f + _E2) * f + _E1
    power = np.int32((np.int32(k) + _BIAS) << _MANTISSA)
    return (p * f + _ONE) * power.view(np.float32)


@jit
def _around_middle(X, S, factor, rows, columns, own, other):
    """rows ← 2 factor (X - middle), columns ← (S - middle)ᵀ, own, other ← factor ‖·‖² of each."""
    m = S.shape[0]
    middle = np.empty(S.shape[1], columns.dtype)
    for j in range(m):
        other[j] = 0.0
    for k in range(S.shape[1]):
        total = columns.dtype.type(0.0)
        for j in range(m):
            columns[k, j] = S[j, k]
        for j in range(m):
            total += columns[k, j]
        total /= columns.dtype.type(max(m, 1))
        for j in range(m):
            value = columns[k, j] - total
            other[j] += factor * (value * value)
            columns[k, j] = value
        middle[k] = total
    for t in range(X.shape[0]):
        total = rows.dtype.type(0.0)
        for k in range(X.shape[1]):
            value = X[t, k] - middle[k]
            total += value * value
        for k in range(X.shape[1]):
            rows[t, k] = (factor + factor) * (X[t, k] - middle[k])
        own[t] = factor * total


@jit
def _gaussian_of(K, own, other):
    """K ← 2^(K - own - other)."""
    for t in range(K.shape[0]):
        for j in range(K.shape[1]):
            K[t, j] = exp2(K[t, j] - own[t] - other[j])


def gaussian_block(X: np.ndarray, S: np.ndarray, gamma: float, out: Out = None) -> np.ndarray:
    """exp(-γ‖x - s‖²), (n, m), in float32; ``out`` may be used for it."""
    (n, d), m = X.shape, len(S)
    rows, columns = scratch("rows", (n, d), X.dtype), scratch("columns", (d, m), X.dtype)
    own, other = scratch("squares", (n,), X.dtype), scratch("other squares", (m,), X.dtype)
    _around_middle(X, S, X.dtype.type(gamma * LOG2_E), rows, columns, own, other)
    K = np.matmul(rows, columns, out=out)
    _gaussian_of(K, own, other)
    return K


@jit_in_order
def _gaussian_of_squared(K, factor, m):
    """K ← 2^(factor K), in the first m columns and at least the next t of row t."""
    for t in range(K.shape[0]):
        for j in range(min((m + t + _VECTORS - 1) // _VECTORS * _VECTORS, K.shape[1])):
            K[t, j] = exp2(factor * K[t, j])


def ordered_gaussian(
    X: np.ndarray, S: np.ndarray, gamma: float, out: Out, earlier: bool
) -> np.ndarray:
    """exp(-γ‖x - s‖²) in float32 of :func:`~onkel.numerics.pairwise.ordered_squared_distances`."""
    K = ordered_squared_distances(X, S, out, earlier)
    _gaussian_of_squared(K, X.dtype.type(-gamma * LOG2_E), len(S))
    return K


@jit
def _gaussian_of_plain(P, X, S, factor, other):
    twice = factor + factor
    for j in range(S.shape[0]):
        other[j] = factor * dot(S, j, S, j)
    for t in range(P.shape[0]):
        own = factor * dot(X, t, X, t)
        for j in range(P.shape[1]):
            P[t, j] = exp2(twice * P[t, j] - own - other[j])


def gaussian_of_products(P: np.ndarray, X: np.ndarray, S: np.ndarray, gamma: float) -> np.ndarray:
    """exp(-γ‖x - s‖²) from the products P = X Sᵀ (n, m), in their place; float32, around 0."""
    other = scratch("other squares", (len(S),), P.dtype)
    _gaussian_of_plain(P, X, S, P.dtype.type(gamma * LOG2_E), other)
    return P
