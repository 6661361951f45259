"""Removal of the stored row that is most like the new one."""

from __future__ import annotations

import math
from typing import Any

from onkel.support.removal.by_slot import SlotBudget


class DropNearest(SlotBudget):
    """Drop the row that is nearest to the new one in feature space.

    The new row stands in for it: the distance is √(κ(x, x) - 2κ(x, s) + κ(s, s)). Of equal
    distances the first slot goes.

    Parameters
    ----------
    budget : int, default=100
        B ≥ 1.

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
