"""The first rows, and what f and the stages before left of them: they choose columns of cells.

Columns and bins are chosen after 64 rows, and again at every power of two up to the last, 1 024.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Self

import numpy as np

from onkel.annotations import DTypeLike
from onkel.default.cells import residuals_with_class
from onkel.fields import Array, Fields, Sizes, State, require
from onkel.model.warmup import Warmup
from onkel.numerics.arrays import inserted, next_power_of_two, targets_of
from onkel.state import Part, Stateful

_FIRST_ROWS, _LAST_ROWS = 64, 1024
# Bytes for the rows. Where fewer than _FIRST_ROWS fit, there are no cells.
_KEPT_BYTES = 16 << 20


class LearnedRows(NamedTuple):
    """Rows X (n, d), their targets Y (n, K), what was left of these R (n, K), and their weights."""

    X: np.ndarray
    Y: np.ndarray
    R: np.ndarray
    weight: np.ndarray

    @property
    def P(self) -> np.ndarray:
        """The prediction (n, K) of each row before it was learned."""
        return self.Y - self.R


class ColumnChoice(Stateful):
    """Rows of positive weight, up to ``n_rows`` of them, and their residuals (n, K)."""

    STATE: ClassVar[Fields] = {
        "_choice": Part(),
        "_residuals": Part(among="residuals"),
    }

    def __init__(self, n_rows: int, d: int, dtype: DTypeLike, n_outputs: int) -> None:
        self._choice = Warmup(n_rows, d, dtype)
        self._residuals = Residuals(n_outputs)

    @classmethod
    def begun(cls, d: int, dtype: DTypeLike, n_outputs: int) -> Self | None:
        """No row yet; None where too few rows of d columns fit."""
        last = next_power_of_two(min(_LAST_ROWS, _KEPT_BYTES // (d * 8))) // 2
        return cls(last, d, dtype, n_outputs) if last >= _FIRST_ROWS else None

    @property
    def n_rows(self) -> int:
        """How many rows choose the last time."""
        return self._choice.n_rows

    @property
    def left(self) -> int:
        """Rows until the last choice."""
        return self.n_rows - self._choice.count

    @property
    def complete(self) -> bool:
        """True when all rows have come."""
        return self._choice.complete

    def rows_before_next(self) -> int:
        """Rows until columns are to be chosen."""
        due = max(_FIRST_ROWS, next_power_of_two(self._choice.count))
        return min(due, self.n_rows) - self._choice.count

    def keep(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray, R: np.ndarray) -> None:
        """Take the rows of positive weight."""
        self._choice.keep(X, y, weight)
        self._residuals.append(R[weight > 0.0])

    def rows(self) -> LearnedRows:
        """All rows kept."""
        (X, y, weight), R = self._choice.rows(), self._residuals.residuals
        return LearnedRows(X, targets_of(y, R.shape[1]), R, weight)

    def add_class(self, position: int, from_signs: bool) -> None:
        """Insert a class never seen; ``from_signs``: labels were ±1."""
        self._choice.add_class(position, from_signs)
        self._residuals.add_class(position)

    def add_columns(self, n: int) -> None:
        """Append n columns of zeros."""
        self._choice.add_columns(n)

    def state_is_set(self) -> None:
        n, n_rows = len(self._residuals.residuals), self._choice.count
        require(n == n_rows, f"residuals: has {n} rows, and choice has {n_rows}")


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
