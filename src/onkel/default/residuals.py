"""Residuals of the rows that cells are chosen by, while rows and classes are added."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from onkel.default.cells import residuals_with_class
from onkel.fields import Array, Fields, Sizes, State
from onkel.numerics.arrays import inserted
from onkel.state import Stateful


class Residuals(Stateful):
    """Residuals (n, K) of some rows, with room for more of both, which doubles.

    A class that comes gets the next place whatever its position, so none is moved: thousands of
    classes come in thousands of rows.
    """

    STATE: ClassVar[Fields] = {"residuals": Array(shape=("n", "n_outputs"), low=-1e153, high=1e153)}

    def __init__(self, n_outputs: int) -> None:
        self.count: int = 0
        #: the place of each output
        self._places = np.arange(n_outputs)
        # 0 where nothing was learned
        self._held = np.zeros((0, n_outputs))

    @property
    def residuals(self) -> np.ndarray:
        """All residuals (n, K): a copy."""
        return np.ascontiguousarray(self._held[: self.count, self._places])

    def append(self, R: np.ndarray) -> None:
        """Append residuals R (n, K)."""
        end = self.count + len(R)
        if end > len(self._held):
            self._make_room(max(end, 2 * self.count), self._held.shape[1])
        self._held[self.count : end, self._places] = R
        self.count = end

    def add_class(self, position: int) -> None:
        """Insert a class never seen; one output of targets ±1 becomes two indicators."""
        known = len(self._places)
        if known == 1:
            both = residuals_with_class(self.residuals, position)
            self._places = np.arange(both.shape[1])
            self._held = both
            return
        if known == self._held.shape[1]:
            self._make_room(len(self._held), 2 * known)
        self._places = inserted(self._places, position, known)

    def _make_room(self, n: int, n_outputs: int) -> None:
        wider = np.zeros((n, n_outputs))
        wider[: self.count, : self._held.shape[1]] = self._held[: self.count]
        self._held = wider

    def __getstate__(self) -> State:
        # a copy needs no spare room
        rows = self.residuals
        return {"count": len(rows), "_places": np.arange(rows.shape[1]), "_held": rows}

    def state_sizes(self) -> Sizes:
        return {"n_outputs": len(self._places)}

    def set_fields(self, values: State) -> None:
        self.append(values["residuals"])
