"""Which support-set model goes with which budget."""

from __future__ import annotations

from onkel.budgets.base import Budget, BudgetKind
from onkel.models import projection
from onkel.models.merging import MergingModel
from onkel.models.support import SupportModel
from onkel.models.transfer import TransferModel
from onkel.models.twin import TwinModel

__all__ = ["model_of"]


def model_of(budget: Budget) -> type[SupportModel]:
    """The representation that a budget needs."""
    if budget.kind == BudgetKind.MERGE:
        return MergingModel
    if budget.kind == BudgetKind.TRANSFER:
        return TransferModel
    if budget.kind == BudgetKind.TWIN:
        return TwinModel
    return projection.model_of(budget)
