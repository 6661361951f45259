"""The prototypes of the twin vector machine: its SVM over them, and how a full set loses one.

Prototype j stands for rows at s_j, of total weight ``mass[c, j]`` in each class c. Output k
is the SVM of class k against the rest (of +1 against -1 where K = 1) over these rows,

    max Σ_j (α⁺_j + α⁻_j) - ½ βᵀκ(S, S)β,  β = α⁺ - α⁻,  0 ≤ α^±_j ≤ C·(weight of that side at s_j),

solved by steps along the coordinate that moves most, starting from the solution for the last row.
``outputs`` holds f(s_j). A full set drops the farthest prototype, or merges two.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from onkel.numerics.jit import jit, jit_inline


class Twins(NamedTuple):
    """The arrays of the prototypes; the first ``counts[SIZE]`` slots are in use."""

    S: np.ndarray  # (B + 1, d) the prototypes
    A: np.ndarray  # (K, B + 1) β = α⁺ - α⁻
    plus: np.ndarray  # (K, B + 1) α⁺
    minus: np.ndarray  # (K, B + 1) α⁻
    mass: np.ndarray  # (classes, B + 1) weights of the rows that each stands for
    gram: np.ndarray  # (B + 1, B + 1) κ(S, S)
    outputs: np.ndarray  # (K, B + 1) f(s)
    counts: np.ndarray  # SIZE, BORN, CHANGED, REMOVED


@jit_inline
def kernel_row(X, t, S, size, gamma, row):
    """row[j] ← exp(-γ‖x_t - s_j‖²)."""
    for j in range(size):
        total = 0.0
        for i in range(S.shape[1]):
            gap = float(X[t, i]) - float(S[j, i])
            total += gap * gap
        row[j] = math.exp(-gamma * total)


@jit_inline
def rival_gap(scores, j, c):
    """Lead of class c over the others in column j, on a scale where the margin is 1."""
    if scores.shape[0] == 1:
        return scores[0, j] if c == 1 else -scores[0, j]
    best_other = -np.inf
    for k in range(scores.shape[0]):
        if k != c:
            best_other = max(best_other, scores[k, j])
    return 0.5 * (scores[c, j] - best_other)


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
def optimise(size, par, twins):
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


# Weight of a difference in class shares against the distance 1 - κ ≤ 1: large, so that prototypes
# of different classes are merged only as a last resort.
_DISCORD = 10.0


@jit_inline
def _farthest(size, margin, A, outputs):
    """Of the prototypes beyond the margin that f does not use, the farthest; -1 for none."""
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
        gap = rival_gap(outputs, j, lead)
        if not needed and gap > most:
            r, most = j, gap
    return r


@jit
def _cheapest_pair(size, mass, gram):
    """(m, n), m < n, of the least ab/(a+b)·(1 - κ + discord·½‖p_m - p_n‖²).

    a and b are the weights, p the shares of the classes: Ward's criterion for rows in feature space
    with the class appended to each.
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
    """Subtract prototype j from the outputs (sign -1), or add it (+1)."""
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
    kernel_row(twins.S, m, twins.S, size, gamma, row)
    for i in range(size):
        gram[m, i] = row[i]
        gram[i, m] = row[i]
    for k in range(A.shape[0]):
        others = 0.0
        for i in range(size):
            if i != m:
                others += A[k, i] * gram[m, i]
        outputs[k, m] = others
        # slot m's own part is added below, to all outputs at once
    _shift_outputs(m, size, 1.0, twins)


@jit
def make_room(size, par, twins, row):
    """Free one of ``size`` slots: drop a prototype far from the boundary, or merge two."""
    r = _farthest(size, par.margin, twins.A, twins.outputs)
    if r < 0:
        m, r = _cheapest_pair(size, twins.mass, twins.gram)
        _merge(m, r, size, par.gamma, twins, row)
    if r < size - 1:
        _move(size - 1, r, twins)
