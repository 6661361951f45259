"""Base of streams of text files: chunks in order, the next one parsed in a thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa

from onkel.columns.failures import moved
from onkel.errors import DataError, NoRowsError
from onkel.streams.files import FileRef, joint_size
from onkel.streams.lines import Chunk, line_chunks
from onkel.streams.reading import Reading
from onkel.streams.schema import Schema
from onkel.streams.table_source import Batch, TableSource

# A chunk, the version of its layout, and its table if it was parsed beforehand.
Found = tuple[Chunk, int, pa.Table | None]


# Lines to wait for in a pipe: types and task are inferred from them.
_FIRST = 100


class TextSource(TableSource):
    """Rows of text files, about a megabyte at a time.

    ``kinds`` of columns are known beforehand. Whole numbers in the ``target``, if it is known, stay
    integers. Columns that the schema does not read may hold anything.
    """

    target: str | None
    begun: int
    done: int
    waits: bool
    #: whether quotes may contain a line end
    quotes = False
    #: message for a file without rows; empty if such files are allowed
    lacks = ""

    def __init__(
        self, files: list[FileRef], schema: Schema, kinds: dict[str, str], reading: Reading
    ) -> None:
        self.kinds: dict[str, str] = kinds
        self.reading: Reading = reading
        self.target = schema.known_target
        self.total: int | None = joint_size(files)
        self.types: dict[str, pa.DataType] = {}
        super().__init__(schema, files)

    def _begin(self, chunk: Chunk, file: FileRef) -> Chunk:
        """The rows of a file's first chunk."""
        return chunk

    def _reader(self) -> Callable[[bytes], pa.Table]:
        """A function that parses a good chunk, with the columns and types known now."""
        raise NotImplementedError

    def _parsed(
        self, chunk: Chunk, file: FileRef, table: pa.Table | None
    ) -> tuple[pa.RecordBatch, DataError | None]:
        """The rows before the first bad one, and its error."""
        raise NotImplementedError

    def _mends(self, name: str) -> bool:
        """Whether values of a column that do not fit are gaps."""
        needed = (self.target, self.reading.group, self.reading.time)
        return self.reading.bad_values == "missing" and name not in needed

    def _read(self) -> Iterator[Batch]:
        rows, before, self.done = 0, 0, 0
        for file in self.files:
            for chunk, version, table in self._tables(file):
                self.begun, self.done = self.done, before + chunk.done
                if chunk.data and not chunk.data.isspace():
                    known = table if version == self.version else None
                    try:
                        batch, failure = self._parsed(chunk, file, known)
                    except DataError as error:
                        raise moved(error, source=file.name, rows=rows) from None
                    self.waits = chunk.waits
                    if batch.num_rows:
                        yield Batch(batch, file.name)
                    if failure is not None:
                        raise moved(failure, source=file.name, rows=rows)
                    rows += batch.num_rows
            before += file.size or 0
        if self.lacks and not self.types:
            raise NoRowsError(self.lacks, source=self.name)

    def _tables(self, file: FileRef) -> Iterator[Found]:
        """Chunks of a file, with their tables if they could be parsed beforehand."""
        first_lines = 0 if self.kinds else _FIRST
        encoding = self.reading.encoding
        chunks = line_chunks(file, quotes=self.quotes, first_lines=first_lines, encoding=encoding)
        first = next(chunks, None)
        if first is None:
            return
        yield self._begin(first, file), -1, None
        if file.once:
            # A thread blocked on a pipe cannot be stopped.
            yield from ((chunk, -1, None) for chunk in chunks)
            return
        with ThreadPoolExecutor(1) as pool:
            ahead, version = pool.submit(_parse_next, chunks, self._reader()), self.version
            while (found := ahead.result()) is not None:
                held = found[0], version, found[1]
                ahead, version = pool.submit(_parse_next, chunks, self._reader()), self.version
                yield held


def _parse_next(
    chunks: Iterator[Chunk], read: Callable[[bytes], pa.Table]
) -> tuple[Chunk, pa.Table | None] | None:
    """The next chunk, and its table unless the chunk has an error."""
    chunk = next(chunks, None)
    if chunk is None:
        return None
    try:
        return chunk, read(chunk.data)
    except (pa.ArrowException, UnicodeDecodeError):
        return chunk, None
