"""Budgets: how a support set is kept finite."""

from onkel.budgets.base import Budget, BudgetKind
from onkel.budgets.bounded import BoundedRemoval
from onkel.budgets.exchange import BPANearest, BPAProjection, SmallestProjection
from onkel.budgets.merging import Merging
from onkel.budgets.projection import Projection
from onkel.budgets.removal import (
    MostRedundantRemoval,
    NoBudget,
    OldestRemoval,
    RandomRemoval,
    SmallestRemoval,
)
from onkel.budgets.replacing import BPASimple
from onkel.budgets.shrinking import ShrinkOldest
from onkel.budgets.stochastic import FixedRandom, StochasticInsertion
from onkel.budgets.transfer import Transfer

__all__ = [
    "BUDGETS",
    "BPANearest",
    "BPAProjection",
    "BPASimple",
    "BoundedRemoval",
    "Budget",
    "BudgetKind",
    "FixedRandom",
    "Merging",
    "MostRedundantRemoval",
    "NoBudget",
    "OldestRemoval",
    "Projection",
    "RandomRemoval",
    "ShrinkOldest",
    "SmallestProjection",
    "SmallestRemoval",
    "StochasticInsertion",
    "Transfer",
    "make_budget",
]

BUDGETS: dict[str, type[Budget]] = {
    budget.name: budget
    for budget in (
        NoBudget,
        RandomRemoval,
        OldestRemoval,
        SmallestRemoval,
        MostRedundantRemoval,
        ShrinkOldest,
        BoundedRemoval,
        StochasticInsertion,
        FixedRandom,
        BPASimple,
        BPAProjection,
        BPANearest,
        SmallestProjection,
        Projection,
        Merging,
        Transfer,
    )
}


def make_budget(budget: str | Budget) -> Budget:
    """A budget object from a name or an object."""
    if isinstance(budget, Budget):
        return budget
    if budget not in BUDGETS:
        raise ValueError(f"budget={budget!r} is not one of {', '.join(map(repr, BUDGETS))}")
    return BUDGETS[budget]()
