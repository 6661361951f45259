"""BPA-P: the dropped row is projected onto all others.

With M the inverse of the kernel matrix of all B + 1 rows, P_V κ_r = -Σ_{i≠r} (M_ir/M_rr) κ_i and
ρ_r = 1/M_rr.
"""

from __future__ import annotations

import numpy as np

from onkel.numerics.jit import jit_inline
from onkel.support.budget import BIRTH
from onkel.support.exchange.family import Exchange, ExchangeKind

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

    Parameters
    ----------
    budget : int, default=100
        B ≥ 1.

    Notes
    -----
    Source: Wang & Vucetic 2010, BPA-P.
    """

    name = "bpa_projection"
    kind = ExchangeKind.LEAST_CHANGE
