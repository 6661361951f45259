"""The sequential part of the explicit learners: rows in order, one dot and one axpy each.

A model is W (K, m), the weights of K outputs over m features, times ``state[SCALE]``, so that
``f ← a·f`` costs one multiplication. Three loops walk the rows of a block: features that are fixed
(:func:`learn_block`), a support set that grows (:func:`grow_block`), and features that are learned
(:mod:`onkel.models.reparameterized`). All of them move f by :func:`update`.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from onkel._jit import axpy, dot, jit, jit_inline
from onkel.losses import Loss, evaluate
from onkel.rules.adaptive import adagrad_move
from onkel.rules.base import ALPHA, NU, RADIUS, RuleKind
from onkel.rules.doubly_stochastic import doubly_step, move_part
from onkel.rules.gradient import gradient_step, step_size
from onkel.rules.passive_aggressive import passive_aggressive_step

__all__ = [
    "N_STATE",
    "SCALE",
    "SQUARED_NORM",
    "TUBE",
    "T",
    "grow_block",
    "is_cold",
    "judge",
    "learn_block",
    "learn_row",
    "scores",
    "update",
]

# Places in the state vector: rows learned, common factor of W, ‖f‖² (kept where f is projected),
# NORMA's tube or margin.
T, SCALE, SQUARED_NORM, TUBE = 0, 1, 2, 3
N_STATE = 4

# Outside of these W is multiplied by the factor, long before W / factor could overflow float32.
_SMALLEST_SCALE, _LARGEST_SCALE = 1e-6, 1e6


@jit_inline
def _judge_by_margin(loss, P, t, y, margin, c):
    """Loss and direction with another margin than 1: the true score is moved for the judgement."""
    k = 0 if P.shape[1] == 1 else int(y)
    p = P[t, k]
    P[t, k] = p + (1.0 - margin) * (y if P.shape[1] == 1 else 1.0)
    value = evaluate(loss, P, t, y, 0.0, c)
    P[t, k] = p
    return value


@jit_inline
def judge(loss, P, t, y, epsilon, par, state, c):
    """Loss of row t, with c = -∂loss/∂p; NORMA's tube or margin adapts."""
    if par[NU] == 0.0:
        return evaluate(loss, P, t, y, epsilon, c)
    eta = step_size(par, state[T])
    if loss > Loss.PERCEPTRON:
        value = evaluate(loss, P, t, y, state[TUBE], c)
        state[TUBE] += eta * ((1.0 if c[0] != 0.0 else 0.0) - par[NU])
    else:
        value = _judge_by_margin(loss, P, t, y, state[TUBE], c)
        state[TUBE] -= eta * ((1.0 if value > 0.0 else 0.0) - par[NU])
    return value


@jit_inline
def rescale(W, a, state):
    """f ← a·f."""
    scale = state[SCALE] * a
    if scale < _SMALLEST_SCALE or scale > _LARGEST_SCALE:
        factor = W.dtype.type(scale)
        for k in range(W.shape[0]):
            for j in range(W.shape[1]):
                W[k, j] *= factor
        scale = 1.0
    state[SCALE] = scale


@jit_inline
def _project(W, radius, state):
    """f ← min(1, U/‖f‖) f."""
    if state[SQUARED_NORM] > radius * radius:
        rescale(W, radius / math.sqrt(state[SQUARED_NORM]), state)
        state[SQUARED_NORM] = radius * radius


