"""Some of the rows so far, drawn at random, for a last fit: each as likely as any other.

Row t, from 0, has a number u_t that depends on t alone. It is kept while u_t is below a limit,
which falls by a quarter whenever the rows kept are too many. So the rows stay in order, and do not
depend on how a stream was cut. A row that is not kept costs next to nothing.

The rows are kept in float32, as differences from the first one: a column may be a date in seconds,
of which float32 alone has too few digits.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from onkel.annotations import Matrix
from onkel.fields import Array, Fields, Sizes, State, Whole, require
from onkel.model.warmup import RowStore, largest_number
from onkel.numerics.arrays import as_dense
from onkel.numerics.random import splitmix64, splitmix64_of

# Rows at most: more help trees little.
_MOST_ROWS = 65_536
_LARGEST = largest_number(np.float32)
# By so much the limit falls each time, and so often at most.
_FALLS_TO, _MOST_FALLS = 0.75, 150


class RowSample(RowStore):
    """Up to 65 536 of the rows that count (weight > 0), in ``n_bytes`` at most; ``seen`` came."""

    BESIDE: ClassVar[dict[str, type]] = RowStore.BESIDE | {"born": np.int64}

    def __init__(self, n_bytes: int, d: int) -> None:
        super().__init__(d, np.float32)
        self.n_bytes: int = n_bytes
        self.count: int = 0
        self.seen: int = 0
        #: how often the limit has fallen
        self.n_falls: int = 0
        #: what the rows are differences from, (d,)
        self.origin: np.ndarray = np.zeros(d)

    @property
    def size(self) -> int:
        """Rows that are kept at most."""
        return min(self.n_bytes // (4 * max(self.X.shape[1], 1)), _MOST_ROWS)

    @property
    def born(self) -> np.ndarray:
        """The number t of each row, (n,)."""
        return self._held["born"][: self.count]

    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rows kept: X (n, d) in float64, y (n,), weight (n,)."""
        return self.X + self.origin, self.y, self.weight

    def add(self, X: Matrix, y: np.ndarray, weight: np.ndarray) -> None:
        """Take rows X (n, d), labels or targets y (n,) and weights (n,)."""
        if len(y) == 1:
            # without arrays of numbers
            t = self.seen
            self.seen += int(weight[0] > 0.0)
            if self.seen > t and splitmix64_of(t) < self._limit:
                self._append(X, y, weight, t)
            return
        used = np.flatnonzero(weight > 0.0)
        born = self.seen + np.arange(len(used))
        kept = splitmix64(born) <= np.uint64(self._limit - 1)
        self.seen += len(used)
        some = used[kept]
        if len(some):
            self._append(X[some], y[some], weight[some], born[kept])

    def _append(self, X: Matrix, y: np.ndarray, weight: np.ndarray, born: np.ndarray | int) -> None:
        rows = as_dense(X)
        if not self.count:
            self.origin = rows[0].astype(np.float64)
        start, end = self.count, self.count + len(rows)
        self._make_room(end, max(end, self.size))
        away = rows - self.origin
        self._held["X"][start:end] = np.maximum(np.minimum(away, _LARGEST), -_LARGEST)
        self._held["y"][start:end] = y
        self._held["weight"][start:end] = weight
        self._held["born"][start:end] = born
        self.count = end
        if end > self.size:
            self._shrink()

    def replace(self, columns: np.ndarray, values: np.ndarray) -> None:
        there = columns < len(self.origin)
        super().replace(columns[there], values[:, there] - self.origin[columns[there]])

    def add_columns(self, n: int) -> None:
        super().add_columns(n)
        self.origin = np.append(self.origin, np.zeros(n))
        self._shrink()

    @property
    def _limit(self) -> int:
        return int(2.0**64 * _FALLS_TO**self.n_falls)

    def _shrink(self) -> None:
        """Lower the limit until the rows kept are few enough."""
        while self.count > self.size:
            self.n_falls += 1
            kept = np.flatnonzero(splitmix64(self.born) <= np.uint64(self._limit - 1))
            self._held = {name: held[kept] for name, held in self._held.items()}
            self.count = len(kept)

    # ---- state ---------------------------------------------------------------------------------

    def state_fields(self) -> Fields:
        born = Array(np.int64, ("n",), 0, 2**62)
        origin = Array(shape=(self.X.shape[1],), low=-1e153, high=1e153)
        more = {"seen": Whole(), "n_falls": Whole(high=_MOST_FALLS), "origin": origin}
        return {**super().state_fields(), "born": born, **more}

    def check_state(self, state: State, sizes: Sizes) -> None:
        born = state["born"]
        require(sizes["n"] <= self.size, f"X: holds {sizes['n']} rows, more than {self.size}")
        fine = not len(born) or (born[-1] < state["seen"] and (np.diff(born) > 0).all())
        require(fine, "born: must be the numbers of rows so far, in order")
