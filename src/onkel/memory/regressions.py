"""Regressions on a few features, learned row by row, for the loops of the memories.

There are recursive least squares with forgetting, and softmax regressions by online Newton steps.
The inverse P of the weighted Gram matrix is kept whole. Forgetting alone would let P grow without
bound in directions that no row excites; so every row also gives back a part of the ridge that was
forgotten, one feature after the other.

P stays symmetric. Each update subtracts a product of two factors, the same for entries (i, j) and
(j, i); a compiler may still round the two differently, so every row copies one row of P over its
column. Any asymmetry left would grow by 1/forgetting with every row, and dominate after some 40 000
rows.
"""

from __future__ import annotations

import math

from onkel.numerics.jit import jit, jit_called, jit_inline


@jit
def begin(P, ridge):
    """P of no rows."""
    P[:] = 0.0
    for i in range(P.shape[0]):
        P[i, i] = 1.0 / ridge


@jit_inline
def times(P, u, n, out):
    """out = P u, of the first n features; returns uᵀ P u."""
    size = 0.0
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += P[i, j] * u[j]
        out[i] = total
        size += total * u[i]
    return size


@jit_inline
def _scale(k, n, factor):
    for i in range(n):
        k[i] *= factor


@jit_inline
def absorb(P, n, k, spread):
    """P ← P - k kᵀ / spread; k is left scaled."""
    _scale(k, n, 1.0 / math.sqrt(spread))
    for i in range(n):
        for j in range(n):
            P[i, j] -= k[i] * k[j]


@jit_inline
def move(w, n, k, step):
    """w ← w + step · k."""
    for i in range(n):
        w[i] += step * k[i]


@jit_inline
def _give_back(P, w, first, n, row, forgetting, ridge, g):
    """Restore the ridge of feature ``at``: move w; g gets P's row, as its column; its spread."""
    at = row % n
    for i in range(n):
        P[i, at] = P[at, i]
        g[i] = P[at, i] / forgetting
    spread = 1.0 / ((1.0 - forgetting) * n * ridge) + max(g[at], 0.0)
    move(w, n, g, (first[at] - w[at]) / spread)
    return spread


@jit_inline
def forget(P, w, first, n, row, forgetting, ridge, g):
    """Rows so far count ``forgetting`` as much; the ridge around the weights ``first`` stays."""
    spread = _give_back(P, w, first, n, row, forgetting, ridge, g)
    grown = 1.0 / forgetting
    _scale(g, n, 1.0 / math.sqrt(spread))
    for i in range(n):
        for j in range(n):
            P[i, j] = grown * P[i, j] - g[i] * g[j]


@jit_inline
def learn_row(P, w, first, n, row, forgetting, ridge, u, error, weight, k, g):
    """Forget as :func:`forget` does, then learn features u; ``error`` is that of w before both.

    P is read twice; one step after the other would read it four times.
    """
    size = times(P, u, n, k)
    if not size >= 0.0:
        # heavy rows along one line: rounding has left no positive definite matrix
        begin(P, ridge)
        size = times(P, u, n, k)
    if forgetting == 1.0:
        spread = 1.0 / weight + size
        move(w, n, k, error / spread)
        absorb(P, n, k, spread)
        return
    short = first[row % n] - w[row % n]
    back = _give_back(P, w, first, n, row, forgetting, ridge, g)
    across = 0.0
    for i in range(n):
        across += g[i] * u[i]
    error -= short / back * across
    size = 0.0
    for i in range(n):
        k[i] = k[i] / forgetting - g[i] * across / back
    for i in range(n):
        size += k[i] * u[i]
    spread = 1.0 / weight + max(size, 0.0)
    move(w, n, k, error / spread)
    grown = 1.0 / forgetting
    _scale(k, n, 1.0 / math.sqrt(spread))
    _scale(g, n, 1.0 / math.sqrt(back))
    for i in range(n):
        for j in range(n):
            P[i, j] = grown * P[i, j] - k[i] * k[j] - g[i] * g[j]


# Classes less likely than this are left out of the curvature.
_UNLIKELY = 1e-4
#: from so many classes on, a factor of the curvature has far fewer columns than there are classes
MANY_CLASSES = 64


@jit_inline
def softmax(U, n, w, out):
    """out (K,): the probabilities of scores U w, of the first n features."""
    highest, total = -math.inf, 0.0
    for k in range(U.shape[0]):
        score = 0.0
        for j in range(n):
            score += w[j] * U[k, j]
        out[k] = score
        highest = max(highest, score)
    for k in range(U.shape[0]):
        out[k] = math.exp(out[k] - highest)
    for k in range(U.shape[0]):
        total += out[k]
    for k in range(U.shape[0]):
        out[k] /= total


@jit_inline
def newton_of_two(U, n, p, code, weight, P, w, v, k):
    """As :func:`newton`, for two classes: gradient and curvature lie along u_1 - u_0."""
    for j in range(n):
        v[j] = U[1, j] - U[0, j]
    curvature = weight * p[0] * p[1]
    spread = 1.0 + curvature * times(P, v, n, k)
    move(w, n, k, weight * (p[0] if code == 1 else -p[1]) / spread)
    if curvature >= _UNLIKELY**2:
        absorb(P, n, k, spread / curvature)


@jit_called
def _absorb_all(U, n, p, weight, P, mean, v, k, G):
    """The curvature of all classes at once: n columns of its factor instead of K rows."""
    for i in range(n):
        for j in range(n):
            G[i, j] = 0.0
    for c in range(U.shape[0]):
        for j in range(n):
            v[j] = U[c, j] - mean[j]
        for i in range(n):
            scaled = weight * p[c] * v[i]
            for j in range(n):
                G[i, j] += scaled * v[j]
    for i in range(n):
        # the i-th column of the factor, from the rest of G
        if G[i, i] > 0.0:
            root = math.sqrt(G[i, i])
            for j in range(n):
                v[j] = G[i, j] / root if j >= i else 0.0
            for a in range(i + 1, n):
                for b in range(i + 1, n):
                    G[a, b] -= v[a] * v[b]
            absorb(P, n, k, 1.0 + times(P, v, n, k))


@jit_inline
def newton(U, n, p, code, weight, P, w, mean, v, k, G):
    """One online Newton step of the softmax loss: curvature Σ p (u - ū)(u - ū)ᵀ, then the step.

    ``G`` (n, n) is room for many classes; None for few.
    """
    for j in range(n):
        total = 0.0
        for c in range(U.shape[0]):
            total += p[c] * U[c, j]
        mean[j] = total
    if G is None:
        for c in range(U.shape[0]):
            if p[c] >= _UNLIKELY:
                for j in range(n):
                    v[j] = math.sqrt(weight * p[c]) * (U[c, j] - mean[j])
                absorb(P, n, k, 1.0 + times(P, v, n, k))
    else:
        _absorb_all(U, n, p, weight, P, mean, v, k, G)
    for j in range(n):
        v[j] = weight * (U[code, j] - mean[j])
    times(P, v, n, k)
    move(w, n, k, 1.0)
