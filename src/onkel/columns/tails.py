"""Loops that draw in the heavy tails of columns while standardising them.

In a column of counts or amounts a few outliers set the standard deviation, and by its measure all
other rows lie close together. Such a column becomes

    u = asinh((x - m)/a),   m = mean of x,   a = mean |x - m|,   then (u - mean of u)/std of u,

all over the rows so far. The curve is linear near m and logarithmic far out. It is used for columns
whose standardised values have a mean fourth power above 10 (3 for a normal column), if it more than
halves that. This is checked at rows 64, 128, ..., 4096 of the column; once drawn in, a column stays
so.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from onkel.columns.running import standard_rows

#: rows of ``tails`` (6, d): Σ|x - m|, Σz⁴, mean of u, Σ(u - mean)², Σ of u's z⁴, and whether heavy
AWAY, FOURTH, MEAN, SQUARES, OWN_FOURTH, HEAVY = range(6)
_FIRST, _LAST = 64, 4096
_LARGE, _TAKEN_AWAY = 10.0, 0.5


@njit(cache=True, nogil=True)
def _draw_in(x, m, away, t):
    return np.arcsinh((x - m) / (away / t)) if away > 0.0 else 0.0


@njit(cache=True, nogil=True)
def _learn_drawn(x, j, t, mean, tails):
    """Row t of column j, drawn in and standardised; ``mean`` already includes it."""
    tails[AWAY, j] += abs(x - mean[j])
    u = _draw_in(x, mean[j], tails[AWAY, j], t)
    d = u - tails[MEAN, j]
    tails[MEAN, j] += d / t
    tails[SQUARES, j] += d * (u - tails[MEAN, j])
    squares = tails[SQUARES, j]
    return (u - tails[MEAN, j]) / np.sqrt(squares / t) if squares > 0.0 else 0.0


@njit(cache=True, nogil=True)
def _judged(z, x, j, t, mean, tails):
    """Scaled value of row t of column j, z before; rows 64, 128, ... decide if j is heavy."""
    if t > _LAST and tails[HEAVY, j] == 0.0:
        return z
    own = _learn_drawn(x, j, t, mean, tails)
    if tails[HEAVY, j] == 0.0:
        tails[FOURTH, j] += z**4
        tails[OWN_FOURTH, j] += own**4
        if t >= _FIRST and t & (t - 1) == 0:
            heavy = tails[FOURTH, j] > _LARGE * t
            less = tails[OWN_FOURTH, j] < _TAKEN_AWAY * tails[FOURTH, j]
            tails[HEAVY, j] = 1.0 if heavy and less else 0.0
    return own if tails[HEAVY, j] > 0.0 else z


@njit(cache=True, nogil=True)
def tails_rows(X, out, mean, m2, tails, t):
    """Learn rows X (n, d) after t earlier ones, and write their scaled values to ``out``."""
    columns = np.arange(X.shape[1])
    for i in range(X.shape[0]):
        standard_rows(X[i : i + 1], out[i : i + 1], mean, m2, t)
        t += 1
        if t == _LAST + 1 or (i == 0 and t > _LAST):
            columns = np.flatnonzero(tails[HEAVY])
        for j in columns:
            out[i, j] = _judged(np.float64(out[i, j]), np.float64(X[i, j]), j, t, mean, tails)


@njit(cache=True, nogil=True)
def tails_late(X, out, mean, m2, tails, count):
    """As ``tails_rows`` from the first x in a column that is not 0; a 0 stays 0."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            out[i, j] = 0.0
            if X[i, j] != 0.0 or count[j] > 0:
                count[j] += 1
                x, t = np.float64(X[i, j]), int(count[j])
                d = x - mean[j]
                mean[j] += d / t
                m2[j] += d * (x - mean[j])
                z = (x - mean[j]) / np.sqrt(m2[j] / t) if m2[j] > 0.0 else 0.0
                value = _judged(z, x, j, t, mean, tails)
                if x != 0.0:
                    out[i, j] = value


@njit(cache=True, nogil=True)
def tails_now(X, out, mean, tails, rows):
    """Write the drawn-in columns of X (n, d) to ``out``; ``rows`` (d,) were learned so far."""
    for j in range(X.shape[1]):
        if tails[HEAVY, j] > 0.0:
            scale = np.sqrt(rows[j] / tails[SQUARES, j]) if tails[SQUARES, j] > 0.0 else 0.0
            for i in range(X.shape[0]):
                u = _draw_in(np.float64(X[i, j]), mean[j], tails[AWAY, j], rows[j])
                out[i, j] = (u - tails[MEAN, j]) * scale
