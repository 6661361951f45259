"""The compiled loops of explicit learners: rows in order, one dot and one axpy each.

A model is W (K, m), the weights of K outputs over m features, times ``state[SCALE]``, so that
``f ← a·f`` costs one multiplication. Three loops learn the rows of a block: features that are fixed
(:func:`learn_block`), a support set that grows (:func:`grow_block`), and features that are learned
(:mod:`onkel.explicit.reparameterized`). All of them move f by :func:`update`.
"""

from __future__ import annotations

import math

import numpy as np

from onkel.model.common_factor import folds, rescale
from onkel.numerics.calling import FIRST_ADDRESS
from onkel.numerics.jit import axpy, dot, jit, jit_inline
from onkel.rules.adagrad import adagrad_move
from onkel.rules.base import ALPHA, PENDING, RADIUS, SCALE, SQUARED_NORM, RuleKind, T, UpdateContext
from onkel.rules.dispatch import direction_sums, judge, step
from onkel.rules.doubly_stochastic import move_part


@jit_inline
def _add_to_total(W, context):
    """Add W, once for each row since it last changed, to the sum of all iterates.

    Rows that change only the common factor add that to PENDING, so that a row which does not move
    f costs no pass over the weights.
    """
    state, total = context.state, context.total
    if total.shape[0] > 0 and state[PENDING] > 0.0:
        for k in range(W.shape[0]):
            for j in range(W.shape[1]):
                total[k, j] += state[PENDING] * W[k, j]
        state[PENDING] = 0.0


@jit_inline
def _rescale(W, a, context):
    """f ← a f."""
    if folds(a, context.state):
        _add_to_total(W, context)
    rescale(W, a, context.state)


@jit_inline
def _count_iterate(context):
    """The weights after a row are one more term of their sum."""
    if context.total.shape[0] > 0:
        context.state[PENDING] += context.state[SCALE]


@jit_inline
def _project(W, radius, context):
    """f ← min(1, U/‖f‖) f."""
    state = context.state
    if state[SQUARED_NORM] > radius * radius:
        _rescale(W, radius / math.sqrt(state[SQUARED_NORM]), context)
        state[SQUARED_NORM] = radius * radius


@jit_inline
def update(Z, t, q, weight, value, W, H, context, P, c):
    """Move f after row t by the rule; True where W changed by more than its common factor.

    ``q`` is κ(x, x), or negative for ‖z‖², computed only where the rule reads it.
    """
    rule, par, state = context.rule, context.par, context.state
    if rule == RuleKind.ADAGRAD:
        _add_to_total(W, context)
        return adagrad_move(par, weight, Z, t, c, W, H)
    c2, cp = direction_sums(c, P, t)
    if c2 == 0.0 and par[ALPHA] == 0.0:
        return False
    if q < 0.0 and (rule == RuleKind.PASSIVE_AGGRESSIVE or par[RADIUS] > 0.0):
        q = float(dot(Z, t, Z, t))
    a, b = step(context, weight, value, c2, q)
    if a != 1.0:
        _rescale(W, a, context)
    if c2 > 0.0:
        _add_to_total(W, context)
        for k in range(c.shape[0]):
            if c[k] == 0.0:
                continue
            if rule == RuleKind.DOUBLY_STOCHASTIC:
                move_part(par, state[T], b * c[k] / state[SCALE], Z, t, W, k)
            else:
                axpy(b * c[k] / state[SCALE], Z, t, W, k)
    if par[RADIUS] > 0.0:
        state[SQUARED_NORM] = a * a * state[SQUARED_NORM] + 2.0 * a * b * cp + b * b * c2 * q
        _project(W, par[RADIUS], context)
    return c2 > 0.0


@jit_inline
def scores(W, Z, t, state, P):
    """p_k = f_k(x) of row t."""
    for k in range(W.shape[0]):
        P[t, k] = state[SCALE] * dot(W, k, Z, t)


