"""How a full set of prototypes loses one: the farthest goes, or two become one."""

from __future__ import annotations

import numpy as np

from onkel.numerics.jit import jit, jit_inline
from onkel.support.twin.prototypes import kernel_row, rival_gap

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
        outputs[k, m] = 0.0
        for i in range(size):
            if i != m:
                outputs[k, m] += A[k, i] * gram[m, i]
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
