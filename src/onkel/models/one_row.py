"""One row at a time, by a few compiled calls.

Streams of one row at a time pay for every NumPy call: a block's path costs ten times the
arithmetic there. The formulas are those of the maps; the tests compare the two.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from onkel._gaussian import LOG2_E, exp2
from onkel._jit import axpy, cos_block, jit, sincos_turns
from onkel.kernels import Gaussian, Kernel
from onkel.maps import (
    AlignedFourier,
    FourierFeatures,
    IdentityFeatures,
    NystroemFeatures,
    ReparameterizedFeatures,
)
from onkel.models.guard import diverged
from onkel.models.loops import SCALE, learn_block
from onkel.models.support import SupportModel

if TYPE_CHECKING:
    from onkel.models.explicit import ExplicitModel

__all__ = ["learn_row", "score_row"]

_TURN = 1.0 / (2.0 * math.pi)


def score_row(model: ExplicitModel | SupportModel, X: np.ndarray) -> np.ndarray:
    """f(x) in float64, (K,), of the one row of X (1, d), of the model's dtype and finite."""
    if not model.ready:
        return np.zeros(model.n_outputs)
    if isinstance(model, SupportModel):
        return model.scores(X)[0]
    Z = _features(model, X)
    if Z is None:
        return model.scores(X)[0]
    p = np.empty(model.n_outputs)
    _weigh(Z, model.W, model.state, p)
    return p


def learn_row(model: ExplicitModel | SupportModel, X: np.ndarray, y: float, weight: float) -> None:
    """Learn the one row of X (1, d), of the model's dtype and finite."""
    if isinstance(model, SupportModel):
        model.learn(X, np.array([y]), np.array([weight]))
        return
    m = model.map
    moving = model.warmup is not None or m.grows or m.learns or m.aligns or m.moves
    moving = moving or model.matrix is not None
    Z = None if moving else _features(model, X)
    if Z is None:
        model.learn(X, np.array([y]), np.array([weight]))
    else:
        P = np.empty((1, model.n_outputs))
        numbers = np.array([y, weight])
        learn_block(Z, numbers[:1], numbers[1:], model.W, model.H, *model.how(), P)
        if not math.isfinite(P[0, 0]):
            raise diverged(0)


def _features(model: ExplicitModel, X: np.ndarray) -> np.ndarray | None:
    """z(x), (1, m); κ(x, ·) at the support vectors while they are gathered; None: ask the map."""
    m = model.map
    if isinstance(m, FourierFeatures):
        return _fourier(X, m._turns)  # type: ignore[no-any-return]
    if isinstance(m, ReparameterizedFeatures) and m.law == "gaussian":
        return _reparameterized(X, m.noise_, m.log_width_)  # type: ignore[no-any-return]
    if isinstance(m, AlignedFourier):
        return _aligned(X, *m.used())  # type: ignore[no-any-return]
    if isinstance(m, IdentityFeatures):
        return _identity(X, model.W.shape[1])  # type: ignore[no-any-return]
    if isinstance(m, NystroemFeatures) and _is_gaussian(m.kernel):
        if m.grows:
            return _kernel_row(X, model.support, m.gamma_)  # type: ignore[no-any-return]
        return _nystroem(X, m.landmarks_, m.projection_, m.gamma_)  # type: ignore[no-any-return]
    return None


def _is_gaussian(kernel: str | Kernel) -> bool:
    # a name is looked at as it is: an object made of it for every row would cost as much as the row
    return kernel in ("gaussian", "rbf") if isinstance(kernel, str) else type(kernel) is Gaussian


@jit
def _weigh(Z, W, state, p):
    for k in range(W.shape[0]):
        total = W.dtype.type(0.0)
        for j in range(Z.shape[1]):
            total += W[k, j] * Z[0, j]
        p[k] = state[SCALE] * total


@jit
def _fourier(X, turns):
    D = turns.shape[1]
    angles = np.zeros((1, D), turns.dtype)
    for n in range(X.shape[1]):
        if X[0, n] != 0.0:
            axpy(X[0, n], turns, n, angles, 0)
    Z = np.empty((1, 2 * D), turns.dtype)
    sincos_turns(angles[0], 1.0 / math.sqrt(D), Z[0, :D], Z[0, D:])
    return Z


@jit
def _aligned(X, turns, offset, scale):
    angles = np.zeros((1, turns.shape[1]), turns.dtype)
    for n in range(X.shape[1]):
        if X[0, n] != 0.0:
            axpy(X[0, n], turns, n, angles, 0)
    cos_block(angles, offset, scale, angles)
    return angles


@jit
def _reparameterized(X, noise, log_width):
    D = noise.shape[1]
    angles = np.zeros((1, D), noise.dtype)
    for n in range(X.shape[1]):
        if X[0, n] != 0.0:
            axpy(_TURN * math.exp(log_width[n]) * X[0, n], noise, n, angles, 0)
    Z = np.empty((1, 2 * D), noise.dtype)
    sincos_turns(angles[0], 1.0 / math.sqrt(D), Z[0, :D], Z[0, D:])
    return Z


@jit
def _identity(X, m):
    Z = np.ones((1, m), X.dtype)
    for n in range(X.shape[1]):
        Z[0, n] = X[0, n]
    return Z


@jit
def _kernel_row(X, S, gamma):
    z = np.empty((1, S.shape[0]), S.dtype)
    for j in range(S.shape[0]):
        r2 = S.dtype.type(0.0)
        for n in range(S.shape[1]):
            delta = X[0, n] - S[j, n]
            r2 += delta * delta
        z[0, j] = r2
    if S.itemsize == 4:
        factor = S.dtype.type(-gamma * LOG2_E)
        for j in range(S.shape[0]):
            z[0, j] = exp2(factor * z[0, j])
    else:
        for j in range(S.shape[0]):
            z[0, j] = math.exp(-gamma * z[0, j])
    return z


@jit
def _nystroem(X, S, projection, gamma):
    kernel = _kernel_row(X, S, gamma)
    Z = np.zeros((1, projection.shape[1]), projection.dtype)
    for j in range(S.shape[0]):
        axpy(kernel[0, j], projection, j, Z, 0)
    return Z
