"""The support set whose rows are merged."""

from __future__ import annotations

import numpy as np

from onkel.numerics.arrays import scratch
from onkel.numerics.pairwise import ordered_squared_distances
from onkel.state import Array
from onkel.support.budgeted import BudgetModel
from onkel.support.merging.loop import learn_merging
from onkel.support.merging.point import degradation_table
from onkel.support.slots import Rows, Slots
from onkel.support.stored_rows import SLOTS


class MergingModel(BudgetModel):
    """A support set for :class:`~onkel.budgets.Merging`.

    ``gram`` holds γ‖s - s'‖², not the kernel. There is one slot more than the budget: a new row is
    stored first, then two of the rows are merged.
    """

    def arrays(self) -> dict[str, Array]:
        return super().arrays() | {
            "S": Array(dtype=np.float64, shape=(SLOTS, "d")),
            "gram": Array(dtype=np.float64, shape=(SLOTS, SLOTS), low=0.0),
        }

    @property
    def most_slots(self) -> int | None:
        return None if self.limit is None else self.limit + 1

    @property
    def support(self) -> np.ndarray:
        return super().support.astype(self.dtype)

    def _learn(self, X: np.ndarray, rows: Rows, slots: Slots) -> None:
        learn_merging(rows, X, self.S, slots, self._limits(), degradation_table(), self.context())

    def panel(self, X: np.ndarray) -> np.ndarray:
        """γ‖x - s‖², (n, slots + n), of rows X (n, d) with every slot and with themselves.

        The columns of slots that are not in use mean nothing.
        """
        n, m, slots = len(X), self.size, len(self.S)
        out = scratch("panel", (n, slots + n), np.float64)
        rows = X.astype(np.float64)
        if slots == self.most_slots:
            # this includes slots that are not in use, with the rows they held last
            ordered_squared_distances(rows, self.S, out, earlier=True)
            out *= self.gamma_
            return out
        squared = ordered_squared_distances(rows, self.S[:m], earlier=True)
        np.multiply(squared[:, :m], self.gamma_, out=out[:, :m])
        np.multiply(squared[:, m:], self.gamma_, out=out[:, slots:])
        return out
