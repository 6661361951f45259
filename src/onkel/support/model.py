"""The support-set representation: coefficients over stored rows, which a budget keeps finite."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from onkel.annotations import DTypeLike, Matrix
from onkel.fields import Array
from onkel.kernels import Kernel
from onkel.losses import Loss
from onkel.maps.bandwidth import check_gamma, fit_gamma
from onkel.model.labels import outputs_with_class, with_class
from onkel.model.warmup import Warmup
from onkel.numerics.arrays import as_dense, with_zero_columns
from onkel.numerics.threads import one_blas_thread, scratch
from onkel.rules import base as places
from onkel.rules.base import Rule
from onkel.support.budget import TARGET, Budget
from onkel.support.slots import CHANGED, Limits, Rows, Slots, keep_rows
from onkel.support.stored_rows import SLOTS, StoredRows

#: rows of a sub-block, at most
MOST_ROWS = 256


class Space(NamedTuple):
    """The kernel's space, over rows of d columns of ``dtype``.

    ``gamma``: a number, or a heuristic that is fitted on the first ``n_warmup`` rows.
    """

    kernel: Kernel
    gamma: float | str
    n_warmup: int
    d: int
    dtype: DTypeLike
    #: of random choices
    seed: int = 0


class SupportModel(StoredRows):
    """f_k(x) = Σ_j α_kj κ(s_j, x) for K outputs, over stored rows s_j.

    ``limit``: the largest size of the set. ``epsilon``: half-width of the tube in which a
    regression row is not learned. K is 1 for two classes and in regression. No rule: the model
    moves by itself.
    """

    n_outputs: int
    warmup: Warmup | None

    def __init__(
        self,
        space: Space,
        limit: int | None,
        rule: Rule | None,
        loss: Loss,
        epsilon: float,
        n_outputs: int,
    ) -> None:
        super().__init__(rule, loss, epsilon, n_outputs)
        kernel, gamma, n_warmup, d, dtype, seed = space
        check_gamma(gamma)
        self.gamma_: float = math.nan
        self.kernel: Kernel = kernel
        self.gamma: float | str = gamma
        self.limit: int | None = limit
        self.d: int = d
        self.dtype: np.dtype = np.dtype(dtype)
        self.seed: int = seed
        self.warmup = Warmup(n_warmup, d, self.dtype) if isinstance(gamma, str) else None
        if self.warmup is None:
            self._fit_first(np.empty((0, d), self.dtype), np.empty(0), np.empty(0))
            self._reset()

    def _fit_first(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> None:
        self.gamma_ = fit_gamma(self.gamma, self.kernel, X)

    # ---- what undoing asks ---------------------------------------------------------------------

    def is_finite(self) -> bool:
        return not self.ready or bool(np.isfinite(self.A.sum()) and np.isfinite(self.state.sum()))

    # ---- classes and columns that come later ---------------------------------------------------

    def add_output(self, position: int) -> None:
        """Make room for a class with zero scores at ``position``.

        One output f (two classes) becomes three: -f/2, f/2 and the new one. The first two differ
        by f, so decisions and margins between the two classes stay the same.
        """
        one = self.n_outputs == 1
        if self.ready:
            for name in ("A", "outputs", "total"):
                if hasattr(self, name):
                    setattr(self, name, outputs_with_class(getattr(self, name), position))
            self.info[TARGET] = with_class(self.info[TARGET], position, from_signs=one)
            if one:
                # ‖-f/2‖² + ‖f/2‖²
                self.state[places.SQUARED_NORM] *= 0.5
        if self.warmup is not None:
            self.warmup.add_class(position, from_signs=one)
        self.n_outputs = 3 if one else self.n_outputs + 1

    def widen(self, n: int) -> None:
        super().widen(n)
        self.d += n
        if self.ready:
            self.S = with_zero_columns(self.S, n)

    # ---- prediction ----------------------------------------------------------------------------

    def scores(self, X: Any) -> np.ndarray:
        out = np.zeros((X.shape[0], self.n_outputs))
        if self.size:
            weights = np.ascontiguousarray(self._weights().T)
            with one_blas_thread(X.shape[0]):
                for a in range(0, X.shape[0], MOST_ROWS):
                    K = self.kernel.gram(X[a : a + MOST_ROWS], self.support, self.gamma_)
                    out[a : a + MOST_ROWS] = self._coordinates(K) @ weights
        return out

    def _weights(self) -> np.ndarray:
        """Weights (K, size) of a row's coordinates."""
        return self.coef

    def _coordinates(self, K: np.ndarray) -> np.ndarray:
        """The coordinates of rows with kernel values K (n, size), which it may overwrite."""
        return K


