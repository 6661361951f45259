"""The loop of the twin vector machine over rows: score, store, make room, optimise."""

from __future__ import annotations

import numpy as np

from onkel.numerics.jit import jit, jit_inline
from onkel.rules.base import T
from onkel.support.outputs import refresh_outputs
from onkel.support.slots import BORN, REMOVED, SIZE
from onkel.support.twin.making_room import make_room
from onkel.support.twin.optimising import optimise
from onkel.support.twin.prototypes import kernel_row, rival_gap


@jit_inline
def _score(size, A, row, P, t):
    """P[t] ← f(x) from the kernel values ``row``."""
    for k in range(A.shape[0]):
        total = 0.0
        for j in range(size):
            total += A[k, j] * row[j]
        P[t, k] = total


@jit_inline
def _append(x, X, c, weight, P, row, twins):
    """Row x of class c becomes the next prototype, with no part in f yet."""
    S, A, mass, gram, counts = twins.S, twins.A, twins.mass, twins.gram, twins.counts
    size = counts[SIZE]
    for i in range(S.shape[1]):
        S[size, i] = X[x, i]
    for k in range(A.shape[0]):
        A[k, size], twins.plus[k, size], twins.minus[k, size] = 0.0, 0.0, 0.0
        twins.outputs[k, size] = P[x, k]
    for i in range(mass.shape[0]):
        mass[i, size] = weight if i == c else 0.0
    for j in range(size):
        gram[size, j] = row[j]
        gram[j, size] = row[j]
    gram[size, size] = 1.0
    counts[BORN] += 1
    counts[SIZE] += 1


@jit
def learn_twins(X, y, weight, twins, state, par, P):
    """Learn the rows in order; P (n, K) gets the scores before each."""
    K, counts = P.shape[1], twins.counts
    row = np.empty(twins.A.shape[1])
    for t in range(X.shape[0]):
        kernel_row(X, t, twins.S, counts[SIZE], par.gamma, row)
        _score(counts[SIZE], twins.A, row, P, t)
        if weight[t] == 0.0:
            continue
        state[T] += 1.0
        c = int(y[t] > 0.0) if K == 1 else int(y[t])
        if counts[SIZE] > 0 and rival_gap(P.T, t, c) >= par.margin:
            continue
        _append(t, X, c, weight[t], P, row, twins)
        if counts[SIZE] > par.limit:
            make_room(par.limit + 1, par, twins, row)
            counts[SIZE] -= 1
            counts[REMOVED] += 1
        if counts[REMOVED] % (2 * par.limit) == 1:
            refresh_outputs(counts[SIZE], twins.A, twins.gram, twins.outputs)
        optimise(counts[SIZE], par, twins)
