"""A support set that a rule moves and a budget keeps finite."""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.kernels import Kernel
from onkel.numerics.arrays import as_dense, scratch
from onkel.rules.base import Rule
from onkel.state import Array
from onkel.support.budget import Budget
from onkel.support.model import MOST_ROWS, SupportModel
from onkel.support.slots import CHANGED, Limits, Rows, Slots, keep_rows
from onkel.support.stored_rows import SLOTS

# Rows of a sub-block, at least. Fewer cost more calls; more make κ(block, block) larger, of which
# only half is read.
_FEWEST_ROWS = 128


class BudgetModel(SupportModel):
    """A :class:`SupportModel` with a rule and a budget; each family of budgets adds its loop.

    The model of a family learns the rows of a sub-block in ``_learn``, and declares in ``arrays``
    what it keeps beside the coefficients.
    """

    def __init__(
        self,
        kernel: Kernel,
        gamma: float | str,
        n_warmup: int,
        budget: Budget,
        rule: Rule,
        *args: Any,
    ) -> None:
        budget.check_rule(rule)
        budget.check_kernel(kernel)
        self.budget, self.budget_par = budget, budget.parameters()
        self.track = budget.needs_norm(rule.parameters())
        super().__init__(kernel, gamma, n_warmup, budget.limit(), rule, *args)

    def arrays(self) -> dict[str, Array]:
        gram = SLOTS if self.budget.needs_gram(self.par) else 0
        outputs = SLOTS if self.budget.needs_outputs() else 0
        return super().arrays() | {
            "gram": Array(dtype=self.dtype, shape=(gram, gram)),
            "outputs": Array(dtype=np.float64, shape=("n_outputs", outputs)),
        }

    def _walk(self, X: Any, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> None:
        a = 0
        while a < X.shape[0]:
            b = min(a + self._block_rows(), X.shape[0])
            self._walk_block(as_dense(X[a:b]), y[a:b], weight[a:b], P[a:b])
            a = b

    def _block_rows(self) -> int:
        m = self.size if self.limit is None else self.limit
        return min(max(m // 2, _FEWEST_ROWS), MOST_ROWS)

    def _walk_block(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> None:
        self._reserve(len(X))
        q = np.asarray(self.kernel.diagonal(X, self.gamma_), dtype=np.float64)
        self._learn(X, Rows(self.panel(X), q, y, weight, P), self._slots(len(X)))

    def _learn(self, X: np.ndarray, rows: Rows, slots: Slots) -> None:
        """Learn the rows X (n, d) of a sub-block in order."""
        raise NotImplementedError(f"{type(self).__name__} has no loop")

    def _slots(self, n_changes: int) -> Slots:
        """The arrays as the loops take them, with room for ``n_changes`` changes."""
        changes = np.empty((2, n_changes), np.int64)
        return Slots(self.A, self.info, self.gram, self.outputs, self.rng, self.counts, changes)

    def _limits(self) -> Limits:
        limit = -1 if self.limit is None else self.limit
        return Limits(self.budget.number(self.dtype), limit, self.budget_par, self.track)

    def _keep_rows(self, X: np.ndarray, rows: Rows, slots: Slots) -> None:
        """Copy the rows that filled slots in this sub-block into S."""
        n_slots = rows.panel.shape[1] - len(X)
        keep_rows(X, slots.changes, slots.counts[CHANGED], n_slots, self.S)

    def panel(self, X: np.ndarray) -> np.ndarray:
        """Kernel values (n, slots + n) of rows X (n, d) with every slot and with themselves.

        The columns of slots not in use yet are left unset.
        """
        n, m = len(X), self.size
        X = X.astype(self.dtype, copy=False)
        slots = m + n if self.limit is None else min(m + n, self.limit)
        out = scratch("panel", (n, slots + n), self.dtype)
        if slots > m:
            K = self.kernel.ordered_gram(X, self.S[:m], self.gamma_, earlier=True)
            out[:, :m], out[:, slots:] = K[:, :m], K[:, m:]
            return out
        K = self.kernel.ordered_gram(X, self.S[:m], self.gamma_, out, earlier=True)
        return np.ascontiguousarray(K, self.dtype)
