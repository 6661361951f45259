"""Two slots of a support set become one: coefficients, row, distances and norm.

``distances`` holds D = γ‖s - s'‖² = -log κ(s, s') of all slots, of which there is one more than the
budget: a new row is stored first.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from onkel.numerics.jit import jit, jit_inline
from onkel.rules.base import SCALE, SQUARED_NORM
from onkel.support.budget import BIRTH, DIAGONAL, TARGET
from onkel.support.merging.point import best_partner
from onkel.support.removal.smallest import smallest_slot
from onkel.support.slots import BORN, REMOVED, SIZE


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
