"""Some of the rows so far, drawn at random, for a last fit: each as likely as any other.

Row t, from 0, has a number u_t that depends on t alone. It is kept while u_t is below a limit,
which falls by a quarter whenever the rows kept are too many. So the rows stay in order, and do not
depend on how a stream was cut. A row that is not kept costs next to nothing.

The rows are kept as differences from the first one: a column may be a date in seconds, of which
float32 alone has too few digits. A column whose differences have all been small whole numbers takes
a byte a row, others float32. Most columns of a table say whether a row has a value: as bytes four
times as many rows fit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.annotations import Matrix
from onkel.fields import Array, Fields, Sizes, State, Whole, require
from onkel.model.warmup import NumberedRows, largest_number
from onkel.numerics.arrays import as_dense
from onkel.numerics.jit import jit
from onkel.numerics.random import splitmix64, splitmix64_of

# Rows at most: more help trees little.
_MOST_ROWS = 65_536
_LARGEST = largest_number(np.float32)
# The largest whole number of a small column.
_SMALL = 127
# By so much the limit falls each time, and so often at most.
_FALLS_TO, _MOST_FALLS = 0.75, 150


class RowSample(NumberedRows):
    """Up to 65 536 of the rows that count (weight > 0), in ``n_bytes`` at most; ``seen`` came."""

    def __init__(self, n_bytes: int, d: int) -> None:
        super().__init__(0, np.float32)
        self._held["small"] = np.empty((0, d), np.int8)
        self.n_bytes: int = n_bytes
        self.count: int = 0
        self.seen: int = 0
        #: how often the limit has fallen
        self.n_falls: int = 0
        #: what the rows are differences from, (d,)
        self.origin: np.ndarray = np.zeros(d)
        #: which columns are in ``small`` (n, ·), in order; the others are in X
        self.is_small: np.ndarray = np.ones(d, bool)

    @property
    def size(self) -> int:
        """Rows that are kept at most."""
        return int(self._sizes(np.count_nonzero(self.is_small)))

    def _sizes(self, n_small: Any) -> Any:
        """Rows that are kept at most while so many columns are small."""
        n_bytes = 4 * len(self.is_small) - 3 * n_small
        return np.minimum(self.n_bytes // np.maximum(n_bytes, 1), _MOST_ROWS)

    @property
    def small(self) -> np.ndarray:
        """The columns that are small, (n, ·)."""
        return self._held["small"][: self.count]

    @property
    def sure(self) -> int:
        """How many of the first rows are all kept, whatever their numbers are."""
        return int(self._sizes(0))

    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rows kept: X (n, d) in float64, y (n,), weight (n,)."""
        X = np.empty((self.count, len(self.origin)))
        X[:, ~self.is_small] = self.X
        X[:, self.is_small] = self.small
        X += self.origin
        return X, self.y, self.weight

    def add(self, X: Matrix, y: np.ndarray, weight: np.ndarray) -> None:
        """Take rows X (n, d), labels or targets y (n,) and weights (n,)."""
        if len(y) == 1:
            # without arrays of numbers
            t = self.seen
            self.seen += int(weight[0] > 0.0)
            one = self.seen > t and splitmix64_of(t) < self._limit
            if one and not self._append_row(X, y[0], weight[0], t):
                self._append(X, y, weight, np.array([t]))
            return
        used = np.flatnonzero(weight > 0.0)
        born = self.seen + np.arange(len(used))
        drawn = self._below_limit(born)
        self.seen += len(used)
        some = used[drawn]
        if len(some):
            self._append(X[some], y[some], weight[some], born[drawn])

    def _append_row(self, X: Matrix, y: float, weight: float, t: int) -> bool:
        """Add the one row of X where nothing else changes; returns whether it was added."""
        held, at = self._held, self.count
        if not 0 < at < min(len(held["y"]), self.size):
            return False
        row = as_dense(X)[0].astype(np.float64)
        added = put_row(row, self.origin, self.is_small, held["X"][at], held["small"][at])
        if added:
            held["y"][at], held["weight"][at], held["born"][at] = y, weight, t
            self.count += 1
        return bool(added)

    def _append(self, X: Matrix, y: np.ndarray, weight: np.ndarray, born: np.ndarray) -> None:
        rows = as_dense(X)
        if not self.count:
            self.origin = rows[0].astype(np.float64)
        away = np.maximum(np.minimum(rows - self.origin, _LARGEST), -_LARGEST)
        while len(born):
            # a limit that falls within a block is that of its other rows
            end = self._keep(away, y, weight, born)
            kept = end + np.flatnonzero(self._below_limit(born[end:]))
            away, y, weight, born = away[kept], y[kept], weight[kept], born[kept]

    def _keep(self, away: np.ndarray, y: np.ndarray, weight: np.ndarray, born: np.ndarray) -> int:
        """Keep rows until they are too many, then fewer; returns how many of these were taken."""
        never = np.logical_or.accumulate(~_fits(away[:, self.is_small]), axis=0)
        sizes = self._sizes(never.shape[1] - never.sum(axis=1))
        too_many = np.flatnonzero(self.count + np.arange(1, len(born) + 1) > sizes)
        n = int(too_many[0]) + 1 if len(too_many) else len(born)
        self._make_wide(np.flatnonzero(self.is_small)[never[n - 1]])
        start, end = self.count, self.count + n
        self._make_room(end, max(end, self.size))
        self._held["X"][start:end] = away[:n, ~self.is_small]
        self._held["small"][start:end] = away[:n, self.is_small]
        self._held["y"][start:end] = y[:n]
        self._held["weight"][start:end] = weight[:n]
        self._held["born"][start:end] = born[:n]
        self.count = end
        self._shrink()
        return n

    def _make_wide(self, columns: np.ndarray) -> None:
        """Keep these columns, which are small, in float32 from now on."""
        if len(columns):
            old, held = np.flatnonzero(~self.is_small), self._held
            among = np.searchsorted(np.flatnonzero(self.is_small), columns)
            self.is_small = self.is_small.copy()
            self.is_small[columns] = False
            wide = np.flatnonzero(~self.is_small)
            X = np.empty((len(held["X"]), len(wide)), np.float32)
            X[:, np.searchsorted(wide, old)] = held["X"]
            X[:, np.searchsorted(wide, columns)] = held["small"][:, among]
            self._held = {**held, "X": X, "small": np.delete(held["small"], among, axis=1)}

    def replace(self, columns: np.ndarray, values: np.ndarray) -> None:
        there = columns < len(self.origin)
        columns, away = columns[there], values[:, there] - self.origin[columns[there]]
        fits = _fits(away).all(axis=0)
        self._make_wide(columns[self.is_small[columns] & ~fits])
        small = self.is_small[columns]
        wide_at = np.searchsorted(np.flatnonzero(~self.is_small), columns[~small])
        super().replace(wide_at, away[:, ~small])
        held = self.small.copy()
        held[:, np.searchsorted(np.flatnonzero(self.is_small), columns[small])] = away[:, small]
        self._held["small"] = held
        self._shrink()

    def add_columns(self, n: int) -> None:
        small = self._held["small"]
        self._held["small"] = np.pad(small, [(0, 0), (0, n)])
        self.origin = np.append(self.origin, np.zeros(n))
        self.is_small = np.append(self.is_small, np.ones(n, bool))
        self._shrink()

    @property
    def _limit(self) -> int:
        return int(2.0**64 * _FALLS_TO**self.n_falls)

    def _below_limit(self, born: np.ndarray) -> np.ndarray:
        return np.asarray(splitmix64(born) <= np.uint64(self._limit - 1))

    def _shrink(self) -> None:
        """Lower the limit until the rows kept are few enough."""
        while self.count > self.size:
            self.n_falls += 1
            kept = np.flatnonzero(self._below_limit(self.born))
            self._held = {name: held[kept] for name, held in self._held.items()}
            self.count = len(kept)

    # ---- state ---------------------------------------------------------------------------------

    def state_fields(self) -> Fields:
        d = len(self.origin)
        more = {
            # files from before columns could be small have all in X
            "is_small": Array(bool, (d,), optional=True),
            "small": Array(np.int8, ("n", "small"), beside="is_small"),
            "seen": Whole(),
            "n_falls": Whole(high=_MOST_FALLS),
            "origin": Array(shape=(d,), low=-1e153, high=1e153),
        }
        X = Array(np.float32, ("n", "wide"), -_LARGEST, _LARGEST)
        return {**super().state_fields(), "X": X, **more}

    def set_fields(self, values: State) -> None:
        if values["is_small"] is None:
            values["is_small"] = np.zeros(values["X"].shape[1], bool)
            values["small"] = np.empty((len(values["X"]), 0), np.int8)
        super().set_fields(values)

    def check_state(self, state: State, sizes: Sizes) -> None:
        born, small = state["born"], state.get("is_small", np.zeros(len(self.origin), bool))
        n_small = int(np.count_nonzero(small))
        wanted = {"X": ("wide", len(small) - n_small), "small": ("small", n_small)}
        for name, (columns, n) in wanted.items():
            there = sizes.get(columns, 0)
            require(there == n, f"{name}: has {there} columns, not {n}")
        size = int(self._sizes(n_small))
        require(sizes["n"] <= size, f"X: holds {sizes['n']} rows, more than {size}")
        fine = not len(born) or (born[-1] < state["seen"] and (np.diff(born) > 0).all())
        require(fine, "born: must be the numbers of rows so far, in order")


def _fits(away: np.ndarray) -> np.ndarray:
    """Which numbers are small and whole."""
    return np.asarray((np.abs(away) <= _SMALL) & (away == np.rint(away)))


@jit
def put_row(row, origin, is_small, wide, small):
    """Write the differences of a row from the origin; returns whether all small ones fit."""
    n_small, n_wide = 0, 0
    for j in range(len(row)):
        away = min(max(row[j] - origin[j], -_LARGEST), _LARGEST)
        if is_small[j]:
            if not (abs(away) <= _SMALL and away == np.rint(away)):
                return False
            small[n_small] = np.int8(away)
            n_small += 1
        else:
            wide[n_wide] = away
            n_wide += 1
    return True
