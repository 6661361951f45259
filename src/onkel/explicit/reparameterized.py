"""RRF's loop: the weights and the law of the frequencies move by the same loss, row by row.

The frequencies are ω_d = exp(g) ∘ (m + e_d), with the noise e_d fixed and (g, m) those of the
component of frequency d; see :class:`onkel.maps.reparameterized.Law`. With G components, one
Gaussian is G = 1 without means, a width for every frequency is G = D without means, and a spectral
mixture has a few components with means and shares.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from onkel.annotations import Matrix
from onkel.explicit.loop import scores, update
from onkel.explicit.training_loop import TrainingLoop
from onkel.maps.reparameterized import (
    WIDEST,
    ReparameterizedFeatures,
    fill_frequencies,
    fill_shares,
    frequencies_of,
)
from onkel.numerics.arrays import as_dense
from onkel.numerics.jit import axpy, dot, jit, jit_inline, sincos_turns
from onkel.rules.base import SCALE, T
from onkel.rules.dispatch import judge

_TURN = 1.0 / (2.0 * math.pi)


@jit_inline
def _angles(X, t, F, width, angles):
    """Row 0 of ``angles`` ← ω_d·x in turns, with ω_d = width ∘ column d of F."""
    angles[0, :] = 0.0
    for n in range(X.shape[1]):
        if X[t, n] != 0.0:
            axpy(_TURN * width[n] * X[t, n], F, n, angles, 0)


@jit
def _weigh_components(Z, amplitude):
    """[cos, sin] ← a_d [cos, sin], so that a component has its share of the kernel."""
    D = amplitude.shape[0]
    for d in range(D):
        Z[0, d] *= amplitude[d]
        Z[0, D + d] *= amplitude[d]


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


@jit
def _pull_on_components(W, Z, c, scale, first, shares):
    """Row 2 of ``shares`` ← Σ_k c_k · (what component b adds to p_k)."""
    D = Z.shape[1] // 2
    for b in range(shares.shape[1]):
        shares[2, b] = 0.0
        for k in range(c.shape[0]):
            total = 0.0
            for d in range(first[b], first[b + 1]):
                total += W[k, d] * Z[0, d] + W[k, D + d] * Z[0, D + d]
            shares[2, b] += scale * c[k] * total


@jit_inline
def _step(eta, most, squared):
    """min(η, most/‖∂loss‖²): at most what repairs a row whose loss is linear (Polyak)."""
    return most / squared if eta * squared > most else eta


@jit_inline
def _learn_widths(X, t, E, v, eta, most, slope, log_width, width):
    """One Gaussian: g ← g - η ∂loss/∂g; ∂(ω_d·x)/∂g_n = width_n x_n e_nd."""
    squared = 0.0
    for n in range(X.shape[1]):
        slope[n, 0] = 0.0
        if X[t, n] != 0.0:
            slope[n, 0] = width[n] * X[t, n] * dot(E, n, v, 0)
            squared += slope[n, 0] * slope[n, 0]
    if not squared < math.inf:
        # slopes too large to be told apart say nothing about where to go; compiled,
        # math.isfinite misses them where sums may be reordered
        return
    eta = _step(eta, most, squared)
    for n in range(X.shape[1]):
        if slope[n, 0] != 0.0:
            log_width[n, 0] = _bounded(log_width[n, 0] + eta * slope[n, 0])
            width[n] = math.exp(log_width[n, 0])


@jit_inline
def _bounded(g):
    return min(max(g, -WIDEST), WIDEST)


@jit_inline
def _component_slopes(X, t, F, v, log_width, mean, first, slope):
    """-∂loss/∂g and -∂loss/∂m of every component; returns the sum of their squares.

    ∂(ω_d·x)/∂g_n = ω_dn x_n, ∂(ω_d·x)/∂m_n = exp(g_n) x_n, for the component of d.
    """
    G, squared = log_width.shape[1], 0.0
    for n in range(X.shape[1]):
        if X[t, n] == 0.0:
            continue
        for b in range(G):
            turn, pushed = 0.0, 0.0
            for d in range(first[b], first[b + 1]):
                turn += F[n, d] * v[0, d]
                pushed += v[0, d]
            slope[n, b] = X[t, n] * turn
            squared += slope[n, b] * slope[n, b]
            if mean.shape[1] > 0:
                slope[n, G + b] = X[t, n] * math.exp(log_width[n, b]) * pushed
                squared += slope[n, G + b] * slope[n, G + b]
    return squared


@jit_inline
def _share_slopes(shares):
    """-∂loss/∂logit: p_k = Σ_b √share_b s_kb. Returns the sum of their squares."""
    total, squared = 0.0, 0.0
    for b in range(shares.shape[1]):
        total += shares[2, b]
    for b in range(shares.shape[1]):
        shares[1, b] = 0.5 * (shares[2, b] - shares[0, b] * total)
        squared += shares[1, b] * shares[1, b]
    return squared


@jit_inline
def _move_components(X, t, E, eta, slope, log_width, mean, first, F):
    """Move the parameters of the columns that are not 0 in row t, and their frequencies."""
    G = log_width.shape[1]
    for n in range(X.shape[1]):
        if X[t, n] == 0.0:
            continue
        for b in range(G):
            if slope[n, b] != 0.0:
                log_width[n, b] = _bounded(log_width[n, b] + eta * slope[n, b])
            if mean.shape[1] > 0:
                mean[n, b] += eta * slope[n, G + b]
        fill_frequencies(n, E, log_width, mean, first, F)


@jit
def _learn_components(X, t, law, now, row, eta, most):
    """Log-widths, means and shares ← themselves - η ∂loss; the frequencies follow.

    Not inlined in the loop: there it would take registers from the case of one Gaussian, which
    never comes here.
    """
    E, log_width, mean, logit, first = law
    squared = _component_slopes(X, t, now.F, row.v, log_width, mean, first, row.slope)
    squared += _share_slopes(now.shares)
    if not squared < math.inf:
        # slopes too large to be told apart say nothing about where to go; compiled,
        # math.isfinite misses them where sums may be reordered
        return
    eta = _step(eta, most, squared)
    _move_components(X, t, E, eta, row.slope, log_width, mean, first, now.F)
    for b in range(logit.shape[0]):
        logit[b] += eta * now.shares[1, b]
    fill_shares(logit, first, now.shares, now.amplitude)


class _Now(NamedTuple):
    """What is computed from the law; kept beside it while rows are learned."""

    #: ω = width ∘ F: one Gaussian has its noise in F (d, D), others their frequencies
    F: np.ndarray
    width: np.ndarray
    #: (D,), empty where all frequencies weigh the same
    amplitude: np.ndarray
    #: (3, G): the shares, the direction of their logits, and the pull on them
    shares: np.ndarray


class _Row(NamedTuple):
    """Room for what is computed of a row."""

    angles: np.ndarray  # (1, D), in turns
    Z: np.ndarray  # (1, 2 D)
    cos: np.ndarray  # its halves
    sin: np.ndarray
    p: np.ndarray  # (1, K)
    c: np.ndarray  # (K,)
    v: np.ndarray  # (1, D), the pull on the angles
    slope: np.ndarray  # (d, 2 G)


@jit
def _now(law, W):
    E, log_width, mean, logit, first = law
    one_gaussian = log_width.shape[1] == 1 and mean.shape[1] == 0
    F = E if one_gaussian else frequencies_of(E, log_width, mean, first)
    width = np.exp(log_width[:, 0]) if one_gaussian else np.ones(E.shape[0])
    amplitude = np.empty(E.shape[1] if logit.shape[0] > 0 else 0, W.dtype)
    shares = np.zeros((3, logit.shape[0]))
    fill_shares(logit, first, shares, amplitude)
    return _Now(F, width, amplitude, shares)


@jit
def _room(law, W):
    d, D = law.noise.shape
    Z, p, c = np.empty((1, 2 * D), W.dtype), np.empty((1, W.shape[0])), np.empty(W.shape[0])
    angles, v = np.empty((1, D), W.dtype), np.empty((1, D), W.dtype)
    slope = np.zeros((d, 2 * law.log_width.shape[1]))
    return _Row(angles, Z, Z[0, :D], Z[0, D:], p, c, v, slope)


@jit_inline
def _score(X, t, now, row, W, context, P):
    """Features of row t, and P[t], its scores."""
    mixed = now.amplitude.shape[0] > 0
    _angles(X, t, now.F, now.width, row.angles)
    size = 1.0 if mixed else 1.0 / math.sqrt(row.cos.shape[0])
    sincos_turns(row.angles[0], size, row.cos, row.sin)
    if mixed:
        _weigh_components(row.Z, now.amplitude)
    scores(W, row.Z, 0, context.state, row.p)
    for k in range(W.shape[0]):
        P[t, k] = row.p[0, k]


@jit_inline
def _learn_law(X, t, weight, value, law, step, now, row, context):
    """The parameters of the frequencies ← themselves - η ∂loss."""
    eta, most = step[0] * weight, np.inf
    if step[1] > 0.0:
        eta, most = eta / math.sqrt(1.0 + context.state[T] / step[1]), value
    if law.log_width.shape[1] == 1 and law.mean.shape[1] == 0:
        _learn_widths(X, t, law.noise, row.v, eta, most, row.slope, law.log_width, now.width)
    else:
        _learn_components(X, t, law, now, row, eta, most)


@jit_inline
def _learn_row(X, t, y, weight, law, step, now, row, W, H, context):
    """Learn row t, whose scores are known."""
    context.state[T] += 1.0
    value = judge(context, row.p, 0, y, 1.0, row.c)
    # all gradients at the weights before the update
    _pull_on_angles(W, row.Z, row.c, context.state[SCALE], row.v)
    if now.amplitude.shape[0] > 0:
        _pull_on_components(W, row.Z, row.c, context.state[SCALE], law.first, now.shares)
    if update(row.Z, 0, 1.0, weight, value, W, H, context, row.p, row.c):
        _learn_law(X, t, weight, value, law, step, now, row, context)


@jit
def learn_reparameterized(X, y, weight, law, step, W, H, context, P):
    """RRF, Algorithm 1: weights and log-widths both move by the same loss, row by row.

    ``law`` is a :class:`onkel.maps.reparameterized.Law`, ``step`` is [η_g, damping]. With a damping
    of N > 0 rows the step of the widths is η_g/√(1 + t/N), and at most the step that would repair
    the row if its loss were linear in them (Polyak); 0 is the paper's constant step.
    """
    now, row = _now(law, W), _room(law, W)
    for t in range(X.shape[0]):
        _score(X, t, now, row, W, context, P)
        if weight[t] != 0.0:
            _learn_row(X, t, y[t], weight[t], law, step, now, row, W, H, context)


class LearnedByGradient(TrainingLoop):
    """Weights and the law of the frequencies move by the same loss, row by row."""

    map: ReparameterizedFeatures

    def learn(self, X: Matrix, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> None:
        m, weights = self.map, self.weights
        rows = as_dense(X), y, weight, m.parameters(), m.widths_par_
        learn_reparameterized(*rows, weights.W, weights.H, weights.context, P)

    def settled(self) -> bool:
        return False
