"""The last rows that were learned; the importance of columns is computed on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.numerics.arrays import as_dense, with_zero_columns
from onkel.state import Array, check, require

_MOST_ROWS = 128
_MOST_NUMBERS = 1 << 17


class RecentRows:
    """Up to 128 rows (n, d), fewer where they are wide, none above 131 072 columns."""

    def __init__(self) -> None:
        self.X = np.empty((0, 0), dtype=np.float32)

    def add(self, X: Any) -> None:
        """Add the next rows (n, d), dense or sparse."""
        d = X.shape[1]
        size = min(_MOST_ROWS, _MOST_NUMBERS // max(d, 1))
        new = X[max(0, X.shape[0] - size) :] if size else X[:0]
        new = as_dense(new).astype(np.float32) if size else np.empty((0, d), dtype=np.float32)
        before = self.X
        if before.shape[1] < d:
            before = with_zero_columns(before, d - before.shape[1])
        self.X = np.concatenate([before, new])[-size:] if size else new

    def get_state(self) -> dict[str, Any]:
        """The rows."""
        return {"X": self.X}

    def set_state(self, state: dict[str, Any], width: int | None) -> None:
        """The inverse of :meth:`get_state`; rows now have ``width`` columns, if that is known."""
        check(state, {"X": Array(dtype=np.float32, shape=("n", "d"))})
        require(state["X"].size <= _MOST_NUMBERS, "X: holds more rows than are kept")
        d = state["X"].shape[1]
        require(width is None or d <= width, f"X: has {d} columns, and rows have {width}")
        self.X = np.array(state["X"])
