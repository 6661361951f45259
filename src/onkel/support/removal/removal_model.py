"""The model of the removal family: a full set drops one stored row for each new one.

It also serves learners without a budget, and those that don't store every row.
:func:`slot_to_drop` is the one place that dispatches the budgets of the family. See
:mod:`onkel.support.slots` for where the kernel values come from.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from onkel.fields import Array
from onkel.numerics.calling import FIRST_ADDRESS, python_function
from onkel.numerics.jit import jit, jit_inline
from onkel.numerics.random import pick
from onkel.rules.base import PENDING, SCALE, SQUARED_NORM, T
from onkel.support.model import BudgetModel
from onkel.support.removal.bogd import bounded_slot, cuts
from onkel.support.removal.by_slot import given_slot
from onkel.support.removal.choices import (
    fixed_random_slot,
    most_redundant_slot,
    oldest_slot,
    simple_slot,
    smallest_slot,
)
from onkel.support.removal.forgetron import MISTAKES, shrinkage_of_all, shrunk_slot
from onkel.support.removal.kinds import Removal, RemovalKind
from onkel.support.removal.unbounded import thinned
from onkel.support.slots import (
    AFTER,
    ANEW,
    BEFORE,
    CHANGED,
    REMOVAL,
    REMOVED,
    SIZE,
    Limits,
    Rows,
    Slots,
    catch_up,
    norm_from_gram,
    norm_without,
    place,
    refresh_outputs,
    score,
    shift_outputs,
)
from onkel.support.stored_rows import SLOTS
from onkel.support.update import add_to_totals, onto_ball, scale_by, update_of


@jit_inline
def slot_to_drop(limits, context, rows, t, b, slots, size, scratch):
    """(slot, factor of the stored rows before the new one is added, factor of all after that).

    ``scratch.new`` (K,) are the new row's coefficients, a step of size b.
    """
    kind, par, state = limits.kind, limits.par, context.state
    new, work = scratch.new, scratch.work
    s, before, after = 0, 1.0, 1.0
    if kind == RemovalKind.RANDOM:
        s = pick(slots.rng, size)
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
        raise NotImplementedError("unknown budget: slot_to_drop knows no slot for its number")
    return s, before, after


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
    update = update_of(context, rows, t, c)
    add_to_totals(slots, update.a, state)
    scale_by(slots.A, slots.outputs, update.a, state)
    b = update.b
    if b > 0.0 and limits.kind == RemovalKind.STOCHASTIC:
        b = thinned(limits.par, state[T], b, slots.rng)
    if b > 0.0:
        for k in range(c.shape[0]):
            new[k] = b * c[k]
        _add(t, b, update.c2, update.a * update.cp, rows, slots, limits, context, scratch)
    onto_ball(slots, context)
    if slots.since.shape[0] > 0 and rows.weight[t] > 0.0:
        state[PENDING] += state[SCALE]


@jit
def learn_removal(rows, slots, limits, context):
    """Learn the rows of one sub-block."""
    K = rows.P.shape[1]
    scratch = Scratch(np.empty(K), np.empty(K), np.empty((1, slots.A.shape[1])))
    slots.counts[CHANGED] = 0
    for t in range(rows.P.shape[0]):
        _learn_row(t, rows, slots, limits, context, scratch)


# Rows of κ(S, S) that are computed at once.
_ROWS = 64


class RemovalModel(BudgetModel):
    """Coefficients over stored rows; a full set drops one of them for each new row.

    Where only ‖f‖² needs κ(S, S) and the budget is large, one row of it is computed anew for each
    removal: memory is O(B).
    """

    budget: Removal

    def arrays(self) -> dict[str, Array]:
        arrays = super().arrays()
        if self.budget.recomputes(self.par):
            arrays["gram"] = Array(dtype=self.dtype, shape=(2, SLOTS))
        return arrays

    def _learn(self, X: np.ndarray, rows: Rows, slots: Slots, limits: Limits) -> None:
        if not self.budget.recomputes(self.par):
            learn_removal(rows, slots, limits, self.context())
            self._keep_rows(X, rows, slots)
            return
        X = X.astype(self.dtype, copy=False)
        before = np.zeros_like(self.A)

        def recompute(r: int) -> None:
            if r == BEFORE:
                before[:] = self.A
                return
            self._keep_rows(X, rows, slots)
            S = self.S[: self.size]
            if r == ANEW:
                before[:] = 0.0
                self.state[SQUARED_NORM] = self._growth(before, S)
            elif r == AFTER:
                self.state[SQUARED_NORM] += self._growth(before, S)
            else:
                row = self.kernel.ordered_gram(S[r : r + 1], S, self.gamma_)
                self.gram[REMOVAL, : len(S)] = row[0]

        with python_function(recompute) as address:
            learn_removal(rows, slots._replace(recompute=address), limits, self.context())
        self._keep_rows(X, rows, slots)

    def _growth(self, before: np.ndarray, S: np.ndarray) -> float:
        """‖f‖² - ‖f₀‖² = ⟨f - f₀, f + f₀⟩ over S (size, d), f₀ with the coefficients ``before``."""
        old = before[:, : len(S)].astype(np.float64)
        new = self.A[:, : len(S)].astype(np.float64)
        changed = np.flatnonzero((new != old).any(axis=0))
        total = 0.0
        for a in range(0, len(changed), _ROWS):
            j = changed[a : a + _ROWS]
            K = self.kernel.ordered_gram(S[j], S, self.gamma_)
            total += float(np.vdot((new - old)[:, j], (new + old) @ K.T))
        return float(self.state[SCALE]) ** 2 * total
