"""Budgets given by a slot function: the base class for a budget of your own, and an example."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from onkel.numerics.calling import call_slot, slot_function
from onkel.numerics.jit import jit_inline
from onkel.support.removal.kinds import RemovalKind, SizedRemoval


@jit_inline
def given_slot(kind, par, A, info, panel, t, size):
    """The slot that the function of this number chooses for row t."""
    s = call_slot(kind, par, A, info, panel, t, size)
    if s < 0 or s >= size:
        raise IndexError("a budget's slot function chose a slot that does not exist")
    return s


class SlotBudget(SizedRemoval):
    """A budget that says in one function which stored row a new one replaces.

    A subclass gives ``name`` and :meth:`slot`, which is compiled (numbers, loops, ``math`` and
    NumPy as Numba knows them) and must not raise.
    """

    kind: ClassVar[int] = RemovalKind.BY_SLOT

    @staticmethod
    def slot(own: Any, A: Any, info: Any, similar: Any) -> int:
        """The slot in 0..B-1 that is dropped.

        ``own`` is what ``parameters()`` returns. ``A`` (K, B) are the coefficients of the K outputs
        over the stored rows, up to a common factor. The rows of ``info`` (3, B) are DIAGONAL,
        κ(s, s); TARGET, the label (±1, a class code or the target); BIRTH, the number of the
        insertion. ``similar`` (B,) is κ(x, s) of the new row with each stored one. None of them may
        be changed.
        """
        raise NotImplementedError("a SlotBudget needs a slot")

    def number(self, dtype: np.dtype) -> int:
        return slot_function(type(self).slot, dtype)


class DropNearest(SlotBudget):
    """Drop the row that is nearest to the new one in feature space.

    The new row stands in for it: the distance is √(κ(x, x) - 2κ(x, s) + κ(s, s)). Of equal
    distances the first slot goes.

    Notes
    -----
    Source: the removal of BPA-NN's neighbour (Wang & Vucetic 2010, section 4.3), without its
    projection.
    """

    name = "drop_nearest"

    @staticmethod
    def slot(own: Any, A: Any, info: Any, similar: Any) -> int:
        nearest, least = 0, math.inf
        for j in range(len(similar)):
            # without κ(x, x), which is the same for all; info[0] is κ(s, s)
            distance = info[0, j] - 2.0 * similar[j]
            if distance < least:
                nearest, least = j, distance
        return nearest
