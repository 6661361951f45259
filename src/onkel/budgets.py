"""The table of budgets: how a support set is kept finite."""

from onkel import tables
from onkel.support.budget import BIRTH, DIAGONAL, TARGET, Budget
from onkel.support.exchange.bpa_nearest import BPANearest
from onkel.support.exchange.bpa_projection import BPAProjection
from onkel.support.exchange.smallest_projection import SmallestProjection
from onkel.support.merging.budget import Merging
from onkel.support.projection.budget import Projection
from onkel.support.removal.bounded import BoundedRemoval
from onkel.support.removal.by_slot import SlotBudget
from onkel.support.removal.drop_nearest import DropNearest
from onkel.support.removal.fixed_random import FixedRandom
from onkel.support.removal.most_redundant import MostRedundantRemoval
from onkel.support.removal.none import NoBudget
from onkel.support.removal.oldest import OldestRemoval
from onkel.support.removal.random import RandomRemoval
from onkel.support.removal.replace_simple import BPASimple
from onkel.support.removal.shrink_oldest import ShrinkOldest
from onkel.support.removal.smallest import SmallestRemoval
from onkel.support.removal.stochastic import StochasticInsertion
from onkel.support.transfer.budget import Transfer

__all__ = [
    "BIRTH",
    "BUDGETS",
    "DIAGONAL",
    "TARGET",
    "BPANearest",
    "BPAProjection",
    "BPASimple",
    "BoundedRemoval",
    "Budget",
    "DropNearest",
    "FixedRandom",
    "Merging",
    "MostRedundantRemoval",
    "NoBudget",
    "OldestRemoval",
    "Projection",
    "RandomRemoval",
    "ShrinkOldest",
    "SlotBudget",
    "SmallestProjection",
    "SmallestRemoval",
    "StochasticInsertion",
    "Transfer",
    "make_budget",
    "register",
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
        DropNearest,
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
    return tables.make("budget", budget, BUDGETS, Budget)


def register(cls: type[Budget]) -> type[Budget]:
    """Add a budget of your own under its ``name``; may be used as a decorator.

    It can then be named wherever a budget can, and is saved and loaded with a model; register it
    before loading. See docs/extending.md.
    """
    return tables.add(cls, BUDGETS, Budget)
