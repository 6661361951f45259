"""Budgets: how a support set is kept finite."""

from onkel.budgets.base import Budget, BudgetKind
from onkel.budgets.bounded import BoundedRemoval
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

__all__ = [
    "BUDGETS",
    "BPASimple",
    "BoundedRemoval",
    "Budget",
    "BudgetKind",
    "FixedRandom",
    "MostRedundantRemoval",
    "NoBudget",
    "OldestRemoval",
    "RandomRemoval",
    "ShrinkOldest",
    "SmallestRemoval",
    "StochasticInsertion",
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
    )
}


def make_budget(budget: str | Budget) -> Budget:
    """A budget object from a name or an object."""
    if isinstance(budget, Budget):
        return budget
    if budget not in BUDGETS:
        raise ValueError(f"budget={budget!r} is not one of {', '.join(map(repr, BUDGETS))}")
    return BUDGETS[budget]()
