"""The support set whose rows are merged."""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel._gaussian import scaled_products
from onkel._workspace import scratch
from onkel.budgets.merging import Merging, degradation_table
from onkel.kernels import Kernel
from onkel.models.merging_loops import learn_merging, scaled_distances
from onkel.models.support import SupportModel
from onkel.models.support_pieces import Slots

__all__ = ["MergingModel"]


class MergingModel(SupportModel):
    """A :class:`SupportModel` for :class:`~onkel.budgets.Merging`.

    ``gram`` holds γ‖s - s'‖², not the kernel. There is one slot more than the budget: a new row is
    stored first, then two of the rows are merged.
    """

    def __init__(
        self, kernel: Kernel, gamma: float | str, n_warmup: int, budget: Merging, *args: Any
    ) -> None:
        budget.check_kernel(kernel)
        super().__init__(kernel, gamma, n_warmup, budget, *args)

    @property
    def most_slots(self) -> int | None:
        return None if self.limit is None else self.limit + 1

    def _walk_block(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> None:
        self._reserve(len(X))
        none = np.empty((2, 0), np.int64)
        slots = Slots(self.A, self.info, self.gram, self.outputs, self.rng, self.counts, none)
        panel = self.panel(X)
        budget = self.limit, self.track, degradation_table()
        learn_merging(panel, X, self.S, y, weight, slots, *budget, *self.how(), P)

    def panel(self, X: np.ndarray) -> np.ndarray:
        """γ‖x - s‖², (n, slots + n), of rows X (n, d) with every slot and with themselves.

        The columns of slots that are not in use hold nothing.
        """
        n, m = len(X), self.size
        products = scratch("products", (n, m + n), self.dtype)
        products, own, other = scaled_products(
            X.astype(self.dtype, copy=False), self.S[:m], self.gamma_, products, earlier=True
        )
        assert self.limit is not None
        out = scratch("panel", (n, self.limit + 1 + n), self.dtype)
        scaled_distances(products, own, other, out)
        return out
