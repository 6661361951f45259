"""Removal of the row with the smallest weight, the budget of BSGD-R."""

from __future__ import annotations

import numpy as np

from onkel.numerics.jit import first_least, jit_inline
from onkel.support.budget import BIRTH
from onkel.support.removal.family import RemovalKind, SizedRemoval, weights

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

    Parameters
    ----------
    budget : int, default=100
        B ≥ 1.

    Notes
    -----
    Source: Wang, Crammer & Vucetic 2012, removal. Among weights equal up to rounding (all of them
    with Pegasos and the hinge loss) the oldest row goes.
    """

    name = "smallest"
    kind = RemovalKind.SMALLEST
