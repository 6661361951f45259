"""Which slot a full set gives up: the one place that dispatches the budgets of the family."""

from __future__ import annotations

from onkel.numerics.calling import FIRST_ADDRESS
from onkel.numerics.jit import jit_inline
from onkel.support.removal.bounded import bounded_slot
from onkel.support.removal.by_slot import given_slot
from onkel.support.removal.family import RemovalKind
from onkel.support.removal.fixed_random import fixed_random_slot
from onkel.support.removal.most_redundant import most_redundant_slot
from onkel.support.removal.oldest import oldest_slot
from onkel.support.removal.random import random_slot
from onkel.support.removal.replace_simple import simple_slot
from onkel.support.removal.shrink_oldest import shrunk_slot
from onkel.support.removal.smallest import smallest_slot


@jit_inline
def slot_to_drop(limits, context, rows, t, b, slots, size, scratch):
    """(slot, factor of the stored rows before the new one is added, factor of all after that).

    ``scratch.new`` (K,) are the new row's coefficients, a step of size b.
    """
    kind, par, state = limits.kind, limits.par, context.state
    new, work = scratch.new, scratch.work
    s, before, after = 0, 1.0, 1.0
    if kind == RemovalKind.RANDOM:
        s = random_slot(slots.rng, size)
    elif kind == RemovalKind.OLDEST:
        s = oldest_slot(slots.info, size)
    elif kind == RemovalKind.SMALLEST:
        s = smallest_slot(slots.A, slots.info, size, work)
    elif kind == RemovalKind.MOST_REDUNDANT:
        s = most_redundant_slot(context.loss, slots, size, rows.panel, t, new, state)
    elif kind == RemovalKind.SHRINK_OLDEST:
        s, after = shrunk_slot(par, context.loss, slots, size, rows.panel, t, new, state)
    elif kind == RemovalKind.BOUNDED:
        s, before, after = bounded_slot(par, slots, size, b, new, state, work)
    elif kind == RemovalKind.FIXED_RANDOM:
        s, after = fixed_random_slot(slots.rng, size)
    elif kind == RemovalKind.REPLACE_SIMPLE:
        s = simple_slot(slots, size, rows, t, new, state, work)
    elif kind >= FIRST_ADDRESS:
        s = given_slot(kind, par, slots.A, slots.info, rows.panel, t, size)
    else:
        raise NotImplementedError("unknown budget: removal/slot.py has no slot for its number")
    return s, before, after
