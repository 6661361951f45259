"""The first rows of a stream, kept until what is fitted on them stands.

A bandwidth or landmarks fitted on the first N rows must not depend on how the stream was cut into
blocks, and the rows must be predicted before they are learned all the same. So the fit is redone
after rows 1, 2, 4, 8, ... and N, each time on all rows so far, and the model is rebuilt by
replaying them in order: a provisional model that is the real one at every power of two, for at
most twice the work of the warm-up. A map may have a denser schedule of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from onkel.model.labels import with_class
from onkel.numerics.dense import with_zero_columns
from onkel.state import Array, Whole, check, require

#: beside a larger weight the other rows are lost in rounding
LARGEST_WEIGHT = 1e12


def fields_of_rows(X: Any) -> dict[str, Array]:
    """What rows that are kept must be: X (n, d) of either float type, y and weight (n,)."""
    single = isinstance(X, np.ndarray) and X.dtype == np.float32
    dtype = np.float32 if single else np.float64
    # squared distances between them are to be finite
    most = 0.1 * float(np.sqrt(np.finfo(dtype).max))
    return {
        "X": Array(dtype=dtype, shape=("n", "d"), low=-most, high=most),
        "y": Array(dtype=np.float64, shape=("n",), low=-1e153, high=1e153),
        "weight": Array(dtype=np.float64, shape=("n",), low=0.0, high=LARGEST_WEIGHT),
    }


def next_power_of_two(n: int) -> int:
    """The smallest power of two above n ≥ 0."""
    return 1 << n.bit_length()


class Warmup:
    """Rows with positive weight, kept until there are ``n_rows`` of them.

    After n rows the next fit is due at ``next_fit(n)`` rows, or at ``n_rows``.
    """

    def __init__(self, n_rows: int, next_fit: Callable[[int], int] = next_power_of_two) -> None:
        self.n_rows, self.next_fit = n_rows, next_fit
        self._kept: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self.count = 0

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
        """Keep the rows that count."""
        used = weight > 0.0
        self._kept.append((np.array(X[used]), y[used].copy(), weight[used].copy()))
        self.count += int(np.count_nonzero(used))

    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All rows kept: X (n, d), y (n,), weight (n,)."""
        if len(self._kept) == 1:
            return self._kept[0]
        X, y, weight = (np.concatenate(part) for part in zip(*self._kept, strict=True))
        self._kept = [(X, y, weight)]
        return X, y, weight

    def add_class(self, position: int, from_signs: bool) -> None:
        """Recode the labels for a class put in at ``position``; ``from_signs``: they were ±1."""
        for i, (X, y, weight) in enumerate(self._kept):
            self._kept[i] = (X, with_class(y, position, from_signs), weight)

    def add_columns(self, n: int) -> None:
        """Rows kept so far have zeros in n columns more."""
        self._kept = [(with_zero_columns(X, n), y, weight) for X, y, weight in self._kept]

    def get_state(self) -> dict[str, Any]:
        """Named arrays and scalars."""
        state: dict[str, Any] = {"n_rows": self.n_rows}
        if self._kept:
            state["X"], state["y"], state["weight"] = self.rows()
        return state

    @classmethod
    def from_state(
        cls, state: dict[str, Any], next_fit: Callable[[int], int] = next_power_of_two
    ) -> Warmup:
        """The inverse of :meth:`get_state`."""
        check(state, {"n_rows": Whole(low=1)})
        warmup = cls(state["n_rows"], next_fit)
        if "X" in state:
            check(state, fields_of_rows(state["X"]))
            full = len(state["y"]) >= state["n_rows"]
            require(not full, f"X: holds {len(state['y'])} rows, as many as are waited for")
            warmup.keep(state["X"], state["y"], state["weight"])
        return warmup
