"""No budget: every row with a gradient is stored, or ever fewer of them."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from onkel.numerics.jit import jit_inline
from onkel.numerics.random import uniform
from onkel.parameters import positive
from onkel.support.budget import N_PARAMETERS
from onkel.support.removal.kinds import Removal, RemovalKind


class NoBudget(Removal):
    """Every row with a gradient is stored: exact, in memory that grows with the stream."""

    name = "none"
    kind: ClassVar[int] = RemovalKind.NONE

    def limit(self) -> int | None:
        return None

    def needs_gram(self, par: np.ndarray) -> bool:
        return False


# Its place in the parameter vector.
_THINNING = 0


@jit_inline
def thinned(par, t, b, rng):
    """b divided by the probability t^-γ that row t is stored; 0 where it is not stored."""
    chance = t ** -par[_THINNING]
    return b / chance if uniform(rng) < chance else 0.0


class StochasticInsertion(Removal):
    """A new term is kept with probability ``p_t = t^-γ``, and then divided by p_t.

    In expectation f moves as without a budget; the expected size is O(T^(1-γ)).

    Parameters
    ----------
    thinning : float, default=0.5
        γ in (0, 1): a row with a gradient is stored with probability t^-γ.

    Notes
    -----
    Source: He & Kwok 2014, first strategy. The public text of the paper breaks off before the
    algorithm; this form is derived from its Proposition 1 and meets the guarantees it states.
    """

    name = "stochastic"
    kind: ClassVar[int] = RemovalKind.STOCHASTIC

    def __init__(self, thinning: float = 0.5) -> None:
        self.thinning = thinning

    def limit(self) -> int | None:
        return None

    def parameters(self) -> np.ndarray:
        out = np.zeros(N_PARAMETERS)
        out[_THINNING] = positive(self, "thinning", below=1.0)
        return out

    def needs_gram(self, par: np.ndarray) -> bool:
        return False
