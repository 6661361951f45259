"""BPA-S: the new row takes the place of the stored row whose part it can best play itself."""

from __future__ import annotations

import numpy as np

from onkel._jit import jit_inline
from onkel.budgets.base import DIAGONAL, Budget, BudgetKind

__all__ = ["BPASimple", "replace_best"]


@jit_inline
def replace_best(A, info, size, q, new, panel, t, n, scale):
    """The slot to replace; ``new`` (K,) becomes the coefficients β of the new row.

    β_r = α_r k_r/q + new keeps the score of row t at f + new q whatever r is, so the objective
    ½‖f_r - f‖² + C·loss of the paper differs between the slots in its first term alone.
    """
    r = 0
    least = np.inf
    for j in range(size):
        k_r = panel[t, n + j]
        change = 0.0
        for k in range(A.shape[0]):
            alpha = scale * A[k, j]
            beta = alpha * k_r / q + new[k]
            change += alpha * alpha * info[DIAGONAL, j] + beta * beta * q - 2.0 * alpha * beta * k_r
        if change < least:
            r, least = j, change
    for k in range(A.shape[0]):
        new[k] += scale * A[k, r] * panel[t, n + r] / q
    return r


class BPASimple(Budget):
    """The new row replaces a stored one and takes over its part of f, ``β = α_r k_r/q + τ c``.

    Replaced is the row r that changes f least, ``α_r² κ_rr + β² q - 2 α_r β k_r``, with
    q = κ(x, x). O(B) a row that is added.

    Parameters
    ----------
    budget : int, default=100
        B ≥ 1.

    Notes
    -----
    Source: Wang & Vucetic 2010, BPA-S (closed form; τ is the step without a budget).
    """

    name = "bpa_simple"
    kind = BudgetKind.REPLACE
    rules = ("passive_aggressive",)
    reason = "it solves the passive-aggressive problem of one row"

    def __init__(self, budget: int = 100) -> None:
        self.budget = budget
