"""The loop of the budgets that give the part of a dropped row to those that stay.

See :mod:`onkel.support.exchange.family` for the formulas. A row that the stored ones span, up to
rounding, is expressed by them and not stored: nothing is lost, and the inverse stays well
conditioned.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from onkel.numerics.jit import jit, jit_inline
from onkel.rules.base import SCALE
from onkel.support.exchange.bpa_nearest import drop_beside, first_neighbours, new_neighbours
from onkel.support.exchange.bpa_projection import least_change_slot
from onkel.support.exchange.family import ExchangeKind
from onkel.support.exchange.inverse_loops import (
    column,
    coordinates,
    exchange,
    extend,
    is_full,
    is_worn,
    ridge,
    rounding_of,
)
from onkel.support.exchange.smallest_projection import smallest_of_all
from onkel.support.moving import move_of, onto_ball, scale_by
from onkel.support.outputs import norm_from_gram
from onkel.support.slots import CHANGED, REMOVED, SIZE, catch_up, place, score

# A residual ‖δ‖² + λ of at most this many λ is rounding error.
_SPANNED = 4.0


class Scratch(NamedTuple):
    """Arrays that every row overwrites; only ``neighbour``, of each slot, is kept between rows."""

    c: np.ndarray  # (K,) the direction of the step
    new: np.ndarray  # (K,) the coefficients of the new row
    d: np.ndarray  # (B + 1,) the new row in terms of the stored ones
    u: np.ndarray  # (B + 1,) a column of the inverse
    v: np.ndarray  # (B,)
    work: np.ndarray  # (1, B)
    neighbour: np.ndarray  # (B,)


@jit_inline
def _give_up(r, size, u, A, new, state):
    """α_i ← α_i - α_r u_i/u_r of all rows that stay, the new one too."""
    for k in range(A.shape[0]):
        share = A[k, r] / u[r]
        for i in range(size):
            A[k, i] -= share * u[i]
        new[k] -= state[SCALE] * share * u[size]


@jit_inline
def _spread(size, d, A, new, state):
    """f ← f + new Pκ(x, ·): the new row in terms of the stored ones."""
    for k in range(A.shape[0]):
        share = new[k] / state[SCALE]
        for j in range(size):
            A[k, j] += share * d[j]


@jit_inline
def _drop_by_inverse(kind, delta2, q, size, slots, inverse, state, scratch):
    """The slot to drop, after its part went to the others; -1 where it is the new row that goes."""
    A, new, d, u, terms = slots.A, scratch.new, scratch.d, scratch.u, inverse.terms
    if kind == ExchangeKind.LEAST_CHANGE:
        r = least_change_slot(A, slots.info, terms.diagonal, d, delta2, size)
    elif kind == ExchangeKind.SMALLEST:
        r = smallest_of_all(slots, size, q, new, state, scratch.work)
    else:
        raise NotImplementedError("unknown budget: exchange/loop.py has no slot for its number")
    if r < 0:
        _spread(size, d, A, new, state)
        return r
    column(inverse.M, d, delta2, r, size, terms, u)
    _give_up(r, size, u, A, new, state)
    exchange(d, u, delta2, r, size, terms)
    return r


@jit_inline
def _slot_by_inverse(t, rows, size, slots, inverse, limits, state, scratch):
    """The slot of row t, after the others have taken over the part of the one that goes."""
    rounding = rounding_of(rows.panel.itemsize)
    q, d = rows.q[t], scratch.d
    delta2 = coordinates(rows.panel, t, q, size, inverse, d, scratch.u, scratch.v, rounding)
    if delta2 <= _SPANNED * ridge(q, rounding):
        _spread(size, d, slots.A, scratch.new, state)
        return -1
    if size == limits.size:
        return _drop_by_inverse(limits.kind, delta2, q, size, slots, inverse, state, scratch)
    extend(d, delta2, size, inverse.terms)
    return size


@jit_inline
def _slot_beside(t, rows, size, slots, limits, state, scratch):
    """The slot of row t, after its neighbours have taken over the part of the one that goes."""
    if size < limits.size:
        return size
    neighbour = scratch.neighbour
    if neighbour[0] == -2:
        first_neighbours(size, slots, neighbour)
    return drop_beside(rows, t, size, slots, neighbour, scratch.new, state)


@jit_inline
def _learn_row(t, rows, slots, inverse, limits, context, scratch):
    state, c, new = context.state, scratch.c, scratch.new
    size = slots.counts[SIZE]
    catch_up(rows.panel, t, slots)
    score(rows.panel, t, slots.A, size, state, rows.P, t)
    move = move_of(context, rows, t, c)
    scale_by(slots.A, slots.outputs, move.a, state)
    if move.b > 0.0:
        for k in range(c.shape[0]):
            new[k] = move.b * c[k]
        if size == limits.size:
            slots.counts[REMOVED] += 1
        beside = limits.kind == ExchangeKind.NEAREST
        if beside:
            r = _slot_beside(t, rows, size, slots, limits, state, scratch)
        else:
            r = _slot_by_inverse(t, rows, size, slots, inverse, limits, state, scratch)
        if r >= 0:
            place(r, rows, t, new, slots, state)
        if beside and size == limits.size:
            new_neighbours(r, size, slots, scratch.neighbour)
        if limits.track:
            norm_from_gram(slots.counts[SIZE], slots, state)
    onto_ball(slots, context)


@jit_inline
def _stops(inverse, removed, slots, limits):
    """Whether the inverse has to be settled, or computed anew."""
    if limits.kind == ExchangeKind.NEAREST:
        return False
    return is_full(inverse.terms) or is_worn(removed, slots.counts[REMOVED], limits.size)


@jit
def learn_exchange(rows, slots, inverse, limits, context, first):
    """Learn the rows of one sub-block from row ``first`` on.

    Returns the row to go on with: the inverse has to be settled, or computed anew, before it.
    """
    # B is the number of slots allocated: the budget, once the set is full
    K, B = rows.P.shape[1], slots.A.shape[1]
    scratch = Scratch(
        np.empty(K), np.empty(K), np.empty(B + 1), np.empty(B + 1), np.empty(B),
        np.empty((1, B)), np.full(B, -2),
    )  # fmt: skip
    if first == 0:
        slots.counts[CHANGED] = 0
    for t in range(first, rows.P.shape[0]):
        removed = slots.counts[REMOVED]
        _learn_row(t, rows, slots, inverse, limits, context, scratch)
        if _stops(inverse, removed, slots, limits):
            return t + 1
    return rows.P.shape[0]
