"""The loop of Projectron: rows as coordinates in an orthonormal basis of the stored ones.

κ(S, S) = L Lᵀ, and z = L⁻¹ κ(S, x) are the coordinates of the projection Pκ(x, ·) in the basis that
Gram-Schmidt makes of the stored rows in order. f has a weight for each coordinate, A (K, capacity),
and is a linear learner in z: f(x) = A z, ‖f‖ = ‖A‖, and a projected step is A ← A + b c zᵀ. A row
that is stored adds the row [z, ‖δ‖] to L, and one coordinate.

The coordinates of a sub-block are computed before it is walked, for the slots in use then. The loop
adds those of the slots that are filled in the meantime.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from onkel.losses import Loss, evaluate
from onkel.numerics.jit import jit, jit_inline
from onkel.rules.base import ALPHA, SCALE, SQUARED_NORM, T
from onkel.rules.dispatch import judge, step
from onkel.support.moving import direction_sums, onto_ball, scale_by
from onkel.support.projection.budget import AGGRESSIVE, ETA, margin_step
from onkel.support.projection.coordinates import new_coordinates
from onkel.support.slots import CHANGED, REMOVED, SIZE, place, score


class Basis(NamedTuple):
    """The basis, and the rows of a sub-block in it."""

    Z: np.ndarray  # (n, capacity) coordinates of the rows
    factor: np.ndarray  # (capacity, capacity) Lᵀ


class Scratch(NamedTuple):
    """Scratch arrays, overwritten for every row."""

    c: np.ndarray  # (K,) the direction of the step
    new: np.ndarray  # (K,) the weights of a new coordinate


@jit_inline
def _squared_length(Z, t, size):
    """‖Pκ(x, ·)‖² = ‖z‖²."""
    total = Z.dtype.type(0.0)
    for j in range(size):
        total += Z[t, j] * Z[t, j]
    return float(total)


@jit_inline
def _move(Z, t, size, b, c, A, state):
    """f ← f + b c Pκ(x, ·)."""
    for k in range(A.shape[0]):
        if c[k] != 0.0:
            move = A.dtype.type(b * c[k] / state[SCALE])
            for j in range(size):
                A[k, j] += move * Z[t, j]


@jit_inline
def _store(t, size, b, delta, rows, slots, basis, state, scratch):
    """Row t becomes the next slot, with the next row [z, ‖δ‖] of L."""
    for k in range(scratch.c.shape[0]):
        scratch.new[k] = b * scratch.c[k] * delta
    for j in range(size):
        basis.factor[j, size] = basis.Z[t, j]
    basis.factor[size, size] = delta
    place(size, rows, t, scratch.new, slots, state)


@jit_inline
def _learn_row(t, size, rows, slots, basis, limits, context, scratch):
    """Learn row t, whose scores are known."""
    c, state, P = scratch.c, context.state, rows.P
    weight, q, y = rows.weight[t], rows.q[t], rows.y[t]
    eta = limits.par[ETA]
    state[T] += 1.0
    value = judge(context, P, t, y, q, c)
    c2, cp = direction_sums(c, P, t)
    margin = limits.par[AGGRESSIVE] > 0.0 and c2 == 0.0
    if margin:
        value = evaluate(Loss.HINGE, P, t, y, context.epsilon, c)
        c2, cp = direction_sums(c, P, t)
    if c2 == 0.0 and context.par[ALPHA] == 0.0:
        return
    length = _squared_length(basis.Z, t, size)
    delta2 = max(q - length, 0.0)
    # for rows nearer than this to the stored ones, L⁻¹ would magnify the rounding of κ(S, x)
    rounding = 1e-10 if slots.A.itemsize == 8 else 1e-4
    room = not margin and (size < limits.size or limits.size < 0)
    stores = room and delta2 > max(eta * eta, rounding * q)
    a, b = step(context, weight, value, c2, q)
    if margin:
        b = margin_step(value, c2, length, delta2, b, eta, limits.size)
    scale_by(slots.A, slots.outputs, a, state)
    if c2 > 0.0 and b > 0.0:
        _move(basis.Z, t, size, b, c, slots.A, state)
        if stores:
            _store(t, size, b, math.sqrt(delta2), rows, slots, basis, state, scratch)
            length = q
        elif not margin:
            slots.counts[REMOVED] += 1
        if limits.track:
            moved = 2.0 * b * a * cp + b * b * c2 * length
            state[SQUARED_NORM] = max(state[SQUARED_NORM] + moved, 0.0)
    onto_ball(slots, context)


@jit_inline
def _take_row(t, first, rows, slots, basis, limits, context, scratch):
    """Score row t and, where its weight is not 0, learn it."""
    size = slots.counts[SIZE]
    new_coordinates(basis.Z, t, first, size, rows.panel, slots.changes, basis.factor)
    score(basis.Z, t, slots.A, size, context.state, rows.P, t)
    if rows.weight[t] != 0.0:
        _learn_row(t, size, rows, slots, basis, limits, context, scratch)


@jit
def learn_projection(rows, slots, basis, limits, context):
    """Learn the rows of one sub-block; ``rows.panel`` is not read where the set is full already."""
    K = rows.P.shape[1]
    scratch = Scratch(np.empty(K), np.empty(K))
    slots.counts[CHANGED] = 0
    first = slots.counts[SIZE]
    for t in range(rows.P.shape[0]):
        _take_row(t, first, rows, slots, basis, limits, context, scratch)
