"""The loop of the removal family: a full set drops one stored row for each new one.

Also learners without a budget, and those that don't add every row. See
:mod:`onkel.models.support_pieces` for how the kernel values come to the rows.
"""

from __future__ import annotations

import math

import numpy as np

from onkel._jit import jit, jit_inline
from onkel._random import pick, uniform
from onkel.budgets.base import BudgetKind
from onkel.budgets.bounded import bounded_removal
from onkel.budgets.removal import most_redundant, oldest, smallest
from onkel.budgets.replacing import replace_best
from onkel.budgets.shrinking import MISTAKES, Variant, basic_shrinkage, self_tuned_shrinkage
from onkel.losses import evaluate
from onkel.models.loops import SCALE, SQUARED_NORM, T
from onkel.models.support_pieces import (
    CHANGED,
    REMOVED,
    SIZE,
    catch_up,
    direction_sums,
    norm_from_gram,
    norm_without,
    place,
    refresh_outputs,
    scale_by,
    score,
    shift_outputs,
    step,
)
from onkel.rules.base import ALPHA, RADIUS

__all__ = ["learn_removal"]

# Recursions over the kernel matrix are begun anew after so many removals.
_REFRESH = 1024


@jit_inline
def _slot_to_drop(slots, kind, bpar, loss, b, q, new, panel, t, n, state):
    """(slot, factor of what is kept before the new row comes, factor of all after)."""
    A, born, scale, size = slots.A, slots.born, state[SCALE], slots.counts[SIZE]
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
        if int(bpar[0]) == Variant.SELF_TUNED:
            return s, 1.0, self_tuned_shrinkage(slots, loss, size, s, panel, t, n, new, scale)
        return s, 1.0, 1.0
    if kind == BudgetKind.BOUNDED:
        return bounded_removal(slots, bpar, size, b, new, scale)
    if kind == BudgetKind.FIXED_RANDOM:
        return pick(slots.rng, size + 1), 1.0, (size + 1.0) / size
    return replace_best(slots, size, q, new, panel, t, n, scale), 1.0, 1.0


@jit_inline
def _thinned(b, chance, rng):
    """b over the chance of a row to be kept, or 0 where it isn't."""
    if uniform(rng) < chance:
        return b / chance
    return 0.0


@jit_inline
def _store(slots, s, size, y, b, q, c, c2, cp, new, panel, t, n, track, state):
    """f ← f without slot s, then with row t in its place."""
    if track:
        norm = state[SQUARED_NORM]
        if s < size:
            norm, cp = norm_without(slots, s, size, panel, t, n, c, cp, state)
        state[SQUARED_NORM] = max(norm + 2.0 * b * cp + b * b * c2 * q, 0.0)
    keeps_outputs = slots.outputs.shape[1] > 0
    if keeps_outputs and s < size:
        shift_outputs(slots, s, size, -1.0)
    place(s, t, n, y, q, new, panel, slots, state)
    if keeps_outputs:
        shift_outputs(slots, s, slots.counts[SIZE], 1.0)


@jit_inline
def _add(slots, kind, limit, bpar, loss, y, b, q, c, c2, cp, new, panel, t, n, track, state):
    """Row t joins the support set, which makes room for it."""
    size = slots.counts[SIZE]
    s, before, after = size, 1.0, 1.0
    slots.memory[MISTAKES] += 1.0
    if size == limit:
        s, before, after = _slot_to_drop(slots, kind, bpar, loss, b, q, new, panel, t, n, state)
        slots.counts[REMOVED] += 1
    if kind == BudgetKind.SHRINK and int(bpar[0]) == Variant.BASIC:
        after = basic_shrinkage(limit, state[SQUARED_NORM] + 2.0 * b * cp + b * b * c2 * q)
    scale_by(slots, before, state)
    if s < limit or limit < 0:
        _store(slots, s, size, y, b, q, c, c2, before * cp, new, panel, t, n, track, state)
    scale_by(slots, after, state)
    if size == limit:
        anew = slots.counts[REMOVED] % _REFRESH == 0
        if track and (anew or kind == BudgetKind.BOUNDED):
            norm_from_gram(slots, size, state)
        if anew and slots.outputs.shape[1] > 0:
            refresh_outputs(slots, size)


@jit
def learn_removal(
    panel, q, y, weight, slots, kind, limit, bpar, track, state, loss, epsilon, rule, par, P
):
    """Learn the rows of one sub-block; P (n, K) gets the scores before each.

    ``limit`` is B, -1 for none; ``track`` says that ‖f‖² is kept.
    """
    A, counts, changes = slots.A, slots.counts, slots.changes
    K, n = P.shape[1], P.shape[0]
    c, new = np.empty(K), np.empty(K)
    counts[CHANGED] = 0
    for t in range(n):
        catch_up(panel, t, n, changes, counts[CHANGED])
        score(panel, t, n, A, counts[SIZE], state, P)
        if weight[t] == 0.0:
            continue
        state[T] += 1.0
        value = evaluate(loss, P, t, y[t], epsilon, c)
        c2, cp = direction_sums(c, P, t)
        if c2 == 0.0 and par[ALPHA] == 0.0:
            continue
        a, b = step(rule, par, state[T], weight[t], value, c2, q[t])
        scale_by(slots, a, state)
        if c2 > 0.0 and kind == BudgetKind.STOCHASTIC:
            b = _thinned(b, state[T] ** -bpar[0], slots.rng)
        if c2 > 0.0 and b > 0.0:
            for k in range(K):
                new[k] = b * c[k]
            _add(slots, kind, limit, bpar, loss, y[t], b, q[t], c, c2, a * cp, new, panel, t, n,
                 track, state)  # fmt: skip
        if par[RADIUS] > 0.0 and state[SQUARED_NORM] > par[RADIUS] * par[RADIUS]:
            scale_by(slots, par[RADIUS] / math.sqrt(state[SQUARED_NORM]), state)
            state[SQUARED_NORM] = par[RADIUS] * par[RADIUS]
