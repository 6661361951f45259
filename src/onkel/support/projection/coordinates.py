"""Coordinates z = L⁻¹ κ(S, x) of rows, L Lᵀ = κ(S, S), in one order of sums.

A row's coordinates are the same to the last digit whether they are made for a block or on the way,
when slots are filled: each sum runs over the slots in order.
"""

from __future__ import annotations

import numpy as np

from onkel.numerics.jit import jit_in_order, jit_inline_in_order

# Rows solved together; fewer than so many are solved one by one.
_TILE, _FEW = 64, 8


@jit_inline_in_order
def _solve_row(Z, t, first, size, factor):
    """Z[t, first:size] ← its coordinates, from kernel values; those before ``first`` are there."""
    for j in range(size):
        if j >= first:
            Z[t, j] /= factor[j, j]
        z = Z[t, j]
        for s in range(max(j + 1, first), size):
            Z[t, s] -= factor[j, s] * z


@jit_inline_in_order
def _solve_columns(W, n, size, factor):
    """As :func:`_solve_row` of the first n columns of W (size, rows), with the same roundings."""
    for s in range(size):
        j = 0
        while j + 4 <= s:
            f0, f1, f2, f3 = factor[j, s], factor[j + 1, s], factor[j + 2, s], factor[j + 3, s]
            for t in range(n):
                total = W[s, t] - f0 * W[j, t]
                total = total - f1 * W[j + 1, t]
                total = total - f2 * W[j + 2, t]
                W[s, t] = total - f3 * W[j + 3, t]
            j += 4
        while j < s:
            f0 = factor[j, s]
            for t in range(n):
                W[s, t] -= f0 * W[j, t]
            j += 1
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
    W = np.empty((size, _TILE), Z.dtype)
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
