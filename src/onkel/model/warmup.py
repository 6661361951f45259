"""Rows that a model keeps for a fit: the first ones, until the fit on them is final, or a sample.

A bandwidth or landmarks fitted on the first N rows must not depend on how the stream was cut into
blocks, yet each row must be predicted before it is learned. So the fit is redone after rows 1, 2,
4, 8, ... and N, each time on all rows so far, and the model is rebuilt by replaying them in order.
The provisional model is the real one at every power of two, and the warm-up takes at most twice the
work. A map may have a denser schedule of its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from onkel.annotations import DTypeLike
from onkel.fields import Array, Fields, Sizes, State, Whole, require
from onkel.model.labels import with_class
from onkel.numerics.arrays import with_zero_columns
from onkel.state import Stateful

#: with a larger weight the other rows would be lost in rounding
LARGEST_WEIGHT = 1e12


class RowStore(Stateful):
    """Rows X (n, d), their labels or targets y (n,) and weights (n,).

    The arrays have spare room, which doubles as rows come. ``count`` is the number of rows taken.
    """

    #: what is kept of each row beside X, and its type
    BESIDE: ClassVar[dict[str, type]] = {"y": np.float64, "weight": np.float64}

    def __init__(self, d: int, dtype: DTypeLike) -> None:
        self.count: int = 0
        self._held: dict[str, np.ndarray] = {"X": np.empty((0, d), dtype)}
        self._held |= {name: np.empty(0, of) for name, of in self.BESIDE.items()}

    @property
    def X(self) -> np.ndarray:
        """The rows kept, (n, d)."""
        return self._held["X"][: self.count]

    @property
    def y(self) -> np.ndarray:
        """Their labels or targets, (n,)."""
        return self._held["y"][: self.count]

    @property
    def weight(self) -> np.ndarray:
        """Their weights, (n,)."""
        return self._held["weight"][: self.count]

    def _make_room(self, n: int, most: int) -> None:
        """Make room for n rows, of ``most`` in all; what was given out stays as it is."""
        room = len(self._held["y"])
        if n > room:
            rows = max(n, min(2 * room, most))
            for name, held in self._held.items():
                self._held[name] = np.empty((rows, *held.shape[1:]), held.dtype)
                self._held[name][:room] = held

    def add_class(self, position: int, from_signs: bool) -> None:
        """Recode the labels for a class inserted at ``position``; ``from_signs``: they were ±1."""
        self._held["y"] = with_class(self.y, position, from_signs)
        self._drop_room()

    def add_columns(self, n: int) -> None:
        """Append n columns of zeros to the rows kept."""
        self._held["X"] = with_zero_columns(self.X, n)
        self._drop_room()

    def replace(self, columns: np.ndarray, values: np.ndarray) -> None:
        """Replace these columns of X, those that it has; what was given out stays as it is."""
        there, X = columns < self._held["X"].shape[1], self.X.copy()
        X[:, columns[there]] = np.clip(values[:, there], *_range(X))
        self._drop_room()
        self._held["X"] = X

    def _drop_room(self) -> None:
        self._held = {name: held[: self.count] for name, held in self._held.items()}

    def __getstate__(self) -> State:
        # a copy needs no spare room
        held = {name: held[: self.count] for name, held in self._held.items()}
        return self.__dict__ | {"_held": held}

    # ---- state ---------------------------------------------------------------------------------

    def state_fields(self) -> Fields:
        X = self._held["X"]
        return {
            "X": Array(X.dtype, ("n", X.shape[1]), *_taken(X)),
            "y": Array(shape=("n",), low=-1e154, high=1e154, beside="X"),
            "weight": Array(shape=("n",), low=0.0, high=LARGEST_WEIGHT, beside="X"),
        }

    def set_fields(self, values: State) -> None:
        given = {name: values.pop(name, None) for name in self._held}
        self._held |= {name: value for name, value in given.items() if value is not None}
        self.count = len(self._held["y"])
        super().set_fields(values)


def _taken(X: np.ndarray) -> tuple[float, float]:
    """Least and largest numbers of rows that learners take."""
    most = 0.5 * float(np.sqrt(np.finfo(X.dtype).max))
    return -most, most


def _range(X: np.ndarray) -> tuple[float, float]:
    """Least and largest numbers that may replace others in rows."""
    most = largest_number(X.dtype)
    return -most, most


def largest_number(dtype: DTypeLike) -> float:
    """The largest number of rows in this precision: squared distances must be finite."""
    return 0.1 * float(np.sqrt(np.finfo(dtype).max))


class Warmup(RowStore):
    """Rows X (n, d) with positive weight, kept until there are ``n_rows`` of them."""

    def __init__(self, n_rows: int, d: int, dtype: DTypeLike) -> None:
        super().__init__(d, dtype)
        self.n_rows: int = n_rows

    @property
    def complete(self) -> bool:
        """True when all rows of the warm-up have come."""
        return self.count >= self.n_rows

    def keep(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> None:
        """Take the rows of positive weight."""
        used = weight > 0.0
        start, end = self.count, self.count + int(np.count_nonzero(used))
        self._make_room(end, self.n_rows)
        for name, values in (("X", X), ("y", y), ("weight", weight)):
            self._held[name][start:end] = values[used]
        self.count = end

    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All rows kept: X (n, d), y (n,), weight (n,); views that later rows do not change."""
        return self.X, self.y, self.weight

    def state_fields(self) -> Fields:
        # files of models that no row has come to may leave the arrays out
        rows = super().state_fields()
        return {"n_rows": Whole(low=1), **rows, "X": replace(rows["X"], optional=True)}

    def check_state(self, state: State, sizes: Sizes) -> None:
        n = sizes.get("n", 0)
        require(n < state["n_rows"], f"X: holds {n} rows, as many as are waited for")


