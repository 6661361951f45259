"""Streams of in-memory tables and of record-batch readers."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from numbers import Number
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa

from onkel.errors import DataError
from onkel.streams.blocks import Piece
from onkel.streams.sources.table_source import Batch, TableSource


@runtime_checkable
class ArrowRows(Protocol):
    """A table or reader of any library with Arrow's C interface."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """A capsule with the rows."""


@runtime_checkable
class Query(Protocol):
    """A polars query."""

    def collect_batches(self) -> Iterator[Any]:
        """The result, in parts."""


class FrameSource(TableSource):
    """Rows of anything with ``__arrow_c_stream__``; a reader can be read once, a table often.

    Parameters
    ----------
    data : object
    labels : ndarray of shape (n,), optional
        The target, if it is not a column of the table.
    """

    cut_at_will = True

    def __init__(self, data: Any, labels: np.ndarray | None = None) -> None:
        self.data, self.labels = data, labels
        self.name = type(data).__name__
        self.n_rows = len(data) if isinstance(data, Sized) else None
        # A query can be run again.
        self.once = self.n_rows is None and not isinstance(data, Query)
        if labels is not None and len(labels) != self.n_rows:
            raise DataError(f"X has {self.n_rows} rows and y has {len(labels)}", source=self.name)
        super().__init__()

    def _read(self) -> Iterator[Batch]:
        rows = 0
        try:
            for table in self._reader():
                if table.num_rows:
                    table.validate(full=True)
                    yield Batch(table, self.name)
                    rows += table.num_rows
        except (pa.ArrowException, ValueError, TypeError, IndexError, OSError) as error:
            told = all(isinstance(part, str) for part in error.args)
            text = " ".join((" ".join(error.args) if told else str(error)).split())
            where = rows or None  # an error before the first row is not about a row
            raise DataError(f"cannot be read: {text}", source=self.name, row=where) from None

    def _reader(self) -> Any:
        data = self.data
        if isinstance(data, pa.RecordBatch):
            return [data]
        if isinstance(data, pa.RecordBatchReader):
            return data
        if isinstance(data, Query):
            return (b for part in data.collect_batches() for b in part.to_arrow().to_batches())
        if type(data).__module__.startswith("pandas"):
            data = _of_pandas(data)
        if isinstance(data, pa.Table):
            return data.to_batches()
        return pa.RecordBatchReader.from_stream(data)

    def pieces(self, skip: int, dtype: Any) -> Iterator[Piece]:
        if self.labels is None:
            yield from super().pieces(skip, dtype)
            return
        at = skip
        for piece in super().pieces(skip, dtype):
            yield piece._replace(y=self.labels[at : at + piece.n_rows])
            at += piece.n_rows


def _of_pandas(frame: Any) -> pa.Table:
    """An Arrow table of a frame; object columns that mix text and numbers become text."""
    try:
        return pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        mixed = [name for name in frame.columns if _is_mixed(frame[name])]
        if not mixed:
            raise
    text = {name: frame[name].map(str, na_action="ignore") for name in mixed}
    return pa.Table.from_pandas(frame.assign(**text), preserve_index=False)


def _is_mixed(values: Any) -> bool:
    if values.dtype != object:
        return False
    kinds = {isinstance(value, str) for value in values.dropna()}
    return len(kinds) == 2 and all(isinstance(value, (str, Number)) for value in values.dropna())
