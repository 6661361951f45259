"""Random removal, the new row included, that leaves f unchanged in expectation."""

from __future__ import annotations

from onkel.numerics.jit import jit_inline
from onkel.numerics.random import pick
from onkel.support.removal.family import RemovalKind, SizedRemoval


@jit_inline
def fixed_random_slot(rng, size):
    """(any of the slots or, one past the last, the new row; the factor of all that stay)."""
    return pick(rng, size + 1), (size + 1.0) / size


class FixedRandom(SizedRemoval):
    """One of the B + 1 terms, old or new, is dropped at random; the others grow by (B + 1)/B.

    f is unchanged in expectation. Use it with a rule that projects f onto a ball, which is what
    keeps it bounded.

    Parameters
    ----------
    budget : int, default=100
        B ≥ 1.

    Notes
    -----
    Source: He & Kwok 2014, second strategy; derived as in :class:`StochasticInsertion`. The paper
    states a regret of O(√T) for B of order √T; this form does not reach it (docs/regret.md): a
    term that survives n removals has grown by e^(n/B). :class:`BoundedRemoval` with
    ``removal="nonuniform"`` is unbiased too, and its terms don't grow like that.
    """

    name = "fixed_random"
    kind = RemovalKind.FIXED_RANDOM
