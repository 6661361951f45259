"""The first rows of a stream, kept until the fit on them is final.

A bandwidth or landmarks fitted on the first N rows must not depend on how the stream was cut into
blocks, yet each row must be predicted before it is learned. So the fit is redone after rows 1, 2,
4, 8, ... and N, each time on all rows so far, and the model is rebuilt by replaying them in order.
The provisional model is the real one at every power of two, and the warm-up takes at most twice the
work. A map may have a denser schedule of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from onkel.model.labels import with_class
from onkel.numerics.arrays import with_zero_columns
from onkel.state import Array, Whole, check, require

#: with a larger weight the other rows would be lost in rounding
LARGEST_WEIGHT = 1e12


def fields_of_rows(X: Any) -> dict[str, Array]:
    """The fields of kept rows: X (n, d) of either float type, y and weight (n,)."""
    single = isinstance(X, np.ndarray) and X.dtype == np.float32
    dtype = np.float32 if single else np.float64
    # squared distances between them must be finite
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
        #: X, y and weight, with spare room, which doubles as rows come
        self._kept: tuple[np.ndarray, ...] = ()
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
        new = X[used], y[used], weight[used]
        start, end = self.count, self.count + len(new[1])
        self._make_room(new, end)
        for held, values in zip(self._kept, new, strict=True):
            held[start:end] = values
        self.count = end

    def _make_room(self, new: tuple[np.ndarray, ...], n: int) -> None:
        """Make room for n rows like ``new``."""
        if self._kept and n <= len(self._kept[1]):
            return
        rows = max(n, min(2 * self.count, self.n_rows))
        held = self.rows() if self._kept else tuple(values[:0] for values in new)
        self._kept = tuple(np.empty((rows, *of.shape[1:]), of.dtype) for of in held)
        for room, values in zip(self._kept, held, strict=True):
            room[: self.count] = values

    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All rows kept: X (n, d), y (n,), weight (n,); views that later rows do not change."""
        X, y, weight = (of[: self.count] for of in self._kept)
        return X, y, weight

    def __getstate__(self) -> dict[str, Any]:
        # a copy needs no spare room
        return self.__dict__ | {"_kept": self.rows() if self._kept else ()}

    def add_class(self, position: int, from_signs: bool) -> None:
        """Recode the labels for a class inserted at ``position``; ``from_signs``: they were ±1."""
        if self._kept:
            X, y, weight = self.rows()
            self._kept = X, with_class(y, position, from_signs), weight

    def add_columns(self, n: int) -> None:
        """Append n columns of zeros to the rows kept."""
        if self._kept:
            X, y, weight = self.rows()
            self._kept = with_zero_columns(X, n), y, weight

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
