"""Removal of the oldest row, the budget of NORMA."""

from __future__ import annotations

from onkel.numerics.jit import first_least, jit_inline
from onkel.support.budget import BIRTH
from onkel.support.removal.family import RemovalKind, SizedRemoval


@jit_inline
def oldest_slot(info, size):
    """The slot that was filled first."""
    return first_least(info, BIRTH, size)


class OldestRemoval(SizedRemoval):
    """Drop the row stored first.

    With a decaying f (``alpha`` > 0) this is NORMA's truncation: what is dropped has decayed
    longest.

    Parameters
    ----------
    budget : int, default=100
        B ≥ 1.

    Notes
    -----
    Source: Kivinen, Smola & Williamson 2004, section III.
    """

    name = "oldest"
    kind = RemovalKind.OLDEST
