"""Budgets that drop a stored row for each new one: none at all, random, oldest, smallest, least
missed."""

from __future__ import annotations

import numpy as np

from onkel._jit import first_least, jit_inline
from onkel.budgets.base import BIRTH, DIAGONAL, TARGET, Budget, BudgetKind
from onkel.losses import Loss

__all__ = [
    "MostRedundantRemoval",
    "NoBudget",
    "OldestRemoval",
    "RandomRemoval",
    "SmallestRemoval",
    "most_redundant",
    "oldest",
    "smallest",
    "squared_coefficients",
    "weights",
]

# Weights that differ by less than this share are equal: coefficients round in float32.
_TIE = 1e-4


@jit_inline
def oldest(info, size):
    """The slot that was filled first."""
    return first_least(info, BIRTH, size)


@jit_inline
def squared_coefficients(A, size, work):
    """Row 0 of ``work`` ← Σ_k α_k² of each slot."""
    for j in range(size):
        work[0, j] = 0.0
    for k in range(A.shape[0]):
        for j in range(size):
            work[0, j] += A[k, j] * A[k, j]


@jit_inline
def weights(A, info, size, work):
    """Row 0 of ``work`` ← Σ_k α_k² κ(s, s) of each slot."""
    squared_coefficients(A, size, work)
    for j in range(size):
        work[0, j] *= info[DIAGONAL, j]


@jit_inline
def smallest(A, info, size, work):
    """The slot of the smallest Σ_k α_k² κ(s, s); of those equal but for rounding the oldest.

    ``work`` (1, capacity) is scratch.
    """
    weights(A, info, size, work)
    tied = work[0, first_least(work, 0, size)] * (1.0 + _TIE)
    for j in range(size):
        work[0, j] = info[BIRTH, j] if work[0, j] <= tied else np.inf
    return first_least(work, 0, size)


@jit_inline
def _margin_without(loss, A, info, outputs, j, new, k_new, scale):
    """Margin of stored row j if it were dropped; ``new[k] k_new`` is what the new row adds."""
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
def most_redundant(loss, A, info, outputs, size, panel, t, new, scale):
    """The slot whose row is still predicted best without it: argmax_j of its margin."""
    r = 0
    best = -np.inf
    for j in range(size):
        k_new = panel[t, j]
        margin = _margin_without(loss, A, info, outputs, j, new, k_new, scale)
        if margin > best or (margin == best and info[BIRTH, j] < info[BIRTH, r]):
            r, best = j, margin
    return r


class NoBudget(Budget):
    """Every row with a gradient is stored: exact, in memory that grows with the stream."""

    name = "none"
    kind = BudgetKind.NONE

    def limit(self) -> int | None:
        return None

    def needs_gram(self, par: np.ndarray) -> bool:
        return False


class _Removal(Budget):
    def __init__(self, budget: int = 100) -> None:
        self.budget = budget


class RandomRemoval(_Removal):
    """Drop one of the B stored rows, each with the same probability.

    Parameters
    ----------
    budget : int, default=100
        B ≥ 1. The new row is never the one dropped.

    Notes
    -----
    Source: Cavallanti, Cesa-Bianchi & Gentile 2007 (RBP, with the perceptron).
    """

    name = "random"
    kind = BudgetKind.RANDOM


class OldestRemoval(_Removal):
    """Drop the row stored first.

    With a decaying f (``alpha`` > 0) this is NORMA's truncation: what is dropped has decayed
    longest.

    Parameters
    ----------
    budget : int, default=100
        B ≥ 1.

    Notes
    -----
    Source: Kivinen, Smola & Williamson 2004, section III.
    """

    name = "oldest"
    kind = BudgetKind.OLDEST


class SmallestRemoval(_Removal):
    """Drop the row of the smallest ``Σ_k α_k² κ(s, s)``: the least change of f in norm.

    Parameters
    ----------
    budget : int, default=100
        B ≥ 1.

    Notes
    -----
    Source: Wang, Crammer & Vucetic 2012, removal. Weights equal but for rounding (all of them
    with Pegasos and the hinge loss) are ties, in which the oldest row goes.
    """

    name = "smallest"
    kind = BudgetKind.SMALLEST


class MostRedundantRemoval(_Removal):
    """Drop the row that would be predicted best without it: ``argmax_j y_j (f - α_j κ_j)(s_j)``.

    In multiclass the margin over the best wrong class, in regression the smallest error. O(B) a
    row that is added, for a kernel matrix of B² numbers.

    Parameters
    ----------
    budget : int, default=100
        B ≥ 1.

    Notes
    -----
    Source: Crammer, Kandola & Singer 2003, Figure 2.
    """

    name = "most_redundant"
    kind = BudgetKind.REDUNDANT

    def needs_gram(self, par: np.ndarray) -> bool:
        return True
