"""Fastfood's loops: the fast Walsh-Hadamard transform, many rows side by side.

A tile holds rows as its columns. Every butterfly then adds and subtracts rows of the tile, which
are contiguous: it vectorises whatever the size, and a permutation moves whole rows.
"""

from __future__ import annotations

import numpy as np

from onkel.numerics.jit import jit, jit_inline

#: rows transformed side by side: two or four vector registers in float32
TILE = 16


@jit_inline
def _two_levels(U, i, h):
    """Butterflies of span h and 2h over rows i to i + 4h: half the traffic of two passes."""
    for j in range(i, i + h):
        for k in range(U.shape[1]):
            a, b, c, d = U[j, k], U[j + h, k], U[j + 2 * h, k], U[j + 3 * h, k]
            p, q, r, s = a + b, a - b, c + d, c - d
            U[j, k] = p + r
            U[j + h, k] = q + s
            U[j + 2 * h, k] = p - r
            U[j + 3 * h, k] = q - s


@jit
def hadamard(U):
    """U (m, r) ← H U in place for m a power of two, H_2m = [H_m, H_m; H_m, -H_m], H_1 = 1."""
    m, h = U.shape[0], 1
    while 4 * h <= m:
        for i in range(0, m, 4 * h):
            _two_levels(U, i, h)
        h *= 4
    if h < m:
        for j in range(h):
            for k in range(U.shape[1]):
                a, b = U[j, k], U[j + h, k]
                U[j, k] = a + b
                U[j + h, k] = a - b


@jit_inline
def _load(X, t, first, U):
    """The tile U (m, r) ← rows t to t + r of X from column ``first`` on, zeros below."""
    d = min(U.shape[0], X.shape[1] - first)
    U[d:, :] = 0.0
    for k in range(U.shape[1]):
        for j in range(d):
            U[j, k] = X[t + k, first + j]


@jit_inline
def _transform(x, b, signs, order, normals, U, V):
    """V ← H G Π H B x with the b-th B, Π and G."""
    for j in range(U.shape[0]):
        for k in range(U.shape[1]):
            U[j, k] = signs[b, j] * x[j, k]
    hadamard(U)
    for j in range(U.shape[0]):
        i = order[b, j]
        for k in range(U.shape[1]):
            V[j, k] = normals[b, j] * U[i, k]
    hadamard(V)


@jit
def fastfood_angles(X, first, signs, order, normals, lengths, angles):
    """angles (n, D) ← themselves + S H G Π H B x in turns, for columns ``first`` to first + m of X.

    ``signs``, ``order``, ``normals`` and ``lengths`` (blocks, m) are the diagonals of B, the
    permutations Π, and the diagonals of G and S; D ≤ blocks · m.
    """
    n, D = angles.shape
    m = signs.shape[1]
    for t in range(0, n, TILE):
        r = min(TILE, n - t)
        x, U, V = np.empty((m, r), X.dtype), np.empty((m, r), X.dtype), np.empty((m, r), X.dtype)
        _load(X, t, first, x)
        for b in range(signs.shape[0]):
            _transform(x, b, signs, order, normals, U, V)
            at = b * m
            for k in range(r):
                for j in range(min(m, D - at)):
                    angles[t + k, at + j] += lengths[b, j] * V[j, k]
