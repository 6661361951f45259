"""Support sets with a factor or an inverse of their kernel matrix beside them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.linalg import get_blas_funcs, solve_triangular
from scipy.linalg.lapack import dtrtri

from onkel._workspace import scratch
from onkel.budgets.base import Budget, BudgetKind
from onkel.models import support
from onkel.models.exchange_loops import learn_exchange
from onkel.models.inverse import (
    Terms,
    anew,
    is_worn,
    look_ahead,
    new_terms,
    rounding_of,
    settle,
)
from onkel.models.loops import T
from onkel.models.projection_loops import learn_projection
from onkel.models.support import SupportModel
from onkel.models.support_pieces import CHANGED, REMOVED, Slots, keep_rows
from onkel.models.threads import one_blas_thread

__all__ = ["ExchangeModel", "ProjectionModel", "model_of"]

# Rows multiplied ahead at first, and at the most.
_AHEAD_ROWS, _MOST_AHEAD = 24, 64
# An inverse of more rows than these leaves the second-level cache; from what share of the rows on
# that are added a product of all costs less than going through it for each of those.
_LARGE, _OFTEN = 512, 0.4


class ProjectionModel(SupportModel):
    """f over an orthonormal basis of the stored rows: A (K, capacity) are its weights there.

    ``factor`` (capacity, capacity) is the Cholesky factor L of κ(S, S); see
    :mod:`onkel.models.projection_loops`.
    """

    by_slot: ClassVar = SupportModel.by_slot | {"factor": (0, 1)}

    def _reset(self) -> None:
        super()._reset()
        self.factor = np.zeros((len(self.S), len(self.S)))
        self._take_rest(np.zeros(2, np.int64))

    def _take_rest(self, rest: np.ndarray) -> None:
        """``rest``: the size of the set, and the rows learned since it has been that."""
        self.rest, self._inverse = rest, np.zeros((0, 0), self.dtype)

    def get_state(self) -> dict[str, Any]:
        """Named arrays and scalars from which :meth:`set_state` goes on bit for bit."""
        return super().get_state() | ({"rest": self.rest} if self.ready else {})

    def set_state(self, state: dict[str, Any]) -> None:
        """Take the state of a model of the same kernel, budget, rule and loss."""
        super().set_state(state)
        if "rest" in state:
            self._take_rest(np.array(state["rest"]))

    @property
    def coef(self) -> np.ndarray:
        """Coefficients (K, size) of the stored rows: Lᵀ α = A."""
        weights = super().coef
        m = self.size
        if m == 0:
            return weights
        solved = solve_triangular(self.factor[:m, :m], weights.T, trans="T", lower=True)
        return np.asarray(solved.T, self.dtype)

    def scores(self, X: Any) -> np.ndarray:
        """f(x) of each row, (n, K) in float64."""
        out = np.zeros((X.shape[0], self.n_outputs))
        if self.size:
            weights = np.ascontiguousarray(super().coef.T)
            with one_blas_thread(X.shape[0]):
                for a in range(0, X.shape[0], support.MOST_ROWS):
                    rows = X[a : a + support.MOST_ROWS]
                    K = self.kernel.gram(rows, self.support, self.gamma_)
                    out[a : a + support.MOST_ROWS] = self._coordinates(K) @ weights
        return out

    def _coordinates(self, K: np.ndarray) -> np.ndarray:
        """L⁻¹κ(S, x) of each row of kernel values K (n, size); may overwrite K."""
        m = K.shape[1]
        if m == 0:
            return K
        L = self.factor[:m, :m]
        if self.rest[0] != m or self.rest[1] < m:
            # still growing: solving costs less than an inverse that is used once
            Z = solve_triangular(L, K.T, lower=True, check_finite=False).T
            return np.asarray(Z, self.dtype)
        if len(self._inverse) != m:
            inverse, _ = dtrtri(L, lower=1)
            self._inverse = np.ascontiguousarray(np.tril(inverse), self.dtype)
        # half the work of a full product: L⁻¹ is lower triangular, its transpose in Fortran's order
        (product,) = get_blas_funcs(("trmm",), (self._inverse,))
        Z = product(1.0, self._inverse.T, np.ascontiguousarray(K).T, trans_a=1, overwrite_b=1).T
        return np.asarray(Z)

    def _block_rows(self) -> int:
        return support.MOST_ROWS if self.size == self.limit else super()._block_rows()

    def _walk_block(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> None:
        n, m = len(X), self.size
        self._reserve(n)
        self.rest[:] = m, n + (self.rest[1] if self.rest[0] == m else 0)
        q = np.asarray(self.kernel.diagonal(X, self.gamma_), dtype=np.float64)
        if m == self.limit:
            # nothing changes the set any more: κ(block, block) is not needed
            panel = scratch("panel", (n, m), self.dtype)
            panel = np.asarray(self.kernel.gram(X, self.S, self.gamma_, panel), self.dtype)
            Z = self._coordinates(panel)
        else:
            panel = self.panel(X)
            Z = scratch("coordinates", (n, len(self.S)), self.dtype)
            Z[:, :m] = self._coordinates(panel[:, :m])
        changes = np.empty((2, n), np.int64)
        slots = Slots(self.A, self.info, self.gram, self.outputs, self.rng, self.counts, changes)
        limit = -1 if self.limit is None else self.limit
        budget = self.factor, limit, self.budget_par, self.track
        learn_projection(panel, Z, q, y, weight, slots, *budget, *self.how(), P)
        keep_rows(X, changes, self.counts[CHANGED], panel.shape[1] - n, self.S)


class ExchangeModel(SupportModel):
    """Coefficients over stored rows, one of which gives its part to the others and goes.

    ``inverse`` (capacity, capacity) is that of the kernel matrix, its lower half; see
    :mod:`onkel.models.exchange_loops`.
    """

    by_slot: ClassVar = SupportModel.by_slot | {"inverse": (0, 1)}

    def _reset(self) -> None:
        super()._reset()
        self.inverse = np.zeros((len(self.S), len(self.S)))

    def _walk_block(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> None:
        n = len(X)
        self._reserve(n)
        panel = self.panel(X)
        q = np.asarray(self.kernel.diagonal(X, self.gamma_), dtype=np.float64)
        changes = np.empty((2, n), np.int64)
        slots = Slots(self.A, self.info, self.gram, self.outputs, self.rng, self.counts, changes)
        budget = int(self.budget.kind), self.limit, self.track
        done, rows = 0, _AHEAD_ROWS
        while done < n:
            terms, removed = new_terms(self.inverse), int(self.counts[REMOVED])
            # before the first row it still says how many there were in the last block
            changed = changes[:, : self.counts[CHANGED] if done else 0]
            ahead = look_ahead(self.inverse, panel, changed, done, rows if self._often else 0)
            inverse, first = (self.inverse, terms, ahead), done
            done = learn_exchange(
                panel, q, y, weight, slots, *inverse, *budget, *self.how(), done, P
            )
            rows = min(done - first, _MOST_AHEAD)
            self._settle(terms, removed)
        keep_rows(X, changes, self.counts[CHANGED], panel.shape[1] - n, self.S)

    @property
    def _often(self) -> bool:
        """Whether so many rows are added to a large set that a product of all pays."""
        full = _LARGE < self.size == self.limit == len(self.inverse)
        by_inverse = self.budget.kind != BudgetKind.EXCHANGE_NEAREST
        return full and by_inverse and bool(self.counts[REMOVED] > _OFTEN * self.state[T])

    def _settle(self, terms: Terms, removed: int) -> None:
        """Bring the inverse up to the slots; ``removed`` rows had been when the terms began."""
        if self.budget.kind == BudgetKind.EXCHANGE_NEAREST:
            return
        if is_worn(removed, int(self.counts[REMOVED]), self.limit):
            anew(self.gram, self.info, self.size, self.inverse, rounding_of(self.dtype.itemsize))
        else:
            settle(self.inverse, terms)


def model_of(budget: Budget) -> type[SupportModel]:
    """The representation that a budget needs."""
    if budget.kind == BudgetKind.PROJECT:
        return ProjectionModel
    exchange = BudgetKind.EXCHANGE_LEAST, BudgetKind.EXCHANGE_SMALLEST, BudgetKind.EXCHANGE_NEAREST
    return ExchangeModel if budget.kind in exchange else SupportModel
