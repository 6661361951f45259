"""Budgets that drop a stored row and give its part of f to those that stay.

The new row t joins with the step that it would have without a budget; one row r goes, and α_r κ_r
is projected onto V, some of the rows that stay. Wang & Vucetic 2010 minimise
½‖f' - f‖² + C·loss over such f'. With t in V the projection of κ_r leaves the score of row t as it
is, so the best step is τ of PA-I whatever r is. The residual κ_r - P_V κ_r is orthogonal to V, and
so to κ_t: ‖f' - f‖² = ‖τ c κ_t‖² + ‖α_r‖² ρ_r with ρ_r = ‖κ_r - P_V κ_r‖², and the best r has the
least ‖α_r‖² ρ_r:

* V = all other rows (BPA-P): with M the inverse of the kernel matrix of all B + 1 rows,
  P_V κ_r = -Σ_{i≠r} (M_ir/M_rr) κ_i and ρ_r = 1/M_rr.
* V = {t, nearest neighbour n of r} (BPA-NN): two equations,
  [κ_tt κ_tn; κ_tn κ_nn] [u; v] = [κ_rt; κ_rn], and ρ_r = κ_rr - u κ_rt - v κ_rn.
* V = {t} (BPA-S): :mod:`onkel.budgets.replacing`.

κ + λ I stands for the kernel matrix, λ above rounding, so that it is never singular.
"""

from __future__ import annotations

import numpy as np

from onkel._jit import jit_inline
from onkel.budgets.base import DIAGONAL, Budget, BudgetKind

__all__ = [
    "BPANearest",
    "BPAProjection",
    "SmallestProjection",
    "least_change",
    "nearest",
    "nearest_change",
    "onto_pair",
]

# Below this share of κ_tt κ_nn the determinant of two rows is rounding error.
_SAME = 1e-6


@jit_inline
def least_change(A, diagonal, d, delta2, size):
    """argmin_r ‖α_r‖²/M_rr, M the inverse with the new row: M_rr + d_r²/‖δ‖²."""
    r = 0
    least = np.inf
    for j in range(size):
        weight = 0.0
        for k in range(A.shape[0]):
            weight += A[k, j] * A[k, j]
        change = weight / (diagonal[j] + d[j] * d[j] / delta2)
        if change < least:
            r, least = j, change
    return r


@jit_inline
def nearest(j, size, info, gram):
    """The slot next to slot j in feature space; -1 where there is no other."""
    n = -1
    least = np.inf
    for i in range(size):
        distance = info[DIAGONAL, i] - 2.0 * gram[j, i]
        if i != j and distance < least:
            n, least = i, distance
    return n


@jit_inline
def onto_pair(r, n, q, k_r, k_n, info, gram):
    """(u, v, ρ): κ_r ≈ u κ_t + v κ_n, and the squared residual; k are kernel values with row t."""
    own = info[DIAGONAL, r]
    if n >= 0:
        k_nn, k_rn = info[DIAGONAL, n], gram[r, n]
        det = q * k_nn - k_n * k_n
        if det > _SAME * q * k_nn:
            u = (k_r * k_nn - k_rn * k_n) / det
            v = (k_rn * q - k_r * k_n) / det
            return u, v, max(own - u * k_r - v * k_rn, 0.0)
    u = k_r / q if q > 0.0 else 0.0
    return u, 0.0, max(own - u * k_r, 0.0)


@jit_inline
def nearest_change(A, neighbour, q, panel, t, size, info, gram):
    """argmin_r ‖α_r‖² ρ_r over projections onto the new row and the nearest neighbour of r."""
    r = 0
    least = np.inf
    for j in range(size):
        weight = 0.0
        for k in range(A.shape[0]):
            weight += A[k, j] * A[k, j]
        # where there is no neighbour it is not looked at
        k_n = panel[t, max(neighbour[j], 0)]
        _, _, rest = onto_pair(j, neighbour[j], q, panel[t, j], k_n, info, gram)
        if weight * rest < least:
            r, least = j, weight * rest
    return r


class _Exchange(Budget):
    def __init__(self, budget: int = 100) -> None:
        self.budget = budget

    def needs_gram(self, par: np.ndarray) -> bool:
        return True


class BPAProjection(_Exchange):
    """The new row takes the place of the stored one that the others, with it, replace best.

    Dropped is ``argmin_r ‖α_r‖²/M_rr``, M the inverse kernel matrix of the B + 1 rows; the others
    take over its part of f: ``α_i ← α_i - α_r M_ir/M_rr``. O(B²) a row that is added.

    Parameters
    ----------
    budget : int, default=100
        B ≥ 1.

    Notes
    -----
    Source: Wang & Vucetic 2010, BPA-P.
    """

    name = "bpa_projection"
    kind = BudgetKind.EXCHANGE_LEAST


class BPANearest(_Exchange):
    """The new row takes the place of a stored one, whose part it shares with its neighbour.

    κ_r is projected onto the new row and the nearest neighbour of r; r is the one that loses least,
    ``‖α_r‖² ρ_r``. O(B) a row that is added, for a kernel matrix of B² numbers.

    Parameters
    ----------
    budget : int, default=100
        B ≥ 1.

    Notes
    -----
    Source: Wang & Vucetic 2010, BPA-NN.
    """

    name = "bpa_nearest"
    kind = BudgetKind.EXCHANGE_NEAREST


class SmallestProjection(_Exchange):
    """The row of the smallest ``Σ_k α_k² κ(s, s)``, old or new, is projected onto the others.

    O(B²) a row that is added.

    Parameters
    ----------
    budget : int, default=100
        B ≥ 1.

    Notes
    -----
    Source: Wang, Crammer & Vucetic 2012, projection.
    """

    name = "smallest_projection"
    kind = BudgetKind.EXCHANGE_SMALLEST
