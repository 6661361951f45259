"""The loops of :mod:`onkel.memory.class_memory`.

They keep the past of a stream of classes, compute features of each class from it, and learn
regressions and a mixture from these.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from onkel.memory.experts import learn_mixture, mix_with_past
from onkel.memory.regressions import forget, newton, newton_of_two, softmax
from onkel.numerics.jit import jit, jit_called, jit_inline

#: levels are exponential means that keep this share of themselves with every row
RATES = np.array([0.5, 0.8, 0.95, 0.99, 0.998])
N_LEVELS = len(RATES)
#: features of a class: the first is f
N_FEATURES = 8 + 2 * N_LEVELS
#: lengths of a run that are told apart
N_COUNTED = 64
#: with more classes than this, it is not counted which class follows which
MOST_FOLLOWED = 256
_COUNTS_KEEP = 0.999
# Rows after which the model's scores stand in for class shares that are not known yet.
_TRUSTED = 32
# Scores of least squares are near 0 and 1; those farther out are clipped.
_LOWEST, _HIGHEST = -1.0, 2.0


class Past(NamedTuple):
    """What is remembered of the rows so far; K classes.

    The first six have the groups as first axis.
    """

    #: the last classes as a ring: row n is at n modulo its length
    codes: np.ndarray
    #: f of the row before, (K,)
    before: np.ndarray
    #: exponential means of the classes' indicators and of f's residuals, (levels, K)
    levels: np.ndarray
    residual_levels: np.ndarray
    #: f's residuals of the row before, (K,)
    residuals: np.ndarray
    #: rows so far, and the length of the run
    rows: np.ndarray
    #: which class came after which, (K, K) or none; decaying counts
    followed: np.ndarray
    #: runs that went on and all runs, by their length so far
    runs: np.ndarray
    periods: np.ndarray
    #: rows of all groups
    total: np.ndarray
    #: Σ ⟨r_t, r_{t-1}⟩ and Σ ‖r_t‖² of f's residuals r
    fading: np.ndarray


@jit_called
def past_of(past, slot, fresh, f):
    """The past of one group; without rows, it begins as if f had given the classes' shares."""
    own = Past(
        past.codes[slot],
        past.before[slot],
        past.levels[slot],
        past.residual_levels[slot],
        past.residuals[slot],
        past.rows[slot],
        past.followed,
        past.runs,
        past.periods,
        past.total,
        past.fading,
    )
    if fresh or own.rows[0] == 0:
        own.rows[0], own.rows[1] = 0, 0
        for k in range(len(f)):
            own.before[k], own.residuals[k] = 0.0, 0.0
            # at the first rows of all, f knows nothing
            share = min(max(f[k], 0.0), 1.0) if past.total[0] >= _TRUSTED else 0.0
            for i in range(N_LEVELS):
                own.levels[i, k], own.residual_levels[i, k] = share, 0.0
    return own


@jit_inline
def class_before(past, lag):
    """The class ``lag`` rows before the row that comes; -1 where there was none."""
    if lag < 1 or lag > past.rows[0] or lag > len(past.codes):
        return -1
    return past.codes[(past.rows[0] - lag) % len(past.codes)]


@jit_inline
def _expected(past, U):
    """Features 2 and 3: how often each class came after the last, and how this run goes on."""
    last, K = class_before(past, 1), U.shape[0]
    if last < 0 or past.followed.shape[0] == 0:
        for k in range(K):
            U[k, 2], U[k, 3] = 0.0, 0.0
        return
    total = 0.0
    for k in range(K):
        total += past.followed[last, k]
    run = min(past.rows[1], N_COUNTED - 1)
    stays = (past.runs[0, run] + 0.5) / (past.runs[1, run] + 1.0)
    others = total - past.followed[last, last] + 1.0
    for k in range(K):
        count = past.followed[last, k] + 1.0 / K
        U[k, 2] = count / (total + 1.0)
        U[k, 3] = stays if k == last else (1.0 - stays) * count / others


@jit_inline
def fill_features(past, f, U):
    """U (K, 18): what is known of each class when a row of timeless scores f (K,) comes."""
    last, second = class_before(past, 1), class_before(past, 2)
    cycle = class_before(past, past.periods[0])
    _expected(past, U)
    for k in range(U.shape[0]):
        score = min(max(f[k], _LOWEST), _HIGHEST)
        U[k, 0] = score
        U[k, 1] = 1.0 if k == last else 0.0
        U[k, 4] = past.before[k]
        U[k, 5] = 1.0 if k == second else 0.0
        U[k, 6] = 1.0 if k == cycle else 0.0
        U[k, 7] = score * U[k, 1]
        for i in range(N_LEVELS):
            U[k, 8 + i] = past.levels[i, k]
            U[k, 8 + N_LEVELS + i] = past.residual_levels[i, k]


