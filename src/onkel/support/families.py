"""Which model carries out the budgets of each family."""

from __future__ import annotations

from onkel.support.budget import Budget
from onkel.support.exchange.model import ExchangeModel
from onkel.support.merging.model import MergingModel
from onkel.support.model import SupportModel
from onkel.support.projection.model import ProjectionModel
from onkel.support.removal.model import RemovalModel
from onkel.support.transfer.model import TransferModel

MODELS: dict[str, type[SupportModel]] = {
    "removal": RemovalModel,
    "projection": ProjectionModel,
    "exchange": ExchangeModel,
    "merging": MergingModel,
    "transfer": TransferModel,
}


def model_of(budget: Budget) -> type[SupportModel]:
    """The model of the budget's family; ValueError where there is none."""
    if budget.family not in MODELS:
        raise ValueError(
            f"budget {budget.name!r} is of the family {budget.family!r}, which has no model; the "
            f"families are {', '.join(map(repr, MODELS))}"
        )
    return MODELS[budget.family]
