"""The loop of the removal family: a full set drops one stored row for each new one.

It also serves learners without a budget, and those that don't store every row. See
:mod:`onkel.support.slots` for where the kernel values come from.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from onkel.numerics.jit import jit, jit_inline
from onkel.rules.base import SCALE, SQUARED_NORM, T
from onkel.support.moving import move_of, onto_ball, scale_by
from onkel.support.outputs import norm_from_gram, norm_without, refresh_outputs, shift_outputs
from onkel.support.removal.bounded import cuts
from onkel.support.removal.family import RemovalKind
from onkel.support.removal.shrink_oldest import MISTAKES, shrinkage_of_all
from onkel.support.removal.slot import slot_to_drop
from onkel.support.removal.stochastic import thinned
from onkel.support.slots import CHANGED, REMOVED, SIZE, catch_up, place, score


class Scratch(NamedTuple):
    """Scratch arrays, overwritten for every row."""

    c: np.ndarray  # (K,) the direction of the step
    new: np.ndarray  # (K,) the coefficients of the new row
    work: np.ndarray  # (1, capacity)


@jit_inline
def _store(s, size, rows, t, b, c2, cp, slots, limits, state, scratch):
    """f ← f without slot s, then with row t in its place; ``cp`` is c·f(x)."""
    if limits.track:
        norm = state[SQUARED_NORM]
        if s < size:
            norm, cp = norm_without(s, size, rows.panel[t, s], scratch.c, cp, slots, state)
        state[SQUARED_NORM] = max(norm + 2.0 * b * cp + b * b * c2 * rows.q[t], 0.0)
    if slots.outputs.shape[1] > 0 and s < size:
        shift_outputs(s, size, -1.0, slots)
    place(s, rows, t, scratch.new, slots, state)
    if slots.outputs.shape[1] > 0:
        shift_outputs(s, slots.counts[SIZE], 1.0, slots)


@jit_inline
def _along(c, panel, t, size, A, state):
    """c·f(x) of row t."""
    total = 0.0
    for k in range(A.shape[0]):
        for j in range(size):
            total += c[k] * A[k, j] * panel[t, j]
    return state[SCALE] * total


@jit_inline
def _refresh(limits, size, slots, state):
    """After every B removals, compute anew what has been updated step by step.

    This is O(B²), so O(B) per row. In between, errors grow at most e² times.
    """
    anew = slots.counts[REMOVED] % size == 0
    cut = limits.kind == RemovalKind.BOUNDED and cuts(limits.par)
    if limits.track and (anew or cut):
        norm_from_gram(size, slots, state)
    if anew and slots.outputs.shape[1] > 0:
        refresh_outputs(size, slots.A, slots.gram, slots.outputs)


@jit_inline
def _add(t, b, c2, cp, rows, slots, limits, context, scratch):
    """Row t joins the support set, which makes room for it: f ← f + b c κ(x, ·)."""
    A, outputs, state = slots.A, slots.outputs, context.state
    size = slots.counts[SIZE]
    s, before, after = size, 1.0, 1.0
    state[MISTAKES] += 1.0
    if size == limits.size:
        s, before, after = slot_to_drop(limits, context, rows, t, b, slots, size, scratch)
        slots.counts[REMOVED] += 1
        if limits.kind == RemovalKind.BOUNDED and limits.track:
            cp = _along(scratch.c, rows.panel, t, size, A, state)
    if limits.kind == RemovalKind.SHRINK_OLDEST:
        added = 2.0 * b * cp + b * b * c2 * rows.q[t]
        after = shrinkage_of_all(limits.par, after, limits.size, added, state)
    scale_by(A, outputs, before, state)
    if s < limits.size or limits.size < 0:
        _store(s, size, rows, t, b, c2, before * cp, slots, limits, state, scratch)
    scale_by(A, outputs, after, state)
    if size == limits.size:
        _refresh(limits, size, slots, state)


@jit_inline
def _learn_row(t, rows, slots, limits, context, scratch):
    state, c, new = context.state, scratch.c, scratch.new
    catch_up(rows.panel, t, slots)
    score(rows.panel, t, slots.A, slots.counts[SIZE], state, rows.P, t)
    move = move_of(context, rows, t, c)
    scale_by(slots.A, slots.outputs, move.a, state)
    b = move.b
    if b > 0.0 and limits.kind == RemovalKind.STOCHASTIC:
        b = thinned(limits.par, state[T], b, slots.rng)
    if b > 0.0:
        for k in range(c.shape[0]):
            new[k] = b * c[k]
        _add(t, b, move.c2, move.a * move.cp, rows, slots, limits, context, scratch)
    onto_ball(slots, context)


@jit
def learn_removal(rows, slots, limits, context):
    """Learn the rows of one sub-block."""
    K = rows.P.shape[1]
    scratch = Scratch(np.empty(K), np.empty(K), np.empty((1, slots.A.shape[1])))
    slots.counts[CHANGED] = 0
    for t in range(rows.P.shape[0]):
        _learn_row(t, rows, slots, limits, context, scratch)