@jit_inline
def learn_row(Z, t, q, y, weight, W, H, context, P, c):
    """Learn row t, whose scores are P[t]."""
    context.state[T] += 1.0
    if q < 0.0 and context.rule >= FIRST_ADDRESS:
        q = float(dot(Z, t, Z, t))
    value = judge(context, P, t, y, q, c)
    moved = update(Z, t, q, weight, value, W, H, context, P, c)
    _count_iterate(context)
    return moved


@jit
def learn_one(Z, t, q, y, weight, W, H, context, P, c):
    """:func:`learn_row`, from Python."""
    learn_row(Z, t, q, y, weight, W, H, context, P, c)


@jit
def learn_block(Z, y, weight, W, H, context, P):
    """Rows of fixed features Z (n, m), in order; P (n, K) gets the scores before each."""
    c, state = np.empty(W.shape[0]), context.state
    for t in range(Z.shape[0]):
        scores(W, Z, t, state, P)
        if weight[t] > 0.0:
            learn_row(Z, t, -1.0, y[t], weight[t], W, H, context, P, c)


@jit
def grow_block(panel, q, size, index, y, weight, W, context, P):
    """Kernel learning until the support set is full: returns (rows done, support size).

    ``panel`` (n, B + n) holds κ between the rows of the block and the B landmark places followed
    by the rows themselves; ``index[j]`` is the column of support vector j, ``W[:, j]`` its
    coefficients. Stops at the first row that would need place B + 1: it is scored, not learned.
    """
    n, n_landmarks, state = P.shape[0], W.shape[1], context.state
    c, before = np.empty(W.shape[0]), np.empty_like(state)
    Z = np.zeros((n, n_landmarks), W.dtype)
    no_state = np.empty((0, 0), W.dtype)
    for t in range(n):
        for j in range(size):
            Z[t, j] = panel[t, index[j]]
        scores(W, Z, t, state, P)
        if weight[t] == 0.0:
            continue
        before[:] = state
        state[T] += 1.0
        value = judge(context, P, t, y[t], q[t], c)
        if np.any(c != 0.0):
            if size == n_landmarks:
                state[:] = before
                return t, size
            # f moves along the new vector alone: its features are the unit vector of its place
            Z[t, :] = 0.0
            Z[t, size] = 1.0
            index[size] = n_landmarks + t
            size += 1
        update(Z, t, q[t], weight[t], value, W, no_state, context, P, c)
        _count_iterate(context)
    return n, size


@jit
def learn_one_or_undo(Z, y, weight, W, H, state, loss, epsilon, rule, par, total):
    """Learn a row whose scores are finite before and after it; where they aren't, do nothing.

    The parts of the :class:`~onkel.rules.base.UpdateContext` are arguments of their own: Python
    passes them faster than a tuple, which matters for a single row.
    """
    P = np.empty((1, W.shape[0]))
    W_before, H_before, state_before = W.copy(), H.copy(), state.copy()
    total_before = total.copy()
    learn_block(Z, y, weight, W, H, UpdateContext(state, loss, epsilon, rule, par, total), P)
    finite = True
    for k in range(W.shape[0]):
        # what became infinite did so along z; a compiled math.isfinite misses it where sums may be
        # reordered
        finite &= abs(P[0, k]) < math.inf and abs(state[SCALE] * dot(W, k, Z, 0)) < math.inf
    for k in range(len(state)):
        finite &= abs(state[k]) < math.inf
    for k in range(H.shape[0]):
        for j in range(H.shape[1]):
            finite &= abs(H[k, j]) < math.inf
    if not finite:
        W[:], H[:], state[:] = W_before, H_before, state_before
        total[:] = total_before
    return finite


@jit
def weigh_row(Z, W, state, p):
    """p (K,) ← f(x) of one row of features Z (1, m)."""
    for k in range(W.shape[0]):
        total = W.dtype.type(0.0)
        for j in range(Z.shape[1]):
            total += W[k, j] * Z[0, j]
        p[k] = state[SCALE] * total
