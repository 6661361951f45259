"""The sequential part of the explicit learners: rows in order, one dot and one axpy each.

A model is W (K, m), the weights of K outputs over m features, times ``state[SCALE]``, so that
``f ← a·f`` costs one multiplication. Three loops walk the rows of a block: features that are fixed
(:func:`learn_block`), a support set that grows (:func:`grow_block`), and features that are learned
(:func:`learn_reparameterized`). All of them move f by :func:`update`.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from onkel._jit import axpy, dot, jit, jit_inline, sincos_turns
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
    "learn_reparameterized",
    "learn_row",
]

# Places in the state vector: rows learned, common factor of W, ‖f‖² (kept where f is projected),
# NORMA's tube or margin.
T, SCALE, SQUARED_NORM, TUBE = 0, 1, 2, 3
N_STATE = 4

# Outside of these W is multiplied by the factor, long before W / factor could overflow float32.
_SMALLEST_SCALE, _LARGEST_SCALE = 1e-6, 1e6
# Log-widths stay within e^±20: no sane stream comes near, and exp can't overflow.
_WIDEST = 20.0
_TURN = 1.0 / (2.0 * math.pi)


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


@jit_inline
def _angles(X, t, E, width, angles):
    """Row 0 of ``angles`` ← ω_d·x in turns, with ω_d = width ∘ e_d."""
    angles[0, :] = 0.0
    for n in range(X.shape[1]):
        if X[t, n] != 0.0:
            axpy(_TURN * width[n] * X[t, n], E, n, angles, 0)


@jit_inline
def _pull_on_angles(W, Z, c, scale, v):
    """v_d = -∂loss/∂(ω_d·x) = Σ_k c_k (w_{k,D+d} cos - w_{k,d} sin)."""
    D = v.shape[1]
    v[0, :] = 0.0
    for k in range(c.shape[0]):
        if c[k] != 0.0:
            b = W.dtype.type(scale * c[k])
            for d in range(D):
                v[0, d] += b * (W[k, D + d] * Z[0, d] - W[k, d] * Z[0, D + d])


@jit_inline
def _learn_widths(X, t, E, v, eta, most, slope, log_width, width):
    """g ← g - η ∂loss/∂g with η = min(η_g, most/‖∂loss/∂g‖²); ∂(ω_d·x)/∂g_n = width_n x_n e_nd."""
    squared = 0.0
    for n in range(X.shape[1]):
        slope[n] = 0.0
        if X[t, n] != 0.0:
            slope[n] = width[n] * X[t, n] * dot(E, n, v, 0)
            squared += slope[n] * slope[n]
    if eta * squared > most:
        eta = most / squared
    for n in range(X.shape[1]):
        if slope[n] != 0.0:
            log_width[n] = min(max(log_width[n] + eta * slope[n], -_WIDEST), _WIDEST)
            width[n] = math.exp(log_width[n])


@jit
def learn_reparameterized(
    X, y, weight, E, log_width, widths_par, W, H, state, loss, epsilon, rule, par, P
):
    """RRF, Algorithm 1: weights and log-widths both move by the same loss, row by row.

    ``widths_par`` is [η_g, damping]. With a damping of N > 0 rows the step of the widths is
    η_g/√(1 + t/N), and never more than repairs the row were its loss linear in g (Polyak); 0 is
    the paper's constant step.
    """
    D = E.shape[1]
    width = np.exp(log_width)
    c = np.empty(W.shape[0])
    angles, v = np.empty((1, D), W.dtype), np.empty((1, D), W.dtype)
    Z, slope = np.empty((1, 2 * D), W.dtype), np.empty(X.shape[1])
    cos, sin, turns = Z[0, :D], Z[0, D:], angles[0]
    p = np.empty((1, W.shape[0]))
    for t in range(X.shape[0]):
        _angles(X, t, E, width, angles)
        sincos_turns(turns, 1.0 / math.sqrt(D), cos, sin)
        scores(W, Z, 0, state, p)
        P[t] = p[0]
        if weight[t] > 0.0:
            state[T] += 1.0
            value = judge(loss, p, 0, y[t], epsilon, par, state, c)
            # both gradients at the weights before the update
            _pull_on_angles(W, Z, c, state[SCALE], v)
            if update(Z, 0, 1.0, weight[t], value, W, H, state, rule, par, p, c):
                eta, most = widths_par[0] * weight[t], np.inf
                if widths_par[1] > 0.0:
                    eta /= math.sqrt(1.0 + state[T] / widths_par[1])
                    most = value
                _learn_widths(X, t, E, v, eta, most, slope, log_width, width)


def is_cold() -> bool:
    """True when numba's cache holds no compiled loop yet: the first run on a machine."""
    loops = (learn_block, grow_block, learn_reparameterized)
    if not all(hasattr(loop, "stats") for loop in loops):
        return False  # the compiler is switched off
    return not any(map(_on_disk, loops))


def _on_disk(loop: Any) -> bool:
    code = loop.py_func.__code__
    entry = f"*.{code.co_name}-{code.co_firstlineno}.*.nbi"
    return any(Path(loop.stats.cache_path).glob(entry))
