"""Budgets that drop one row: the oldest, one at random, or the one that f misses least.

Each is a compiled function that chooses the slot, and the budget's declaration below it.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from onkel.losses import Loss
from onkel.numerics.jit import first_least, jit_inline
from onkel.numerics.random import pick
from onkel.rules.base import SCALE
from onkel.support.budget import BIRTH, DIAGONAL, TARGET
from onkel.support.removal.kinds import RemovalKind, SizedRemoval, squared_coefficients, weights


@jit_inline
def oldest_slot(info, size):
    """The slot that was filled first."""
    return first_least(info, BIRTH, size)


class OldestRemoval(SizedRemoval):
    """Drop the row stored first.

    With a decaying f (``alpha`` > 0) this is NORMA's truncation: what is dropped has decayed
    longest.

    Notes
    -----
    Source: Kivinen, Smola & Williamson 2004, section III.
    """

    name = "oldest"
    kind: ClassVar[int] = RemovalKind.OLDEST


class RandomRemoval(SizedRemoval):
    """Drop one of the B stored rows, each with the same probability.

    The new row is never the one dropped.

    Notes
    -----
    Source: Cavallanti, Cesa-Bianchi & Gentile 2007 (RBP, with the perceptron).
    """

    name = "random"
    kind: ClassVar[int] = RemovalKind.RANDOM


@jit_inline
def fixed_random_slot(rng, size):
    """(any of the slots or, one past the last, the new row; the factor of all that stay)."""
    return pick(rng, size + 1), (size + 1.0) / size


class FixedRandom(SizedRemoval):
    """One of the B + 1 terms, old or new, is dropped at random; the others grow by (B + 1)/B.

    f is unchanged in expectation. Use it with a rule that projects f onto a ball, which is what
    keeps it bounded.

    Notes
    -----
    Source: He & Kwok 2014, second strategy; derived as in :class:`StochasticInsertion`. The paper
    states a regret of O(√T) for B of order √T; this form does not reach it
    (docs/results/regret.md): a term that survives n removals has grown by e^(n/B).
    :class:`BoundedRemoval` with ``removal="nonuniform"`` is unbiased too, and its terms don't grow
    like that.
    """

    name = "fixed_random"
    kind: ClassVar[int] = RemovalKind.FIXED_RANDOM


# Weights that differ by less than this share count as equal: coefficients round in float32.
_TIE = 1e-4


@jit_inline
def smallest_slot(A, info, size, work):
    """The slot of the smallest Σ_k α_k² κ(s, s); of those equal up to rounding, the oldest.

    ``work`` (1, capacity) is scratch.
    """
    weights(A, info, size, work)
    tied = work[0, first_least(work, 0, size)] * (1.0 + _TIE)
    for j in range(size):
        work[0, j] = info[BIRTH, j] if work[0, j] <= tied else np.inf
    return first_least(work, 0, size)


class SmallestRemoval(SizedRemoval):
    """Drop the row of the smallest ``Σ_k α_k² κ(s, s)``: f changes least in norm.

    Notes
    -----
    Source: Wang, Crammer & Vucetic 2012, removal. Among weights equal up to rounding (all of them
    with Pegasos and the hinge loss) the oldest row goes.
    """

    name = "smallest"
    kind: ClassVar[int] = RemovalKind.SMALLEST


@jit_inline
def _margin_without(loss, slots, j, new, k_new, scale):
    """Margin of stored row j if it were dropped; ``new[k] k_new`` is what the new row adds."""
    A, info, outputs = slots.A, slots.info, slots.outputs
    if A.shape[0] == 1:
        p = scale * (outputs[0, j] - A[0, j] * info[DIAGONAL, j]) + new[0] * k_new
        if loss > Loss.PERCEPTRON:
            return -abs(info[TARGET, j] - p)
        return info[TARGET, j] * p
    own = int(info[TARGET, j])
    p_own = 0.0
    p_rival = -np.inf
    for k in range(A.shape[0]):
        p = scale * (outputs[k, j] - A[k, j] * info[DIAGONAL, j]) + new[k] * k_new
        if k == own:
            p_own = p
        else:
            p_rival = max(p_rival, p)
    return p_own - p_rival


@jit_inline
def most_redundant_slot(loss, slots, size, panel, t, new, state):
    """The slot whose row is still predicted best without it: argmax_j of its margin."""
    info = slots.info
    r = 0
    best = -np.inf
    for j in range(size):
        margin = _margin_without(loss, slots, j, new, panel[t, j], state[SCALE])
        if margin > best or (margin == best and info[BIRTH, j] < info[BIRTH, r]):
            r, best = j, margin
    return r


class MostRedundantRemoval(SizedRemoval):
    """Drop the row that would be predicted best without it: ``argmax_j y_j (f - α_j κ_j)(s_j)``.

    In multiclass it is the margin over the best wrong class, in regression the smallest error.
    O(B) time per added row; a kernel matrix of B² numbers is kept.

    Notes
    -----
    Source: Crammer, Kandola & Singer 2003, Figure 2.
    """

    name = "most_redundant"
    kind: ClassVar[int] = RemovalKind.MOST_REDUNDANT

    def needs_gram(self, par: np.ndarray) -> bool:
        return True

    def needs_outputs(self) -> bool:
        return True

    def recomputes(self, par: np.ndarray) -> bool:
        return False


@jit_inline
def simple_slot(slots, size, rows, t, new, state, work):
    """The slot to replace; ``new`` (K,) becomes the coefficients β of the new row.

    β_r = α_r k_r/q + new keeps the score of row t at f + new q whatever r is, so the objective
    ½‖f_r - f‖² + C·loss of the paper differs between the slots in its first term alone,
    α_r² κ_rr + β_r² q - 2 α_r β_r k_r = α_r² (κ_rr - k_r²/q) + new² q. Of slots that are equal up
    to rounding (rows of whole numbers may be at equal distances) the first is taken. ``work``
    (1, B) is scratch.
    """
    A, info, panel, q = slots.A, slots.info, rows.panel, rows.q[t]
    squared_coefficients(A, size, work)
    for j in range(size):
        k_r = float(panel[t, j])
        work[0, j] *= max(info[DIAGONAL, j] - k_r * k_r / q, 0.0)
    r = first_least(work, 0, size)
    tied = work[0, r] * (1.0 + (1e-10 if A.itemsize == 8 else 1e-6))
    for j in range(size):
        r = min(r, j if work[0, j] <= tied else size)
    for k in range(A.shape[0]):
        new[k] += state[SCALE] * A[k, r] * panel[t, r] / q
    return r


class BPASimple(SizedRemoval):
    """The new row replaces a stored one and takes over its part of f, ``β = α_r k_r/q + τ c``.

    It replaces the row r that changes f least, ``α_r² κ_rr + β² q - 2 α_r β k_r``, with
    q = κ(x, x). O(B) time per added row.

    Notes
    -----
    Source: Wang & Vucetic 2010, BPA-S (closed form; τ is the step without a budget).
    """

    name = "bpa_simple"
    kind: ClassVar[int] = RemovalKind.REPLACE_SIMPLE
    rules: ClassVar[tuple[str, ...] | None] = ("passive_aggressive",)
    reason = "it solves the passive-aggressive problem of one row"
