"""The loop of the twin vector machine: prototypes of both classes, and the SVM over them.

Prototype j stands for rows of weight ``mass[c, j]`` of each class c, all at the place s_j. Output k
is the SVM of class k against the rest (of +1 against -1 where K = 1) over these rows,

    max Σ_j (α⁺_j + α⁻_j) - ½ βᵀκ(S, S)β,  β = α⁺ - α⁻,  0 ≤ α^±_j ≤ C·(weight of that side at s_j),

solved by steps along the coordinate that moves most, from where the last row left it. ``outputs``
holds f(s_j).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from onkel.numerics.jit import jit, jit_inline
from onkel.rules.base import T
from onkel.support.outputs import refresh_outputs
from onkel.support.slots import BORN, REMOVED, SIZE

# What a difference in the classes' shares counts against one in place, 1 - κ ≤ 1: prototypes of
# different classes are merged only where nothing else is left.
_DISCORD = 10.0


class Twins(NamedTuple):
    """The arrays of the prototypes; the first ``counts[SIZE]`` slots are in use."""

    S: np.ndarray  # (B + 1, d) their places
    A: np.ndarray  # (K, B + 1) β = α⁺ - α⁻
    plus: np.ndarray  # (K, B + 1) α⁺
    minus: np.ndarray  # (K, B + 1) α⁻
    mass: np.ndarray  # (classes, B + 1) weights of the rows that each stands for
    gram: np.ndarray  # (B + 1, B + 1) κ(S, S)
    outputs: np.ndarray  # (K, B + 1) f(s)
    counts: np.ndarray  # SIZE, BORN, CHANGED, REMOVED


@jit_inline
def _kernel_row(X, t, S, size, gamma, row):
    """row[j] ← exp(-γ‖x_t - s_j‖²)."""
    for j in range(size):
        total = 0.0
        for i in range(S.shape[1]):
            gap = float(X[t, i]) - float(S[j, i])
            total += gap * gap
        row[j] = math.exp(-gamma * total)


@jit_inline
def _rival_gap(scores, j, c):
    """How far class c is ahead in column j, in units in which the margin is 1."""
    if scores.shape[0] == 1:
        return scores[0, j] if c == 1 else -scores[0, j]
    rival = -np.inf
    for k in range(scores.shape[0]):
        if k != c:
            rival = max(rival, scores[k, j])
    return 0.5 * (scores[c, j] - rival)


@jit_inline
def _bounds(mass, k, j, K, C):
    """The largest α⁺ and α⁻ of output k at prototype j."""
    if K == 1:
        return C * mass[1, j], C * mass[0, j]
    rest = 0.0
    for c in range(K):
        if c != k:
            rest += mass[c, j]
    return C * mass[k, j], C * rest


@jit
def _optimise(size, par, twins):
    """Steps along the coordinate that moves most, until none moves by more than ``tol``."""
    plus, minus, mass, outputs = twins.plus, twins.minus, twins.mass, twins.outputs
    K, C = plus.shape[0], par.C
    for _ in range(par.max_steps):
        best, at_k, at_j, positive = par.tol, -1, -1, True
        for k in range(K):
            for j in range(size):
                high, low = _bounds(mass, k, j, K, C)
                up = min(max(plus[k, j] + 1.0 - outputs[k, j], 0.0), high) - plus[k, j]
                down = min(max(minus[k, j] + 1.0 + outputs[k, j], 0.0), low) - minus[k, j]
                if abs(up) > best:
                    best, at_k, at_j, positive = abs(up), k, j, True
                if abs(down) > best:
                    best, at_k, at_j, positive = abs(down), k, j, False
        if at_j < 0:
            break
        high, low = _bounds(mass, at_k, at_j, K, C)
        k, j = at_k, at_j
        before = plus[k, j] - minus[k, j]
        if positive:
            plus[k, j] = min(max(plus[k, j] + 1.0 - outputs[k, j], 0.0), high)
        else:
            minus[k, j] = min(max(minus[k, j] + 1.0 + outputs[k, j], 0.0), low)
        twins.A[k, j] = plus[k, j] - minus[k, j]
        move = plus[k, j] - minus[k, j] - before
        for i in range(size):
            outputs[k, i] += move * twins.gram[j, i]


# ---- making room ---------------------------------------------------------------------------------


@jit_inline
def _farthest(size, margin, A, outputs):
    """The prototype farthest from the boundary of those that f does not need; -1 for none."""
    r, most = -1, margin
    for j in range(size):
        needed = False
        lead = 0
        for k in range(A.shape[0]):
            needed = needed or A[k, j] != 0.0
            if outputs[k, j] > outputs[lead, j]:
                lead = k
        if A.shape[0] == 1:
            lead = 1 if outputs[0, j] >= 0.0 else 0
        gap = _rival_gap(outputs, j, lead)
        if not needed and gap > most:
            r, most = j, gap
    return r


@jit
def _cheapest_pair(size, mass, gram):
    """(m, n), m < n, of the least ab/(a+b)·(1 - κ + discord·½‖p_m - p_n‖²).

    a and b are the weights, p the shares of the classes: Ward's criterion for rows in feature space
    with their class beside them.
    """
    at_m, at_n, least = 0, 1, np.inf
    for m in range(size):
        for n in range(m + 1, size):
            a = b = apart = 0.0
            for c in range(mass.shape[0]):
                a += mass[c, m]
                b += mass[c, n]
            for c in range(mass.shape[0]):
                apart += (mass[c, m] / a - mass[c, n] / b) ** 2
            cost = (1.0 - gram[m, n] + 0.5 * _DISCORD * apart) * a * b / (a + b)
            if cost < least:
                at_m, at_n, least = m, n, cost
    return at_m, at_n


@jit
def _shift_outputs(j, size, sign, twins):
    """Take prototype j out of the outputs (-1), or put it in (+1)."""
    A, outputs = twins.A, twins.outputs
    for k in range(A.shape[0]):
        if A[k, j] != 0.0:
            for i in range(size):
                outputs[k, i] += sign * A[k, j] * twins.gram[j, i]


@jit
def _move(source, r, twins):
    """Slot r ← the last slot, ``source``."""
    S, mass, gram = twins.S, twins.mass, twins.gram
    for i in range(S.shape[1]):
        S[r, i] = S[source, i]
    for k in range(twins.A.shape[0]):
        twins.A[k, r] = twins.A[k, source]
        twins.plus[k, r], twins.minus[k, r] = twins.plus[k, source], twins.minus[k, source]
        twins.outputs[k, r] = twins.outputs[k, source]
    for c in range(mass.shape[0]):
        mass[c, r] = mass[c, source]
    for i in range(source):
        gram[r, i] = gram[source, i]
        gram[i, r] = gram[source, i]
    gram[r, r] = gram[source, source]


@jit_inline
def _merge_rows(m, n, S, mass):
    """Row m ← the mean of rows m and n, with the weights of both."""
    at_m = at_n = 0.0
    for c in range(mass.shape[0]):
        at_m += mass[c, m]
        at_n += mass[c, n]
        mass[c, m] += mass[c, n]
    h = at_m / (at_m + at_n)
    for i in range(S.shape[1]):
        S[m, i] = h * S[m, i] + (1.0 - h) * S[n, i]


@jit
def _merge(m, n, size, gamma, twins, row):
    """Slot m ← the mean row of m and n, with the weights and coefficients of both."""
    A, plus, minus, gram, outputs = twins.A, twins.plus, twins.minus, twins.gram, twins.outputs
    _shift_outputs(m, size, -1.0, twins)
    _shift_outputs(n, size, -1.0, twins)
    _merge_rows(m, n, twins.S, twins.mass)
    for k in range(A.shape[0]):
        plus[k, m] += plus[k, n]
        minus[k, m] += minus[k, n]
        A[k, m], A[k, n] = plus[k, m] - minus[k, m], 0.0
    _kernel_row(twins.S, m, twins.S, size, gamma, row)
    for i in range(size):
        gram[m, i] = row[i]
        gram[i, m] = row[i]
    for k in range(A.shape[0]):
        outputs[k, m] = 0.0
        for i in range(size):
            if i != m:
                outputs[k, m] += A[k, i] * gram[m, i]
        # its own part is added with everybody's
    _shift_outputs(m, size, 1.0, twins)


@jit
def _make_room(size, par, twins, row):
    """One slot fewer than ``size``: a prototype that is far from the boundary, or two in one."""
    r = _farthest(size, par.margin, twins.A, twins.outputs)
    if r < 0:
        m, r = _cheapest_pair(size, twins.mass, twins.gram)
        _merge(m, r, size, par.gamma, twins, row)
    if r < size - 1:
        _move(size - 1, r, twins)


# ---- rows ----------------------------------------------------------------------------------------


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
    row = np.empty(par.limit + 1)
    for t in range(X.shape[0]):
        _kernel_row(X, t, twins.S, counts[SIZE], par.gamma, row)
        _score(counts[SIZE], twins.A, row, P, t)
        if weight[t] == 0.0:
            continue
        state[T] += 1.0
        c = int(y[t] > 0.0) if K == 1 else int(y[t])
        if counts[SIZE] > 0 and _rival_gap(P.T, t, c) >= par.margin:
            continue
        _append(t, X, c, weight[t], P, row, twins)
        if counts[SIZE] > par.limit:
            _make_room(par.limit + 1, par, twins, row)
            counts[SIZE] -= 1
            counts[REMOVED] += 1
        if counts[REMOVED] % (2 * par.limit) == 1:
            refresh_outputs(counts[SIZE], twins.A, twins.gram, twins.outputs)
        _optimise(counts[SIZE], par, twins)
