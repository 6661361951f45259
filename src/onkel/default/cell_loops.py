"""The loops of :mod:`onkel.default.bins` and :mod:`onkel.default.cells`."""

from __future__ import annotations

import math

import numpy as np

from onkel.numerics.jit import jit

#: places in the sums: Σ⟨r, s⟩ and √(Σ⟨r, s⟩²), Σ‖s‖², Σ‖r‖², Σ‖r - a s‖², rows
AGREED, DOUBT, SIZE, WHOLE, LEFT, ROWS = range(6)
N_SUMS = 6
#: rows between two steps of forgetting
PERIOD = 256


@jit
def find_bins(X, t, columns, edges, bins):
    """bins (m,): how many of each column's edges (m, 2^q - 1) are below its value in row t."""
    half = (edges.shape[1] + 1) // 2
    for j in range(len(columns)):
        b, step = 0, half
        while step > 0:
            if edges[j, b + step - 1] < X[t, columns[j]]:
                b += step
            step //= 2
        bins[j] = b


@jit
def _cells(bins, pairs, at):
    for p in range(pairs.shape[0]):
        at[p] = pairs[p, 2] + pairs[p, 3] * bins[pairs[p, 0]] + bins[pairs[p, 1]]


@jit
def _sum(W, at, s):
    s[:] = 0.0
    for c in at:
        for k in range(W.shape[1]):
            s[k] += W[c, k]


@jit
def share(sums):
    """a: the least squares share of s in r, less its standard error; in [0, 1]."""
    if sums[SIZE] <= 0.0:
        return 0.0
    return min(max((sums[AGREED] - sums[DOUBT]) / sums[SIZE], 0.0), 1.0)


@jit
def score(X, columns, edges, pairs, W, sums, out):
    """out (n, K) = a s of rows X (n, d), whose ``columns`` (m,) have bins."""
    at, bins = np.empty(pairs.shape[0], np.int64), np.empty(len(columns), np.int64)
    a = share(sums)
    for t in range(X.shape[0]):
        find_bins(X, t, columns, edges, bins)
        _cells(bins, pairs, at)
        _sum(W, at, out[t])
        for k in range(W.shape[1]):
            out[t, k] *= a


@jit
def learn(X, columns, edges, pairs, W, V, first, forgetting, R, weight, sums, out):
    """Learn residuals R (n, K) in order; out gets a s of each row before it was learned."""
    at, bins = np.empty(pairs.shape[0], np.int64), np.empty(len(columns), np.int64)
    s = np.empty(W.shape[1])
    for t in range(X.shape[0]):
        find_bins(X, t, columns, edges, bins)
        _cells(bins, pairs, at)
        _sum(W, at, s)
        a = share(sums)
        for k in range(len(s)):
            out[t, k] = a * s[k]
        if weight[t] > 0.0:
            _follow(R[t], s, a, weight[t], sums)
            spread = 1.0 / weight[t]
            for c in at:
                spread += V[c]
            for c in at:
                gain = V[c] / spread
                for k in range(len(s)):
                    W[c, k] += gain * (R[t, k] - s[k])
                V[c] -= gain * V[c]
            if forgetting < 1.0 and sums[ROWS] % PERIOD == 0.0:
                _forget(W, V, first, forgetting**PERIOD, sums)


@jit
def _follow(r, s, a, weight, sums):
    agreed, size, whole, left = 0.0, 0.0, 0.0, 0.0
    for k in range(len(s)):
        agreed += r[k] * s[k]
        size += s[k] * s[k]
        whole += r[k] * r[k]
        left += (r[k] - a * s[k]) ** 2
    sums[AGREED] += weight * agreed
    # a sum of fourth powers would overflow long before sums of squares do
    sums[DOUBT] = math.hypot(sums[DOUBT], weight * agreed)
    sums[SIZE] += weight * size
    sums[WHOLE] += weight * whole
    sums[LEFT] += weight * left
    sums[ROWS] += 1.0


@jit
def _forget(W, V, first, kept, sums):
    """Scale the precision 1/V - 1/V₀ that cells have gained by ``kept``; w shrinks towards 0."""
    for c in range(len(V)):
        left = kept + (1.0 - kept) * V[c] / first
        V[c] /= left
        for k in range(W.shape[1]):
            W[c, k] *= kept / left
    sums[:ROWS] *= kept
