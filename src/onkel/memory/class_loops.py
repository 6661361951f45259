"""The loops of :mod:`onkel.memory.class_memory`."""

from __future__ import annotations

import numpy as np

from onkel.memory.class_past import N_FEATURES, class_before, fill_features, past_of, remember
from onkel.memory.experts import learn_mixture, mix
from onkel.memory.linear import forget
from onkel.memory.softmax_newton import newton, newton_of_two, softmax
from onkel.numerics.jit import jit, jit_inline

#: how many features each regression sees, and its forgetting factor
SIZES = np.array([1, N_FEATURES, N_FEATURES])
FORGETTING = np.array([1.0, 1.0, 0.999])
RIDGE = 1.0
#: probabilities of f alone, before the first row, are softmax(4 f)
FIRST_WEIGHTS = np.array([4.0] + [0.0] * (N_FEATURES - 1))
# The first regression, which sees f alone; before it come f itself and the last class.
_CONTROL = 2
N_EXPERTS = 2 + len(SIZES)
# What a second model sees of the past: the last two classes and three levels.
_COLUMNS = np.array([1, 5, 8, 9, 11])
N_COLUMNS = len(_COLUMNS)


@jit_inline
def _ask(past, U, W, E):
    """E (N, K): the probabilities that each expert predicts."""
    K, last, total = U.shape[0], class_before(past, 1), 0.0
    for k in range(K):
        E[0, k] = min(max(U[k, 0], 0.0), 1.0) + 1e-9
        total += E[0, k]
        E[1, k] = 1.0 / K if last < 0 else U[k, 1]
    for k in range(K):
        E[0, k] /= total
    for i in range(len(SIZES)):
        softmax(U, SIZES[i], W[i], E[2 + i])


@jit_inline
def _mix(own, mixture, E, p):
    """p (K,): the mixture, or f's probabilities without a past; returns whether there is one."""
    mix(mixture, E, p)
    if own.rows[0] == 0:
        for k in range(len(p)):
            p[k] = E[0, k]
        return False
    return True


@jit_inline
def _learn_regressions(U, code, weight, row, E, P, W, work):
    for i in range(len(SIZES)):
        n = SIZES[i]
        if FORGETTING[i] < 1.0:
            forget(P[i], W[i], FIRST_WEIGHTS, n, row, FORGETTING[i], RIDGE, work[0])
        if U.shape[0] == 2:
            newton_of_two(U, n, E[2 + i], code, weight, P[i], W[i], work[1], work[2])
        else:
            newton(U, n, E[2 + i], code, weight, P[i], W[i], work[0], work[1], work[2])


@jit_inline
def _tell(U, E, out):
    """out (7, K) after its first row, the mixture: the control, then columns of the past."""
    for k in range(U.shape[0]):
        out[1, k] = E[_CONTROL, k]
        for j in range(len(_COLUMNS)):
            out[2 + j, k] = U[k, _COLUMNS[j]]


@jit
def learn(F, codes, weight, slots, fresh, past, mixture, P, W, out):
    """Learn rows in order: scores F (n, K) and codes.

    ``slots``: where the past of a row's group is stored; it begins anew where ``fresh``.
    out (n, 7, K) gets what was known before each row: the mixture, then as in :func:`_tell`.
    """
    K = F.shape[1]
    U, E, work = np.empty((K, N_FEATURES)), np.empty((N_EXPERTS, K)), np.empty((3, N_FEATURES))
    target = np.zeros(K)
    for t in range(F.shape[0]):
        own = past_of(past, slots[t], fresh[t], F[t])
        fill_features(own, F[t], U)
        _ask(own, U, W, E)
        known = _mix(own, mixture, E, out[t, 0])
        _tell(U, E, out[t])
        if weight[t] > 0.0 and known:
            target[codes[t]] = 1.0
            learn_mixture(mixture, E, out[t, 0], target, weight[t])
            target[codes[t]] = 0.0
            _learn_regressions(U, codes[t], weight[t], past.total[0], E, P, W, work)
        if weight[t] > 0.0:
            remember(own, U, codes[t])


@jit
def predict(F, slots, past, mixture, W, out):
    """out (n, 7, K): as in :func:`learn`, for rows of scores F, each as if it were the next."""
    K = F.shape[1]
    U, E = np.empty((K, N_FEATURES)), np.empty((N_EXPERTS, K))
    for t in range(F.shape[0]):
        own = past_of(past, slots[t], False, F[t])
        fill_features(own, F[t], U)
        _ask(own, U, W, E)
        _mix(own, mixture, E, out[t, 0])
        _tell(U, E, out[t])
