"""Budgets that drop a stored row and give its part of f to those that stay.

The new row t is added with the step that it would take without a budget. One row r goes, and
α_r κ_r is projected onto V, the span of some of the rows that stay. Wang & Vucetic 2010 minimise
½‖f' - f‖² + C·loss over such f'. With t in V the projection of κ_r leaves the score of row t as it
is, so the best step is τ of PA-I whatever r is. The residual κ_r - P_V κ_r is orthogonal to V, and
so to κ_t: ‖f' - f‖² = ‖τ c κ_t‖² + ‖α_r‖² ρ_r with ρ_r = ‖κ_r - P_V κ_r‖², and the best r has the
least ‖α_r‖² ρ_r:

* V = all other rows: BPA-P, :class:`BPAProjection`.
* V = {t, nearest neighbour of r}: BPA-NN, :class:`BPANearest`.
* V = {t}: BPA-S, :class:`onkel.support.removal.choices.BPASimple`.

The kernel matrix is taken as κ + λ I, λ above rounding, so that it is never singular.

BPA-P needs the inverse M of the kernel matrix of all B + 1 rows: P_V κ_r = -Σ_{i≠r} (M_ir/M_rr) κ_i
and ρ_r = 1/M_rr. BPA-NN solves two equations, [κ_tt κ_tn; κ_tn κ_nn] [u; v] = [κ_rt; κ_rn], and
ρ_r = κ_rr - u κ_rt - v κ_rn. BSGD-P projects the row of the smallest weight, whatever ρ_r is.
"""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar

import numpy as np

from onkel.numerics.jit import jit_inline
from onkel.rules.base import SCALE
from onkel.support.budget import BIRTH, DIAGONAL, SizedBudget
from onkel.support.removal.choices import smallest_slot


class ExchangeKind(IntEnum):
    """The budgets by number, as the loop knows them."""

    LEAST_CHANGE = 0
    SMALLEST = 1
    NEAREST = 2


class Exchange(SizedBudget):
    """A budget that gives the part of a dropped row to those that stay."""

    family = "exchange"

    def needs_gram(self, par: np.ndarray) -> bool:
        return True

    def needs_inverse(self) -> bool:
        """True when the inverse of κ(S, S) is kept."""
        return True


# Changes that differ by less than this share count as equal.
_TIE = 1e-9


@jit_inline
def least_change_slot(A, info, diagonal, d, delta2, size):
    """argmin_r ‖α_r‖²/M_rr, the oldest of equals; the new row adds d_r²/‖δ‖² to M_rr."""
    r = 0
    least = np.inf
    for j in range(size):
        weight = 0.0
        for k in range(A.shape[0]):
            weight += A[k, j] * A[k, j]
        change = weight / (diagonal[j] + d[j] * d[j] / delta2)
        older = change <= least * (1.0 + _TIE) and info[BIRTH, j] < info[BIRTH, r]
        if change < least * (1.0 - _TIE) or older:
            r, least = j, change
    return r


class BPAProjection(Exchange):
    """The new row takes the place of the stored one that all others represent best.

    Row ``argmin_r ‖α_r‖²/M_rr`` is dropped, M the inverse kernel matrix of the B + 1 rows. The
    others take over its part of f: ``α_i ← α_i - α_r M_ir/M_rr``. O(B²) time per added row.

    Notes
    -----
    Source: Wang & Vucetic 2010, BPA-P.
    """

    name = "bpa_projection"
    kind: ClassVar[int] = ExchangeKind.LEAST_CHANGE


@jit_inline
def smallest_of_all(slots, size, q, new, state, work):
    """The slot of the smallest Σ_k α_k² κ(s, s); -1 where the new row's is smaller."""
    A = slots.A
    r = smallest_slot(A, slots.info, size, work)
    stored, joins = 0.0, 0.0
    for k in range(A.shape[0]):
        stored += A[k, r] * A[k, r]
        joins += new[k] * new[k]
    return -1 if joins * q < stored * slots.info[DIAGONAL, r] * state[SCALE] * state[SCALE] else r


class SmallestProjection(Exchange):
    """The row of the smallest ``Σ_k α_k² κ(s, s)``, old or new, is projected onto the others.

    O(B²) time per added row.

    Notes
    -----
    Source: Wang, Crammer & Vucetic 2012, projection.
    """

    name = "smallest_projection"
    kind: ClassVar[int] = ExchangeKind.SMALLEST


# Below this share of κ_tt κ_nn the determinant of two rows is rounding error.
_SAME = 1e-6


@jit_inline
def _distance(j, i, info, gram):
    """‖κ_i - κ_j‖² - κ_jj."""
    return info[DIAGONAL, i] - 2.0 * gram[j, i]


@jit_inline
def _nearest(j, size, info, gram):
    """The slot nearest to slot j in feature space, the first of equals; -1 if there is no other."""
    n = -1
    least = np.inf
    for i in range(size):
        distance = _distance(j, i, info, gram)
        if i != j and distance < least:
            n, least = i, distance
    return n


@jit_inline
def first_neighbours(size, slots, neighbour):
    """The nearest neighbours of all slots."""
    for j in range(size):
        neighbour[j] = _nearest(j, size, slots.info, slots.gram)


@jit_inline
def new_neighbours(r, size, slots, neighbour):
    """The nearest neighbours after slot r has been refilled."""
    info, gram = slots.info, slots.gram
    for j in range(size):
        i = neighbour[j]
        if i == r or j == r:
            neighbour[j] = _nearest(j, size, info, gram)
        else:
            to_r, to_i = _distance(j, r, info, gram), _distance(j, i, info, gram)
            if to_r < to_i or (to_r == to_i and r < i):
                neighbour[j] = r


@jit_inline
def _onto_pair(r, n, q, k_r, k_n, info, gram):
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
def _least_change(neighbour, q, panel, t, size, slots):
    """argmin_r ‖α_r‖² ρ_r over projections onto the new row and the nearest neighbour of r."""
    A = slots.A
    r = 0
    least = np.inf
    for j in range(size):
        weight = 0.0
        for k in range(A.shape[0]):
            weight += A[k, j] * A[k, j]
        # not used where there is no neighbour
        k_n = panel[t, max(neighbour[j], 0)]
        _, _, rest = _onto_pair(j, neighbour[j], q, panel[t, j], k_n, slots.info, slots.gram)
        if weight * rest < least:
            r, least = j, weight * rest
    return r


@jit_inline
def drop_beside(rows, t, size, slots, neighbour, new, state):
    """The slot to drop; its part of f goes to the new row and to its nearest neighbour."""
    A, panel, q = slots.A, rows.panel, rows.q[t]
    r = _least_change(neighbour, q, panel, t, size, slots)
    m = neighbour[r]
    k_n = panel[t, max(m, 0)]
    u, v, _ = _onto_pair(r, m, q, panel[t, r], k_n, slots.info, slots.gram)
    for k in range(A.shape[0]):
        if m >= 0:
            A[k, m] += A[k, r] * A.dtype.type(v)
        new[k] += state[SCALE] * A[k, r] * u
    return r


class BPANearest(Exchange):
    """The new row replaces a stored one, whose part of f it shares with the nearest neighbour.

    κ_r is projected onto the new row and the nearest neighbour of r; r is the row that loses least,
    ``‖α_r‖² ρ_r``. O(B) time per added row; a kernel matrix of B² numbers is kept.

    Notes
    -----
    Source: Wang & Vucetic 2010, BPA-NN.
    """

    name = "bpa_nearest"
    kind: ClassVar[int] = ExchangeKind.NEAREST

    def needs_inverse(self) -> bool:
        return False