class NumberedRows(RowStore):
    """Rows of which each knows its number in the stream, counted from 0."""

    BESIDE: ClassVar[dict[str, type]] = RowStore.BESIDE | {"born": np.int64}

    @property
    def born(self) -> np.ndarray:
        """The number t of each row, (n,)."""
        return self._held["born"][: self.count]

    def state_fields(self) -> Fields:
        return {**super().state_fields(), "born": Array(np.int64, ("n",), 0, 2**62)}


class KeptRows(NumberedRows):
    """Up to ``size`` of the rows that count (weight > 0), each as likely as any other.

    Row t, counted from 0, takes place ⌊u_t · (t + 1)⌋ if there is one; u_t is the t-th number of a
    seeded stream (Algorithm R of Vitter 1985). Once t + 1 > ``memory``, ``memory`` replaces t + 1:
    rows are then kept for about ``memory`` further rows.
    """

    count: int

    def __init__(
        self, size: int, d: int, dtype: DTypeLike, seed: int, memory: float = np.inf
    ) -> None:
        super().__init__(d, dtype)
        self.size: int = size
        self.seed: int = seed
        self.memory: float = memory

    def add(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> None:
        """Take rows X (n, d), labels or targets y (n,) and weights (n,)."""
        used = np.flatnonzero(weight > 0.0)
        t = self.count + np.arange(len(used))
        place = self._places(t)
        self._make_room(min(self.count + len(used), self.size), self.size)
        # the last of several rows for one place stays
        taken = np.flatnonzero(place < self.size)
        _, last = np.unique(place[taken][::-1], return_index=True)
        rows = taken[len(taken) - 1 - last]
        new = {"X": X[used], "y": y[used], "weight": weight[used], "born": t}
        for name, values in new.items():
            self._held[name][place[rows]] = values[rows]
        self.count += len(used)

    def _places(self, t: np.ndarray) -> np.ndarray:
        stream = np.random.PCG64([self.seed, 2]).advance(self.count)
        u = np.random.Generator(stream).random(len(t))
        among = np.maximum(np.minimum(t + 1, self.memory), self.size)
        return np.where(t < self.size, t, (u * among).astype(np.int64))

    def state_fields(self) -> Fields:
        return {**super().state_fields(), "count": Whole()}

    def check_state(self, state: State, sizes: Sizes) -> None:
        n, count = sizes["n"], state["count"]
        require(n == min(count, self.size), f"X: holds {n} of the {count} rows so far")
        require(not n or state["born"].max() < count, "born: names rows that have not come")
