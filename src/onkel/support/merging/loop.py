"""The loop of merging: two stored rows give way to a point between them.

A merged point z = h s_m + (1 - h) s_n is no row of the block, and yet needs no kernel evaluation:
with D(x, s) = γ‖x - s‖² = -log κ(x, s),

    D(x, z) = h D(x, s_m) + (1 - h) D(x, s_n) - h (1 - h) D(s_m, s_n).

So the panel holds D, and each row mixes the columns that were merged before it. The next block
computes D from the merged point itself. Rows, D and the choice of a partner are in float64: the
difference between the two ways is then far too small to change a decision.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from onkel.numerics.jit import jit, jit_inline
from onkel.numerics.pairwise import LOG2_E, exp2
from onkel.rules.base import SCALE, SQUARED_NORM
from onkel.support.merging.slots import Scratch, make_room, squared_norm, store
from onkel.support.moving import move_of, onto_ball, scale_by
from onkel.support.slots import REMOVED, SIZE, score

# Removals after which ‖f‖² is computed anew.
_REFRESH = 1024


class Events(NamedTuple):
    """What happened to the columns of the panel in this sub-block."""

    columns: np.ndarray  # (3, n) of the new row, of slot m (-1: no merge), of slot n
    mixes: np.ndarray  # (2, n) h, and h (1 - h) D(s_m, s_n)


@jit_inline
def _catch_up(panel, t, events, n_events, last):
    """Bring row t of the panel up to the slots as they are now."""
    columns, mixes = events.columns, events.mixes
    for i in range(n_events):
        new = panel[t, columns[0, i]]
        a, b = columns[1, i], columns[2, i]
        if a >= 0:
            panel[t, last] = new
            mixed = panel[t, b] + mixes[0, i] * (panel[t, a] - panel[t, b]) - mixes[1, i]
            panel[t, b] = max(mixed, 0.0)
            panel[t, a] = panel[t, last]
        else:
            panel[t, b] = new


@jit_inline
def _kernel_values(panel, t, size, kernel):
    """kernel (1, size) ← exp(-D) of row t."""
    if kernel.itemsize == 4:
        # two loops: one that mixes precisions would use vectors of half the width
        for j in range(size):
            kernel[0, j] = kernel.dtype.type(-LOG2_E * panel[t, j])
        for j in range(size):
            kernel[0, j] = exp2(kernel[0, j])
    else:
        for j in range(size):
            kernel[0, j] = math.exp(-panel[t, j])


@jit_inline
def _merged(limits, slots, S, table, events, i, state, scratch):
    """Free one slot, noted as event i; False where the new row itself was dropped."""
    columns, mixes, counts = events.columns, events.mixes, slots.counts
    m, n, h, shift = make_room(limits.size, limits.track, slots, S, table, state, scratch)
    columns[1, i], columns[2, i] = m, n
    mixes[0, i], mixes[1, i] = h, shift
    if limits.track and counts[REMOVED] % _REFRESH == 0:
        norm = squared_norm(limits.size, slots.A, slots.gram)
        state[SQUARED_NORM] = state[SCALE] * state[SCALE] * norm
    return n >= 0


@jit
def learn_merging(rows, X, S, slots, limits, table, context):
    """Learn the rows X (n, d) of one sub-block.

    ``rows.panel`` (n, capacity + n) holds D of the rows with the slots and with themselves;
    ``slots.gram`` holds D of the slots, of which there may be one more than the budget; ``table``
    is :func:`~onkel.support.merging.point.degradation_table`.
    """
    A, counts, panel, P, state = slots.A, slots.counts, rows.panel, rows.P, context.state
    n, outputs = panel.shape[0], slots.outputs
    c, kernel = np.empty(A.shape[0]), np.zeros((1, A.shape[1]), A.dtype)
    scratch = Scratch(np.empty((1, A.shape[1])), np.empty((2, A.shape[1])), np.empty(A.shape[0]))
    events, n_events = Events(np.empty((3, n), np.int64), np.empty((2, n))), 0
    for t in range(n):
        _catch_up(panel, t, events, n_events, limits.size)
        size = counts[SIZE]
        _kernel_values(panel, t, size, kernel)
        score(kernel, 0, A, size, state, P, t)
        move = move_of(context, rows, t, c)
        scale_by(A, outputs, move.a, state)
        if move.b > 0.0:
            state[SQUARED_NORM] += move.b * (2.0 * move.a * move.cp + move.b * move.c2)
            store(t, move.b, c, rows, X, S, slots, state)
            events.columns[0, n_events] = panel.shape[1] - n + t
            events.columns[1, n_events], events.columns[2, n_events] = -1, size
            kept = True
            if size == limits.size:
                kept = _merged(limits, slots, S, table, events, n_events, state, scratch)
            n_events += kept
        onto_ball(slots, context)
