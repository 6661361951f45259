"""What a model over stored rows keeps: declared once, grown as rows come, saved and loaded."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from onkel.fields import Array, Fields, Number, Sizes, State, Whole, require
from onkel.model.contract import Model
from onkel.model.warmup import Warmup
from onkel.numerics.random import new_state
from onkel.rules import base as places
from onkel.state import Part
from onkel.support.budget import N_INFO, TARGET
from onkel.support.slots import BORN, N_COUNTS, SIZE

#: the axis of an array that grows with the stored rows
SLOTS = "slots"
# Slots allocated at first; a set that outgrows them doubles.
_FIRST_CAPACITY = 64


class StoredRows(Model):
    """Coefficients A (K, slots) over rows S (slots, d), and what else is kept for each slot."""

    n_outputs: int
    state: np.ndarray

    not_merged = (
        "it stores rows, and which rows it stores depends on the order in which they come; use a "
        "learner over features, such as okl, krls or fogd"
    )

    A: np.ndarray
    S: np.ndarray
    info: np.ndarray
    gram: np.ndarray
    outputs: np.ndarray

    limit: int | None
    gamma_: float
    seed: int
    d: int
    dtype: np.dtype
    rng: np.ndarray
    counts: np.ndarray

    def arrays(self) -> dict[str, Array]:
        """The arrays, all 0 when f = 0: their dtypes, and their axes by name or length.

        Those with an axis SLOTS have spare room there.
        """
        return {
            "A": Array(dtype=self.dtype, shape=("n_outputs", SLOTS)),
            "S": Array(dtype=self.dtype, shape=(SLOTS, "d")),
            "info": Array(dtype=np.float64, shape=(N_INFO, SLOTS)),
            "gram": Array(dtype=self.dtype, shape=(0, 0)),
            "outputs": Array(dtype=np.float64, shape=("n_outputs", 0)),
        }

    def state_fields(self) -> Fields:
        used = {SLOTS: max(self.size, 1)}
        rows = {
            "rng": Array(dtype=np.uint64, shape=(1,), low=1),
            "counts": Array(dtype=np.int64, shape=(N_COUNTS,), low=0, high=2**62),
            "state": Array(dtype=np.float64, shape=(len(self._new_state()),)),
            **self.arrays(),
        }
        return {
            "n_outputs": Whole(size="n_outputs"),
            "gamma_": Number(low=0.0, where="ready"),
            **{name: replace(array, beside="gamma", in_use=used) for name, array in rows.items()},
            "warmup": Part(lambda of: Warmup(1, of.d, of.dtype), anew=True, optional=True),
        }

    def _reset(self) -> None:
        self._make_arrays()
        self.rng = new_state(self.seed)
        self.counts = np.zeros(N_COUNTS, np.int64)
        self.state = self._new_state()

    def _make_arrays(self) -> None:
        """All arrays, with room for the first rows."""
        most = self.most_slots
        first = _FIRST_CAPACITY if most is None else min(most, _FIRST_CAPACITY)
        sizes = {"n_outputs": self.n_outputs, SLOTS: first, "d": self.d}
        for name, array in self.arrays().items():
            shape = [sizes[n] if isinstance(n, str) else n for n in array.shape]
            setattr(self, name, np.zeros(shape, array.dtype))

    @property
    def ready(self) -> bool:
        return not math.isnan(self.gamma_)

    @property
    def most_slots(self) -> int | None:
        """The largest number of slots; None where there is no bound."""
        return self.limit

    @property
    def size(self) -> int:
        """Number of stored rows."""
        return int(self.counts[SIZE]) if self.ready else 0

    @property
    def support(self) -> np.ndarray:
        """The stored rows (size, d)."""
        return self.S[: self.size] if self.ready else np.empty((0, self.d), self.dtype)

    @property
    def coef(self) -> np.ndarray:
        """Coefficients (K, size) of the stored rows."""
        if not self.ready:
            return np.empty((self.n_outputs, 0), self.dtype)
        return self.A[:, : self.size] * self.A.dtype.type(self.state[places.SCALE])

    def state_is_set(self) -> None:
        """Give the arrays their spare room."""
        if not self.ready:
            return
        loaded = {name: getattr(self, name) for name in self.arrays()}
        self._make_arrays()
        self._reserve(0)
        for name, array in loaded.items():
            getattr(self, name)[tuple(slice(m) for m in array.shape)] = array

    def state_sizes(self) -> Sizes:
        return super().state_sizes() | {"d": self.d}

    def check_state(self, state: State, sizes: Sizes) -> None:
        """ModelFileError where the arrays don't fit together: the loops check no index."""
        require("gamma" in state or "warmup" in state, "A: is missing, and so are the first rows")
        if "gamma" not in state:
            return
        size, most = int(state["counts"][SIZE]), self.most_slots
        require(
            sizes[SLOTS] == max(size, 1) and (most is None or size <= most),
            f"counts: holds a size of {size}; there are {sizes[SLOTS]} rows, and {most} at most",
        )
        require(
            state["counts"][BORN] >= size, "counts: holds fewer rows ever stored than are there"
        )
        scale = state["state"][places.SCALE]
        require(scale > 0.0, f"state: holds a scale of {scale}; it must be above 0")
        if self.n_outputs > 1 and "info" in state:
            codes = state["info"][TARGET, :size]
            require(
                np.isin(codes, np.arange(self.n_outputs)).all(),
                f"info: holds labels that are no class code from 0 to {self.n_outputs - 1}",
            )

    def _reserve(self, n: int) -> None:
        """Room for n more rows, within the budget."""
        have, need, most = len(self.S), self.size + n, self.most_slots
        if most is not None:
            need = min(need, most)
        if need <= have:
            return
        room = max(need, 2 * have)
        room = room if most is None else min(room, most)
        for name, array in self.arrays().items():
            pad = [(0, (room - have) * (axis == SLOTS)) for axis in array.shape]
            setattr(self, name, np.pad(getattr(self, name), pad))
