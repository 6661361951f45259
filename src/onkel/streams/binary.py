"""Streams of Parquet and Arrow IPC files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BufferedReader
from typing import Any, TypeVar

import pyarrow as pa

from onkel.columns.failures import shorten
from onkel.errors import DataError
from onkel.streams.files import FileRef, joint_name
from onkel.streams.sources.source import piece_rows
from onkel.streams.sources.table_source import Batch, TableSource

T = TypeVar("T")


class _Files(TableSource):
    """Record batches of several files, one after the other."""

    def __init__(self, files: list[FileRef]) -> None:
        self.files = files
        self.name = joint_name(files)
        self.once = any(f.once for f in files)
        self.grows = len(files) > 1
        self._count()
        super().__init__()
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

    def _checked(self, file: FileRef) -> Iterator[Any]:
        """Batches whose lengths, offsets, texts and category numbers are all within bounds."""
        for table in self._tables(file):
            table.validate(full=True)
            _ = table.schema.names  # raises where a name is no text in UTF-8
            yield table

    def _tables(self, file: FileRef) -> Iterator[Any]:
        raise NotImplementedError

    def _present(self, names: list[str]) -> list[str] | None:
        """Columns to read from a file; the encoder reports those that the file lacks."""
        return None if self.wanted is None else [n for n in names if self._takes(n)]


def _guarded(step: Callable[[], T], file: FileRef, rows: int | None) -> T:
    """Result of ``step``. Readers of damaged files raise nearly every kind of error."""
    try:
        return step()
    except DataError:
        raise
    except Exception as error:
        text = shorten(" ".join(str(error).split()) or type(error).__name__, 200)[1:-1]
        raise DataError(
            f"is truncated or damaged: {text}; write the file anew", source=file.name, row=rows
        ) from None


class ParquetSource(_Files):
    """Rows of Parquet files, a few thousand at a time whatever the size of the row groups."""

    @contextmanager
    def _open(self, file: FileRef) -> Iterator[Any]:
        import pyarrow.parquet as pq

        if file.once:
            raise DataError(
                "Parquet cannot be read from a pipe; give the file, or pipe Arrow or CSV",
                source=file.name,
            )
        # Without buffered reading, a whole column of a row group is held at once.
        with file.open() as raw:
            yield pq.ParquetFile(
                raw, buffer_size=1 << 17, pre_buffer=False, page_checksum_verification=True
            )

    def _count(self) -> None:
        self.n_rows = sum(_guarded(partial(self._rows_of, file), file, None) for file in self.files)

    def _rows_of(self, file: FileRef) -> int:
        with self._open(file) as parquet:
            return int(parquet.metadata.num_rows)

    def _tables(self, file: FileRef) -> Iterator[Any]:
        with self._open(file) as parquet:
            names = parquet.schema_arrow.names
            columns = self._present(names)
            width = len(names if columns is None else columns)
            # Batches are small: threads cost more than they save.
            yield from parquet.iter_batches(
                batch_size=piece_rows(width), columns=columns, use_threads=False
            )


class ArrowSource(_Files):
    """Rows of Arrow IPC files and streams (told apart by their first bytes)."""

    def _tables(self, file: FileRef) -> Iterator[Any]:
        raw: Any = file.open()
        try:
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
        finally:
            if not file.once:
                raw.close()
