"""The two stochastic strategies of He & Kwok: insert at random, or remove at random."""

from __future__ import annotations

import numpy as np

from onkel.budgets.base import N_PARAMETERS, Budget, BudgetKind

__all__ = ["FixedRandom", "StochasticInsertion"]


class StochasticInsertion(Budget):
    """A new term is kept with probability ``p_t = t^-γ``, and then divided by p_t.

    f moves as without a budget in expectation; the expected size is O(T^(1-γ)).

    Parameters
    ----------
    thinning : float, default=0.5
        γ in (0, 1): larger keeps fewer rows.

    Notes
    -----
    Source: He & Kwok 2014, first strategy. The public text of the paper breaks off before the
    algorithm; this form is derived from its Proposition 1 and meets the guarantees it states.
    """

    name = "stochastic"
    kind = BudgetKind.STOCHASTIC

    def __init__(self, thinning: float = 0.5) -> None:
        self.thinning = thinning

    def limit(self) -> int | None:
        return None

    def parameters(self) -> np.ndarray:
        value = self.thinning
        if isinstance(value, str) or not np.isreal(value) or not 0.0 < value < 1.0:
            raise ValueError(f"thinning={value!r} must be a number between 0 and 1")
        out = np.zeros(N_PARAMETERS)
        out[0] = value
        return out

    def needs_gram(self, par: np.ndarray) -> bool:
        return False


class FixedRandom(Budget):
    """One of the B + 1 terms, the new one too, is dropped at random, the others grow by (B+1)/B.

    f is unchanged in expectation. Use it with a rule that projects f onto a ball, which is what
    keeps it bounded.

    Parameters
    ----------
    budget : int, default=100
        B ≥ 1.

    Notes
    -----
    Source: He & Kwok 2014, second strategy; derived as in :class:`StochasticInsertion`. The paper
    states a regret of O(√T) for B of order √T; this form does not reach it (docs/regret.md): what
    is left of a term after a rows has grown by e^(a/B). :class:`BoundedRemoval` with
    ``removal="nonuniform"`` is unbiased too, and its terms don't grow so.
    """

    name = "fixed_random"
    kind = BudgetKind.FIXED_RANDOM

    def __init__(self, budget: int = 100) -> None:
        self.budget = budget