@jit_inline
def update(Z, t, q, weight, value, W, H, state, rule, par, P, c):
    """Move f after row t by the rule; True where W changed by more than a factor.

    ``q`` is κ(x, x), or negative for ‖z‖², computed only where the rule reads it.
    """
    if rule == RuleKind.ADAGRAD:
        return adagrad_move(par, weight, Z, t, c, W, H)
    c2 = 0.0
    cp = 0.0
    for k in range(c.shape[0]):
        c2 += c[k] * c[k]
        cp += c[k] * P[t, k]
    if c2 == 0.0 and par[ALPHA] == 0.0:
        return False
    if q < 0.0 and (rule == RuleKind.PASSIVE_AGGRESSIVE or par[RADIUS] > 0.0):
        q = float(dot(Z, t, Z, t))
    if rule == RuleKind.GRADIENT:
        a, b = gradient_step(par, state[T], weight)
    elif rule == RuleKind.DOUBLY_STOCHASTIC:
        a, b = doubly_step(par, state[T], weight)
    else:
        a, b = passive_aggressive_step(par, weight, value, c2, q)
    if a != 1.0:
        rescale(W, a, state)
    if c2 > 0.0:
        for k in range(c.shape[0]):
            if c[k] == 0.0:
                continue
            if rule == RuleKind.DOUBLY_STOCHASTIC:
                move_part(par, state[T], b * c[k] / state[SCALE], Z, t, W, k)
            else:
                axpy(b * c[k] / state[SCALE], Z, t, W, k)
    if par[RADIUS] > 0.0:
        state[SQUARED_NORM] = a * a * state[SQUARED_NORM] + 2.0 * a * b * cp + b * b * c2 * q
        _project(W, par[RADIUS], state)
    return c2 > 0.0


@jit_inline
def scores(W, Z, t, state, P):
    """p_k = f_k(x) of row t."""
    for k in range(W.shape[0]):
        P[t, k] = state[SCALE] * dot(W, k, Z, t)


@jit_inline
def learn_row(Z, t, q, y, weight, W, H, state, loss, epsilon, rule, par, P, c):
    """Learn row t, which was given the scores P[t]."""
    state[T] += 1.0
    value = judge(loss, P, t, y, epsilon, par, state, c)
    return update(Z, t, q, weight, value, W, H, state, rule, par, P, c)


@jit
def learn_block(Z, y, weight, W, H, state, loss, epsilon, rule, par, P):
    """Rows of fixed features Z (n, m), in order; P (n, K) gets the scores before each."""
    c = np.empty(W.shape[0])
    for t in range(Z.shape[0]):
        scores(W, Z, t, state, P)
        if weight[t] > 0.0:
            learn_row(Z, t, -1.0, y[t], weight[t], W, H, state, loss, epsilon, rule, par, P, c)


@jit
def grow_block(panel, q, size, index, y, weight, W, state, loss, epsilon, rule, par, P):
    """Kernel learning until the support set is full: returns (rows done, support size).

    ``panel`` (n, B + n) holds κ between the rows of the block and the B landmark places followed
    by the rows themselves; ``index[j]`` is the column of support vector j, ``W[:, j]`` its
    coefficients. Stops at the first row that would need place B + 1: it is scored, not learned.
    """
    n, budget = P.shape[0], W.shape[1]
    c = np.empty(W.shape[0])
    Z = np.zeros((n, budget), W.dtype)
    no_state = np.empty((0, 0), W.dtype)
    for t in range(n):
        for j in range(size):
            Z[t, j] = panel[t, index[j]]
        scores(W, Z, t, state, P)
        if weight[t] == 0.0:
            continue
        state[T] += 1.0
        tube = state[TUBE]
        value = judge(loss, P, t, y[t], epsilon, par, state, c)
        if np.any(c != 0.0):
            if size == budget:
                state[T] -= 1.0
                state[TUBE] = tube
                return t, size
            # f moves along the new vector alone: its features are the unit vector of its place
            Z[t, :] = 0.0
            Z[t, size] = 1.0
            index[size] = budget + t
            size += 1
        update(Z, t, q[t], weight[t], value, W, no_state, state, rule, par, P, c)
    return n, size


def is_cold() -> bool:
    """True when numba's cache holds no compiled loop yet: the first run on a machine."""
    from onkel.models.reparameterized import learn_reparameterized

    loops = (learn_block, grow_block, learn_reparameterized)
    if not all(hasattr(loop, "stats") for loop in loops):
        return False  # the compiler is switched off
    return not any(map(_on_disk, loops))


def _on_disk(loop: Any) -> bool:
    code = loop.py_func.__code__
    entry = f"*.{code.co_name}-{code.co_firstlineno}.*.nbi"
    return any(Path(loop.stats.cache_path).glob(entry))
