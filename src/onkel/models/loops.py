"""The sequential part of the explicit learners: rows in order, one dot and one axpy each.

A model is W (K, m), the weights of K outputs over m features, times ``state[SCALE]``, so that
``f ← a·f`` costs one multiplication. Three loops walk the rows of a block: features that are fixed
(:func:`learn_block`), a support set that grows (:func:`grow_block`), and features that are learned
(:func:`learn_reparameterized`). All of them move f by :func:`update`.
"""

from __future__ import annotations

import math

import numpy as np

from onkel._jit import axpy, dot, jit, sincos_turns
from onkel.losses import evaluate
from onkel.rules.adaptive import adagrad_move
from onkel.rules.base import ALPHA, RADIUS, RuleKind
from onkel.rules.gradient import gradient_step
from onkel.rules.passive_aggressive import passive_aggressive_step

__all__ = ["N_STATE", "SCALE", "SQUARED_NORM", "T", "grow_block", "learn_block"]

# Places in the state vector: rows learned, common factor of W, ‖f‖² (kept where f is projected).
T, SCALE, SQUARED_NORM = 0, 1, 2
N_STATE = 3

# Below this factor W is multiplied out, long before W / factor could overflow float32.
_SMALLEST_SCALE = 1e-6
# Log-widths stay within e^±20: no sane stream comes near, and exp can't overflow.
_WIDEST = 20.0
_TURN = 1.0 / (2.0 * math.pi)


@jit
def rescale(W, a, state):
    """f ← a·f."""
    scale = state[SCALE] * a
    if scale < _SMALLEST_SCALE:
        factor = W.dtype.type(scale)
        for k in range(W.shape[0]):
            for j in range(W.shape[1]):
                W[k, j] *= factor
        scale = 1.0
    state[SCALE] = scale


@jit
def _project(W, radius, state):
    """f ← min(1, U/‖f‖) f."""
    if state[SQUARED_NORM] > radius * radius:
        rescale(W, radius / math.sqrt(state[SQUARED_NORM]), state)
        state[SQUARED_NORM] = radius * radius


@jit
def update(z, q, weight, value, W, H, state, rule, par, p, c):
    """Move f after one row by the rule; True where W changed by more than a factor.

    ``q`` is κ(x, x), or negative for ‖z‖², computed only where the rule reads it.
    """
    if rule == RuleKind.ADAGRAD:
        return adagrad_move(par, weight, z, c, W, H)
    c2 = 0.0
    cp = 0.0
    for k in range(c.shape[0]):
        c2 += c[k] * c[k]
        cp += c[k] * p[k]
    if c2 == 0.0 and par[ALPHA] == 0.0:
        return False
    if q < 0.0 and (rule == RuleKind.PASSIVE_AGGRESSIVE or par[RADIUS] > 0.0):
        q = float(dot(z, z))
    if rule == RuleKind.GRADIENT:
        a, b = gradient_step(par, state[T], weight)
    else:
        a, b = passive_aggressive_step(par, weight, value, c2, q)
    if a != 1.0:
        rescale(W, a, state)
    if c2 > 0.0:
        for k in range(c.shape[0]):
            if c[k] != 0.0:
                axpy(b * c[k] / state[SCALE], z, W[k])
    if par[RADIUS] > 0.0:
        state[SQUARED_NORM] = a * a * state[SQUARED_NORM] + 2.0 * a * b * cp + b * b * c2 * q
        _project(W, par[RADIUS], state)
    return c2 > 0.0


@jit
def scores(W, z, state, p):
    """p_k = f_k(x)."""
    for k in range(W.shape[0]):
        p[k] = state[SCALE] * dot(W[k], z)


@jit
def learn_block(Z, y, weight, W, H, state, loss, epsilon, rule, par, P):
    """Rows of fixed features Z (n, m), in order; P (n, K) gets the scores before each."""
    c = np.empty(W.shape[0])
    for t in range(Z.shape[0]):
        z, p = Z[t], P[t]
        scores(W, z, state, p)
        if weight[t] > 0.0:
            state[T] += 1.0
            value = evaluate(loss, p, y[t], epsilon, c)
            update(z, -1.0, weight[t], value, W, H, state, rule, par, p, c)


