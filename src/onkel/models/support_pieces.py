"""The pieces that the loops of all budget families share: the panel, the slots, the norm.

A model is A (K, capacity), coefficients of K outputs over stored rows, times ``state[SCALE]``. The
kernel values of a sub-block are computed before it is walked, by one matrix product:

    panel (n, capacity + n) = [κ(block, slots) | κ(block, block)].

When slot s takes row t, its column changes for the rows after t, and the new values stand in the
second part: column capacity + t. So the loop notes the pair of columns, and each row, when its turn
comes, copies what changed before it. Nothing is computed twice, whatever the budget does. Of the
second part a row needs only what is left of its own column. The slots stand first so that the
compiler sees that no index is below 0, and makes vectors of the loops over them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from onkel._jit import jit, jit_inline
from onkel.budgets.base import BIRTH, DIAGONAL, TARGET
from onkel.budgets.bounded import remaining
from onkel.models.loops import SCALE, SQUARED_NORM, rescale
from onkel.rules.base import RuleKind
from onkel.rules.gradient import gradient_step
from onkel.rules.passive_aggressive import passive_aggressive_step

__all__ = [
    "BORN",
    "CHANGED",
    "N_COUNTS",
    "REMOVED",
    "SIZE",
    "Slots",
    "catch_up",
    "direction_sums",
    "keep_rows",
    "norm_from_gram",
    "norm_without",
    "place",
    "refresh_outputs",
    "scale_by",
    "score",
    "shift_outputs",
    "step",
    "stretch_to",
]

# Places in the counts: slots in use, rows ever stored, changes in this sub-block, rows dropped.
SIZE, BORN, CHANGED, REMOVED = 0, 1, 2, 3
N_COUNTS = 4


class Slots(NamedTuple):
    """The arrays of a support set; the first ``counts[SIZE]`` slots are in use.

    How they are handed to a loop, which takes them apart at once: reading a member counts
    references, and pieces that do little work take plain arrays.
    """

    A: np.ndarray  # (K, capacity) coefficients over the common scale
    info: np.ndarray  # (3, capacity) of each slot: DIAGONAL, TARGET, BIRTH
    gram: np.ndarray  # (capacity, capacity) κ(S, S), or (0, 0) where nothing needs it
    outputs: np.ndarray  # (K, capacity) f(s)/scale, or (K, 0) where nothing needs it
    rng: np.ndarray  # (1,) state of the random generator
    counts: np.ndarray  # SIZE, BORN, CHANGED, REMOVED
    changes: np.ndarray  # (2, n) columns of the panel, for each change in this sub-block: to, from


# ---- a row's scores ------------------------------------------------------------------------------


@jit
def keep_rows(X, changes, n_changes, n_slots, S):
    """The rows of the slots that were filled; of a slot filled twice the last row stands."""
    for i in range(n_changes):
        for k in range(X.shape[1]):
            S[changes[0, i], k] = X[changes[1, i] - n_slots, k]


@jit_inline
def catch_up(panel, t, changes, n_changes):
    """Bring row t of the panel up to the slots as they are now."""
    for i in range(n_changes):
        panel[t, changes[0, i]] = panel[t, changes[1, i]]


@jit_inline
def score(panel, t, A, size, state, P):
    """p_k = Σ_j α_kj κ(s_j, x) of row t, accumulated in the precision of A."""
    for k in range(A.shape[0]):
        total = A.dtype.type(0.0)
        for j in range(size):
            total += A[k, j] * panel[t, j]
        P[t, k] = state[SCALE] * total


# ---- how f moves ---------------------------------------------------------------------------------


@jit_inline
def direction_sums(c, P, t):
    """(‖c‖², c·p) of row t."""
    c2 = 0.0
    cp = 0.0
    for k in range(c.shape[0]):
        c2 += c[k] * c[k]
        cp += c[k] * P[t, k]
    return c2, cp


@jit_inline
def step(rule, par, t, weight, value, c2, q):
    """(a, b) of f ← a f + b c κ(x, ·)."""
    if rule == RuleKind.GRADIENT:
        return gradient_step(par, t, weight)
    return passive_aggressive_step(par, weight, value, c2, q)


@jit_inline
def scale_by(A, outputs, a, state):
    """f ← a f, with its norm and its outputs at the stored rows."""
    if a != 1.0:
        scale = state[SCALE] * a
        rescale(A, a, state)
        state[SQUARED_NORM] *= a * a
        if state[SCALE] != scale:
            # the factor was multiplied out
            for k in range(outputs.shape[0]):
                for j in range(outputs.shape[1]):
                    outputs[k, j] *= scale


@jit_inline
def place(s, panel, t, y, q, new, A, info, gram, counts, changes, state):
    """Row t with the coefficients ``new`` (K,) becomes slot s."""
    for k in range(A.shape[0]):
        A[k, s] = new[k] / state[SCALE]
    info[DIAGONAL, s], info[TARGET, s], info[BIRTH, s] = q, y, counts[BORN]
    counts[BORN] += 1
    if s == counts[SIZE]:
        counts[SIZE] += 1
    i = counts[CHANGED]
    changes[0, i], changes[1, i] = s, panel.shape[1] - panel.shape[0] + t
    counts[CHANGED] += 1
    if gram.shape[0] > 0:
        for j in range(counts[SIZE]):
            gram[s, j] = panel[t, j]
            gram[j, s] = panel[t, j]
        gram[s, s] = q


@jit_inline
def _stretch(j, factor, size, A, info, gram, state):
    """α_j ← factor · α_j, with ‖f‖² where the kernel matrix is kept for it."""
    for k in range(A.shape[0]):
        move = (factor - 1.0) * A[k, j]
        if gram.shape[0] > 0:
            output = 0.0
            for i in range(size):
                output += A[k, i] * gram[j, i]
            change = move * (2.0 * output + move * info[DIAGONAL, j])
            state[SQUARED_NORM] += state[SCALE] * state[SCALE] * change
        A[k, j] += A.dtype.type(move)


@jit_inline
def stretch_to(before, r, size, chance, A, info, gram, state):
    """α_j ← α_j/(1 - p_j)/``before`` of all but slot r.

    Once rows have been dropped all terms but the newest are of one size, and so have one p: of most
    nothing is left to do.
    """
    rounding = 1e-12 if A.itemsize == 8 else 1e-6
    for j in range(size):
        factor = 1.0 / (before * remaining(chance, j))
        if j != r and abs(factor - 1.0) > rounding:
            _stretch(j, factor, size, A, info, gram, state)


# ---- norms and outputs at the stored rows --------------------------------------------------------


@jit_inline
def _output_at(A, gram, r, k, size):
    """f_k(s_r)/scale from the kept kernel matrix."""
    total = 0.0
    for j in range(size):
        total += A[k, j] * gram[r, j]
    return total


@jit_inline
def shift_outputs(s, size, sign, A, gram, outputs):
    """Take slot s out of the outputs at the stored rows (-1), or put it in (+1)."""
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
def norm_from_gram(size, A, gram, state):
    """‖f‖² without its recursion."""
    total = 0.0
    for r in range(size):
        for k in range(A.shape[0]):
            if A[k, r] != 0.0:
                total += A[k, r] * _output_at(A, gram, r, k, size)
    state[SQUARED_NORM] = state[SCALE] * state[SCALE] * total


@jit_inline
def norm_without(r, size, panel, t, c, cp, A, info, gram, state):
    """(‖f - α_r κ_r‖², c·(f - α_r κ_r)(x)): what the norm's recursion goes on from."""
    scale = state[SCALE]
    norm = state[SQUARED_NORM]
    for k in range(A.shape[0]):
        alpha = scale * A[k, r]
        output = scale * _output_at(A, gram, r, k, size)
        norm += alpha * (alpha * info[DIAGONAL, r] - 2.0 * output)
        cp -= c[k] * alpha * panel[t, r]
    return norm, cp
