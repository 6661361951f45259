"""Random removal, the budget of RBP."""

from __future__ import annotations

from onkel.numerics.jit import jit_inline
from onkel.numerics.random import pick
from onkel.support.removal.family import RemovalKind, SizedRemoval


@jit_inline
def random_slot(rng, size):
    """Any slot, each with the same probability."""
    return pick(rng, size)


class RandomRemoval(SizedRemoval):
    """Drop one of the B stored rows, each with the same probability.

    Parameters
    ----------
    budget : int, default=100
        B ≥ 1. The new row is never the one dropped.

    Notes
    -----
    Source: Cavallanti, Cesa-Bianchi & Gentile 2007 (RBP, with the perceptron).
    """

    name = "random"
    kind = RemovalKind.RANDOM