@jit
def grow_block(panel, q, size, index, y, weight, W, state, loss, epsilon, rule, par, P):
    """Kernel learning until the support set is full: returns (rows done, support size).

    ``panel`` (n, B + n) holds κ between the rows of the block and the B landmark places followed
    by the rows themselves; ``index[j]`` is the column of support vector j, ``W[:, j]`` its
    coefficients. Stops *before* the first row that would need place B + 1.
    """
    budget = W.shape[1]
    c = np.empty(W.shape[0])
    z = np.zeros(budget, W.dtype)
    no_rows = np.empty((0, 0), W.dtype)
    for t in range(panel.shape[0]):
        for j in range(size):
            z[j] = panel[t, index[j]]
        p = P[t]
        scores(W, z, state, p)
        if weight[t] == 0.0:
            continue
        value = evaluate(loss, p, y[t], epsilon, c)
        moves = False
        for k in range(c.shape[0]):
            moves = moves or c[k] != 0.0
        if moves and size == budget:
            return t, size
        state[T] += 1.0
        if moves:
            # the new vector's own column is all that f moves along
            index[size] = budget + t
            unit = np.zeros(budget, W.dtype)
            unit[size] = 1.0
            update(unit, q[t], weight[t], value, W, no_rows, state, rule, par, p, c)
            size += 1
        else:
            update(z, q[t], weight[t], value, W, no_rows, state, rule, par, p, c)
    return panel.shape[0], size


@jit
def _features(x, E, width, angles, z):
    """z = [cos, sin](ω·x)/√D with ω_d = width ∘ e_d."""
    angles[:] = 0.0
    for n in range(x.shape[0]):
        if x[n] != 0.0:
            axpy(_TURN * width[n] * x[n], E[n], angles)
    D = E.shape[1]
    sincos_turns(angles, 1.0 / math.sqrt(D), z[:D], z[D:])


@jit
def _pull_on_angles(W, z, c, scale, v):
    """v_d = -∂loss/∂(ω_d·x) = Σ_k c_k (w_{k,D+d} cos - w_{k,d} sin)."""
    D = v.shape[0]
    v[:] = 0.0
    for k in range(c.shape[0]):
        if c[k] != 0.0:
            b = W.dtype.type(scale * c[k])
            for d in range(D):
                v[d] += b * (W[k, D + d] * z[d] - W[k, d] * z[D + d])


@jit
def _learn_widths(x, E, v, eta, log_width, width):
    """g_n ← g_n - η_g ∂loss/∂g_n, with ∂(ω_d·x)/∂g_n = width_n x_n e_nd."""
    for n in range(x.shape[0]):
        if x[n] != 0.0:
            g = log_width[n] + eta * width[n] * x[n] * dot(E[n], v)
            log_width[n] = min(max(g, -_WIDEST), _WIDEST)
            width[n] = math.exp(log_width[n])


@jit
def learn_reparameterized(
    X, y, weight, E, log_width, eta_gamma, W, H, state, loss, epsilon, rule, par, P
):
    """RRF, Algorithm 1: weights and log-widths both move by the same loss, row by row."""
    D = E.shape[1]
    width = np.exp(log_width)
    c = np.empty(W.shape[0])
    angles, v = np.empty(D, W.dtype), np.empty(D, W.dtype)
    z = np.empty(2 * D, W.dtype)
    for t in range(X.shape[0]):
        x, p = X[t], P[t]
        _features(x, E, width, angles, z)
        scores(W, z, state, p)
        if weight[t] > 0.0:
            state[T] += 1.0
            value = evaluate(loss, p, y[t], epsilon, c)
            # both gradients at the weights before the update
            _pull_on_angles(W, z, c, state[SCALE], v)
            if update(z, 1.0, weight[t], value, W, H, state, rule, par, p, c):
                _learn_widths(x, E, v, eta_gamma * weight[t], log_width, width)
