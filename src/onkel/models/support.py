"""The support-set representation: coefficients over stored rows, moved row by row."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from onkel._dense import as_dense, with_zero_columns
from onkel._random import new_state
from onkel._workspace import scratch
from onkel.budgets.base import N_INFO, TARGET, Budget, BudgetKind
from onkel.kernels import Kernel
from onkel.losses import Loss
from onkel.maps.bandwidth import check_gamma, fit_gamma
from onkel.models import loops, support_loops
from onkel.models.base import Model
from onkel.models.labels import outputs_with_class, with_class
from onkel.models.support_pieces import CHANGED, N_COUNTS, SIZE, Slots, keep_rows
from onkel.models.threads import one_blas_thread
from onkel.models.warmup import Warmup
from onkel.rules.base import Rule

__all__ = ["SupportModel"]

# Rows of a sub-block: fewer cost more calls, more a larger κ(block, block), of which half is read.
_FEWEST_ROWS, MOST_ROWS = 128, 256
# Slots allocated at first; a set that outgrows them doubles.
_FIRST_CAPACITY = 64

# Arrays over the slots, by the axes along which they grow; and those that don't.
_BY_SLOT = {"A": (1,), "S": (0,), "info": (1,), "gram": (0, 1), "outputs": (1,)}
_WHOLE = ("rng", "counts", "state")
# The loops' state vector, and the budget's own numbers behind it.
_N_STATE = 8


class SupportModel(Model):
    """f_k(x) = Σ_j α_kj κ(s_j, x) for K outputs: stored rows, a rule, a loss and a budget.

    Parameters
    ----------
    kernel : Kernel
    gamma : float or {"median", "scale"}
        A heuristic is fitted on the first ``n_warmup`` rows.
    n_warmup : int
    budget : Budget
    rule : Rule
    loss : Loss
    epsilon : float
        Half-width of the tube in which a regression row is not learned.
    n_outputs : int
        1 for binary and regression, else the number of classes.
    d : int
        Columns of a row.
    dtype : dtype
        Of the stored rows, the kernel values and the coefficients.
    seed : int
        What the budget's random choices come from.
    """

    by_slot: ClassVar[dict[str, tuple[int, ...]]] = _BY_SLOT

    def __init__(
        self,
        kernel: Kernel,
        gamma: float | str,
        n_warmup: int,
        budget: Budget,
        rule: Rule,
        loss: Loss,
        epsilon: float,
        n_outputs: int,
        d: int,
        dtype: Any,
        seed: int,
    ) -> None:
        super().__init__(rule, loss, epsilon, n_outputs)
        check_gamma(gamma)
        budget.check_rule(rule)
        self.kernel, self.gamma, self.budget = kernel, gamma, budget
        self.limit, self.budget_par = budget.limit(), budget.parameters()
        self.track = budget.needs_norm(self.par)
        self.d, self.dtype, self.seed = d, np.dtype(dtype), seed
        self.warmup = Warmup(n_warmup) if isinstance(gamma, str) else None
        if self.warmup is None:
            self._fit_first(np.empty((0, d), self.dtype), np.empty(0), np.empty(0))
            self._reset()

    # ---- state ---------------------------------------------------------------------------------

    def _fit_first(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> None:
        self.gamma_ = fit_gamma(self.gamma, self.kernel, X)

    def _reset(self) -> None:
        """f = 0 and no row stored."""
        first = _FIRST_CAPACITY if self.limit is None else min(self.limit, _FIRST_CAPACITY)
        gram = self.budget.needs_gram(self.par)
        outputs = self.budget.kind == BudgetKind.REDUNDANT
        self.A = np.zeros((self.n_outputs, first), self.dtype)
        self.S = np.zeros((first, self.d), self.dtype)
        self.info = np.zeros((N_INFO, first))
        self.gram = np.zeros((first, first) if gram else (0, 0), self.dtype)
        self.outputs = np.zeros((self.n_outputs, first if outputs else 0))
        self.rng = new_state(self.seed)
        self.counts = np.zeros(N_COUNTS, np.int64)
        self.state = self._new_state(_N_STATE)

    @property
    def ready(self) -> bool:
        """False before the first row of a model whose gamma is fitted on first rows."""
        return hasattr(self, "A")

    @property
    def most_slots(self) -> int | None:
        """The largest number of slots; None where they grow."""
        return self.limit

    @property
    def size(self) -> int:
        """Number of stored rows."""
        return int(self.counts[SIZE]) if self.ready else 0

    @property
    def support(self) -> np.ndarray:
        """The stored rows (size, d)."""
        return self.S[: self.size] if self.ready else np.empty((0, self.d), self.dtype)

    @property
    def coef(self) -> np.ndarray:
        """Coefficients (K, size) of the stored rows."""
        if not self.ready:
            return np.empty((self.n_outputs, 0), self.dtype)
        return self.A[:, : self.size] * self.dtype.type(self.state[loops.SCALE])

    def get_state(self) -> dict[str, Any]:
        """Named arrays and scalars from which :meth:`set_state` goes on bit for bit."""
        out: dict[str, Any] = {"n_outputs": self.n_outputs}
        if self.ready:
            out["gamma"] = self.gamma_
            out |= {name: self._used(name) for name in self.by_slot}
            out |= {name: getattr(self, name) for name in _WHOLE}
        if self.warmup is not None:
            out["warmup"] = self.warmup.get_state()
        return out

    def _used(self, name: str) -> np.ndarray:
        """The part of an array that belongs to slots in use, of which one is kept at least."""
        array = getattr(self, name)
        for axis in self.by_slot[name]:
            array = array.take(range(min(max(self.size, 1), array.shape[axis])), axis)
        return array

    def set_state(self, state: dict[str, Any]) -> None:
        """Take the state of a model of the same kernel, budget, rule and loss."""
        self.n_outputs = state["n_outputs"]
        if "A" in state:
            self.gamma_ = state["gamma"]
            self._reset()
            self._reserve(state["A"].shape[1])
            for name in self.by_slot:
                saved = state[name]
                getattr(self, name)[tuple(slice(m) for m in saved.shape)] = saved
            for name in _WHOLE:
                setattr(self, name, np.array(state[name]))
        self.warmup = Warmup.from_state(state["warmup"]) if "warmup" in state else None

    def add_output(self, position: int) -> None:
        """Make room for a class with zero scores at ``position``.

        One output f (two classes) becomes three: -f/2, f/2 and the new one, whose differences,
        and so whose decisions and margins, are those of f.
        """
        one = self.n_outputs == 1
        if self.ready:
            for name in ("A", "outputs"):
                setattr(self, name, outputs_with_class(getattr(self, name), position))
            self.info[TARGET] = with_class(self.info[TARGET], position, from_signs=one)
            if one:
                # ‖-f/2‖² + ‖f/2‖²
                self.state[loops.SQUARED_NORM] *= 0.5
        if self.warmup is not None:
            self.warmup.add_class(position, from_signs=one)
        self.n_outputs = 3 if one else self.n_outputs + 1

    def add_columns(self, n: int) -> None:
        super().add_columns(n)
        self.d += n
        if self.ready:
            self.S = with_zero_columns(self.S, n)

    # ---- prediction ----------------------------------------------------------------------------

    def scores(self, X: Any) -> np.ndarray:
        """f(x) of each row, (n, K) in float64."""
        out = np.zeros((X.shape[0], self.n_outputs))
        if self.size:
            coef = np.ascontiguousarray(self.coef.T)
            with one_blas_thread(X.shape[0]):
                for a in range(0, X.shape[0], MOST_ROWS):
                    rows = X[a : a + MOST_ROWS]
                    out[a : a + MOST_ROWS] = (
                        self.kernel.gram(rows, self.support, self.gamma_) @ coef
                    )
        return out

    # ---- learning ------------------------------------------------------------------------------

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
        n = len(X)
        self._reserve(n)
        panel = self.panel(X)
        q = np.asarray(self.kernel.diagonal(X, self.gamma_), dtype=np.float64)
        changes = np.empty((2, n), np.int64)
        slots = Slots(self.A, self.info, self.gram, self.outputs, self.rng, self.counts, changes)
        limit = -1 if self.limit is None else self.limit
        budget = int(self.budget.kind), limit, self.budget_par, self.track
        support_loops.learn_removal(panel, q, y, weight, slots, *budget, *self.how(), P)
        keep_rows(X, changes, self.counts[CHANGED], panel.shape[1] - n, self.S)

    def panel(self, X: np.ndarray) -> np.ndarray:
        """Kernel values (n, slots + n) of rows X (n, d) with every slot and with themselves.

        The columns of slots that may be filled by these rows hold nothing yet.
        """
        n, m = len(X), self.size
        X = X.astype(self.dtype, copy=False)
        slots = m + n if self.limit is None else min(m + n, self.limit)
        out = scratch("panel", (n, slots + n), self.dtype)
        if slots > m:
            K = self.kernel.with_earlier(X, self.S[:m], self.gamma_)
            out[:, :m], out[:, slots:] = K[:, :m], K[:, m:]
            return out
        K = self.kernel.with_earlier(X, self.S[:m], self.gamma_, out)
        return np.ascontiguousarray(K, self.dtype)

    def _reserve(self, n: int) -> None:
        """Room for n more rows, within the budget."""
        have, need = len(self.S), self.size + n
        if self.most_slots is not None:
            need = min(need, self.most_slots)
        if need <= have:
            return
        room = max(need, 2 * have)
        room = room if self.most_slots is None else min(room, self.most_slots)
        for name, axes in self.by_slot.items():
            array = getattr(self, name)
            grows = [axis in axes and array.shape[axis] > 0 for axis in range(2)]
            pad = [(0, (room - have) * grow) for grow in grows]
            setattr(self, name, np.pad(array, pad))
