"""The first rows of a stream, kept until the fit on them is final.

A bandwidth or landmarks fitted on the first N rows must not depend on how the stream was cut into
blocks, yet each row must be predicted before it is learned. So the fit is redone after rows 1, 2,
4, 8, ... and N, each time on all rows so far, and the model is rebuilt by replaying them in order.
The provisional model is the real one at every power of two, and the warm-up takes at most twice the
work. A map may have a denser schedule of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from onkel.model.kept_rows import RowStore
from onkel.state import Fields, Sizes, Whole, require


def next_power_of_two(n: int) -> int:
    """The smallest power of two above n ≥ 0."""
    return 1 << n.bit_length()


class Warmup(RowStore):
    """Rows X (n, d) with positive weight, kept until there are ``n_rows`` of them.

    After n rows the next fit is due at ``next_fit(n)`` rows, or at ``n_rows``.
    """

    def __init__(
        self, n_rows: int, d: int, dtype: Any, next_fit: Callable[[int], int] = next_power_of_two
    ) -> None:
        super().__init__(n_rows, d, dtype)
        self.next_fit = next_fit

    @property
    def n_rows(self) -> int:
        """The rows that are waited for."""
        return self.size

    @n_rows.setter
    def n_rows(self, n: int) -> None:
        self.size = n

    @property
    def complete(self) -> bool:
        """True when all rows of the warm-up have come."""
        return self.count >= self.n_rows

    def until_refit(self, weight: np.ndarray, start: int) -> tuple[int, bool]:
        """End of the rows from ``start`` to the next refit, and whether the refit is reached."""
        missing = min(self.next_fit(self.count), self.n_rows) - self.count
        counted = np.flatnonzero(weight[start:] > 0.0)
        if counted.size < missing:
            return len(weight), False
        return start + int(counted[missing - 1]) + 1, True

    def keep(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> None:
        """Take the rows of positive weight."""
        used = weight > 0.0
        start, end = self.count, self.count + int(np.count_nonzero(used))
        self._make_room(end)
        for name, values in (("X", X), ("y", y), ("weight", weight)):
            self._held[name][start:end] = values[used]
        self.count = end

    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All rows kept: X (n, d), y (n,), weight (n,); views that later rows do not change."""
        return self.X, self.y, self.weight

    def state_fields(self) -> Fields:
        # files of models that no row has come to may leave the arrays out
        rows = {name: replace(of, optional=True) for name, of in super().state_fields().items()}
        return {"n_rows": Whole(low=1), **rows}

    def check_state(self, state: dict[str, Any], sizes: Sizes) -> None:
        missing = [name for name in self._held if name not in state]
        require(len(missing) in (0, len(self._held)), f"{', '.join(missing)}: is missing")
        n = sizes.get("n", 0)
        require(n < state["n_rows"], f"X: holds {n} rows, as many as are waited for")
