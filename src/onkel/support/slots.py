"""The arrays that all loops over a support set share, and how rows come into them.

A model is A (K, capacity), coefficients of K outputs over stored rows, times ``state[SCALE]``. The
kernel values of a sub-block are computed before it is walked:

    panel (n, capacity + n) = [κ(block, slots) | κ(block, block)].

When row t fills slot s, column s changes for the rows after t. Their new values are in the second
part, in column capacity + t. So the loop notes the pair of columns, and each later row copies the
value before it is scored. No kernel value is computed twice, whatever the budget does. Of the
second part, a row needs only the columns before its own. The slots come first so that the compiler
sees that no index is negative, and vectorises the loops over them.

The loops pass these tuples whole to functions under ``jit_inline``: reading a member in a loop
counts references, reading it in an inlined function does not.

The last functions keep f at the stored rows and the norm of f, from kernel values that are kept or
computed anew.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from onkel.numerics.calling import call_python
from onkel.numerics.jit import jit, jit_inline
from onkel.rules.base import PENDING, SCALE, SQUARED_NORM
from onkel.support.budget import BIRTH, DIAGONAL, TARGET

# Places in the counts: slots in use, rows ever stored, changes in this sub-block, rows dropped.
SIZE, BORN, CHANGED, REMOVED = 0, 1, 2, 3
N_COUNTS = 4

# Rows of a gram that holds two rows of κ(S, S) only.
REMOVAL, NEWEST = 0, 1
# Other numbers to call with: ‖f‖² anew; before and after a change of A, for what ‖f‖² changes by.
ANEW, BEFORE, AFTER = -1, -2, -3


class Rows(NamedTuple):
    """The n rows of a sub-block."""

    panel: np.ndarray  # (n, capacity + n) kernel values
    q: np.ndarray  # (n,) κ(x, x)
    y: np.ndarray  # (n,) labels
    weight: np.ndarray  # (n,)
    P: np.ndarray  # (n, K) scores before each row is learned, written by the loop


class Slots(NamedTuple):
    """The arrays of a support set; the first ``counts[SIZE]`` slots are in use."""

    A: np.ndarray  # (K, capacity) coefficients over the common scale
    info: np.ndarray  # (3, capacity) of each slot: DIAGONAL, TARGET, BIRTH
    gram: np.ndarray  # (capacity, capacity) κ(S, S), or (0, 0) where nothing needs it
    outputs: np.ndarray  # (K, capacity) f(s)/scale, or (K, 0) where nothing needs it
    rng: np.ndarray  # (1,) state of the random generator
    counts: np.ndarray  # SIZE, BORN, CHANGED, REMOVED
    changes: np.ndarray  # (2, n) columns of the panel, for each change in this sub-block: to, from
    # for the mean of f: the sum of the coefficients after each row (K, capacity), but for what
    # PENDING has grown by since (capacity,); without a mean (K, 0) and (0,)
    total: np.ndarray
    since: np.ndarray
    # 0, or the Python function that knows κ(S, S) where gram (2, capacity) holds two rows of it:
    # that of the row stored last, and in REMOVAL that of slot r after a call with r
    recompute: int = 0


class Limits(NamedTuple):
    """What the loop knows of the budget."""

    kind: int  # its number in the family
    size: int  # B, -1 for none
    par: np.ndarray  # its parameter vector
    track: bool  # whether ‖f‖² is kept


@jit
def keep_rows(X, changes, n_changes, n_slots, S):
    """S ← the rows of the slots that were filled; a slot filled twice gets the last one."""
    for i in range(n_changes):
        for k in range(X.shape[1]):
            S[changes[0, i], k] = X[changes[1, i] - n_slots, k]


@jit_inline
def catch_up(panel, t, slots):
    """Bring row t of the panel up to the slots as they are now."""
    changes = slots.changes
    for i in range(slots.counts[CHANGED]):
        panel[t, changes[0, i]] = panel[t, changes[1, i]]


@jit_inline
def score(panel, i, A, size, state, P, t):
    """p_k = Σ_j α_kj κ(s_j, x) of row t from row i of the panel, in the precision of A."""
    for k in range(A.shape[0]):
        total = A.dtype.type(0.0)
        for j in range(size):
            total += A[k, j] * panel[i, j]
        P[t, k] = state[SCALE] * total


@jit_inline
def place(s, rows, t, new, slots, state):
    """Row t with the coefficients ``new`` (K,) becomes slot s."""
    A, info, gram, counts, changes = slots.A, slots.info, slots.gram, slots.counts, slots.changes
    panel = rows.panel
    for k in range(A.shape[0]):
        A[k, s] = new[k] / state[SCALE]
    info[DIAGONAL, s], info[TARGET, s], info[BIRTH, s] = rows.q[t], rows.y[t], counts[BORN]
    counts[BORN] += 1
    if slots.since.shape[0] > 0:
        slots.since[s] = state[PENDING]
    if s == counts[SIZE]:
        counts[SIZE] += 1
    i = counts[CHANGED]
    changes[0, i], changes[1, i] = s, panel.shape[1] - panel.shape[0] + t
    counts[CHANGED] += 1
    if slots.recompute > 0:
        for j in range(counts[SIZE]):
            gram[NEWEST, j] = panel[t, j]
        gram[NEWEST, s] = rows.q[t]
    elif gram.shape[0] > 0:
        for j in range(counts[SIZE]):
            gram[s, j] = panel[t, j]
            gram[j, s] = panel[t, j]
        gram[s, s] = rows.q[t]


@jit_inline
def gram_row(r, slots):
    """The row of ``slots.gram`` that holds κ(s_r, S); computes it where the matrix isn't kept."""
    if slots.recompute == 0:
        return r
    if slots.info[BIRTH, r] == slots.counts[BORN] - 1:
        return NEWEST
    call_python(slots.recompute, r)
    return REMOVAL


