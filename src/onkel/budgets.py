"""The table of budgets: how a support set is kept finite, and the model of each family."""

from __future__ import annotations

from collections.abc import Callable

from onkel.support.budget import BIRTH as BIRTH
from onkel.support.budget import DIAGONAL as DIAGONAL
from onkel.support.budget import TARGET as TARGET
from onkel.support.budget import Budget
from onkel.support.exchange.bpa import BPANearest, BPAProjection, SmallestProjection
from onkel.support.exchange.exchange_model import ExchangeModel
from onkel.support.merging.merging_model import Merging, MergingModel
from onkel.support.model import BudgetModel
from onkel.support.projection.projectron import Projection, ProjectionModel
from onkel.support.removal.bogd import BoundedRemoval
from onkel.support.removal.by_slot import DropNearest
from onkel.support.removal.by_slot import SlotBudget as SlotBudget
from onkel.support.removal.choices import (
    BPASimple,
    FixedRandom,
    MostRedundantRemoval,
    OldestRemoval,
    RandomRemoval,
    SmallestRemoval,
)
from onkel.support.removal.forgetron import ShrinkOldest
from onkel.support.removal.removal_model import RemovalModel
from onkel.support.removal.unbounded import NoBudget, StochasticInsertion
from onkel.support.transfer import Transfer, TransferModel
from onkel.tables import Table

BUDGETS: Table[Budget] = Table("budget", Budget, globals())
make_budget: Callable[[str | Budget], Budget] = BUDGETS.make
register: Callable[[type[Budget]], type[Budget]] = BUDGETS.register

MODELS: dict[str, type[BudgetModel]] = {
    "removal": RemovalModel,
    "projection": ProjectionModel,
    "exchange": ExchangeModel,
    "merging": MergingModel,
    "transfer": TransferModel,
}


def model_of(budget: Budget) -> type[BudgetModel]:
    """The model of the budget's family; ValueError where there is none."""
    if budget.family not in MODELS:
        raise ValueError(
            f"budget {budget.name!r} is of the family {budget.family!r}, which has no model; the "
            f"families are {', '.join(map(repr, MODELS))}"
        )
    return MODELS[budget.family]
