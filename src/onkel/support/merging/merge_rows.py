"""Two stored rows become one: the best point between them, the best partner, and its slot.

``distances`` holds D = γ‖s - s'‖² = -log κ(s, s') of all slots, of which there is one more than the
budget: a new row is stored first.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from onkel.numerics.jit import jit, jit_inline
from onkel.rules.base import SCALE, SQUARED_NORM
from onkel.support.budget import BIRTH, DIAGONAL, TARGET
from onkel.support.removal.choices import smallest_slot
from onkel.support.slots import BORN, REMOVED, SIZE

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


class Scratch(NamedTuple):
    """Scratch arrays, overwritten by every merge."""

    work: np.ndarray  # (1, capacity)
    candidates: np.ndarray  # (2, capacity), see best_partner
    merged: np.ndarray  # (K,) coefficients of the merged point


@jit
def _norm_of_slot(r, size, A, distances):
    """2 α_r f(s_r) - α_r²: what slot r adds to ‖f/scale‖²."""
    total = 0.0
    for k in range(A.shape[0]):
        output = 0.0
        for j in range(size):
            output += A[k, j] * math.exp(-distances[r, j])
        total += A[k, r] * (2.0 * output - A[k, r])
    return total


@jit
def _take_out(r, size, A, distances):
    """f without slot r; returns what that takes from ‖f/scale‖²."""
    change = _norm_of_slot(r, size, A, distances)
    for k in range(A.shape[0]):
        A[k, r] = 0.0
    return change


@jit
def squared_norm(size, A, distances):
    """‖f/scale‖²."""
    total = 0.0
    for i in range(size):
        for j in range(size):
            product = 0.0
            for k in range(A.shape[0]):
                product += A[k, i] * A[k, j]
            total += product * math.exp(-distances[i, j])
    return total


@jit_inline
def _mix(m, n, h, size, track, slots, S, merged):
    """Slot n ← the merge of m and n, with no weight left at m; returns the change of ‖f/scale‖²."""
    A, distances = slots.A, slots.gram
    D = distances[m, n]
    u, v = math.exp(-D * (1.0 - h) ** 2), math.exp(-D * h * h)
    for k in range(A.shape[0]):
        merged[k] = u * A[k, m] + v * A[k, n]
    change = 0.0
    if track:
        change -= _take_out(m, size, A, distances) + _take_out(n, size, A, distances)
    for j in range(size):
        mixed = h * distances[m, j] + (1.0 - h) * distances[n, j] - h * (1.0 - h) * D
        distances[n, j] = max(mixed, 0.0)
        distances[j, n] = distances[n, j]
    distances[n, n] = 0.0
    for i in range(S.shape[1]):
        S[n, i] = h * S[m, i] + (1.0 - h) * S[n, i]
    for k in range(A.shape[0]):
        A[k, m], A[k, n] = 0.0, merged[k]
    if track:
        change += _norm_of_slot(n, size, A, distances)
    return change


@jit_inline
def _move(source, m, slots, S):
    """Slot m ← slot ``source``, the last."""
    A, info, distances = slots.A, slots.info, slots.gram
    for k in range(A.shape[0]):
        A[k, m] = A[k, source]
    for i in range(S.shape[1]):
        S[m, i] = S[source, i]
    for i in range(info.shape[0]):
        info[i, m] = info[i, source]
    for j in range(source):
        distances[m, j] = distances[source, j]
        distances[j, m] = distances[source, j]
    distances[m, m] = 0.0


@jit_inline
def make_room(limit, track, slots, S, table, state, scratch):
    """Go from limit + 1 slots to limit; returns (m, n, h, shift), which the loop applies to D.

    n = -1: the new row, in the last slot, was dropped. m = -1: slot n was dropped, and the new row
    took its place.
    """
    A, info, distances = slots.A, slots.info, slots.gram
    slots.counts[SIZE] = limit
    slots.counts[REMOVED] += 1
    size = limit + 1
    scale2 = state[SCALE] * state[SCALE]
    m = smallest_slot(A, info, size, scratch.work)
    n, h = best_partner(m, size, A, distances, table, scratch.candidates)
    if n < 0:
        if track:
            state[SQUARED_NORM] -= scale2 * _take_out(m, size, A, distances)
        if m == limit:
            return -1, -1, 0.0, 0.0
        _move(limit, m, slots, S)
        return -1, m, 0.0, 0.0
    if n == limit:
        # the merged row goes to a slot that stays, with the age and label of the partner
        m, n, h = n, m, 1.0 - h
        for i in range(info.shape[0]):
            info[i, n] = info[i, m]
    shift = h * (1.0 - h) * distances[m, n]
    state[SQUARED_NORM] += scale2 * _mix(m, n, h, size, track, slots, S, scratch.merged)
    if m < limit:
        _move(limit, m, slots, S)
    return m, n, h, shift


@jit_inline
def store(t, b, c, rows, X, S, slots, state):
    """Row t becomes the next slot, with the coefficients b c."""
    A, info, distances, counts = slots.A, slots.info, slots.gram, slots.counts
    s = counts[SIZE]
    for k in range(A.shape[0]):
        A[k, s] = b * c[k] / state[SCALE]
    for i in range(S.shape[1]):
        S[s, i] = X[t, i]
    for j in range(s):
        distances[s, j] = rows.panel[t, j]
        distances[j, s] = rows.panel[t, j]
    distances[s, s] = 0.0
    info[DIAGONAL, s], info[TARGET, s], info[BIRTH, s] = 1.0, rows.y[t], counts[BORN]
    counts[BORN] += 1
    counts[SIZE] += 1
