"""The model of the exchange family: a dropped row's part of f goes to the rows that stay.

See :mod:`onkel.support.exchange.bpa` for the formulas. A row that the stored ones span, up to
rounding, is expressed by them and not stored: nothing is lost, and the inverse stays well
conditioned.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from onkel.fields import Array
from onkel.numerics.jit import jit, jit_inline
from onkel.rules.base import SCALE, T
from onkel.support.exchange.bpa import (
    Exchange,
    ExchangeKind,
    drop_beside,
    first_neighbours,
    least_change_slot,
    new_neighbours,
    smallest_of_all,
)
from onkel.support.exchange.inverse import (
    Inverse,
    anew,
    column,
    coordinates,
    exchange,
    extend,
    is_full,
    is_worn,
    look_ahead,
    new_terms,
    ridge,
    rounding_of,
    settle,
)
from onkel.support.model import BudgetModel
from onkel.support.slots import (
    CHANGED,
    REMOVED,
    SIZE,
    Limits,
    Rows,
    Slots,
    catch_up,
    norm_from_gram,
    place,
    score,
)
from onkel.support.stored_rows import SLOTS
from onkel.support.update import onto_ball, scale_by, update_of

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
        raise NotImplementedError("unknown budget: exchange_model.py has no slot for its number")
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
    update = update_of(context, rows, t, c)
    scale_by(slots.A, slots.outputs, update.a, state)
    if update.b > 0.0:
        for k in range(c.shape[0]):
            new[k] = update.b * c[k]
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
    # room before d: close behind what it is computed from, it would be summed in another order
    # (tests/numerics/test_sums_in_loops.py)
    d = np.empty(32 + B + 1)[32:]
    scratch = Scratch(
        np.empty(K), np.empty(K), d, np.empty(B + 1), np.empty(B),
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


# Rows multiplied ahead, at first and at most.
_AHEAD_ROWS, _MOST_AHEAD = 24, 64
# An inverse of more rows does not fit the second-level cache. Where more than this share of the
# rows is added, one product for all rows costs less than a pass over the inverse for each of those.
_LARGE, _OFTEN = 512, 0.4


class ExchangeModel(BudgetModel):
    """Coefficients over stored rows; a row that is dropped gives its part of f to the others.

    ``inverse`` (capacity, capacity) is the lower triangle of the inverse kernel matrix; see
    :mod:`onkel.support.exchange.inverse`. It is settled where a block ends, so blocks affect its
    rounding. The coefficients that come from it are float64: the difference is far too small to
    change a decision.
    """

    budget: Exchange
    inverse: np.ndarray

    def arrays(self) -> dict[str, Array]:
        m = SLOTS if self.budget.needs_inverse() else 0
        dtype = np.float64 if self.budget.needs_inverse() else self.dtype
        return super().arrays() | {
            "A": Array(dtype=dtype, shape=("n_outputs", SLOTS)),
            "inverse": Array(dtype=np.float64, shape=(m, m)),
        }

    def _learn(self, X: np.ndarray, rows: Rows, slots: Slots, limits: Limits) -> None:
        done, ahead_rows = 0, _AHEAD_ROWS
        while done < len(X):
            removed, first = int(self.counts[REMOVED]), done
            # before the first row the count is still that of the last block
            changed = slots.changes[:, : self.counts[CHANGED] if done else 0]
            n_ahead = ahead_rows if self._often else 0
            ahead = look_ahead(self.inverse, rows.panel, changed, done, n_ahead)
            inverse = Inverse(self.inverse, new_terms(self.inverse), ahead)
            done = learn_exchange(rows, slots, inverse, limits, self.context(), first)
            ahead_rows = min(done - first, _MOST_AHEAD)
            if self.budget.needs_inverse():
                if is_worn(removed, int(self.counts[REMOVED]), self.limit):
                    rounding = rounding_of(self.dtype.itemsize)
                    anew(self.gram, self.info, self.size, self.inverse, rounding)
                else:
                    settle(self.inverse, inverse.terms)
        self._keep_rows(X, rows, slots)

    @property
    def _often(self) -> bool:
        """Whether a large set adds so many of its rows that one product for all pays."""
        full = _LARGE < self.size == self.limit == len(self.inverse)
        return full and bool(self.counts[REMOVED] > _OFTEN * self.state[T])
