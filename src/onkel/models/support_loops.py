"""The loop of the removal family: a full set drops one stored row for each new one.

Also learners without a budget, and those that don't add every row. See
:mod:`onkel.models.support_pieces` for how the kernel values come to the rows.
"""

from __future__ import annotations

from onkel._jit import jit_inline
from onkel._random import pick
from onkel.budgets.base import BudgetKind
from onkel.budgets.bounded import bounded_removal
from onkel.budgets.removal import most_redundant, oldest, smallest
from onkel.budgets.replacing import replace_best
from onkel.budgets.shrinking import self_tuned_shrinkage
from onkel.models.loops import SCALE, SQUARED_NORM, rescale
from onkel.models.support_pieces import (
    norm_without,
    output_at,
    place,
)

__all__ = ["learn_removal"]

# Recursions over the kernel matrix are begun anew after so many removals.
_REFRESH = 1024


@jit_inline
def _slot_to_drop(slots, kind, bpar, loss, size, b, q, new, panel, t, n, state):
    """(slot, factor of what is kept before the new row comes, factor of all after)."""
    A, born, scale = slots.A, slots.born, state[SCALE]
    if kind == BudgetKind.RANDOM:
        return pick(slots.rng, size), 1.0, 1.0
    if kind == BudgetKind.OLDEST:
        return oldest(born, size), 1.0, 1.0
    if kind == BudgetKind.SMALLEST:
        return smallest(A, slots.diagonal, born, size), 1.0, 1.0
    if kind == BudgetKind.REDUNDANT:
        return most_redundant(slots, loss, size, panel, t, n, new, scale), 1.0, 1.0
    if kind == BudgetKind.SHRINK:
        s = oldest(born, size)
        if bpar[0] == 0.0:
            return s, 1.0, self_tuned_shrinkage(slots, loss, size, s, panel, t, n, new, scale)
        return s, 1.0, 1.0
    if kind == BudgetKind.BOUNDED:
        return bounded_removal(slots, bpar, size, b, new, scale)
    if kind == BudgetKind.FIXED_RANDOM:
        return pick(slots.rng, size + 1), 1.0, (size + 1.0) / size
    return replace_best(slots, size, q, new, panel, t, n, scale), 1.0, 1.0


@jit_inline
def _insert(
    slots, s, size, full, before, after, y, q, c, new, c2, cp, b, panel, t, n, track, state
):
    """f ← after·(before·(f without slot s) + new κ(x, ·)), and its norm; s = B + 1: not added."""
    A = slots.A
    added = s <= size - full
    if track:
        norm = state[SQUARED_NORM]
        if full and added:
            norm, cp = norm_without(slots, s, size, panel, t, n, c, cp, state)
        if added:
            norm = before * before * norm + 2.0 * before * b * cp + b * b * c2 * q
        state[SQUARED_NORM] = after * after * norm
    if before != 1.0:
        rescale(A, before, state)
    if added:
        place(s, t, n, y, q, new, panel, slots, state)
    if after != 1.0:
        rescale(A, after, state)


@jit_inline
def _move_outputs(slots, s, size, old, replaced):
    """f(s_j)/scale of all slots after slot s was filled; it had ``old`` (K,), ``replaced`` κ."""
    A, gram, outputs = slots.A, slots.gram, slots.outputs
    for k in range(A.shape[0]):
        for j in range(size):
            outputs[k, j] += A[k, s] * gram[s, j] - old[k] * replaced[j]
        outputs[k, s] = output_at(A, gram, s, k, size)
