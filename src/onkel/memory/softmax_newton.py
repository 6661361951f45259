"""Softmax regressions over features of each class, by online Newton steps."""

from __future__ import annotations

import math

from onkel.memory.linear import absorb, move, times
from onkel.numerics.jit import jit_inline

# Classes less likely than this are left out of the curvature.
_UNLIKELY = 1e-4


@jit_inline
def softmax(U, n, w, out):
    """out (K,): the probabilities of scores U w, of the first n features."""
    highest, total = -math.inf, 0.0
    for k in range(U.shape[0]):
        out[k] = 0.0
        for j in range(n):
            out[k] += w[j] * U[k, j]
        highest = max(highest, out[k])
    for k in range(U.shape[0]):
        out[k] = math.exp(out[k] - highest)
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


@jit_inline
def newton(U, n, p, code, weight, P, w, mean, v, k):
    """One online Newton step of the softmax loss: curvature Σ p (u - ū)(u - ū)ᵀ, then the step."""
    for j in range(n):
        mean[j] = 0.0
        for c in range(U.shape[0]):
            mean[j] += p[c] * U[c, j]
    for c in range(U.shape[0]):
        if p[c] >= _UNLIKELY:
            for j in range(n):
                v[j] = math.sqrt(weight * p[c]) * (U[c, j] - mean[j])
            absorb(P, n, k, 1.0 + times(P, v, n, k))
    for j in range(n):
        v[j] = weight * (U[code, j] - mean[j])
    times(P, v, n, k)
    move(w, n, k, 1.0)
