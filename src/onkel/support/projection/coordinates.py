"""Coordinates z = L⁻¹ κ(S, x) of rows, L Lᵀ = κ(S, S), in one order of sums.

A row's coordinates are the same to the last digit whether they are computed for a whole block or
one by one, as slots are filled: each sum runs over the slots in order.
"""

from __future__ import annotations

import numpy as np

from onkel.numerics.jit import jit_in_order, jit_inline_in_order

# Rows solved together; fewer rows than _FEW are solved one by one.
_TILE, _FEW = 256, 8
# Past a row of the tile, so that its columns don't all fall into the same lines of the cache.
_GAP = 16


@jit_inline_in_order
def _solve_row(Z, t, first, size, factor):
    """Z[t, first:size] ← coordinates, from kernel values; those before ``first`` are given."""
    for j in range(size):
        if j >= first:
            Z[t, j] /= factor[j, j]
        z = Z[t, j]
        for s in range(max(j + 1, first), size):
            Z[t, s] -= factor[j, s] * z


@jit_inline_in_order
def _take_off(W, n, s, first, last, factor):
    """Subtract the part of rows ``first`` to ``last - 1`` of W from row s."""
    for j in range(first, last):
        f = factor[j, s]
        for t in range(n):
            W[s, t] -= f * W[j, t]


@jit_inline_in_order
def _four(factor, j, s):
    return factor[j, s], factor[j + 1, s], factor[j + 2, s], factor[j + 3, s]


@jit_inline_in_order
def _less(value, f, z):
    """``value`` less four products, one after the other."""
    return (((value - f[0] * z[0]) - f[1] * z[1]) - f[2] * z[2]) - f[3] * z[3]


@jit_inline_in_order
def _take_off_four(W, n, s, factor):
    """:func:`_take_off` for rows s to s + 3 and all rows before s, four at a time; 4 divides s."""
    for j in range(0, s, 4):
        f0, f1 = _four(factor, j, s), _four(factor, j, s + 1)
        f2, f3 = _four(factor, j, s + 2), _four(factor, j, s + 3)
        for t in range(n):
            z = W[j, t], W[j + 1, t], W[j + 2, t], W[j + 3, t]
            W[s, t] = _less(W[s, t], f0, z)
            W[s + 1, t] = _less(W[s + 1, t], f1, z)
            W[s + 2, t] = _less(W[s + 2, t], f2, z)
            W[s + 3, t] = _less(W[s + 3, t], f3, z)


@jit_inline_in_order
def _solve_columns(W, n, size, factor):
    """:func:`_solve_row` for the first n columns of W (size, rows), with the same rounding."""
    for first in range(0, size, 4):
        last = min(first + 4, size)
        if last == first + 4:
            _take_off_four(W, n, first, factor)
        for s in range(first, last):
            _take_off(W, n, s, first if last == first + 4 else 0, s, factor)
            own = factor[s, s]
            for t in range(n):
                W[s, t] /= own


@jit_in_order
def solve(Z, size, factor):
    """Z[:, :size] ← the coordinates of rows, from kernel values; ``factor`` is Lᵀ."""
    if Z.shape[0] < _FEW:
        for t in range(Z.shape[0]):
            _solve_row(Z, t, 0, size, factor)
        return
    W = np.empty((size, _TILE + _GAP), Z.dtype)
    for first in range(0, Z.shape[0], _TILE):
        n = min(_TILE, Z.shape[0] - first)
        for t in range(n):
            for s in range(size):
                W[s, t] = Z[first + t, s]
        _solve_columns(W, n, size, factor)
        for t in range(n):
            for s in range(size):
                Z[first + t, s] = W[s, t]


@jit_inline_in_order
def new_coordinates(Z, t, first, size, panel, changes, factor):
    """The coordinates of row t for the slots from ``first`` on, filled in this sub-block."""
    if size > first:
        for s in range(first, size):
            Z[t, s] = panel[t, changes[1, s - first]]
        _solve_row(Z, t, first, size, factor)
