"""The scores of a single row, in one compiled call.

Streams of one row at a time pay for every NumPy call: a block's path costs ten times the
arithmetic there. The formulas are those of the maps; the tests compare the two.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from onkel._jit import axpy, dot, jit, sincos_turns
from onkel.kernels import Gaussian, make_kernel
from onkel.maps import (
    FourierFeatures,
    IdentityFeatures,
    NystroemFeatures,
    ReparameterizedFeatures,
)
from onkel.models.loops import SCALE

if TYPE_CHECKING:
    from onkel.models.explicit import ExplicitModel

__all__ = ["score_row"]

_TURN = 1.0 / (2.0 * math.pi)


def score_row(model: ExplicitModel, X: np.ndarray) -> np.ndarray:
    """f(x) in float64, (K,), of the one row of X (1, d), of the model's dtype and finite."""
    m = model.map
    if not model.ready:
        return np.zeros(model.n_outputs)
    p = np.empty(model.n_outputs)
    if isinstance(m, FourierFeatures):
        _fourier(X, m._turns, model.W, model.state, p)
    elif isinstance(m, ReparameterizedFeatures):
        _reparameterized(X, m.noise_, m.log_width_, model.W, model.state, p)
    elif isinstance(m, IdentityFeatures):
        _identity(X, model.W, model.state, p)
    elif isinstance(m, NystroemFeatures) and isinstance(make_kernel(m.kernel), Gaussian):
        if m.grows:
            _support(X, model.support, m.gamma_, model.W, model.state, p)
        else:
            _nystroem(X, m.landmarks_, m.projection_, m.gamma_, model.W, model.state, p)
    else:
        return model.scores(X)[0]
    return p


@jit
def _weigh(Z, W, state, p):
    for k in range(W.shape[0]):
        p[k] = state[SCALE] * dot(W, k, Z, 0)


@jit
def _fourier(X, turns, W, state, p):
    D = turns.shape[1]
    angles = np.zeros((1, D), W.dtype)
    for n in range(X.shape[1]):
        if X[0, n] != 0.0:
            axpy(X[0, n], turns, n, angles, 0)
    Z = np.empty((1, 2 * D), W.dtype)
    sincos_turns(angles[0], 1.0 / math.sqrt(D), Z[0, :D], Z[0, D:])
    _weigh(Z, W, state, p)


@jit
def _reparameterized(X, noise, log_width, W, state, p):
    D = noise.shape[1]
    angles = np.zeros((1, D), W.dtype)
    for n in range(X.shape[1]):
        if X[0, n] != 0.0:
            axpy(_TURN * math.exp(log_width[n]) * X[0, n], noise, n, angles, 0)
    Z = np.empty((1, 2 * D), W.dtype)
    sincos_turns(angles[0], 1.0 / math.sqrt(D), Z[0, :D], Z[0, D:])
    _weigh(Z, W, state, p)


@jit
def _identity(X, W, state, p):
    d = X.shape[1]
    for k in range(W.shape[0]):
        total = W.dtype.type(0.0)
        for n in range(d):
            total += W[k, n] * X[0, n]
        if W.shape[1] > d:
            total += W[k, d]
        p[k] = state[SCALE] * total


@jit
def _kernel_row(X, S, gamma):
    z = np.empty((1, S.shape[0]), S.dtype)
    for j in range(S.shape[0]):
        r2 = S.dtype.type(0.0)
        for n in range(S.shape[1]):
            delta = X[0, n] - S[j, n]
            r2 += delta * delta
        z[0, j] = math.exp(-gamma * r2)
    return z


@jit
def _support(X, S, gamma, W, state, p):
    z = _kernel_row(X, S, gamma)
    for k in range(W.shape[0]):
        total = 0.0
        for j in range(S.shape[0]):
            total += W[k, j] * z[0, j]
        p[k] = state[SCALE] * total


@jit
def _nystroem(X, S, projection, gamma, W, state, p):
    kernel = _kernel_row(X, S, gamma)
    Z = np.zeros((1, W.shape[1]), W.dtype)
    for j in range(S.shape[0]):
        axpy(kernel[0, j], projection, j, Z, 0)
    _weigh(Z, W, state, p)
