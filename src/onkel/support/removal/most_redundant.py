"""Removal of the row that is missed least, the budget of the budget perceptron."""

from __future__ import annotations

import numpy as np

from onkel.losses import Loss
from onkel.numerics.jit import jit_inline
from onkel.rules.base import SCALE
from onkel.support.budget import BIRTH, DIAGONAL, TARGET
from onkel.support.removal.family import RemovalKind, SizedRemoval


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

    Parameters
    ----------
    budget : int, default=100
        B ≥ 1.

    Notes
    -----
    Source: Crammer, Kandola & Singer 2003, Figure 2.
    """

    name = "most_redundant"
    kind = RemovalKind.MOST_REDUNDANT

    def needs_gram(self, par: np.ndarray) -> bool:
        return True

    def needs_outputs(self) -> bool:
        return True
