"""Codes of the rows that a learner keeps, from which their target means are made anew.

A row gets the statistics of the rows before it (:mod:`onkel.columns.target_means`). Those of early
rows come from few rows. A frozen model is asked for rows with the statistics of all rows, which
tell more. So before a learner fits once more, the rows that it keeps get those of all other rows,
too. For that their codes are kept, and what they had for a target: a number, or the place of a
label among the classes.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np

from onkel.fields import Array, Fields, Listed, Sizes, State, Whole, require
from onkel.state import Stateful

_FEWEST = 1024


class _Rows(NamedTuple):
    """Arrays with spare room, of which n rows are in use, and what :class:`KeptCodes` says."""

    codes: np.ndarray
    targets: np.ndarray
    born: np.ndarray
    n: int
    columns: list[int]
    n_rows: int
    first: int

    def with_room(self, n: int) -> _Rows:
        """With room for n rows more, and then for as many again."""
        if self.n + n <= len(self.born):
            return self
        size = max(2 * (self.n + n), _FEWEST)
        return self._replace(
            codes=np.resize(self.codes[: self.n], (size, len(self.columns))),
            targets=np.resize(self.targets[: self.n], size),
            born=np.resize(self.born[: self.n], size),
        )

    def with_columns(self, columns: list[int]) -> _Rows:
        """With more columns of codes: rows so far have no code there."""
        codes = np.zeros((len(self.born), len(columns)), np.int32)
        codes[:, [columns.index(j) for j in self.columns]] = self.codes
        return self._replace(codes=codes, columns=columns)


class KeptCodes(Stateful):
    """Codes (n, m) of rows, their targets (n,) and their numbers (n,), in the order of the stream.

    The ``first`` rows came before there were codes.
    """

    STATE: ClassVar[Fields] = {
        "columns": Listed(Whole(), "m"),
        "codes": Array(np.int32, ("n", "m"), low=0),
        "targets": Array(shape=("n",)),
        "born": Array(np.int64, ("n",), low=0),
        "n_rows": Whole(),
        "first": Whole(),
    }

    def __init__(self) -> None:
        # one attribute: what interrupts a change leaves all as it was
        self._rows = _Rows(
            np.empty((0, 0), np.int32), np.empty(0), np.empty(0, np.int64), 0, [], 0, 0
        )

    @property
    def columns(self) -> list[int]:
        """The encoder's feature that each column of codes belongs to."""
        return self._rows.columns

    @property
    def n_rows(self) -> int:
        """Rows so far."""
        return self._rows.n_rows

    def add(self, columns: list[int], codes: np.ndarray, targets: np.ndarray) -> None:
        """Add the next rows (n, m); ``columns`` has all of those before."""
        rows, n = self._rows, len(codes)
        if columns != rows.columns:
            rows = rows.with_columns(columns)
        rows = rows.with_room(n)
        new = slice(rows.n, rows.n + n)
        rows.codes[new], rows.targets[new] = codes, targets
        rows.born[new] = np.arange(rows.n_rows, rows.n_rows + n)
        self._rows = rows._replace(n=rows.n + n, n_rows=rows.n_rows + n)

    def pass_by(self, n: int) -> None:
        """Count n rows that came before there are codes."""
        n_rows = self._rows.n_rows + n
        self._rows = self._rows._replace(n_rows=n_rows, first=n_rows)

    def is_full(self, n: int) -> bool:
        """Whether the codes of n rows more take more room."""
        return bool(self._rows.columns) and self._rows.n + n > len(self._rows.born)

    def keep_only(self, ago: np.ndarray) -> None:
        """Forget all rows but those that came so many rows ago; the last one came 1 ago."""
        rows = self._rows
        kept = np.flatnonzero(np.isin(rows.born[: rows.n], rows.n_rows - ago))
        if len(kept) < rows.n:
            codes, targets, born = (held[kept] for held in rows[:3])
            self._rows = rows._replace(codes=codes, targets=targets, born=born, n=len(kept))

    def find(self, ago: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Codes (n, m), targets (n,) and numbers (n,) of rows; None unless all are known.

        Rows that came before there were codes have zeros for both.
        """
        rows = self._rows
        born, held = rows.n_rows - ago, rows.born[: rows.n]
        late = np.flatnonzero(born >= rows.first)
        at = np.searchsorted(held, born[late])
        if not len(held) or (held[np.minimum(at, len(held) - 1)] != born[late]).any():
            return None
        codes, targets = np.zeros((len(ago), len(rows.columns)), np.int32), np.zeros(len(ago))
        codes[late], targets[late] = rows.codes[at], rows.targets[at]
        return codes, targets, born

    def mark(self) -> object:
        """What :meth:`go_back` needs to undo the adding of rows."""
        return self._rows

    def go_back(self, mark: object) -> None:
        """Forget what was added since the mark."""
        assert isinstance(mark, _Rows)
        self._rows = mark

    # ---- state ---------------------------------------------------------------------------------

    def held(self, name: str) -> object:
        value = getattr(self._rows, name)
        return value[: self._rows.n] if isinstance(value, np.ndarray) else value

    def check_state(self, state: State, sizes: Sizes) -> None:
        born, columns = state["born"], state["columns"]
        fine = not len(born) or (born[-1] < state["n_rows"] and (np.diff(born) > 0).all())
        require(fine, "born: must be the numbers of rows so far, in order")
        require(columns == sorted(set(columns)), "columns: must be different, in order")

    def set_fields(self, values: State) -> None:
        self._rows = _Rows(n=len(values["born"]), **values)
