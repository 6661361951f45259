"""Levels of coverage: what they may be, and a threshold between those that are tracked."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from onkel.annotations import ArrayLike
from onkel.numerics.jit import jit_inline_in_order
from onkel.parameters import is_number


def checked_levels(level: ArrayLike) -> tuple[np.ndarray, bool]:
    """Levels (L,) in growing order, and whether one number was given; ValueError if not."""
    one = np.ndim(level) == 0
    try:
        levels = np.atleast_1d(np.asarray(level, dtype=np.float64))
    except (TypeError, ValueError):
        levels = np.zeros(0)
    if levels.ndim != 1 or not len(levels) or not np.all((levels > 0.0) & (levels < 1.0)):
        raise ValueError(f"level={level!r} must be in (0, 1), or a list of such levels")
    if np.any(np.diff(levels) <= 0.0):
        raise ValueError(f"level={level!r}: several levels must be in growing order")
    return levels, one


def between(levels: np.ndarray, q: np.ndarray, level: ArrayLike) -> np.ndarray:
    """The threshold (1,) of a level, from those of the tracked ``levels``.

    Between two of them it is linear in the quantiles of a normal distribution; outside, it keeps
    its ratio to these (above 0) or its distance (below).
    """
    if not is_number(level) or not 0.0 < level < 1.0:
        raise ValueError(f"level={level!r} must be in (0, 1)")
    known, wanted = ndtri(0.5 + 0.5 * levels), float(ndtri(0.5 + 0.5 * float(level)))
    if known[0] <= wanted <= known[-1]:
        return np.array([np.interp(wanted, known, q)])
    end = 0 if wanted < known[0] else -1
    return np.array(
        [q[end] * wanted / known[end] if q[end] > 0.0 else q[end] + wanted - known[end]]
    )


@jit_inline_in_order
def in_order(q, L, played):
    """played[:L] ← the nearest numbers to q[:L] that are in order.

    Level i gets the largest, over a ≤ i, of the least mean of q from a to any b ≥ i.
    """
    for i in range(L):
        largest = -np.inf
        for a in range(i + 1):
            least, total = np.inf, 0.0
            for b in range(a, L):
                total += q[b]
                if b >= i:
                    least = min(least, total / (b - a + 1))
            largest = max(largest, least)
        played[i] = largest
