"""What `Intervals` is measured against: rolling quantiles, ACI, DtACI and plain tracking, compiled.

All take the forecasts p (n,), the targets y (n,) and α, and return bounds (n, 2), each made before
its target was known. An infinite quantile is replaced by the largest score of the window.
"""

from __future__ import annotations

import math

import numba
import numpy as np

WINDOW, DTACI_ROWS = 300, 500
GAMMAS = 0.001 * 2.0 ** np.arange(8)


@numba.njit(cache=True)
def _quantile(past, m, level):
    if m == 0 or level <= 0.0:
        return 0.0
    return past[min(max(math.ceil((m + 1) * level), 1), m) - 1]


@numba.njit(cache=True)
def _put(past, ring, t, score):
    """Let the sorted scores of a window take in a score; returns how many there are."""
    m = min(t, WINDOW)
    if t >= WINDOW:
        at = np.searchsorted(past[:m], ring[t % WINDOW])
        past[at : m - 1] = past[at + 1 : m].copy()
        m -= 1
    at = np.searchsorted(past[:m], score)
    past[at + 1 : m + 1] = past[at:m].copy()
    past[at] = ring[t % WINDOW] = score
    return m + 1


@numba.njit(cache=True)
def aci(p, y, alpha, gamma=0.01):
    """Adaptive conformal inference; with γ = 0 rolling quantiles of 300 scores."""
    out, past, ring = np.empty((len(p), 2)), np.empty(WINDOW + 1), np.empty(WINDOW)
    level, m = alpha, 0
    for t in range(len(p)):
        q = _quantile(past, m, 1.0 - level)
        out[t, 0], out[t, 1] = p[t] - q, p[t] + q
        score = abs(y[t] - p[t])
        level += gamma * (alpha - (1.0 if score > q else 0.0))
        m = _put(past, ring, t, score)
    return out


@numba.njit(cache=True)
def dtaci(p, y, alpha):
    """ACI at eight speeds, weighted by their past losses (Gibbs & Candès 2024)."""
    out, past, ring = np.empty((len(p), 2)), np.empty(WINDOW + 1), np.empty(WINDOW)
    K, m = len(GAMMAS), 0
    levels, weights = np.full(K, alpha), np.full(K, 1.0 / K)
    spread = (1.0 - alpha) ** 2 * alpha**3 + alpha**2 * (1.0 - alpha) ** 3
    eta = math.sqrt(3.0 / DTACI_ROWS) * math.sqrt((math.log(K * DTACI_ROWS) + 2.0) / spread)
    sigma = 1.0 / (2 * DTACI_ROWS)
    for t in range(len(p)):
        q = _quantile(past, m, 1.0 - (weights * levels).sum())
        out[t, 0], out[t, 1] = p[t] - q, p[t] + q
        score = abs(y[t] - p[t])
        beta = (m - np.searchsorted(past[:m], score)) / (m + 1.0) if m else 0.0
        for k in range(K):
            loss = alpha * (beta - levels[k]) - min(0.0, beta - levels[k])
            weights[k] *= math.exp(-eta * loss)
        weights = (1.0 - sigma) * weights / weights.sum() + sigma / K
        for k in range(K):
            levels[k] += GAMMAS[k] * (alpha - (1.0 if levels[k] > beta else 0.0))
        m = _put(past, ring, t, score)
    return out


@numba.njit(cache=True)
def tracking(p, y, alpha):
    """Quantile tracking of |y - p|: η is a twentieth of the largest of the last 300 scores."""
    out, ring, q = np.empty((len(p), 2)), np.zeros(WINDOW), 0.0
    for t in range(len(p)):
        out[t, 0], out[t, 1] = p[t] - q, p[t] + q
        score = abs(y[t] - p[t])
        ring[t % WINDOW] = score
        q += 0.05 * ring.max() * ((1.0 if score > q else 0.0) - alpha)
    return out


@numba.njit(cache=True)
def two_tails(p, y, alpha):
    """As :func:`tracking`, of both tails by themselves, each of α/2."""
    out, ring, low, high = np.empty((len(p), 2)), np.zeros(WINDOW), 0.0, 0.0
    for t in range(len(p)):
        out[t, 0], out[t, 1] = p[t] - low, p[t] + high
        error = y[t] - p[t]
        ring[t % WINDOW] = abs(error)
        eta = 0.05 * ring.max()
        low += eta * ((1.0 if -error > low else 0.0) - 0.5 * alpha)
        high += eta * ((1.0 if error > high else 0.0) - 0.5 * alpha)
    return out
