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
from onkel.budgets.bounded import bounded, bounded_removal, is_nonuniform
from onkel.budgets.removal import most_redundant, oldest, smallest
from onkel.budgets.replacing import replace_best
from onkel.budgets.shrinking import MISTAKES, Variant, basic_shrinkage, forget
from onkel.models.loops import SCALE, SQUARED_NORM, T, judge
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
    stretch_to,
)
from onkel.rules.base import ALPHA, RADIUS

__all__ = ["learn_removal"]


@jit_inline
def _slot_to_drop(
    kind, bpar, loss, b, q, new, panel, t, size, A, info, gram, outputs, rng, state, work
):
    """(slot, factor of what is kept before the new row comes, factor of all after)."""
    scale = state[SCALE]
    s, before, after = 0, 1.0, 1.0
    if kind == BudgetKind.RANDOM:
        s = pick(rng, size)
    elif kind == BudgetKind.OLDEST:
        s = oldest(info, size)
    elif kind == BudgetKind.SMALLEST:
        s = smallest(A, info, size, work)
    elif kind == BudgetKind.REDUNDANT:
        s = most_redundant(loss, A, info, outputs, size, panel, t, new, scale)
    elif kind == BudgetKind.SHRINK:
        s, after = forget(int(bpar[0]), loss, A, info, gram, size, panel, t, new, scale, state)
    elif kind == BudgetKind.BOUNDED:
        s, before = bounded_removal(bpar, A, info, size, rng, work)
        if is_nonuniform(bpar):
            stretch_to(before, s, size, work, A, info, gram, state)
        after = bounded(bpar, A, size, s, b, new, before * scale)
    elif kind == BudgetKind.FIXED_RANDOM:
        s = pick(rng, size + 1)
        after = (size + 1.0) / size
    else:
        s = replace_best(A, info, size, q, new, panel, t, scale, work)
    return s, before, after


@jit_inline
def _thinned(b, chance, rng):
    """b over the chance of a row to be kept, or 0 where it isn't."""
    if uniform(rng) < chance:
        return b / chance
    return 0.0


@jit_inline
def _store(
    s, size, y, b, q, c, c2, cp, new, panel, t, track,
    A, info, gram, outputs, counts, changes, state,
):  # fmt: skip
    """f ← f without slot s, then with row t in its place."""
    if track:
        norm = state[SQUARED_NORM]
        if s < size:
            norm, cp = norm_without(s, size, panel, t, c, cp, A, info, gram, state)
        state[SQUARED_NORM] = max(norm + 2.0 * b * cp + b * b * c2 * q, 0.0)
    if outputs.shape[1] > 0 and s < size:
        shift_outputs(s, size, -1.0, A, gram, outputs)
    place(s, panel, t, y, q, new, A, info, gram, counts, changes, state)
    if outputs.shape[1] > 0:
        shift_outputs(s, counts[SIZE], 1.0, A, gram, outputs)


@jit_inline
def _along(c, panel, t, size, A, state):
    """c·f(x) of row t."""
    total = 0.0
    for k in range(A.shape[0]):
        for j in range(size):
            total += c[k] * A[k, j] * panel[t, j]
    return state[SCALE] * total


@jit_inline
def _add(
    kind, limit, bpar, loss, y, b, q, c, c2, cp, new, panel, t, track,
    A, info, gram, outputs, rng, counts, changes, state, work,
):  # fmt: skip
    """Row t joins the support set, which makes room for it."""
    size = counts[SIZE]
    s, before, after = size, 1.0, 1.0
    state[MISTAKES] += 1.0
    if size == limit:
        s, before, after = _slot_to_drop(
            kind, bpar, loss, b, q, new, panel, t, size, A, info, gram, outputs, rng, state,
            work,
        )  # fmt: skip
        counts[REMOVED] += 1
        if kind == BudgetKind.BOUNDED and track:
            cp = _along(c, panel, t, size, A, state)
    if kind == BudgetKind.SHRINK and int(bpar[0]) == Variant.BASIC:
        after = basic_shrinkage(limit, state[SQUARED_NORM] + 2.0 * b * cp + b * b * c2 * q)
    scale_by(A, outputs, before, state)
    if s < limit or limit < 0:
        _store(
            s, size, y, b, q, c, c2, before * cp, new, panel, t, track,
            A, info, gram, outputs, counts, changes, state,
        )  # fmt: skip
    scale_by(A, outputs, after, state)
    if size == limit:
        # after B removals: the O(B²) of it is O(B) a row, and errors have grown e² times at most
        anew = counts[REMOVED] % limit == 0
        cut = kind == BudgetKind.BOUNDED and bpar[2] < math.inf
        if track and (anew or cut):
            norm_from_gram(size, A, gram, state)
        if anew and outputs.shape[1] > 0:
            refresh_outputs(size, A, gram, outputs)


@jit
def learn_removal(
    panel, q, y, weight, slots, kind, limit, bpar, track, state, loss, epsilon, rule, par, P
):
    """Learn the rows of one sub-block; P (n, K) gets the scores before each.

    ``limit`` is B, -1 for none; ``track`` says that ‖f‖² is kept.
    """
    A, info, gram, outputs, rng, counts, changes = slots
    K, n = P.shape[1], P.shape[0]
    c, new, work = np.empty(K), np.empty(K), np.empty((1, A.shape[1]))
    counts[CHANGED] = 0
    for t in range(n):
        catch_up(panel, t, changes, counts[CHANGED])
        score(panel, t, A, counts[SIZE], state, P)
        if weight[t] == 0.0:
            continue
        state[T] += 1.0
        value = judge(loss, P, t, y[t], epsilon, par, state, c)
        c2, cp = direction_sums(c, P, t)
        if c2 == 0.0 and par[ALPHA] == 0.0:
            continue
        a, b = step(rule, par, state[T], weight[t], value, c2, q[t])
        scale_by(A, outputs, a, state)
        if c2 > 0.0 and kind == BudgetKind.STOCHASTIC:
            b = _thinned(b, state[T] ** -bpar[0], rng)
        if c2 > 0.0 and b > 0.0:
            for k in range(K):
                new[k] = b * c[k]
            _add(
                kind, limit, bpar, loss, y[t], b, q[t], c, c2, a * cp, new, panel, t, track,
                A, info, gram, outputs, rng, counts, changes, state, work,
            )  # fmt: skip
        if par[RADIUS] > 0.0 and state[SQUARED_NORM] > par[RADIUS] * par[RADIUS]:
            scale_by(A, outputs, par[RADIUS] / math.sqrt(state[SQUARED_NORM]), state)
            state[SQUARED_NORM] = par[RADIUS] * par[RADIUS]
