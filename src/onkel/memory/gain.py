"""Whether memory helps: a paired test of losses without and with it, at fixed row numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.state import Array, Whole, check, require

# The test is made every 64 rows, and from row 1024 on every 1024. At each, older rows count less.
_OFTEN, _SELDOM = 64, 1024
_KEPT_OF_64 = 0.99
_STANDARD_ERRORS = 5.0
# A gain below this share of the loss is not worth a second model.
_SHARE = 0.02


class Gain:
    """Sums of losses without memory, and of how much smaller those with memory are."""

    def __init__(self) -> None:
        #: Σ loss without, Σ difference, Σ difference² up to the last test
        self.sums = np.zeros(3)
        #: losses without and with memory since then, and room for those up to the next test
        self._open, self._count = np.zeros((_SELDOM, 2)), 0
        #: rows up to the last test
        self.n_rows = 0

    @property
    def open(self) -> np.ndarray:
        """Losses without and with memory since the last test, (n, 2)."""
        return self._open[: self._count]

    @property
    def _rows(self) -> int:
        return _OFTEN if self.n_rows < _SELDOM else _SELDOM

    def until_test(self) -> int:
        """Rows up to the next test."""
        return self._rows - self._count

    def add(self, without: np.ndarray, with_memory: np.ndarray) -> bool:
        """Add losses of the next rows, up to a test at most; True if it finds memory useful."""
        new = self._open[self._count : self._count + len(without)]
        new[:, 0], new[:, 1] = without, with_memory
        self._count += len(new)
        if self._count < self._rows:
            return False
        without, gain = self.open[:, 0], self.open[:, 0] - self.open[:, 1]
        kept = _KEPT_OF_64 ** (self._rows / _OFTEN)
        self.sums = kept * self.sums + [without.sum(), gain.sum(), gain @ gain]
        self.n_rows += self._count
        self._count = 0
        loss, gained, squares = self.sums
        return bool(gained > _STANDARD_ERRORS * np.sqrt(squares) and gained > _SHARE * loss)

    def get_state(self) -> dict[str, Any]:
        """Named arrays."""
        return {"sums": self.sums.copy(), "open": self.open.copy(), "n_rows": self.n_rows}

    def set_state(self, state: dict[str, Any]) -> None:
        """The inverse of :meth:`get_state`."""
        fields = {"sums": Array(shape=(3,)), "open": Array(shape=("rows", 2)), "n_rows": Whole()}
        check(state, fields)
        require(len(state["open"]) < _SELDOM, f"open: holds {len(state['open'])} rows")
        self.sums, self._count = np.array(state["sums"]), len(state["open"])
        self.open[:] = state["open"]
        self.n_rows = int(state["n_rows"])
