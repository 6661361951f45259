"""Streams of tables in memory and of record-batch readers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from onkel.errors import DataError

from .blocks import Piece
from .sources import Batch, TableSource

__all__ = ["FrameSource"]


class FrameSource(TableSource):
    """Rows of anything with ``__arrow_c_stream__``; a reader is read once, a table often.

    Parameters
    ----------
    data : object
    labels : ndarray of shape (n,), optional
        The target, where it is not a column of the table.
    """

    def __init__(self, data: Any, labels: np.ndarray | None = None) -> None:
        self.data, self.labels = data, labels
        self.name = type(data).__name__
        rows = getattr(data, "__len__", None)
        self.n_rows = rows() if rows else getattr(data, "num_rows", None)
        # a query of polars: its result comes in parts, and can be asked for again
        self.lazy = hasattr(data, "collect_batches")
        self.once = self.n_rows is None and not self.lazy
        if labels is not None and len(labels) != self.n_rows:
            raise DataError(f"X has {self.n_rows} rows and y has {len(labels)}", source=self.name)
        super().__init__()

    def _read(self) -> Iterator[Batch]:
        rows = 0
        try:
            for table in self._reader():
                if table.num_rows:
                    yield Batch(table, self.name)
                    rows += table.num_rows
        except (pa.ArrowException, ValueError, TypeError, OSError) as error:
            told = all(isinstance(part, str) for part in error.args)
            text = " ".join((" ".join(error.args) if told else str(error)).split())
            where = rows or None  # before the first row it is no row that is wrong
            raise DataError(f"cannot be read: {text}", source=self.name, row=where) from None

    def _reader(self) -> Any:
        data = self.data
        if isinstance(data, pa.RecordBatch):
            return [data]
        if isinstance(data, pa.RecordBatchReader):
            return data
        if self.lazy:
            return (b for part in data.collect_batches() for b in part.to_arrow().to_batches())
        if type(data).__module__.startswith("pandas"):
            data = pa.Table.from_pandas(data, preserve_index=False)
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