# Rows of a sub-block, at least. Fewer cost more calls; more make κ(block, block) larger, of which
# only half is read.
_FEWEST_ROWS = 128


class BudgetModel(SupportModel):
    """A :class:`SupportModel` with a rule and a budget; each family of budgets adds its loop.

    The model of a family learns the rows of a sub-block in ``_learn``, and declares in ``arrays``
    what it keeps beside the coefficients.
    """

    total: np.ndarray
    since: np.ndarray

    def __init__(
        self,
        space: Space,
        budget: Budget,
        rule: Rule,
        loss: Loss,
        epsilon: float,
        n_outputs: int,
        average: bool = False,
    ) -> None:
        budget.check_rule(rule)
        budget.check_kernel(space.kernel)
        self.average = average
        self.budget: Budget = budget
        self.budget_par: np.ndarray = budget.parameters()
        self.track: bool = budget.needs_norm(rule.parameters())
        super().__init__(space, budget.limit(), rule, loss, epsilon, n_outputs)

    def arrays(self) -> dict[str, Array]:
        gram = SLOTS if self.budget.needs_gram(self.par) else 0
        outputs = SLOTS if self.budget.needs_outputs() else 0
        return super().arrays() | {
            "gram": Array(dtype=self.dtype, shape=(gram, gram)),
            "outputs": Array(dtype=np.float64, shape=("n_outputs", outputs)),
            "total": Array(dtype=np.float64, shape=("n_outputs", SLOTS if self.average else 0)),
            "since": Array(dtype=np.float64, shape=(SLOTS if self.average else 0,)),
        }

    @property
    def coef(self) -> np.ndarray:
        if not self.ready or not self.average:
            return super().coef
        A = self.A[:, : self.size].astype(np.float64)
        pending = self.state[places.PENDING] - self.since[: self.size]
        rows = max(self.state[places.T], 1.0)
        return ((self.total[:, : self.size] + pending * A) / rows).astype(self.dtype)

    def _learn_in_order(self, X: Matrix, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> None:
        if self.warmup is not None and not self.ready:
            return
        limit = -1 if self.limit is None else self.limit
        limits = Limits(self.budget.number(self.dtype), limit, self.budget_par, self.track)
        a = 0
        while a < X.shape[0]:
            b = min(a + self._block_rows(), X.shape[0])
            part = as_dense(X[a:b])
            self._reserve(b - a)
            q = np.asarray(self.kernel.diagonal(part, self.gamma_), dtype=np.float64)
            rows = Rows(self.panel(part), q, y[a:b], weight[a:b], P[a:b])
            self._learn(part, rows, self._slots(b - a), limits)
            # what a sub-block changed is no part of the model, which knows no sub-blocks
            self.counts[CHANGED] = 0
            a = b

    def _block_rows(self) -> int:
        m = self.size if self.limit is None else self.limit
        return min(max(m // 2, _FEWEST_ROWS), MOST_ROWS)

    def _learn(self, X: np.ndarray, rows: Rows, slots: Slots, limits: Limits) -> None:
        """Learn the rows X (n, d) of a sub-block in order."""
        raise NotImplementedError(f"{type(self).__name__} has no loop")

    def _slots(self, n_changes: int) -> Slots:
        """The arrays as the loops take them, with room for ``n_changes`` changes."""
        changes = np.empty((2, n_changes), np.int64)
        sums = self.total, self.since
        return Slots(
            self.A, self.info, self.gram, self.outputs, self.rng, self.counts, changes, *sums
        )

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
