"""The point between two rows that best stands for both, and the best partner of a row."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from onkel.numerics.jit import jit, jit_inline

# Newton's steps on the merge point stop below this step, or after this many.
_STEP, _MOST_STEPS = 1e-10, 60
# Squared weights that differ by less than this share count as equal.
_EQUAL = 1e-12
# Above this γ‖s_m - s_n‖² two equal weights have a maximum near each end, and none in the middle.
_TWO_MAXIMA = 2.0
# From that D on, the degradation exceeds this share of a², its value at D = 2 and a = b.
_BEYOND = 2.0 * (1.0 - math.exp(-0.5 * _TWO_MAXIMA)) ** 2 * (1.0 - 1e-9)
# Degradations that differ by less than this share count as equal.
_TIE = 1e-7
# Cells per side of the table of degradations, and the relative error of interpolating in it.
_GRID, _GRID_ERROR = 64, 5e-3


@jit
def merge_point(a2, ab, b2, D):
    """(h, ‖α_z‖²) of the best z = h s_m + (1 - h) s_n; h in [0, 1].

    With u = κ(s_m, z) = exp(-D (1 - h)²) and v = κ(s_n, z) = exp(-D h²), D = -log κ(s_m, s_n), the
    best coefficients at z are α_z = u α_m + v α_n, and h maximises
    ‖α_z‖² = a2 u² + 2 ab u v + b2 v², where a2 = ‖α_m‖², ab = α_m·α_n > 0, b2 = ‖α_n‖².

    At the maximum, h is the mean of 1, 1/2 and 0, weighted by the three terms. It lies on the
    heavier side, where that equation has one root. Newton's steps find it, kept in a bracket by
    bisection. Of two maxima of equal height the one near s_m is taken.
    """
    swapped = a2 < b2 * (1.0 - _EQUAL)
    if swapped:
        a2, b2 = b2, a2
    low, high = 0.5, 1.0
    # at equal norms the middle is stationary, and a minimum from D = 1 + ab/a2 on: begin beyond it
    h = 1.0 if D * a2 >= a2 + ab else (a2 + ab) / (a2 + 2.0 * ab + b2)
    for _ in range(_MOST_STEPS):
        r = math.exp(-D * (2.0 * h - 1.0))
        total = a2 + 2.0 * ab * r + b2 * r * r
        mean = (a2 + ab * r) / total
        slope = 1.0 - 4.0 * D * ((a2 + 0.5 * ab * r) / total - mean * mean)
        excess = h - mean
        if excess > 0.0:
            high = h
        else:
            low = h
        following = 0.5 * (low + high)
        if slope > 0.0 and low <= h - excess / slope <= high:
            following = h - excess / slope
        close = abs(following - h) < _STEP
        h = following
        if close:
            break
    r = math.exp(-D * (2.0 * h - 1.0))
    value = math.exp(-2.0 * D * (1.0 - h) ** 2) * (a2 + 2.0 * ab * r + b2 * r * r)
    return (1.0 - h if swapped else h), value


@jit
def _degradation(a2, ab, b2, D):
    """(h, ‖α_m‖² + ‖α_n‖² + 2κ α_m·α_n - ‖α_z‖²): how far f moves when m and n are merged.

    Summed as differences from 1 (``expm1``), as the four terms themselves would cancel.
    """
    h, _ = merge_point(a2, ab, b2, D)
    own = a2 * math.expm1(-2.0 * D * (1.0 - h) ** 2) + b2 * math.expm1(-2.0 * D * h * h)
    return h, -own - 2.0 * ab * math.exp(-D) * math.expm1(2.0 * D * h * (1.0 - h))


@cache
def degradation_table() -> np.ndarray:
    """Degradation/(a² D²) for parallel coefficients a ≤ b, on a grid of a/b by D in [0, 2].

    It is lowered by the interpolation error, so that interpolated values are lower bounds.
    """
    table = np.empty((_GRID + 1, _GRID + 1))
    for i in range(_GRID + 1):
        b = _GRID / max(i, 0.05)
        for j in range(_GRID + 1):
            D = _TWO_MAXIMA * max(j, 0.1) / _GRID
            table[i, j] = _degradation(1.0, b, b * b, D)[1] / (D * D)
    return table * (1.0 - _GRID_ERROR)


@jit_inline
def _at_least(a2, b2, D, table):
    """A lower bound on the degradation, which is least for parallel coefficients."""
    if D >= _TWO_MAXIMA:
        return _BEYOND * a2
    x, y = _GRID * min(math.sqrt(a2 / b2), 1.0), _GRID / _TWO_MAXIMA * D
    i, j = min(int(x), _GRID - 1), min(int(y), _GRID - 1)
    x, y = x - i, y - j
    low = table[i, j] + y * (table[i, j + 1] - table[i, j])
    high = table[i + 1, j] + y * (table[i + 1, j + 1] - table[i + 1, j])
    return a2 * D * D * (low + x * (high - low))


@jit_inline
def _products(m, j, A):
    """(α_m·α_j, ‖α_j‖²)."""
    ab, b2 = 0.0, 0.0
    for k in range(A.shape[0]):
        ab += A[k, m] * A[k, j]
        b2 += A[k, j] * A[k, j]
    return ab, b2


@jit
def best_partner(m, size, A, distances, table, work):
    """(n, h): the slot whose merge with m, the lightest, degrades f least; n = -1 if none can.

    All n with α_m·α_n > 0 are candidates. The table bounds the degradation of each from below. The
    most promising is computed first, and then only those that could still be better. Of candidates
    equal up to rounding the first slot is taken. ``work`` (2, size or more) is scratch.
    """
    first = -1
    a2, _ = _products(m, m, A)
    for j in range(size):
        ab, b2 = _products(m, j, A)
        work[0, j] = np.inf
        if ab > 0.0 and j != m:
            work[0, j] = _at_least(a2, b2, distances[m, j], table)
            if first < 0 or work[0, j] < work[0, first]:
                first = j
    if first < 0:
        return -1, 0.0
    least = np.inf
    for i in range(-1, size):
        j = first if i < 0 else i
        tied = least * (1.0 + _TIE) + _TIE * _TIE * a2
        if i == first or not work[0, j] <= tied or work[0, j] == np.inf:
            continue
        ab, b2 = _products(m, j, A)
        work[1, j], work[0, j] = _degradation(a2, ab, b2, float(distances[m, j]))
        least = min(least, work[0, j])
    n = 0
    while work[0, n] > least * (1.0 + _TIE) + _TIE * _TIE * a2:
        n += 1
    return n, work[1, n]
