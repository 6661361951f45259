"""Streams of Parquet and Arrow files, in-memory tables and record-batch readers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from functools import partial
from io import BufferedReader
from numbers import Number
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

import numpy as np
import pyarrow as pa

from onkel.annotations import DTypeLike
from onkel.columns.arrow import FAILURES, as_floats, check_names, check_texts, without_type
from onkel.columns.failures import count, damaged, words_of
from onkel.errors import DataError
from onkel.streams.blocks import Block
from onkel.streams.files import FileRef
from onkel.streams.schema import Schema, require_distinct
from onkel.streams.source import piece_rows
from onkel.streams.table_source import Batch, TableSource

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow.parquet as pq

T = TypeVar("T")


class _Files(TableSource):
    """Record batches of several files, one after the other."""

    typed = True

    def __init__(self, files: list[FileRef], schema: Schema) -> None:
        self.files = files
        self._count()
        super().__init__(schema, files)
        if not self.once:
            # Read again from the start, and then only the columns needed.
            self._batches = None

    def _count(self) -> None:
        """Find ``n_rows``."""

    def _read(self) -> Iterator[Batch]:
        rows = 0
        for file in self.files:
            tables = self._checked(file)
            while (table := _guarded(partial(next, tables, None), file, rows)) is not None:
                if table.num_rows:
                    yield Batch(table, file.name)
                    rows += table.num_rows

    def _checked(self, file: FileRef) -> Iterator[pa.RecordBatch]:
        """Batches whose lengths, offsets, texts and category numbers are all within bounds."""
        for table in self._tables(file):
            table.validate(full=True)
            # this raises where a name is no text in UTF-8
            require_distinct(table.schema.names, file.name)
            yield table

    def _tables(self, file: FileRef) -> Iterator[pa.RecordBatch]:
        raise NotImplementedError


def _guarded(step: Callable[[], T], file: FileRef, rows: int | None) -> T:
    """Result of ``step``. Readers of damaged files raise nearly every kind of error."""
    try:
        return step()
    except DataError:
        raise
    except Exception as error:
        raise DataError(damaged(error), source=file.name, row=rows) from None


class ParquetSource(_Files):
    """Rows of Parquet files, a few thousand at a time whatever the size of the row groups."""

    n_rows: int | None

    @contextmanager
    def _open(self, file: FileRef) -> Iterator[pq.ParquetFile]:
        import pyarrow.parquet as pq

        if file.once:
            raise DataError(
                "Parquet cannot be read from a pipe; give the file, or pipe Arrow or CSV",
                source=file.name,
            )
        # Without buffered reading, a whole column of a row group is held at once.
        with file.opened() as raw:
            yield pq.ParquetFile(
                raw, buffer_size=1 << 17, pre_buffer=False, page_checksum_verification=True
            )

    def _count(self) -> None:
        self.n_rows: int | None = sum(
            _guarded(partial(self._rows_of, file), file, None) for file in self.files
        )

    def _rows_of(self, file: FileRef) -> int:
        with self._open(file) as parquet:
            return int(parquet.metadata.num_rows)

    def _tables(self, file: FileRef) -> Iterator[pa.RecordBatch]:
        with self._open(file) as parquet:
            names = parquet.schema_arrow.names
            # the encoder reports columns that the file lacks
            columns = None if self.wanted is None else [n for n in names if self._takes(n)]
            width = len(names if columns is None else columns)
            # Batches are small: threads cost more than they save.
            yield from parquet.iter_batches(
                batch_size=piece_rows(width), columns=columns, use_threads=False
            )


class ArrowSource(_Files):
    """Rows of Arrow IPC files and streams (told apart by their first bytes)."""

    def _tables(self, file: FileRef) -> Iterator[pa.RecordBatch]:
        with file.opened() as raw:
            if file.once:
                # A buffered pipe can show its first bytes without consuming them.
                head = raw.peek(6)[:6] if isinstance(raw, BufferedReader) else b""
            else:
                head = raw.read(6)
                raw.seek(0)
            if head != b"ARROW1":
                with pa.ipc.open_stream(raw) as stream:
                    yield from stream
                return
            if file.once:
                raise DataError(
                    "an Arrow file cannot be read from a pipe; give the file, or pipe the stream "
                    "format",
                    source=file.name,
                )
            with pa.ipc.open_file(pa.PythonFile(raw, "r")) as reader:
                for k in range(reader.num_record_batches):
                    yield reader.get_batch(k)


@runtime_checkable
class ArrowRows(Protocol):
    """A table or reader of any library with Arrow's C interface."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A capsule with the rows."""


