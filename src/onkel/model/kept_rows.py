"""A uniform sample of the rows so far, the same however the stream was cut into blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.model.labels import with_class
from onkel.model.warmup import fields_of_rows
from onkel.numerics.arrays import with_zero_columns
from onkel.state import Array, Whole, check, require

_ARRAYS = ("X", "y", "weight", "born")


class KeptRows:
    """Up to ``size`` of the rows that count (weight > 0), each as likely as any other.

    Row t, counted from 0, takes place ⌊u_t · (t + 1)⌋ if there is one; u_t is the t-th number of a
    seeded stream (Algorithm R of Vitter 1985). Once t + 1 > ``memory``, ``memory`` replaces t + 1:
    rows are then kept for about ``memory`` further rows.
    """

    def __init__(self, size: int, d: int, dtype: Any, seed: int, memory: float = np.inf) -> None:
        self.size, self.seed, self.memory = size, seed, memory
        self.count = 0
        # with spare room, which doubles as rows come
        self._X = np.empty((0, d), dtype)
        self._y, self._weight = np.empty(0), np.empty(0)
        self._born = np.empty(0, np.int64)

    @property
    def X(self) -> np.ndarray:
        """The rows kept, (n, d)."""
        return self._X[: self.count]

    @property
    def y(self) -> np.ndarray:
        """Their labels or targets, (n,)."""
        return self._y[: self.count]

    @property
    def weight(self) -> np.ndarray:
        """Their weights, (n,)."""
        return self._weight[: self.count]

    @property
    def born(self) -> np.ndarray:
        """The number t of each row, (n,)."""
        return self._born[: self.count]

    def add(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> None:
        """Take rows X (n, d), labels or targets y (n,) and weights (n,)."""
        used = np.flatnonzero(weight > 0.0)
        t = self.count + np.arange(len(used))
        place = self._places(t)
        self._make_room(min(self.count + len(used), self.size))
        # the last of several rows for one place stays
        taken = np.flatnonzero(place < self.size)
        _, last = np.unique(place[taken][::-1], return_index=True)
        rows = taken[len(taken) - 1 - last]
        for held, values in ((self._X, X), (self._y, y), (self._weight, weight)):
            held[place[rows]] = values[used[rows]]
        self._born[place[rows]] = t[rows]
        self.count += len(used)

    def _places(self, t: np.ndarray) -> np.ndarray:
        stream = np.random.PCG64([self.seed, 2]).advance(self.count)
        u = np.random.Generator(stream).random(len(t))
        among = np.maximum(np.minimum(t + 1, self.memory), self.size)
        return np.where(t < self.size, t, (u * among).astype(np.int64))

    def _make_room(self, n: int) -> None:
        room = len(self._y)
        if n <= room:
            return
        for name in _ARRAYS:
            values = getattr(self, "_" + name)
            more = np.zeros((min(max(n, 2 * room), self.size) - room, *values.shape[1:]))
            setattr(self, "_" + name, np.concatenate([values, more.astype(values.dtype)]))

    def add_class(self, position: int, from_signs: bool) -> None:
        """Recode the labels for a class inserted at ``position``; ``from_signs``: they were ±1."""
        self._y = with_class(self._y, position, from_signs)

    def add_columns(self, n: int) -> None:
        """Append n columns of zeros to the rows kept."""
        self._X = with_zero_columns(self._X, n)

    def get_state(self) -> dict[str, Any]:
        """Named arrays and scalars."""
        return {name: getattr(self, name) for name in (*_ARRAYS, "count")}

    def set_state(self, state: dict[str, Any]) -> None:
        """The inverse of :meth:`get_state`."""
        born = Array(dtype=np.int64, shape=("n",), low=0, high=2**62)
        fields = {**fields_of_rows(self._X), "born": born, "count": Whole()}
        sizes = check(state, fields, d=self._X.shape[1])
        n, count = sizes["n"], state["count"]
        require(n == min(count, self.size), f"X: holds {n} of the {count} rows so far")
        require(not n or state["born"].max() < count, "born: names rows that have not come")
        self.count = state["count"]
        for name in _ARRAYS:
            setattr(self, "_" + name, np.array(state[name]))
