"""The budgets of the family by number, and what they share."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from onkel.numerics.jit import jit_inline
from onkel.support.budget import DIAGONAL, Budget, SizedBudget

# The largest budget whose κ(S, S) is kept where only ‖f‖² needs it: 1 MB in float32.
KEPT = 512


class RemovalKind(IntEnum):
    """The budgets by number, as the loop knows them."""

    NONE = 0
    STOCHASTIC = 1
    RANDOM = 2
    OLDEST = 3
    SMALLEST = 4
    MOST_REDUNDANT = 5
    SHRINK_OLDEST = 6
    BOUNDED = 7
    FIXED_RANDOM = 8
    REPLACE_SIMPLE = 9
    BY_SLOT = 10


class Removal(Budget):
    """A budget that drops one stored row for each new one."""

    family = "removal"

    def recomputes(self, par: np.ndarray) -> bool:
        """True where a removal computes one row of κ(S, S) anew, instead of keeping B².

        Then only ‖f‖² may need the matrix; ``par`` are the rule's parameters.
        """
        limit = self.limit()
        return limit is not None and limit > KEPT and self.needs_norm(par)


class SizedRemoval(Removal, SizedBudget):
    """A budget of the family whose only parameter is its size B."""


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
