"""Merging: two stored rows give way to a point between them (Gaussian kernel).

A merged point z = h s_m + (1 - h) s_n is no row of the block, and yet needs no kernel evaluation:
with D(x, s) = γ‖x - s‖² = -log κ(x, s),

    D(x, z) = h D(x, s_m) + (1 - h) D(x, s_n) - h (1 - h) D(s_m, s_n).

So the panel holds D, and each row mixes the columns that were merged before it. The next block
computes D from the merged point itself. Rows, D and the choice of a partner are in float64: the
difference between the two ways is then far too small to change a decision.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from onkel.fields import Array
from onkel.kernels import Gaussian, Kernel
from onkel.numerics.jit import jit, jit_inline
from onkel.numerics.pairwise import LOG2_E, exp2, ordered_squared_distances
from onkel.numerics.threads import scratch
from onkel.rules.base import SCALE, SQUARED_NORM
from onkel.support.budget import SizedBudget
from onkel.support.merging.merge_rows import (
    Scratch,
    degradation_table,
    make_room,
    squared_norm,
    store,
)
from onkel.support.model import BudgetModel
from onkel.support.slots import REMOVED, SIZE, Limits, Rows, Slots, score
from onkel.support.stored_rows import SLOTS
from onkel.support.update import onto_ball, scale_by, update_of


class Merging(SizedBudget):
    """The lightest row and the partner that suits it best become one point between them.

    Of B + 1 rows the one with the smallest ‖α_m‖ is merged: ``z = h s_m + (1 - h) s_n`` with the
    coefficients ``α_z = α_m κ^((1-h)²) + α_n κ^(h²)``, κ = κ(s_m, s_n), h and n such that f
    changes least. Rows whose coefficients point away from each other are not merged; where no
    partner is left the lightest row is dropped. O(B) time per added row; a matrix of B² numbers is
    kept.

    Notes
    -----
    Source: Wang, Crammer & Vucetic 2012, merging. The search over h and n is exact. Gaussian
    kernel only: for others the best z need not lie on the line between the two.
    """

    name = "merging"
    family = "merging"

    def needs_gram(self, par: np.ndarray) -> bool:
        return True

    def check_kernel(self, kernel: Kernel) -> None:
        if type(kernel) is not Gaussian:
            raise ValueError(
                f"kernel={kernel.name!r} cannot be used with budget {self.name!r}: only for "
                "'gaussian' does the best point that stands for two rows lie between them; use "
                "budget 'smallest' or 'transfer'"
            )


# Removals after which ‖f‖² is computed anew.
_REFRESH = 1024


class Events(NamedTuple):
    """What happened to the columns of the panel in this sub-block."""

    columns: np.ndarray  # (3, n) of the new row, of slot m (-1: no merge), of slot n
    mixes: np.ndarray  # (2, n) h, and h (1 - h) D(s_m, s_n)


@jit_inline
def _catch_up(panel, t, events, n_events, last):
    """Bring row t of the panel up to the slots as they are now."""
    columns, mixes = events.columns, events.mixes
    for i in range(n_events):
        new = panel[t, columns[0, i]]
        a, b = columns[1, i], columns[2, i]
        if a >= 0:
            panel[t, last] = new
            mixed = panel[t, b] + mixes[0, i] * (panel[t, a] - panel[t, b]) - mixes[1, i]
            panel[t, b] = max(mixed, 0.0)
            panel[t, a] = panel[t, last]
        else:
            panel[t, b] = new


@jit_inline
def _kernel_values(panel, t, size, kernel):
    """kernel (1, size) ← exp(-D) of row t."""
    if kernel.itemsize == 4:
        # two loops: one that mixes precisions would use vectors of half the width
        for j in range(size):
            kernel[0, j] = kernel.dtype.type(-LOG2_E * panel[t, j])
        for j in range(size):
            kernel[0, j] = exp2(kernel[0, j])
    else:
        for j in range(size):
            kernel[0, j] = math.exp(-panel[t, j])


@jit_inline
def _merged(limits, slots, S, table, events, i, state, scratch):
    """Free one slot, noted as event i; False where the new row itself was dropped."""
    columns, mixes, counts = events.columns, events.mixes, slots.counts
    m, n, h, shift = make_room(limits.size, limits.track, slots, S, table, state, scratch)
    columns[1, i], columns[2, i] = m, n
    mixes[0, i], mixes[1, i] = h, shift
    if limits.track and counts[REMOVED] % _REFRESH == 0:
        norm = squared_norm(limits.size, slots.A, slots.gram)
        state[SQUARED_NORM] = state[SCALE] * state[SCALE] * norm
    return n >= 0


@jit
def learn_merging(rows, X, S, slots, limits, table, context):
    """Learn the rows X (n, d) of one sub-block.

    ``rows.panel`` (n, capacity + n) holds D of the rows with the slots and with themselves;
    ``slots.gram`` holds D of the slots, of which there may be one more than the budget; ``table``
    is :func:`~onkel.support.merging.merge_rows.degradation_table`.
    """
    A, counts, panel, P, state = slots.A, slots.counts, rows.panel, rows.P, context.state
    n, outputs = panel.shape[0], slots.outputs
    c, kernel = np.empty(A.shape[0]), np.zeros((1, A.shape[1]), A.dtype)
    scratch = Scratch(np.empty((1, A.shape[1])), np.empty((2, A.shape[1])), np.empty(A.shape[0]))
    events, n_events = Events(np.empty((3, n), np.int64), np.empty((2, n))), 0
    for t in range(n):
        _catch_up(panel, t, events, n_events, limits.size)
        size = counts[SIZE]
        _kernel_values(panel, t, size, kernel)
        score(kernel, 0, A, size, state, P, t)
        update = update_of(context, rows, t, c)
        scale_by(A, outputs, update.a, state)
        if update.b > 0.0:
            state[SQUARED_NORM] += update.b * (2.0 * update.a * update.cp + update.b * update.c2)
            store(t, update.b, c, rows, X, S, slots, state)
            events.columns[0, n_events] = panel.shape[1] - n + t
            events.columns[1, n_events], events.columns[2, n_events] = -1, size
            kept = True
            if size == limits.size:
                kept = _merged(limits, slots, S, table, events, n_events, state, scratch)
            n_events += kept
        onto_ball(slots, context)


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

    def _learn(self, X: np.ndarray, rows: Rows, slots: Slots, limits: Limits) -> None:
        learn_merging(rows, X, self.S, slots, limits, degradation_table(), self.context())

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
