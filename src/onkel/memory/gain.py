"""Whether memory has been worth it: paired losses with and without, by row number."""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.state import Array, check

# The test is made every so many rows; each time the rows before count a little less.
_ROWS = 64
_KEPT = 0.99
_STANDARD_ERRORS = 5.0
# A gain below this share of the loss is not worth a second model.
_SHARE = 0.02


class Gain:
    """Sums over the losses of predictions without memory less those with it."""

    def __init__(self) -> None:
        #: Σ loss without, Σ difference, Σ difference² up to the last test
        self.sums = np.zeros(3)
        #: losses without and with memory since
        self.open = np.zeros((0, 2))

    def until_test(self) -> int:
        """Rows up to the next test."""
        return _ROWS - len(self.open)

    def add(self, without: np.ndarray, with_memory: np.ndarray) -> bool:
        """Losses of the next rows, up to a test at most; True where memory has been worth it."""
        self.open = np.concatenate([self.open, np.column_stack([without, with_memory])])
        if len(self.open) < _ROWS:
            return False
        without, gain = self.open[:, 0], self.open[:, 0] - self.open[:, 1]
        self.sums = _KEPT * self.sums + [without.sum(), gain.sum(), gain @ gain]
        self.open = np.zeros((0, 2))
        loss, gained, squares = self.sums
        return bool(gained > _STANDARD_ERRORS * np.sqrt(squares) and gained > _SHARE * loss)

    def get_state(self) -> dict[str, Any]:
        """Named arrays."""
        return {"sums": self.sums.copy(), "open": self.open.copy()}

    def set_state(self, state: dict[str, Any]) -> None:
        """The inverse of :meth:`get_state`."""
        check(state, {"sums": Array(shape=(3,)), "open": Array(shape=("rows", 2))})
        self.sums, self.open = np.array(state["sums"]), np.array(state["open"])
