"""BPA-S: the new row replaces the stored row whose part of f it takes over best."""

from __future__ import annotations

from onkel.numerics.jit import first_least, jit_inline
from onkel.rules.base import SCALE
from onkel.support.budget import DIAGONAL
from onkel.support.removal.family import RemovalKind, SizedRemoval, squared_coefficients


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

    Parameters
    ----------
    budget : int, default=100
        B ≥ 1.

    Notes
    -----
    Source: Wang & Vucetic 2010, BPA-S (closed form; τ is the step without a budget).
    """

    name = "bpa_simple"
    kind = RemovalKind.REPLACE_SIMPLE
    rules = ("passive_aggressive",)
    reason = "it solves the passive-aggressive problem of one row"
