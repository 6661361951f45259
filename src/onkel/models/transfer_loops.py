"""The loop of transfer: rows that leave the support set go on in random Fourier features."""

from __future__ import annotations

import math

import numpy as np

from onkel._jit import axpy, dot, jit, sincos_turns
from onkel.budgets.removal import smallest
from onkel.models.loops import SCALE, T, judge
from onkel.models.support_pieces import (
    CHANGED,
    REMOVED,
    SIZE,
    catch_up,
    direction_sums,
    place,
    scale_by,
    score,
    step,
)
from onkel.rules.base import ALPHA

__all__ = ["learn_transfer"]


@jit
def _features_of(S, s, turns, angles, z):
    """z (1, 2D) ← z(s) of stored row s; ``angles`` (1, D) is scratch."""
    D = turns.shape[1]
    angles[0, :] = 0.0
    for i in range(S.shape[1]):
        if S[s, i] != 0.0:
            axpy(S[s, i], turns, i, angles, 0)
    sincos_turns(angles[0], 1.0 / math.sqrt(D), z[0, :D], z[0, D:])


@jit
def _carry_over(k, A, S, info, W, turns, counts, changes):
    """The k lightest rows leave the support set for W; the last slots move into theirs."""
    angles, z = np.empty((1, turns.shape[1]), W.dtype), np.empty((1, W.shape[1]), W.dtype)
    work = np.empty((1, A.shape[1]))
    for _ in range(k):
        s = smallest(A, info, counts[SIZE], work)
        _features_of(S, s, turns, angles, z)
        for j in range(A.shape[0]):
            axpy(A[j, s], z, 0, W, j)
        counts[SIZE] -= 1
        counts[REMOVED] += 1
        last = counts[SIZE]
        if s < last:
            for j in range(A.shape[0]):
                A[j, s] = A[j, last]
            for i in range(info.shape[0]):
                info[i, s] = info[i, last]
            for i in range(S.shape[1]):
                S[s, i] = S[last, i]
            i = counts[CHANGED]
            changes[0, i], changes[1, i] = s, last
            counts[CHANGED] += 1


@jit
def learn_transfer(
    panel, Z, X, S, W, turns, y, weight, slots, limit, k, state, loss, epsilon, rule, par, P
):
    """Learn the rows X (n, d) of one sub-block, of features Z; P (n, K) gets the scores before.

    W (K, 2D) are the weights of the features, over the same scale as the coefficients.
    """
    A, info, gram, _outputs, _rng, counts, changes = slots
    K, n = P.shape[1], P.shape[0]
    c, new = np.empty(K), np.empty(K)
    counts[CHANGED] = 0
    for t in range(n):
        catch_up(panel, t, changes, counts[CHANGED])
        score(panel, t, A, counts[SIZE], state, P)
        for j in range(K):
            P[t, j] += state[SCALE] * dot(W, j, Z, t)
        if weight[t] == 0.0:
            continue
        state[T] += 1.0
        value = judge(loss, P, t, y[t], epsilon, par, state, c)
        c2, _ = direction_sums(c, P, t)
        if c2 == 0.0 and par[ALPHA] == 0.0:
            continue
        a, b = step(rule, par, state[T], weight[t], value, c2, 1.0)
        # W goes along with A: it stands where the outputs at stored rows do elsewhere
        scale_by(A, W, a, state)
        if c2 > 0.0:
            if counts[SIZE] == limit:
                _carry_over(k, A, S, info, W, turns, counts, changes)
            for j in range(K):
                new[j] = b * c[j]
            s = counts[SIZE]
            place(s, panel, t, y[t], 1.0, new, A, info, gram, counts, changes, state)
            for i in range(S.shape[1]):
                S[s, i] = X[t, i]
