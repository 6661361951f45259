"""The loop of merging: two stored rows give way to a point between them.

A merged point z = h s_m + (1 - h) s_n is no row of the block, and yet needs no kernel evaluation:
with D(x, s) = γ‖x - s‖² = -log κ(x, s),

    D(x, z) = h D(x, s_m) + (1 - h) D(x, s_n) - h (1 - h) D(s_m, s_n).

So the panel holds D, and each row, when its turn comes, mixes the columns that were merged before.
"""

from __future__ import annotations

import math

import numpy as np

from onkel._gaussian import LOG2_E, exp2
from onkel._jit import jit, jit_inline
from onkel.models.loops import SCALE, SQUARED_NORM, T, judge
from onkel.models.merging_slots import make_room, squared_norm, store
from onkel.models.support_pieces import REMOVED, SIZE, direction_sums, scale_by, step
from onkel.rules.base import ALPHA, RADIUS

__all__ = ["learn_merging", "scaled_distances"]

# The norm's recursion is begun anew after so many merges.
_REFRESH = 1024


@jit
def scaled_distances(products, own, other, out):
    """D (n, m) = γ‖x - s‖² from 2γ X Sᵀ and squared lengths.

    The rows s are slots, then those of the block; ``out`` has room for more slots between them.
    """
    n, m = products.shape[0], products.shape[1]
    zero = products.dtype.type(0.0)
    for t in range(n):
        for j in range(m - n):
            out[t, j] = max(own[t] + other[j] - products[t, j], zero)
        for j in range(t):
            s = m - n + j
            out[t, out.shape[1] - n + j] = max(own[t] + other[s] - products[t, s], zero)


@jit_inline
def _catch_up(panel, t, events, mixes, n_events, last):
    """Bring row t of the panel up to the slots as they are now."""
    for i in range(n_events):
        new = panel[t, events[0, i]]
        a, b = events[1, i], events[2, i]
        if a >= 0:
            h = panel.dtype.type(mixes[0, i])
            shift = panel.dtype.type(mixes[1, i])
            panel[t, last] = new
            mixed = panel[t, b] + h * (panel[t, a] - panel[t, b]) - shift
            panel[t, b] = max(mixed, panel.dtype.type(0.0))
            panel[t, a] = panel[t, last]
        else:
            panel[t, b] = new


@jit_inline
def _score(panel, t, A, size, state, kernel, P):
    """p_k = Σ_j α_kj exp(-D_tj); ``kernel`` (1, capacity) is scratch."""
    if panel.itemsize == 4:
        for j in range(size):
            kernel[0, j] = exp2(panel.dtype.type(-LOG2_E) * panel[t, j])
    else:
        for j in range(size):
            kernel[0, j] = math.exp(-panel[t, j])
    for k in range(A.shape[0]):
        total = A.dtype.type(0.0)
        for j in range(size):
            total += A[k, j] * kernel[0, j]
        P[t, k] = state[SCALE] * total


@jit
def learn_merging(
    panel, X, S, y, weight, slots, limit, track, table, state, loss, epsilon, rule, par, P
):
    """Learn the rows X (n, d) of one sub-block; P (n, K) gets the scores before each.

    ``panel`` (n, limit + 1 + n) holds D of the rows with the slots, of which there is one more than
    the budget, and with themselves; ``slots.gram`` holds D of the slots; ``track`` says that
    ‖f‖² is kept; ``table`` is :func:`~onkel.budgets.merging.degradation_table`.
    """
    A, info, distances, outputs, _rng, counts, _changes = slots
    K, n = P.shape[1], P.shape[0]
    c = np.empty(K)
    events, mixes = np.empty((3, n), np.int64), np.empty((2, n))
    n_events = 0
    kernel = np.zeros((1, A.shape[1]), A.dtype)
    for t in range(n):
        _catch_up(panel, t, events, mixes, n_events, limit)
        size = counts[SIZE]
        _score(panel, t, A, size, state, kernel, P)
        if weight[t] == 0.0:
            continue
        state[T] += 1.0
        value = judge(loss, P, t, y[t], epsilon, par, state, c)
        c2, cp = direction_sums(c, P, t)
        if c2 == 0.0 and par[ALPHA] == 0.0:
            continue
        a, b = step(rule, par, state[T], weight[t], value, c2, 1.0)
        scale_by(A, outputs, a, state)
        if c2 > 0.0:
            for k in range(K):
                A[k, size] = b * c[k] / state[SCALE]
            state[SQUARED_NORM] += 2.0 * a * b * cp + b * b * c2
            store(size, X, panel, t, y[t], A, S, info, distances, counts)
            events[0, n_events] = limit + 1 + t
            events[1, n_events], events[2, n_events] = -1, size
            if size == limit:
                m, s, h, shift = make_room(limit, track, A, S, info, distances, table, state)
                counts[SIZE] = limit
                counts[REMOVED] += 1
                events[1, n_events], events[2, n_events] = m, s
                mixes[0, n_events], mixes[1, n_events] = h, shift
                if track and counts[REMOVED] % _REFRESH == 0:
                    norm = squared_norm(limit, A, distances)
                    state[SQUARED_NORM] = state[SCALE] * state[SCALE] * norm
            n_events += events[2, n_events] >= 0
        if par[RADIUS] > 0.0 and state[SQUARED_NORM] > par[RADIUS] * par[RADIUS]:
            scale_by(A, outputs, par[RADIUS] / math.sqrt(state[SQUARED_NORM]), state)
            state[SQUARED_NORM] = par[RADIUS] * par[RADIUS]