@jit_inline
def _count(past, code):
    """Count how the last class was followed."""
    last = class_before(past, 1)
    if last < 0:
        return
    run = min(past.rows[1], N_COUNTED - 1)
    past.runs[0, run] *= _COUNTS_KEEP
    past.runs[1, run] = past.runs[1, run] * _COUNTS_KEEP + 1.0
    if code == last:
        past.runs[0, run] += 1.0
    past.rows[1] = past.rows[1] + 1 if code == last else 0
    if past.followed.shape[0]:
        for k in range(past.followed.shape[1]):
            past.followed[last, k] *= _COUNTS_KEEP
        past.followed[last, code] += 1.0


@jit_inline
def remember(past, U, code):
    """A row of features U was of class ``code``."""
    _count(past, code)
    for k in range(U.shape[0]):
        is_k = 1.0 if k == code else 0.0
        r = is_k - U[k, 0]
        past.before[k] = U[k, 0]
        past.fading[0] += r * past.residuals[k]
        past.fading[1] += r * r
        past.residuals[k] = r
        for i in range(N_LEVELS):
            past.levels[i, k] += (1.0 - RATES[i]) * (is_k - past.levels[i, k])
            past.residual_levels[i, k] += (1.0 - RATES[i]) * (r - past.residual_levels[i, k])
    past.codes[past.rows[0] % len(past.codes)] = code
    past.rows[0] += 1
    past.total[0] += 1


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
def _predict_experts(past, U, W, E):
    """E (N, K): the probabilities that each expert predicts."""
    K, last, total = U.shape[0], class_before(past, 1), 0.0
    for k in range(K):
        E[0, k] = min(max(U[k, 0], 0.0), 1.0) + 1e-9
        E[1, k] = 1.0 / K if last < 0 else U[k, 1]
    for k in range(K):
        total += E[0, k]
    for k in range(K):
        E[0, k] /= total
    for i in range(len(SIZES)):
        softmax(U, SIZES[i], W[i], E[2 + i])


@jit_inline
def _learn_regressions(U, code, weight, row, E, P, W, work, G):
    for i in range(len(SIZES)):
        n = SIZES[i]
        if FORGETTING[i] < 1.0:
            forget(P[i], W[i], FIRST_WEIGHTS, n, row, FORGETTING[i], RIDGE, work[0])
        if U.shape[0] == 2:
            newton_of_two(U, n, E[2 + i], code, weight, P[i], W[i], work[1], work[2])
        else:
            newton(U, n, E[2 + i], code, weight, P[i], W[i], work[0], work[1], work[2], G)


@jit_inline
def _fill_columns(U, E, out):
    """out (7, K) after its first row, the mixture: the control, then columns of the past."""
    for k in range(U.shape[0]):
        out[1, k] = E[_CONTROL, k]
        for j in range(len(_COLUMNS)):
            out[2 + j, k] = U[k, _COLUMNS[j]]


@jit
def learn(F, codes, weight, slots, fresh, past, mixture, P, W, G, out):
    """Learn rows in order: scores F (n, K) and codes.

    ``slots``: where the past of a row's group is stored; it begins anew where ``fresh``.
    out (n, 7, K) gets what was known before each row: the mixture, then what
    :func:`_fill_columns` fills in. ``G``: see :func:`onkel.memory.regressions.newton`.
    """
    K = F.shape[1]
    U, E, target = np.empty((K, N_FEATURES)), np.empty((N_EXPERTS, K)), np.zeros(K)
    work = np.empty((3, N_FEATURES))
    for t in range(F.shape[0]):
        own = past_of(past, slots[t], fresh[t], F[t])
        fill_features(own, F[t], U)
        _predict_experts(own, U, W, E)
        known = mix_with_past(own.rows[0], mixture, E, out[t, 0])
        _fill_columns(U, E, out[t])
        if weight[t] > 0.0 and known:
            target[codes[t]] = 1.0
            learn_mixture(mixture, E, out[t, 0], target, weight[t])
            target[codes[t]] = 0.0
            _learn_regressions(U, codes[t], weight[t], past.total[0], E, P, W, work, G)
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
        _predict_experts(own, U, W, E)
        mix_with_past(own.rows[0], mixture, E, out[t, 0])
        _fill_columns(U, E, out[t])
