"""BSGD-P: the row of the smallest weight is projected onto all others."""

from __future__ import annotations

from onkel.numerics.jit import jit_inline
from onkel.rules.base import SCALE
from onkel.support.budget import DIAGONAL
from onkel.support.exchange.family import Exchange, ExchangeKind
from onkel.support.removal.smallest import smallest_slot


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

    Parameters
    ----------
    budget : int, default=100
        B ≥ 1.

    Notes
    -----
    Source: Wang, Crammer & Vucetic 2012, projection.
    """

    name = "smallest_projection"
    kind = ExchangeKind.SMALLEST
