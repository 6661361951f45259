"""Streams of CSV and TSV files."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from onkel.columns.encoding import LACKING
from onkel.columns.failures import missing_column, moved
from onkel.errors import DataError
from onkel.streams.csv.parsing import NULLS, Layout, read, rows_of
from onkel.streams.csv.types import AGAIN, header_of, infer_types
from onkel.streams.files import FileRef
from onkel.streams.lines import Chunk
from onkel.streams.text import TextSource


class CsvSource(TextSource):
    """Rows of CSV files with a header line.

    A column's type comes from the first chunk of the first file that has it, and stays. With
    ``extends``, a column that only a later file has goes behind the others (rows without it have 0
    there); without, it is ignored. A file whose first line has only numbers has no header: its
    columns are ``c0``, ``c1``, ... The delimiter is the comma, or the semicolon, tab or bar if the
    header has no comma.
    """

    quotes = True

    @property
    def _nulls(self) -> tuple[str, ...]:
        return (*NULLS, *self.dialect.na_values)

    def _begin(self, chunk: Chunk, file: FileRef) -> Chunk:
        """Read a file's header and return the rows after it."""
        names, delimiter, end = header_of(chunk.data, self.dialect, file.name, self.reads)
        if self.asked is not None and self.asked not in names:
            raise missing_column(self.asked, names, file.name)
        self._header = Layout(names, delimiter, self.types, [], self._nulls)
        self._settled, self.lacks = False, "has a header but no rows"
        lines = chunk.data.count(b"\n", 0, end)
        return chunk._replace(
            data=chunk.data[end:], line=chunk.line + lines, n_lines=chunk.n_lines - lines
        )

    def _settle(self, chunk: Chunk, file: FileRef) -> None:
        """Infer types of columns that no earlier file had from the first rows of this one."""
        names = [n for n in self._header.names if AGAIN not in n]
        taken = [n for n in names if self.reads(n)]
        if not self.types:
            self.names = names
        elif self.wanted is None:
            taken = []
        else:
            self._check_names(set(names), file)
            taken = [n for n in taken if n not in self.types and self._takes(n)]
        self._settled = True
        if taken:
            layout = self._header._replace(wanted=taken)
            try:
                self.types |= infer_types(
                    chunk.data, layout, self.kinds, self.target, self.dialect.as_written
                )
            except DataError as error:
                raise moved(error, source=file.name) from None

    def _check_names(self, names: set[str], file: FileRef) -> None:
        """Refuse a later file that lacks the target, or a column that must not be missing."""
        for column in () if self.missing in LACKING else self.encoder.columns:
            if column.name not in names and not column.late:
                raise missing_column(column.name, self._header.names, file.name, gone=True)
        if self.target is not None and self.target not in names:
            raise missing_column(self.target, self._header.names, file.name)

    def _layout(self) -> Layout:
        names = self._header.names
        wanted = [n for n in names if n in self.types and (self.wanted is None or self._takes(n))]
        return self._header._replace(wanted=wanted)

    def _reader(self) -> Any:
        layout = self._layout()._replace(types=dict(self.types))
        return lambda data: read(data, layout)

    def _parsed(
        self, chunk: Chunk, file: FileRef, table: pa.Table | None
    ) -> tuple[pa.RecordBatch, DataError | None]:
        if not self._settled:
            self._settle(chunk, file)
            table = None
        target = self.types.get(self.target or "")
        found = rows_of(chunk, self._layout(), table)
        if self.types.get(self.target or "") != target:
            self.version += 1
        return found
