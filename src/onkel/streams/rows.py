"""Streams of Python rows: iterators of (x, y) with x a dict or a vector."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from contextlib import suppress
from itertools import chain, islice
from typing import Any

import numpy as np

from onkel.columns.choosing import Choice
from onkel.columns.column import Column
from onkel.columns.encoding import Encoder
from onkel.columns.failures import moved, shorten
from onkel.columns.guessing import by_values, without_counts
from onkel.columns.kinds.cells import is_missing
from onkel.errors import DataError
from onkel.streams.arrays import as_target
from onkel.streams.blocks import Piece
from onkel.streams.dict_rows import DictRows
from onkel.streams.sources.source import Source

# Rows from which the columns of dicts are inferred, whatever the block size.
PEEK_ROWS = 256
STEP = 1024


class RowSource(Source):
    """Rows from any iterable of ``(x, y)``; ``y`` is None in all of them if there is no target.

    Dicts: the columns are the keys of the first 256 rows, then later keys in order of appearance.
    An absent key is 0, a value None or NaN is missing, a text value is a category. Vectors must all
    have the same length.
    """

    #: policy for missing values
    missing = "error"

    def __init__(self, rows: Iterable[Any]) -> None:
        super().__init__()
        self.name = "the rows"
        self.rows = rows
        iterator = iter(rows)
        self.once = iterator is rows
        self._head = list(islice(iterator, PEEK_ROWS))
        if not self._head:
            raise DataError("has no rows", source=self.name)
        self._rest: Iterator[Any] | None = iterator
        self.n_rows = len(rows) if isinstance(rows, Sized) and not self.once else None
        self.named = isinstance(self._pair(self._head[0], 0)[0], dict)
        self.has_target = self._pair(self._head[0], 0)[1] is not None

    def _pair(self, item: Any, row: int) -> tuple[Any, Any]:
        if isinstance(item, (tuple, list)) and len(item) == 2:
            return item[0], item[1]
        raise DataError(
            f"a pair (x, y) is expected, got {shorten(item)}", source=self.name, row=row
        )

    def encoder_for(self, choice: Choice) -> Encoder:
        """The encoder given, or a new one fitted to the first rows."""
        encoder = choice.encoder
        if encoder is not None:
            if self.named != (encoder.n_vector is None):
                kind = "dicts" if encoder.n_vector is None else "vectors"
                raise DataError(f"the model was learned from {kind}", source=self.name)
            return encoder
        if not self.named:
            x = self._pair(self._head[0], 0)[0]
            return Encoder(n_vector=np.asarray(x).size)
        first = DictRows((), self.name)
        for row, item in enumerate(self._head):
            with suppress(DataError):  # a bad row is reported when it is read
                first.add(self._pair(item, row)[0], row)
        if not first.columns:
            raise DataError("the first rows have no values", source=self.name)
        kinds = {name: column.kind for name, column in first.columns.items()}
        given = first.given()
        columns = [by_values(Column(name, kind), given[name]) for name, kind in kinds.items()]
        encoder = Encoder(
            without_counts(columns),
            n_hash=choice.n_hash,
            max_categories=choice.max_categories,
            statistics=choice.statistics,
        )
        encoder.begin([given[name] for name in kinds], first.n_rows)
        return encoder

    def prepare(self, encoder: Encoder) -> None:
        """Set the encoder of the rows."""
        self.encoder = encoder

    def _again(self) -> Iterator[Any]:
        rest, self._rest = self._rest, None
        if rest is not None:
            return chain(self._head, rest)
        self.may_read_again()
        return iter(self.rows)

    def pieces(self, skip: int, dtype: Any) -> Iterator[Piece]:
        iterator, row = self._again(), skip
        self._text = None
        next(islice(iterator, skip, skip), None)
        while items := list(islice(iterator, STEP)):
            taken: DictRows | _Vectors = _Vectors(self.encoder.n_features, self.name)
            if self.named:
                taken = DictRows(self.encoder.columns, self.name)
            ys, failure = self._take(items, row, taken)
            if ys:
                X = self._features(taken, len(ys), dtype)
                y = as_target(ys, len(ys)) if self.has_target else None
                yield Piece(X, y, self.name, self.encoder.n_late)
            if failure is not None:
                raise failure
            row += len(items)

    def _take(
        self, items: list[Any], row: int, taken: DictRows | _Vectors
    ) -> tuple[list[Any], DataError | None]:
        """Targets of the rows before the first bad one, and the error of that row."""
        ys: list[Any] = []
        for k, item in enumerate(items, row):
            try:
                x, y = self._pair(item, k)
                self._check_target(y, k)
                taken.add(x, k)
            except DataError as error:
                return ys, error
            ys.append(y)
        return ys, None

    def _features(self, taken: DictRows | _Vectors, n: int, dtype: Any) -> np.ndarray:
        if isinstance(taken, _Vectors):
            with np.errstate(over="ignore"):
                return np.array(taken.rows).astype(dtype, copy=False)
        self.encoder.extend(list(taken.columns.values())[len(self.encoder.columns) :])
        found = list(taken.given().values())
        return self.encoder.features(found, n, dtype, missing=self.missing)

    def _check_target(self, y: Any, row: int) -> None:
        if not self.has_target:
            return
        if is_missing(y):
            raise DataError(
                "the target is missing; every row needs one", source=self.name, row=row, value=y
            )
        try:
            self.check_target(isinstance(y, str), y, None)
        except DataError as error:
            raise moved(error, source=self.name, rows=row) from None


class _Vectors:
    """Vectors, all of the same length."""

    def __init__(self, width: int, source: str) -> None:
        self.width, self.source = width, source
        self.rows: list[np.ndarray] = []

    def add(self, x: Any, row: int) -> None:
        """Add a row."""
        try:
            vector = np.asarray(x, dtype=np.float64).ravel()
        except (TypeError, ValueError):
            vector = np.empty(0)
        if len(vector) != self.width:
            raise DataError(
                f"a vector of {self.width} numbers is expected, got {shorten(x)}",
                source=self.source,
                row=row,
                value=x,
            )
        self.rows.append(vector)
