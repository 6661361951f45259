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

# Rows multiplied ahead at first, and at the most.
_AHEAD_ROWS, _MOST_AHEAD = 24, 64
# An inverse of more rows than these leaves the second-level cache; from what share of the rows on
# that are added a product of all costs less than going through it for each of those.
_LARGE, _OFTEN = 512, 0.4


class ExchangeModel(BudgetModel):
    """Coefficients over stored rows, one of which gives its part to the others and goes.

    ``inverse`` (capacity, capacity) is that of the kernel matrix, its lower half; see
    :mod:`onkel.support.exchange.inverse`. The inverse is settled where a block ends, and rounds
    otherwise than within it: the coefficients that come from it are float64, so that this stays
    far below what a decision can turn on.
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
            # before the first row it still says how many there were in the last block
            changed = slots.changes[:, : self.counts[CHANGED] if done else 0]
            n_ahead = ahead_rows if self._often else 0
            ahead = look_ahead(self.inverse, rows.panel, changed, done, n_ahead)
            inverse = Inverse(self.inverse, new_terms(self.inverse), ahead)
            done = learn_exchange(rows, slots, inverse, self._limits(), self.how(), first)
            ahead_rows = min(done - first, _MOST_AHEAD)
            if self.budget.needs_inverse():
                self._settle(inverse, removed)
        self._keep_rows(X, rows, slots)

    @property
    def _often(self) -> bool:
        """Whether so many rows are added to a large set that a product of all pays."""
        full = _LARGE < self.size == self.limit == len(self.inverse)
        return full and bool(self.counts[REMOVED] > _OFTEN * self.state[T])

    def _settle(self, inverse: Inverse, removed: int) -> None:
        """Bring the inverse up to the slots; ``removed`` rows had been when the terms began."""
        if is_worn(removed, int(self.counts[REMOVED]), self.limit):
            anew(self.gram, self.info, self.size, self.inverse, rounding_of(self.dtype.itemsize))
        else:
            settle(self.inverse, inverse.terms)
