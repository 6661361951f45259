"""Recursive least squares with forgetting on a few features, for the loops of the memories.

The inverse P of the weighted Gram matrix is kept as its lower triangle. Forgetting alone would let
P grow without bound in directions that no row excites; so every row also gives back a part of the
ridge that was forgotten, one feature after the other.
"""

from __future__ import annotations

from onkel.numerics.jit import jit


@jit
def begin(P, ridge):
    """P of no rows."""
    P[:] = 0.0
    for i in range(P.shape[0]):
        P[i, i] = 1.0 / ridge


@jit
def times(P, u, n, out):
    """out = P u, of the first n features; returns uᵀ P u."""
    for i in range(n):
        total = P[i, i] * u[i]
        for j in range(i):
            total += P[i, j] * u[j]
            out[j] += P[i, j] * u[i]
        out[i] = total
    size = 0.0
    for i in range(n):
        size += u[i] * out[i]
    return size


@jit
def absorb(P, n, k, spread):
    """P ← P - k kᵀ / spread."""
    for i in range(n):
        a = k[i] / spread
        for j in range(i + 1):
            P[i, j] -= a * k[j]


@jit
def move(w, n, k, step):
    """w ← w + step · k."""
    for i in range(n):
        w[i] += step * k[i]


@jit
def forget(P, w, first, n, row, forgetting, ridge, k):
    """Rows so far count ``forgetting`` as much; the ridge around the weights ``first`` stays."""
    for i in range(n):
        for j in range(i + 1):
            P[i, j] /= forgetting
    at = row % n
    for i in range(n):
        k[i] = P[i, at] if i >= at else P[at, i]
    spread = 1.0 / ((1.0 - forgetting) * n * ridge) + k[at]
    step = (first[at] - w[at]) / spread
    move(w, n, k, step)
    absorb(P, n, k, spread)