@runtime_checkable
class Query(Protocol):
    """A polars query."""

    def collect_batches(self) -> Iterator[pa.RecordBatch]:
        """The result, in parts."""


class FrameSource(TableSource):
    """Rows of anything with ``__arrow_c_stream__``; a reader can be read once, a table often.

    ``labels`` (n,): the target, if it is not a column of the table.
    """

    cut_at_will = typed = True

    def __init__(self, data: Any, schema: Schema, labels: np.ndarray | None = None) -> None:
        self.data: Any = data
        self.labels: np.ndarray | None = labels
        self.name: str = type(data).__name__
        if self.name == "Series" or isinstance(data, pa.Array | pa.ChunkedArray):
            raise DataError(
                "is one column without a table; give a frame or a table of it", source=self.name
            )
        self.n_rows: int | None = len(data) if isinstance(data, Sized) else None
        # A query can be run again.
        self.once: bool = self.n_rows is None and not isinstance(data, Query)
        if labels is not None and len(labels) != self.n_rows:
            rows = count(self.n_rows or 0, "row")
            raise DataError(f"X has {rows} and y has {len(labels)}", source=self.name)
        super().__init__(schema)

    def _read(self) -> Iterator[Batch]:
        rows = 0
        try:
            for table in self._reader():
                if table.num_rows:
                    table.validate(full=True)
                    yield Batch(table, self.name)
                    rows += table.num_rows
        except DataError:
            raise
        except (pa.ArrowException, ValueError, TypeError, IndexError, OSError) as error:
            text = words_of(error)
            where = rows or None  # an error before the first row is not about a row
            raise DataError(f"cannot be read: {text}", source=self.name, row=where) from None

    def _reader(self) -> Iterable[pa.RecordBatch]:
        data = self.data
        if type(data).__module__.startswith("polars"):
            _check_widths(data)
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

    def pieces(self, skip: int, dtype: DTypeLike) -> Iterator[Block]:
        if self.labels is None:
            yield from super().pieces(skip, dtype)
            return
        at = skip
        for piece in super().pieces(skip, dtype):
            yield piece._replace(y=self.labels[at : at + piece.n_rows])
            at += piece.n_rows


def _of_pandas(frame: pd.DataFrame) -> pa.Table:
    """An Arrow table of a frame; object columns that mix text and numbers become text.

    A column of NaN alone has no type: its first value tells it.
    """
    name = type(frame).__name__
    check_names(frame.columns, name)
    sparse = {c: t.subtype for c, t in frame.dtypes.items() if type(t).__name__ == "SparseDtype"}
    table = _as_table(frame.astype(sparse) if sparse else frame, name)
    for k, t in enumerate(frame.dtypes):
        if isinstance(t, np.dtype) and t.kind == "f":
            column = without_type(table.column(k))
            if pa.types.is_null(column.type):
                table = table.set_column(k, table.schema.names[k], column)
    return table


def _as_table(frame: pd.DataFrame, name: str) -> pa.Table:
    try:
        return pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeError):
        objects = [column for column in frame.columns if frame[column].dtype == object]
        if not objects:
            raise
    read = {column: _of_objects(frame[column], str(column), name) for column in objects}
    return pa.Table.from_pandas(frame.assign(**read), preserve_index=False)


def _check_widths(frame: Any) -> None:
    """Refuse columns of polars that Arrow has no type for."""
    for name, t in frame.collect_schema().items():
        if str(t) in ("Int128", "UInt128"):
            raise DataError(
                f"is of type {t}, which cannot be read; cast it to polars.Int64, or to "
                "polars.Float64 where numbers are too large",
                source=type(frame).__name__,
                column=name,
            )


def _of_objects(values: pd.Series, name: str, source: str) -> pd.Series | np.ndarray:
    """A column of objects: as text where texts are among numbers, as floats if all are numbers."""
    present = values.dropna()
    kinds = {isinstance(value, str) for value in present}
    if not all(isinstance(value, (str, Number)) for value in present):
        return values
    if True in kinds:
        check_texts(values, name, source)
        return values.map(str, na_action="ignore") if len(kinds) == 2 else values
    try:
        pa.array(values, from_pandas=True)
    except FAILURES:
        return np.array(as_floats(values, name, source))
    return values
