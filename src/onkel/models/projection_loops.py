"""The loop of Projectron: rows as coordinates in an orthonormal basis of the stored ones.

κ(S, S) = L Lᵀ, and z = L⁻¹ κ(S, x) are the coordinates of the projection Pκ(x, ·) in the basis that
Gram and Schmidt make of the stored rows in order. f is a weight for each coordinate, A (K,
capacity): f(x) = A z, ‖f‖ = ‖A‖, and a projected step is A ← A + b c zᵀ: the learner is linear. A
row that is stored adds the row [z, ‖δ‖] to L, and one coordinate.

The coordinates of a sub-block are made before it is walked, for the slots in use then; the loop
adds those of the slots that are filled on the way.
"""

from __future__ import annotations

import math

import numpy as np

from onkel._jit import jit, jit_inline
from onkel.budgets.projection import margin_step
from onkel.losses import Loss, evaluate
from onkel.models.loops import SCALE, SQUARED_NORM, T, judge
from onkel.models.support_pieces import (
    CHANGED,
    REMOVED,
    SIZE,
    direction_sums,
    place,
    scale_by,
    step,
)
from onkel.rules.base import ALPHA, RADIUS

__all__ = ["learn_projection"]


@jit_inline
def _new_coordinates(Z, t, first, size, panel, factor, changes):
    """z_s = (κ(s, x) - Σ_{j<s} L_sj z_j)/L_ss for the slots filled in this sub-block."""
    for s in range(first, size):
        total = panel.dtype.type(0.0)
        for j in range(s):
            total += panel.dtype.type(factor[s, j]) * Z[t, j]
        Z[t, s] = (panel[t, changes[1, s - first]] - total) / factor[s, s]


@jit_inline
def _score(Z, t, size, A, state, P):
    """p_k = Σ_j A_kj z_j."""
    for k in range(A.shape[0]):
        total = A.dtype.type(0.0)
        for j in range(size):
            total += A[k, j] * Z[t, j]
        P[t, k] = state[SCALE] * total


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
def _extend(Z, t, size, delta, factor):
    """The next row of L."""
    for j in range(size):
        factor[size, j] = Z[t, j]
    factor[size, size] = delta


@jit
def learn_projection(
    panel, Z, q, y, weight, slots, factor, limit, bpar, track, state, loss, epsilon, rule, par, P
):
    """Learn the rows of one sub-block; P (n, K) gets the scores before each.

    ``Z`` (n, capacity) holds the coordinates of the slots in use; ``panel`` is not read where the
    set is full already. ``limit`` is B, -1 for none; ``track`` says that ‖f‖² is kept.
    """
    A, info, gram, outputs, _, counts, changes = slots
    K, n = P.shape[1], P.shape[0]
    eta, aggressive = bpar[0], bpar[1] > 0.0
    rounding = 1e-10 if A.itemsize == 8 else 1e-5
    c, new = np.empty(K), np.empty(K)
    counts[CHANGED] = 0
    first = counts[SIZE]
    for t in range(n):
        size = counts[SIZE]
        _new_coordinates(Z, t, first, size, panel, factor, changes)
        _score(Z, t, size, A, state, P)
        if weight[t] == 0.0:
            continue
        state[T] += 1.0
        value = judge(loss, P, t, y[t], epsilon, par, state, c)
        c2, cp = direction_sums(c, P, t)
        stores = size < limit or limit < 0
        margin = aggressive and c2 == 0.0
        if margin:
            value = evaluate(Loss.HINGE, P, t, y[t], epsilon, c)
            c2, cp = direction_sums(c, P, t)
            stores = False
        if c2 == 0.0 and par[ALPHA] == 0.0:
            continue
        length = _squared_length(Z, t, size)
        delta2 = max(q[t] - length, 0.0)
        stores = stores and delta2 > max(eta * eta, rounding * q[t])
        a, b = step(rule, par, state[T], weight[t], value, c2, q[t])
        if margin:
            b = margin_step(value, c2, length, delta2, b, eta, limit)
        scale_by(A, outputs, a, state)
        if c2 > 0.0 and b > 0.0:
            _move(Z, t, size, b, c, A, state)
            if stores:
                delta = math.sqrt(delta2)
                for k in range(K):
                    new[k] = b * c[k] * delta
                _extend(Z, t, size, delta, factor)
                place(size, panel, t, y[t], q[t], new, A, info, gram, counts, changes, state)
                length = q[t]
            elif not margin:
                counts[REMOVED] += 1
            if track:
                moved = 2.0 * b * a * cp + b * b * c2 * length
                state[SQUARED_NORM] = max(state[SQUARED_NORM] + moved, 0.0)
        if par[RADIUS] > 0.0 and state[SQUARED_NORM] > par[RADIUS] * par[RADIUS]:
            scale_by(A, outputs, par[RADIUS] / math.sqrt(state[SQUARED_NORM]), state)
            state[SQUARED_NORM] = par[RADIUS] * par[RADIUS]
