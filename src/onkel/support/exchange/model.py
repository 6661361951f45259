"""The support set of the exchange family."""

from __future__ import annotations

import numpy as np

from onkel.rules.base import T
from onkel.state import Array
from onkel.support.budgeted import BudgetModel
from onkel.support.exchange.family import Exchange
from onkel.support.exchange.inverse import Inverse, anew, look_ahead, new_terms, settle
from onkel.support.exchange.inverse_loops import is_worn, rounding_of
from onkel.support.exchange.loop import learn_exchange
from onkel.support.slots import CHANGED, REMOVED, Rows, Slots
from onkel.support.stored_rows import SLOTS

# Rows multiplied ahead, at first and at most.
_AHEAD_ROWS, _MOST_AHEAD = 24, 64
# An inverse of more rows does not fit the second-level cache. Where more than this share of the
# rows is added, one product for all rows costs less than a pass over the inverse for each of those.
_LARGE, _OFTEN = 512, 0.4


class ExchangeModel(BudgetModel):
    """Coefficients over stored rows; a row that is dropped gives its part of f to the others.

    ``inverse`` (capacity, capacity) is the lower triangle of the inverse kernel matrix; see
    :mod:`onkel.support.exchange.inverse`. It is settled where a block ends, so blocks affect its
    rounding. The coefficients that come from it are float64: the difference is far too small to
    change a decision.
    """

    budget: Exchange
    inverse: np.ndarray

    def arrays(self) -> dict[str, Array]:
        m = SLOTS if self.budget.needs_inverse() else 0
        dtype = np.float64 if self.budget.needs_inverse() else self.dtype
        return super().arrays() | {
            "A": Array(dtype=dtype, shape=("n_outputs", SLOTS)),
            "inverse": Array(dtype=np.float64, shape=(m, m)),
        }

    def _learn(self, X: np.ndarray, rows: Rows, slots: Slots) -> None:
        done, ahead_rows = 0, _AHEAD_ROWS
        while done < len(X):
            removed, first = int(self.counts[REMOVED]), done
            # before the first row the count is still that of the last block
            changed = slots.changes[:, : self.counts[CHANGED] if done else 0]
            n_ahead = ahead_rows if self._often else 0
            ahead = look_ahead(self.inverse, rows.panel, changed, done, n_ahead)
            inverse = Inverse(self.inverse, new_terms(self.inverse), ahead)
            done = learn_exchange(rows, slots, inverse, self._limits(), self.context(), first)
            ahead_rows = min(done - first, _MOST_AHEAD)
            if self.budget.needs_inverse():
                self._settle(inverse, removed)
        self._keep_rows(X, rows, slots)

    @property
    def _often(self) -> bool:
        """Whether a large set adds so many of its rows that one product for all pays."""
        full = _LARGE < self.size == self.limit == len(self.inverse)
        return full and bool(self.counts[REMOVED] > _OFTEN * self.state[T])

    def _settle(self, inverse: Inverse, removed: int) -> None:
        """Bring the inverse up to date; ``removed`` rows had gone when the terms began."""
        if is_worn(removed, int(self.counts[REMOVED]), self.limit):
            anew(self.gram, self.info, self.size, self.inverse, rounding_of(self.dtype.itemsize))
        else:
            settle(self.inverse, inverse.terms)
