"""Streams of CSV and TSV files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from onkel.errors import DataError

from .blocks import Piece
from .csv_fast import FastNumbers
from .csv_parse import parse_chunk
from .csv_types import header_of, infer_types
from .failures import missing_column, moved
from .files import FileRef, joint_name, joint_size
from .lines import Chunk, line_chunks
from .sources import Batch, TableSource

__all__ = ["CsvSource"]


class CsvSource(TableSource):
    """Rows of CSV files with a header line.

    Types come from the first chunk of the first file that has the column, and stay. A column
    unknown to the files before becomes one behind those there are (where ``extends``; rows without
    it have 0 there), or is ignored. A file whose first line is numbers only has no header: its
    columns are ``c0``, ``c1``, ... The delimiter is the comma, or the semicolon, tab or bar where
    the header has no comma.

    Parameters
    ----------
    files : list of FileRef
    delimiter : str or None
    kinds : dict
        Kind of the columns that are known beforehand.
    target : str or None
        Name of the target, if it is known: whole numbers in it stay whole.
    unread : iterable of str
        Columns that are not looked at, whatever stands in them.
    """

    def __init__(
        self,
        files: list[FileRef],
        delimiter: str | None,
        kinds: dict[str, str],
        target: str | None,
        unread: Iterable[str] = (),
    ) -> None:
        self.unread = set(unread)
        self.files, self.delimiter, self.kinds = files, delimiter, kinds
        self.name = joint_name(files)
        self.once = any(f.once for f in files)
        self.grows = len(files) > 1
        self.total = joint_size(files)
        self.target = target
        self.types: dict[str, Any] = {}
        self.fast: FastNumbers | None = None
        super().__init__()

    def _read(self) -> Iterator[Batch | Piece]:
        rows, before = 0, 0
        for file in self.files:
            names: list[str] = []
            for chunk in line_chunks(file, quotes=True):
                if not names:
                    names, chunk = self._start(chunk, file)
                for part in self._parse(chunk, names, file, rows):
                    rows += part.n_rows
                    yield part
                self.done = before + chunk.done
            before += file.size or 0

    def _start(self, chunk: Chunk, file: FileRef) -> tuple[list[str], Chunk]:
        """Header of a file; types, if it is the first."""
        names, self.separator, end = header_of(chunk.data, self.delimiter, file.name)
        chunk = chunk._replace(
            data=chunk.data[end:], line=chunk.line + chunk.data.count(b"\n", 0, end)
        )
        if not self.types:
            if not chunk.data or chunk.data.isspace():
                raise DataError("has a header but no rows", source=file.name)
            self.names = names
            wanted = [n for n in names if n not in self.unread]
            try:
                self.types = infer_types(
                    chunk.data, names, self.separator, wanted, self.kinds, self.target
                )
            except DataError as error:
                raise moved(error, source=file.name) from None
        elif self.wanted is not None:
            self._check_names(names, file)
            self._take_up(chunk, names, file)
        return names, chunk

    def _check_names(self, names: list[str], file: FileRef) -> None:
        """A later file needs the target, and columns unless their values may be missing."""
        for column in () if self.gaps else self.encoder.columns:
            if column.name not in names and not column.late:
                raise missing_column(column.name, names, file.name, gone=True)
        if self.target is not None and self.target not in names:
            raise missing_column(self.target, names, file.name)

    def _take_up(self, chunk: Chunk, names: list[str], file: FileRef) -> None:
        """Types of columns that no file before had; they become features, where that is wanted."""
        new = [n for n in names if n not in self.types and n not in self.unread and self._takes(n)]
        if not new or not chunk.data or chunk.data.isspace():
            return
        try:
            types = infer_types(chunk.data, names, self.separator, new, self.kinds, self.target)
        except DataError as error:
            raise moved(error, source=file.name) from None
        batch, _ = parse_chunk(chunk, names, self.separator, types, new)
        self.types |= types
        self._take_late(batch, file.name)
        self.fast = None

    def _parse(
        self, chunk: Chunk, names: list[str], file: FileRef, rows: int
    ) -> Iterator[Batch | Piece]:
        if not chunk.data or chunk.data.isspace():
            return
        if self.wanted is not None:
            if self.fast is None:
                self.fast = FastNumbers(self.encoder, self.target, self.types)
            arrays = self.fast.parse(chunk, names, self.separator, self.dtype)
            if arrays is not None:
                X, y = arrays
                yield Piece(self.encoder.without_gaps(X), y, file.name, self.encoder.n_late)
                return
        wanted = list(self.types) if self.wanted is None else self.wanted
        wanted = [name for name in wanted if name in names]
        batch, failure = parse_chunk(chunk, names, self.separator, self.types, wanted)
        if batch.num_rows:
            yield Batch(batch, file.name)
        if failure is not None:
            raise moved(failure, source=file.name, rows=rows)
