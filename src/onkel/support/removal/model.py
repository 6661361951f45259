"""The support set of the removal family."""

from __future__ import annotations

import numpy as np

from onkel.support.budgeted import BudgetModel
from onkel.support.removal.loop import learn_removal
from onkel.support.slots import Rows, Slots


class RemovalModel(BudgetModel):
    """Coefficients over stored rows; a full set drops one of them for each new row."""

    def _learn(self, X: np.ndarray, rows: Rows, slots: Slots) -> None:
        learn_removal(rows, slots, self._limits(), self.context())
        self._keep_rows(X, rows, slots)
