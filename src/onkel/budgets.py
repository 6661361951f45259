"""The table of budgets: how a support set is kept finite."""

from onkel.support.budget import BIRTH as BIRTH
from onkel.support.budget import DIAGONAL as DIAGONAL
from onkel.support.budget import TARGET as TARGET
from onkel.support.budget import Budget
from onkel.support.exchange.bpa_nearest import BPANearest
from onkel.support.exchange.bpa_projection import BPAProjection
from onkel.support.exchange.smallest_projection import SmallestProjection
from onkel.support.merging.budget import Merging
from onkel.support.projection.budget import Projection
from onkel.support.removal.bounded import BoundedRemoval
from onkel.support.removal.by_slot import SlotBudget as SlotBudget
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
from onkel.tables import Table

BUDGETS: Table[Budget] = Table(
    "budget",
    Budget,
    (
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
    ),
)
make_budget = BUDGETS.make
register = BUDGETS.register
