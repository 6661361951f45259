"""Rows, given as dicts, become features by prepared look-ups, without a table.

The features are, to the last bit, those of a table with these rows. Rows that change the columns (a
new value, the first gap) are left to the way of tables, and so are rows with a fault: it says what
is wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from onkel.columns.column import VALUE, Column
from onkel.columns.encoding import Encoder
from onkel.columns.row_cells import ELSEWHERE, LARGEST, MISSING, Cell, cell_of
from onkel.columns.running import fill_means

_ALL_FLOATS = {float}


class RowEncoder:
    """Encode single rows as an encoder with named columns does, which may go on learning.

    ``missing``: what to do with gaps, as in `Encoder.encode`; rows with gaps are encoded for "auto"
    alone. A row may have the columns ``others``, too, which are no features. ``lacking``: it may
    lack a column, whose value is then missing. ``ignores``: other keys are left out of rows that
    are not learned.
    """

    encoder: Encoder
    ignores: bool
    columns: tuple[Column, ...]
    lacking: bool
    dtype: np.dtype
    missing: str

    def __init__(
        self,
        encoder: Encoder,
        missing: str,
        dtype: str,
        others: Collection[str],
        lacking: bool = True,
        ignores: bool = True,
    ) -> None:
        self.encoder, self.columns = encoder, encoder.columns
        self.lacking, self.ignores = lacking, ignores
        self.missing, self.dtype = missing, np.dtype(dtype)
        self._names = frozenset(others).union(column.name for column in self.columns)
        layout, gaps = encoder.layout, encoder.na_values
        self._cells = [cell_of(layout, k, gaps) for k in range(len(self.columns))]
        self._numbers = _Numbers([cell for cell in self._cells if cell.is_plain()])
        self._others = [cell for cell in self._cells if not cell.is_plain()]

    def features(self, rows: Sequence[Mapping[str, Any]], *, learn: bool) -> np.ndarray | None:
        """Features (n, n_features) of rows, gaps filled; None: they are left to the way of tables.

        With ``learn``, the encoder's means and counts of gaps are replaced by new ones.
        """
        encoder = self.encoder
        learns = learn and not encoder.fixed
        X = np.zeros((len(rows), len(encoder.layout.features)), self.dtype)
        cells = self._others if self._numbers.put(rows, X) else self._cells
        gaps: list[Cell] = []
        for i, row in enumerate(rows):
            absent = self._put(row, cells, X[i], learns, gaps) if cells else 0
            # as many keys as columns that are there: the keys are these columns
            known = absent is not None and len(row) + absent == len(self._cells)
            if absent is None or not (known or self._are_known(row, learn)):
                return None
        if (learns or gaps) and self.missing in ("auto", "mean"):
            self._fill(X, learns)
        if learn and gaps:
            counts = list(encoder.layout.gaps)
            for cell in gaps:
                counts[cell.k] += cell.counted
            encoder.layout.gaps = counts
        return X

    def _put(
        self,
        row: Mapping[str, Any],
        cells: list[Cell],
        x: np.ndarray,
        learns: bool,
        gaps: list[Cell],
    ) -> int | None:
        """Write the features of these cells of a row; ``gaps`` gets those that are missing.

        Returns how many columns the row lacks; None: it is left to the way of tables.
        """
        absent = 0
        for cell in cells:
            if cell.name in row:
                value = row[cell.name]
                if type(value) is str and value in cell.known:
                    cell.put_known(value, x)
                    continue
                value = cell.read(value)
            else:
                absent += 1
                if cell.late:
                    continue
                if not self.lacking:
                    return None
                value = MISSING
            if value is ELSEWHERE:
                return None
            if value is MISSING:
                if self.missing != "auto" or not cell.put_gap(x, learns):
                    return None
                gaps.append(cell)
            elif not cell.put(value, x, learns):
                return None
        return absent if absent < len(self._cells) else None

    def _are_known(self, row: Mapping[str, Any], learn: bool) -> bool:
        """Whether the keys of a row are columns, or left out: their names are texts."""
        ignores = self.ignores and not learn
        return row.keys() <= self._names or (ignores and all(type(name) is str for name in row))

    def _fill(self, X: np.ndarray, learns: bool) -> None:
        """Fill gaps with the means so far, and learn from the values."""
        means, counts = self.encoder.widened_means()
        if learns:
            self.encoder.means, self.encoder.counts = means.copy(), counts.copy()
            fill_means(X, self.encoder.means, self.encoder.counts)
        else:
            np.copyto(X, means[: X.shape[1]], where=np.isnan(X), casting="same_kind")


class _Numbers:
    """Columns that hold one number each: rows of floats are put by one call of NumPy."""

    def __init__(self, cells: list[Cell]) -> None:
        self._get = itemgetter(*(cell.name for cell in cells)) if len(cells) > 1 else None
        at = [cell.layout.get(cell.k, VALUE) for cell in cells]
        consecutive = at == list(range(at[0], at[0] + len(at))) if at else False
        self._at: Any = slice(at[0], at[0] + len(at)) if consecutive else np.array(at, np.intp)
        origins = [cell.column.origin for cell in cells]
        self._origins = np.array(origins) if any(origins) else None

    def put(self, rows: Sequence[Mapping[str, Any]], x: np.ndarray) -> bool:
        """Write the numbers of rows; False, and nothing, unless all are floats of usual size."""
        if self._get is None:
            return False
        try:
            values = list(map(self._get, rows))
        except KeyError:
            return False
        for row in values:
            # a sum with NaN is not below anything
            if set(map(type, row)) != _ALL_FLOATS or not sum(map(abs, row)) < LARGEST:
                return False
        if self._origins is not None:
            away = np.array(values) - self._origins
            if not np.abs(away).max() < LARGEST:
                return False
            x[:, self._at] = away
        elif len(values) == 1:
            # a list of rows would first become a table
            x[0, self._at] = values[0]
        else:
            x[:, self._at] = values
        return True