@jit_inline
def _output_at(A, gram, r, k, size):
    """f_k(s_r)/scale from the kept kernel matrix."""
    total = 0.0
    for j in range(size):
        total += A[k, j] * gram[r, j]
    return total


@jit_inline
def shift_outputs(s, size, sign, slots):
    """Subtract slot s from the outputs at the stored rows (sign -1), or add it (+1)."""
    A, gram, outputs = slots.A, slots.gram, slots.outputs
    for k in range(A.shape[0]):
        alpha = sign * A[k, s]
        for j in range(size):
            outputs[k, j] += alpha * gram[s, j]
        if sign > 0.0:
            outputs[k, s] = _output_at(A, gram, s, k, size)


@jit_inline
def refresh_outputs(size, A, gram, outputs):
    """f(s_j)/scale of all slots, from the kernel matrix."""
    for k in range(A.shape[0]):
        for j in range(size):
            outputs[k, j] = _output_at(A, gram, j, k, size)


@jit_inline
def norm_from_gram(size, slots, state):
    """‖f‖² computed anew, O(B²)."""
    A, gram = slots.A, slots.gram
    if slots.recompute > 0:
        call_python(slots.recompute, ANEW)
        return
    total = 0.0
    for r in range(size):
        for k in range(A.shape[0]):
            if A[k, r] != 0.0:
                total += A[k, r] * _output_at(A, gram, r, k, size)
    state[SQUARED_NORM] = state[SCALE] * state[SCALE] * total


@jit_inline
def norm_without(r, size, k_r, c, cp, slots, state):
    """(‖f - α_r κ_r‖², c·(f - α_r κ_r)(x)), from which the norm's update starts.

    ``k_r`` is κ(s_r, x) and ``cp`` is c·f(x).
    """
    A, scale = slots.A, state[SCALE]
    norm = state[SQUARED_NORM]
    row = gram_row(r, slots)
    for k in range(A.shape[0]):
        alpha = scale * A[k, r]
        output = scale * _output_at(A, slots.gram, row, k, size)
        norm += alpha * (alpha * slots.info[DIAGONAL, r] - 2.0 * output)
        cp -= c[k] * alpha * k_r
    return norm, cp
