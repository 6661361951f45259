"""What a stream reads from: the base of tables and of arrays."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from onkel.errors import DataError

from .blocks import Piece
from .encoding import Column, Encoder
from .failures import missing_column, moved

__all__ = ["Batch", "Source", "TableSource", "piece_rows"]


class Batch(NamedTuple):
    """A record batch, and the file it comes from."""

    table: Any
    where: str

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.table.num_rows)


def piece_rows(n_features: int) -> int:
    """Rows to encode at a time: about two million values, so memory does not grow with d."""
    return int(min(max((1 << 21) // max(n_features, 1), 256), 32768))


class Source:
    """Rows to be read, once or (where ``once`` is False) again and again.

    Attributes
    ----------
    name : str
        For messages and reports.
    n_rows : int or None
        Number of rows, where it is known beforehand.
    once : bool
        Whether the rows can be read only once.
    """

    name = "the data"
    n_rows: int | None = None
    once = False
    done = 0
    total: int | None = None

    def pieces(self, skip: int, dtype: Any) -> Iterator[Piece]:
        """Encoded rows after the first ``skip`` ones; NaN where a value is missing."""
        raise NotImplementedError

    def progress(self) -> float | None:
        """Fraction read, by bytes, where the size is known."""
        return min(self.done / self.total, 1.0) if self.total else None


class TableSource(Source):
    """Rows in Arrow record batches; ``encoder`` and ``target`` are set before the first piece.

    A source that can encode by itself may give pieces instead, once that is settled.
    """

    encoder: Encoder
    target: str | None = None
    # Columns to read; None while all of them are wanted.
    wanted: list[str] | None = None
    dtype: Any = "float32"
    # Whether columns that come in mid-stream are taken up.
    extends = False
    # Whether columns may come that the first rows don't have.
    grows = False
    # Whether a later file may lack a column: its values are missing then.
    gaps = False
    # All columns there are; ``first`` may hold fewer.
    names: tuple[str, ...] | list[str] = ()

    def __init__(self) -> None:
        self._batches: Iterator[Batch | Piece] | None = self._read()
        head = next(self._batches, None)
        if head is None:
            raise DataError("has no rows", source=self.name)
        # Before ``prepare`` there are batches only.
        assert isinstance(head, Batch)
        self.first: Any = head.table
        if not self.names:
            self.names = list(self.first.schema.names)
        self._batches = chain([head], self._batches)

    def _read(self) -> Iterator[Batch | Piece]:
        raise NotImplementedError

    def prepare(self, encoder: Encoder, target: str | None) -> None:
        """Settle what is read from now on."""
        self.encoder, self.target, self.first = encoder, target, None
        self.wanted = [column.name for column in encoder.columns]
        if target is not None:
            self.wanted.append(target)
        #: columns that are features, the target, or left out
        self.known = {*self.names, *self.wanted}

    def _takes(self, name: str) -> bool:
        """Whether a column is read: it is wanted, or a new one where these are taken up."""
        return name in (self.wanted or ()) or (self.extends and name not in self.known)

    def _take_late(self, batch: Any, where: str) -> list[Column]:
        """Columns of a batch that no rows before had become features; returns them."""
        if not self.extends or self.wanted is None:
            return []
        from .arrow_values import kind_of
        from .choosing import column_of

        new = [
            column_of(batch, field.name, False, where)
            for field in batch.schema
            if field.name not in self.known and kind_of(field.type) is not None
        ]
        self.known.update(batch.schema.names)
        self.encoder.extend(new)
        self.wanted += [column.name for column in new]
        return new

    def _again(self) -> Iterator[Batch | Piece]:
        batches, self._batches = self._batches, None
        if batches is not None:
            return batches
        if self.once:
            raise DataError("can be read only once, and has been read", source=self.name)
        return self._read()

    def pieces(self, skip: int, dtype: Any) -> Iterator[Piece]:
        self.dtype = dtype
        rows = 0
        step = piece_rows(self.encoder.n_features)
        for part in self._again():
            n = part.n_rows
            start = min(max(skip - rows, 0), n)
            if isinstance(part, Piece):
                if start < n:
                    yield part if not start else part.after(start)
            else:
                for at in range(start, n, step):
                    yield from self._encoded(part.table.slice(at, step), part.where, rows + at)
            rows += n

    def _encoded(self, part: Any, where: str, row: int) -> Iterator[Piece]:
        """The rows of a batch; the good ones before a bad one, then its error."""
        try:
            yield Piece(*self._arrays(part), where, self.encoder.n_late)
            return
        except DataError as error:
            failure = error
        # Another column may fail in an earlier row: cut until what is before is good.
        while failure.row:
            try:
                X, y = self._arrays(part.slice(0, failure.row))
            except DataError as error:
                failure = error
                continue
            yield Piece(X, y, where, self.encoder.n_late)
            break
        raise moved(failure, source=where, rows=row)

    def _arrays(self, part: Any) -> tuple[np.ndarray, np.ndarray | None]:
        from .arrow_values import target_values

        X = self.encoder.encode(part, self.dtype, self.gaps)
        if self.target is None:
            return X, None
        if self.target not in part.schema.names:
            raise missing_column(self.target, part.schema.names, None)
        return X, target_values(part.column(self.target), self.target)
