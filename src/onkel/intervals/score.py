"""How good bounds are: coverage, mean width, Winkler score, and the worst window of 500 rows."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from onkel.fields import Array, Fields, Number, Whole
from onkel.state import Stateful

#: rows of a window, and the rows before the first one
WINDOW = 500


class IntervalScore(Stateful):
    """Measures of bounds around targets, row by row, in bounded memory.

    The Winkler score of a row is the width of its bounds, plus 2/α times how far the target lies
    outside. Its mean is the smaller, the better; no other bounds than the quantiles have the least.
    Rows with infinite bounds, before anything is known, don't count.
    """

    STATE: ClassVar[Fields] = {
        "level": Number(low=0.0, high=1.0),
        "n_rows": Whole(),
        "covered": Whole(),
        "width": Number(low=0.0),
        "winkler": Number(low=0.0),
        "last": Array(dtype=np.int8, shape=("last",), low=0, high=1),
        "worst": Whole(high=WINDOW),
    }

    def __init__(self, level: float) -> None:
        self.level: float = float(level)
        self.n_rows: int = 0
        self.covered: int = 0
        self.width: float = 0.0
        self.winkler: float = 0.0
        #: whether each of the last 499 rows was covered
        self.last: np.ndarray = np.zeros(0, np.int8)
        #: the fewest rows covered in a window that lies after the first 500 rows
        self.worst: int = WINDOW

    def add(self, y: np.ndarray, bounds: np.ndarray) -> None:
        """Targets (n,) and their bounds (n, 2)."""
        known = np.isfinite(bounds).all(axis=1)
        y, low, high = y[known], bounds[known, 0], bounds[known, 1]
        inside = ((low <= y) & (y <= high)).astype(np.int8)
        outside = np.maximum(low - y, 0.0) + np.maximum(y - high, 0.0)
        self.width += float((high - low).sum())
        self.winkler += float((high - low + 2.0 / (1.0 - self.level) * outside).sum())
        counts = np.cumsum(np.concatenate([[0], self.last, inside]))
        sums = counts[WINDOW:] - counts[: max(len(counts) - WINDOW, 0)]
        # windows that begin before row 500 are left out
        early = 2 * WINDOW - 1 - (self.n_rows - len(self.last) + WINDOW - 1)
        sums = sums[max(early, 0) :]
        if len(sums):
            self.worst = min(self.worst, int(sums.min()))
        self.last = np.concatenate([self.last, inside])[-(WINDOW - 1) :]
        self.n_rows += len(y)
        self.covered += int(inside.sum())

    def summary(self) -> dict[str, Any]:
        """JSON-able: the level, coverage, mean width and Winkler score, the worst window."""
        n = self.n_rows
        return {
            "level": self.level,
            "rows": n,
            "coverage": self.covered / n if n else math.nan,
            "width": self.width / n if n else math.nan,
            "winkler": self.winkler / n if n else math.nan,
            "worst_window": self.worst / WINDOW if n >= 2 * WINDOW else math.nan,
        }
