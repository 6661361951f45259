"""The loops of :mod:`onkel.memory.value_memory`.

What all groups share predicts p. Each group has a small correction of its own: least squares on p's
errors in this group's rows, over how far the group's last values, level and timeless prediction f
lie from p. p and the corrected prediction are two experts of a mixture that each group has for
itself (:mod:`onkel.memory.experts`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from onkel.memory.experts import Mixture, learn_mixture, mix, mix_with_past, new_mixture
from onkel.memory.regressions import absorb, begin, learn_row, move, times
from onkel.numerics.jit import jit, jit_called, jit_inline

# What a group's own correction sees: a constant, and the last two values, a level and f.
_OWN_COLUMNS = np.array([3, 4, 10, 1])
_N_OWN = 1 + len(_OWN_COLUMNS)
_OWN_RIDGE = 1.0


class Own(NamedTuple):
    """Regressions and mixtures of the groups, which are the first axis."""

    P: np.ndarray
    w: np.ndarray
    regret: np.ndarray
    spread: np.ndarray
    weights: np.ndarray
    largest: np.ndarray
    recent: np.ndarray


def new_own(n: int) -> Own:
    """Room for n groups."""
    P, w = np.zeros((n, _N_OWN, _N_OWN)), np.zeros((n, _N_OWN))
    return Own(P, w, *(np.zeros((n, len(part))) for part in new_mixture(2)))


@jit_called
def _mixture(own, slot):
    return Mixture(
        own.regret[slot],
        own.spread[slot],
        own.weights[slot],
        own.largest[slot],
        own.recent[slot],
    )


@jit_called
def _begin_own(own, slot):
    begin(own.P[slot], _OWN_RIDGE)
    own.w[slot], own.regret[slot], own.spread[slot] = 0.0, 0.0, 0.0
    own.largest[slot], own.recent[slot] = 0.0, 0.0
    own.weights[slot, 0], own.weights[slot, 1] = 0.5, 0.5


@jit_called
def correct(own, slot, new, u, p, v, E):
    """p (1,): the prediction by features u that all groups share; becomes the group's own mixture.

    v (5,) and E (2, 1) go to learn_own.
    """
    if new:
        _begin_own(own, slot)
    v[0], E[0, 0], E[1, 0] = 1.0, p[0], p[0]
    for j in range(_N_OWN - 1):
        v[1 + j] = u[_OWN_COLUMNS[j]] - p[0]
    added = 0.0
    for j in range(_N_OWN):
        added += own.w[slot, j] * v[j]
    E[1, 0] += added
    mix(_mixture(own, slot), E, p)


@jit_called
def learn_own(own, slot, p, target, weight, v, E, k):
    """Learn the row that :func:`correct` was asked about: target (1,), weight."""
    learn_mixture(_mixture(own, slot), E, p, target, weight)
    spread = 1.0 / weight + times(own.P[slot], v, _N_OWN, k)
    move(own.w[slot], _N_OWN, k, (target[0] - E[1, 0]) / spread)
    absorb(own.P[slot], _N_OWN, k, spread)


#: levels are exponential means that keep this share of themselves with every row
RATES = np.array([0.5, 0.8, 0.95, 0.99, 0.998])
RESIDUAL_RATES = np.array([0.8, 0.98])
_FEW_LAGS, _LAGS, _RESIDUALS = 3, 26, 2
# One feature that stays 0 makes each number a multiple of 8: loops over them are faster.
_N_SHORT = 3 + _FEW_LAGS + _RESIDUALS + 5 + 2 + 8 + 1
#: features of a row: the short ones come first
N_FEATURES = _N_SHORT + _LAGS - _FEW_LAGS + 1
#: how many features each regression sees, and its forgetting factor
SIZES = np.array([2, _N_SHORT, _N_SHORT, N_FEATURES, N_FEATURES])
FORGETTING = np.array([1.0, 1.0, 0.999, 1.0, 0.999])
# The first regression, which sees f alone; before it come f itself and the last value.
_CONTROL = 2
N_EXPERTS = 2 + len(SIZES)
# What a second model sees of the past: the last values and two levels.
_COLUMNS = np.array([3, 4, 5, 9, 10])
N_COLUMNS = len(_COLUMNS)
RIDGE = 1.0
# Rows after which the model's prediction stands in for values that are not known yet.
_TRUSTED = 32


class Past(NamedTuple):
    """What is remembered of the rows of each group so far, in units of the target's spread.

    All but the last four have the groups as first axis.
    """

    #: the last values and predictions as rings: row n is at n modulo their length
    values: np.ndarray
    predictions: np.ndarray
    levels: np.ndarray
    residual_levels: np.ndarray
    #: number of rows so far
    rows: np.ndarray
    #: periods, 0 for none
    periods: np.ndarray
    #: rows of all groups
    total: np.ndarray
    #: Σ r_t r_{t-1} and Σ r_t² of the residuals r of f
    fading: np.ndarray
    #: the largest difference of a value and the one before
    largest_step: np.ndarray


@jit_called
def _of(past, slot, fresh, f):
    """The past of one group; without rows, it begins as if its values had been f."""
    own = Past(
        past.values[slot],
        past.predictions[slot],
        past.levels[slot],
        past.residual_levels[slot],
        past.rows[slot],
        past.periods,
        past.total,
        past.fading,
        past.largest_step,
    )
    if fresh or own.rows[0] == 0:
        # at the first rows of all, f knows nothing
        start = f if past.total[0] >= _TRUSTED else 0.0
        own.values[:], own.predictions[:], own.levels[:] = start, start, start
        own.residual_levels[:] = 0.0
        own.rows[0] = 0
    return own


@jit_inline
def _before(ring, at, lag):
    """The value ``lag`` rows before the row that comes, whose place is ``at``."""
    return ring[at - lag]


@jit_inline
def features(past, f, u):
    """u (48,), zeros at first: what is known when a row of timeless prediction f comes."""
    place = past.rows[0] % len(past.values)
    u[0], u[1], u[2] = 1.0, f, _before(past.predictions, place, 1)
    at = 3
    for lag in range(1, _FEW_LAGS + 1):
        u[at] = _before(past.values, place, lag)
        at += 1
    for lag in range(1, _RESIDUALS + 1):
        u[at] = _before(past.values, place, lag) - _before(past.predictions, place, lag)
        at += 1
    for level in past.levels:
        u[at] = level
        at += 1
    for level in past.residual_levels:
        u[at] = level
        at += 1
    for period in past.periods:
        if period > 0:
            u[at] = _before(past.values, place, period)
            u[at + 1] = _before(past.values, place, period - 1)
            u[at + 2] = _before(past.values, place, period + 1)
            u[at + 3] = _before(past.predictions, place, period)
        else:
            u[at : at + 4] = 0.0
        at += 4
    at = _N_SHORT
    for lag in range(_FEW_LAGS + 1, _LAGS + 1):
        u[at] = _before(past.values, place, lag)
        at += 1


@jit_inline
def _remember(past, f, y):
    rows = past.rows[0]
    r = y - f
    at = rows % len(past.values)
    if rows > 0:
        before = _before(past.values, at, 1) - _before(past.predictions, at, 1)
        past.fading[0] += r * before
        past.fading[1] += r * r
        step = abs(y - _before(past.values, at, 1))
        past.largest_step[0] = max(past.largest_step[0], step)
    past.values[at], past.predictions[at] = y, f
    for i in range(len(RATES)):
        past.levels[i] += (1.0 - RATES[i]) * (y - past.levels[i])
    for i in range(len(RESIDUAL_RATES)):
        past.residual_levels[i] += (1.0 - RESIDUAL_RATES[i]) * (r - past.residual_levels[i])
    past.rows[0] += 1
    past.total[0] += 1


@jit_inline
def _predict_experts(f, u, largest_step, W, E):
    """E (N, 1): what each expert predicts. The first regression adds to f, others to the last.

    None adds more than the largest step so far, or than leads from the last value to f. Where the
    target jumps as never before, a regression would go far beyond all that was seen.
    """
    last = u[3]
    most = max(largest_step, abs(f - last))
    E[0, 0], E[1, 0] = f, last
    for i in range(len(SIZES)):
        added = 0.0
        for j in range(SIZES[i]):
            added += W[i, j] * u[j]
        if not np.isfinite(added):
            E[2 + i, 0] = f
        else:
            E[2 + i, 0] = (f if i == 0 else last) + min(max(added, -most), most)


@jit_inline
def _learn_regressions(u, y, weight, row, E, P, W, k, g, first):
    for i in range(len(SIZES)):
        error, forgetting = y - E[2 + i, 0], FORGETTING[i]
        learn_row(P[i], W[i], first, SIZES[i], row, forgetting, RIDGE, u, error, weight, k, g)


@jit_inline
def _fill_columns(u, p, E, out):
    """out (7,): the mixture, the control, and what a second model sees of the past."""
    out[0], out[1] = p[0], E[_CONTROL, 0]
    for j in range(len(_COLUMNS)):
        out[2 + j] = u[_COLUMNS[j]]


@jit
def learn(f, y, weight, slots, fresh, past, own, mixture, P, W, out):
    """Learn rows in order; out (n, 7) gets what was known before each: see :func:`_fill_columns`.

    ``slots``: where the past of a row's group is stored; it begins anew where ``fresh``. ``own``:
    None without groups, and then its part is not compiled.
    """
    u, first = np.zeros(N_FEATURES), np.zeros(N_FEATURES)
    k, g = np.empty(N_FEATURES), np.empty(N_FEATURES)
    E, p, q, target = np.empty((N_EXPERTS, 1)), np.empty(1), np.empty(1), np.empty(1)
    v, F = np.empty(5), np.empty((2, 1))
    for t in range(len(f)):
        of = _of(past, slots[t], fresh[t], f[t])
        features(of, f[t], u)
        _predict_experts(f[t], u, of.largest_step[0], W, E)
        known = mix_with_past(of.rows[0], mixture, E, p)
        q[0] = p[0]
        if own is not None:
            correct(own, slots[t], of.rows[0] == 0, u, q, v, F)
        _fill_columns(u, q, E, out[t])
        if weight[t] > 0.0 and known:
            target[0] = y[t]
            learn_mixture(mixture, E, p, target, weight[t])
            _learn_regressions(u, y[t], weight[t], past.total[0], E, P, W, k, g, first)
            if own is not None:
                learn_own(own, slots[t], q, target, weight[t], v, F, k)
        if weight[t] > 0.0:
            _remember(of, f[t], y[t])


@jit
def predict(f, slots, past, own, mixture, W, out):
    """out (n, 7): as in :func:`learn`, for rows of predictions f, each as if it were the next."""
    u, E, p = np.zeros(N_FEATURES), np.empty((N_EXPERTS, 1)), np.empty(1)
    v, F = np.empty(5), np.empty((2, 1))
    for t in range(len(f)):
        of = _of(past, slots[t], False, f[t])
        features(of, f[t], u)
        _predict_experts(f[t], u, of.largest_step[0], W, E)
        mix_with_past(of.rows[0], mixture, E, p)
        if own is not None:
            correct(own, slots[t], of.rows[0] == 0, u, p, v, F)
        _fill_columns(u, p, E, out[t])
