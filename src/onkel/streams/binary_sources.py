"""Streams of Parquet and Arrow IPC files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from onkel.errors import DataError

from .files import FileRef, joint_name
from .sources import Batch, TableSource, piece_rows

__all__ = ["ArrowSource", "ParquetSource"]


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
            # Peeked: read again from the start, and then only the columns needed.
            self._batches = None

    def _count(self) -> None:
        """Find ``n_rows``."""

    def _read(self) -> Iterator[Batch]:
        rows = 0
        for file in self.files:
            try:
                for table in self._tables(file):
                    if table.num_rows:
                        self._take_late(table, file.name)
                        yield Batch(table, file.name)
                        rows += table.num_rows
            except (pa.ArrowException, OSError, EOFError) as error:
                raise _broken(file, error, rows) from None

    def _tables(self, file: FileRef) -> Iterator[Any]:
        raise NotImplementedError

    def _present(self, names: list[str]) -> list[str] | None:
        """Columns to read of a file; those it lacks are missed when encoding."""
        return None if self.wanted is None else [n for n in names if self._takes(n)]


def _broken(file: FileRef, error: Exception, rows: int | None) -> DataError:
    text = " ".join(str(error).split())
    return DataError(f"is truncated or damaged: {text}", source=file.name, row=rows)


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
        # Buffered reading: without it, a whole column of a row group is held at once.
        with file.open() as raw:
            yield pq.ParquetFile(
                raw, buffer_size=1 << 17, pre_buffer=False, page_checksum_verification=True
            )

    def _count(self) -> None:
        total = 0
        for file in self.files:
            try:
                with self._open(file) as parquet:
                    total += parquet.metadata.num_rows
            except (pa.ArrowException, OSError) as error:
                raise _broken(file, error, None) from None
        self.n_rows = total

    def _tables(self, file: FileRef) -> Iterator[Any]:
        with self._open(file) as parquet:
            names = parquet.schema_arrow.names
            columns = self._present(names)
            width = len(names if columns is None else columns)
            # Batches are small: handing columns to threads costs more than it saves.
            yield from parquet.iter_batches(
                batch_size=piece_rows(width), columns=columns, use_threads=False
            )


class ArrowSource(_Files):
    """Rows of Arrow IPC files and streams (told apart by their first bytes)."""

    def _tables(self, file: FileRef) -> Iterator[Any]:
        raw = file.open()
        try:
            if not file.once and _is_ipc_file(raw):
                with pa.ipc.open_file(pa.PythonFile(raw, "r")) as reader:
                    for k in range(reader.num_record_batches):
                        yield reader.get_batch(k)
            else:
                if file.once and hasattr(raw, "peek") and raw.peek(6)[:6] == b"ARROW1":
                    raise DataError(
                        "an Arrow file cannot be read from a pipe; give the file, or pipe the "
                        "stream format",
                        source=file.name,
                    )
                with pa.ipc.open_stream(raw) as stream:
                    yield from stream
        finally:
            if not file.once:
                raw.close()


def _is_ipc_file(raw: Any) -> bool:
    head = raw.read(6)
    raw.seek(0)
    return bool(head == b"ARROW1")
