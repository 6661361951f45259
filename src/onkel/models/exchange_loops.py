"""The loop of the budgets that give the part of a dropped row to those that stay.

See :mod:`onkel.budgets.exchange` for the formulas. A row that the stored ones span, but for
rounding, is written in terms of them and not stored: nothing is lost, and the inverse stays well
conditioned.
"""

from __future__ import annotations

import math

import numpy as np

from onkel._jit import jit, jit_inline
from onkel.budgets.base import DIAGONAL, BudgetKind
from onkel.budgets.exchange import least_change, nearest, nearest_change, onto_pair
from onkel.budgets.removal import smallest
from onkel.models.inverse import (
    column,
    coordinates,
    exchange,
    extend,
    is_full,
    is_worn,
    ridge,
    rounding_of,
)
from onkel.models.loops import SCALE, SQUARED_NORM, T, judge
from onkel.models.support_pieces import (
    CHANGED,
    REMOVED,
    SIZE,
    catch_up,
    direction_sums,
    norm_from_gram,
    place,
    scale_by,
    score,
    step,
)
from onkel.rules.base import ALPHA, RADIUS

__all__ = ["learn_exchange"]

# A residual ‖δ‖² + λ below so many λ is rounding error.
_SPANNED = 4.0


@jit_inline
def _give_up(r, size, u, A, new, state):
    """α_i ← α_i - α_r u_i/u_r of all rows that stay, the new one too."""
    for k in range(A.shape[0]):
        share = A[k, r] / A.dtype.type(u[r])
        for i in range(size):
            A[k, i] -= share * A.dtype.type(u[i])
        new[k] -= state[SCALE] * share * u[size]


@jit_inline
def _spread(size, d, A, new, state):
    """f ← f + new Pκ(x, ·): the new row in terms of the stored ones."""
    for k in range(A.shape[0]):
        share = new[k] / state[SCALE]
        for j in range(size):
            A[k, j] += share * d[j]


@jit_inline
def _drop_by_inverse(kind, delta2, q, size, A, info, inverse, terms, new, d, u, work, state):
    """The slot that goes, its part given to the others; -1 where the new row is the one."""
    if kind == BudgetKind.EXCHANGE_LEAST:
        r = least_change(A, terms.diagonal, d, delta2, size)
    else:
        r = smallest(A, info, size, work)
        stored = 0.0
        joins = 0.0
        for k in range(A.shape[0]):
            stored += A[k, r] * A[k, r]
            joins += new[k] * new[k]
        if joins * q < stored * info[DIAGONAL, r] * state[SCALE] * state[SCALE]:
            _spread(size, d, A, new, state)
            return -1
    column(inverse, d, delta2, r, size, terms, u)
    _give_up(r, size, u, A, new, state)
    exchange(d, u, delta2, r, size, terms)
    return r


@jit_inline
def _drop_beside(panel, t, q, size, A, info, gram, neighbour, new, state):
    """The slot that goes, its part given to the new row and its nearest neighbour."""
    if neighbour[0] == -2:
        for j in range(size):
            neighbour[j] = nearest(j, size, info, gram)
    r = nearest_change(A, neighbour, q, panel, t, size, info, gram)
    m = neighbour[r]
    u, v, _ = onto_pair(r, m, q, panel[t, r], panel[t, max(m, 0)], info, gram)
    for k in range(A.shape[0]):
        if m >= 0:
            A[k, m] += A[k, r] * A.dtype.type(v)
        new[k] += state[SCALE] * A[k, r] * u
    return r


@jit_inline
def _new_neighbours(r, size, info, gram, neighbour):
    """The nearest neighbours after slot r has been filled anew."""
    for j in range(size):
        i = neighbour[j]
        if i == r or j == r:
            neighbour[j] = nearest(j, size, info, gram)
        elif info[DIAGONAL, r] - 2.0 * gram[j, r] < info[DIAGONAL, i] - 2.0 * gram[j, i]:
            neighbour[j] = r


@jit
def learn_exchange(
    panel, q, y, weight, slots, inverse, terms, ahead, kind, limit, track, state, loss, epsilon,
    rule, par, first, P,
):  # fmt: skip
    """Learn the rows of one sub-block from row ``first`` on; P (n, K) gets the scores before each.

    Returns the row to go on with: the inverse has to be settled, or made anew, before it.
    """
    A, info, gram, outputs, _, counts, changes = slots
    K, n = P.shape[1], P.shape[0]
    by_inverse = kind != BudgetKind.EXCHANGE_NEAREST
    rounding = rounding_of(A.itemsize)
    c, new = np.empty(K), np.empty(K)
    d, u, v = np.empty(limit + 1), np.empty(limit + 1), np.empty(limit)
    work = np.empty((1, limit))
    neighbour = np.full(limit, -2)
    if first == 0:
        counts[CHANGED] = 0
    for t in range(first, n):
        size, removed = counts[SIZE], counts[REMOVED]
        catch_up(panel, t, changes, counts[CHANGED])
        score(panel, t, A, size, state, P)
        if weight[t] == 0.0:
            continue
        state[T] += 1.0
        value = judge(loss, P, t, y[t], epsilon, par, state, c)
        c2, _ = direction_sums(c, P, t)
        if c2 == 0.0 and par[ALPHA] == 0.0:
            continue
        a, b = step(rule, par, state[T], weight[t], value, c2, q[t])
        scale_by(A, outputs, a, state)
        if c2 > 0.0 and b > 0.0:
            for k in range(K):
                new[k] = b * c[k]
            r = size
            if size == limit:
                counts[REMOVED] += 1
            if by_inverse:
                delta2 = coordinates(panel, t, q[t], size, inverse, terms, ahead, d, u, v, rounding)
                if delta2 <= _SPANNED * ridge(q[t], rounding):
                    _spread(size, d, A, new, state)
                    r = -1
                elif size == limit:
                    r = _drop_by_inverse(
                        kind, delta2, q[t], size, A, info, inverse, terms, new, d, u, work, state
                    )
                else:
                    extend(d, delta2, size, terms)
            elif size == limit:
                r = _drop_beside(panel, t, q[t], size, A, info, gram, neighbour, new, state)
            if r >= 0:
                place(r, panel, t, y[t], q[t], new, A, info, gram, counts, changes, state)
            if size == limit and not by_inverse:
                _new_neighbours(r, size, info, gram, neighbour)
            if track:
                norm_from_gram(counts[SIZE], A, gram, state)
        if par[RADIUS] > 0.0 and state[SQUARED_NORM] > par[RADIUS] * par[RADIUS]:
            scale_by(A, outputs, par[RADIUS] / math.sqrt(state[SQUARED_NORM]), state)
            state[SQUARED_NORM] = par[RADIUS] * par[RADIUS]
        if by_inverse and (is_full(terms) or is_worn(removed, counts[REMOVED], limit)):
            return t + 1
    return n
