"""Streams of CSV and TSV files: the header, the types of the columns, and the rows."""

from __future__ import annotations

import csv
import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from onkel.columns.failures import missing_column, moved, shorten
from onkel.columns.values import texts
from onkel.errors import DataError, NoRowsError
from onkel.streams.csv_parsing import HEXADECIMAL, NULLS, Layout, as_utf8, read, rows_of
from onkel.streams.files import FileRef
from onkel.streams.lines import Chunk
from onkel.streams.reading import Reading
from onkel.streams.text import TextSource

AGAIN = "\0again"

_ONE_NAME = (
    ". The first line is the header: take out what stands before it, or say what separates the "
    "fields (sep=, on the command line --sep)"
)
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_WHOLE = r"^[+-]?\d{1,18}$"
_KINDS = {
    "number": pa.float64(),
    "flag": pa.bool_(),
    "text": pa.dictionary(pa.int32(), pa.string()),
    "empty": pa.null(),
}


def header_of(
    data: bytes, reading: Reading, where: str, reads: Callable[[str], bool]
) -> tuple[list[str], str, int]:
    """Column names, delimiter, and where the rows begin.

    A name may occur twice if it is not read; the second column's name then has `AGAIN` in it.
    """
    if data.startswith((BOM_UTF16_BE, BOM_UTF16_LE)):
        raise DataError(
            "is text in UTF-16; say so with encoding='utf-16' (on the command line --encoding "
            "utf-16)",
            source=where,
        )
    start = len(BOM_UTF8) if data.startswith(BOM_UTF8) else 0
    while data[start : start + 1] in (b"\r", b"\n"):
        start += 1
    end = _first_record(data, start)
    line = _text_of(data[start:end], where)
    if not line.strip():
        raise NoRowsError("has no rows", source=where)
    delimiter = reading.sep
    if delimiter is None:
        unquoted = re.sub('"[^"]*"', "", line)
        delimiter = next((d for d in ",;\t|" if d in unquoted), ",")
    before = csv.field_size_limit(max(len(line), 1 << 17))
    try:
        names = [n.strip() for n in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error as error:
        text = f"the header line cannot be parsed: {error}"
        if "\r" in line:
            text = r"its lines end with \r alone; write it with \n, say with tr '\r' '\n'"
        raise DataError(text, source=where) from None
    finally:
        csv.field_size_limit(before)
    # numbers are no names, unless they number the columns
    numbers = all(re.match(_NUMBER, n) for n in names)
    counting = all(n.isdigit() for n in names) and len(set(names)) == len(names) > 1
    if not reading.header or (numbers and not counting):
        return [f"c{j}" for j in range(len(names))], delimiter, start
    names = [n or f"column{j}" for j, n in enumerate(names)]
    twice = sorted(n for n, count in Counter(names).items() if count > 1)
    wanted = [n for n in twice if reads(n)]
    if wanted:
        raise DataError(
            f"the header has two columns of the same name: {', '.join(map(repr, wanted[:9]))}; "
            "rename one, or leave both out (exclude=, on the command line --exclude)",
            source=where,
        )
    again = [bool(twice) and n in twice and n in names[:j] for j, n in enumerate(names)]
    return [f"{n}{AGAIN}{j}" if again[j] else n for j, n in enumerate(names)], delimiter, end


def _text_of(line: bytes, where: str) -> str:
    """The header line as text."""
    try:
        return line.decode().strip("\r\n")
    except UnicodeDecodeError:
        raise DataError(
            f"the header {shorten(line.decode('utf-8', 'replace').strip())} is not text in UTF-8; "
            "say which encoding it is in (encoding=, on the command line --encoding)",
            source=where,
        ) from None


def _first_record(data: bytes, start: int) -> int:
    """Where the first record ends; a line end inside quotes is text, unless a quote is stray."""
    first = end = data.find(b"\n", start) + 1
    quotes = data.count(b'"', start, end)
    while end and quotes % 2:
        before, end = end, data.find(b"\n", end) + 1
        quotes += data.count(b'"', before, end)
    return end or first or len(data)


def infer_types(
    data: bytes, layout: Layout, kinds: dict[str, str], target: str | None, as_written: bool
) -> dict[str, pa.DataType]:
    """Types of the wanted columns from the first rows; all numeric features are float64.

    A text column in which nine of ten values are numbers is numeric: the odd value is refused with
    its row, instead of turning the column into categories. With ``as_written``, numbers are read as
    text, to be parsed later. The type of a column without values is null.
    """
    data = as_utf8(data)
    table = read(data, layout._replace(types={}), bad=[])
    as_text: list[str] = []
    if b"0x" in data or b"0X" in data:
        as_text = [f.name for f in table.schema if pa.types.is_integer(f.type)]
    if as_text:
        # Arrow reads hexadecimal numbers as integers; look at the text itself.
        text = layout._replace(types=dict.fromkeys(as_text, pa.string()), wanted=as_text)
        texts = read(data, text, bad=[])
        for name in as_text:
            if pc.any(pc.match_substring_regex(texts[name], HEXADECIMAL)).as_py():
                table = table.set_column(layout.wanted.index(name), name, texts[name])
    types = {
        name: _type_of(name, column, kinds, name == target, layout.nulls)
        for name, column in zip(layout.wanted, table.columns, strict=True)
    }
    if as_written:
        numbers = [name for name, t in types.items() if t in (pa.float64(), pa.int64())]
        types |= {name: _KINDS["text"] for name in numbers if name not in kinds}
    return types


def _type_of(
    name: str,
    column: pa.ChunkedArray,
    kinds: dict[str, str],
    is_target: bool,
    nulls: tuple[str, ...],
) -> pa.DataType:
    t = column.type
    if pa.types.is_temporal(t) and kinds.get(name, "time") == "time":
        if pa.types.is_time(t) or (pa.types.is_timestamp(t) and t.unit == "ns"):
            return t
        # a fraction of a second may follow
        return pa.timestamp("us", t.tz if pa.types.is_timestamp(t) else None)
    if name in kinds:
        return _KINDS.get(kinds[name], pa.timestamp("us"))
    if pa.types.is_null(t):
        return t
    if pa.types.is_string(t):
        if not _filled(column, nulls):
            return pa.null()
        if is_target and _mostly(column, nulls, _WHOLE):
            return pa.int64()
        return _KINDS["number" if _mostly(column, nulls, _NUMBER) else "text"]
    if pa.types.is_integer(t) and is_target:
        return pa.int64()
    return _KINDS["flag" if pa.types.is_boolean(t) else "number"]


def _mostly(column: pa.ChunkedArray, nulls: tuple[str, ...], pattern: str) -> bool:
    """Whether nine of ten values match the pattern."""
    filled = _filled(column, nulls)
    hits = pc.sum(pc.match_substring_regex(filled, pattern)).as_py()
    return bool(hits >= 0.9 * len(filled))


def _filled(column: pa.ChunkedArray, nulls: tuple[str, ...]) -> pa.ChunkedArray:
    """The texts that are not missing, without blanks around them."""
    text = pc.utf8_trim_whitespace(column.cast(pa.string()).drop_null())
    return text.filter(pc.invert(pc.is_in(text, texts(nulls))))


class CsvSource(TextSource):
    """Rows of CSV files with a header line.

    A column's type comes from the first chunk of the first file that has it, and stays; that of a
    column without values there comes from its first value. With
    ``extends``, a column that only a later file has goes behind the others (rows without it have 0
    there); without, it is ignored. A file whose first line has only numbers has no header: its
    columns are ``c0``, ``c1``, ... The delimiter is the comma, or the semicolon, tab or bar if the
    header has no comma outside quotes.
    """

    lacks: str

    quotes = True

    @property
    def _nulls(self) -> tuple[str, ...]:
        return (*NULLS, *self.reading.na_values)

    def _begin(self, chunk: Chunk, file: FileRef) -> Chunk:
        """Read a file's header and return the rows after it."""
        names, delimiter, end = header_of(chunk.data, self.reading, file.name, self.schema.reads)
        if self.types and self.types.keys().isdisjoint(names):
            raise DataError(
                f"its first line names none of the columns before, but {shorten(names)}; each file "
                "needs the header line",
                source=file.name,
            )
        if self.reading.target is not None and self.reading.target not in names:
            # before errors in the rows
            error = missing_column(self.reading.target, names, file.name)
            if len(names) == 1 and self.reading.sep is None:
                error = DataError(error.message + _ONE_NAME, source=file.name, column=error.column)
            raise error
        self._header = Layout(names, delimiter, self.types, [], self._nulls)
        self._settled, self.lacks = False, "has a header but no rows"
        lines = chunk.data.count(b"\n", 0, end)
        return chunk._replace(
            data=chunk.data[end:], line=chunk.line + lines, n_lines=chunk.n_lines - lines
        )

    def _settle(self, chunk: Chunk, file: FileRef) -> None:
        """Infer types of columns that no earlier file had from the first rows of this one."""
        names = [n for n in self._header.names if AGAIN not in n]
        taken = [n for n in names if self.schema.reads(n)]
        if not self.types:
            self.names = names
        elif self.wanted is None:
            taken = []
        else:
            known = self._header.names
            for column in () if self.schema.lacking else self.encoder.columns:
                if column.name not in names and not column.late:
                    raise missing_column(column.name, known, file.name, gone=True)
            if self.target is not None and self.target not in names:
                raise missing_column(self.target, known, file.name)
            taken = [n for n in taken if n not in self.types and self._takes(n)]
        self._settled = True
        if taken:
            layout = self._header._replace(wanted=taken)
            try:
                inferred = infer_types(
                    chunk.data, layout, self.kinds, self.target, self.reading.marked
                )
                self.types.update(inferred)
            except DataError as error:
                raise moved(error, source=file.name) from None

    def _settle_empty(self, chunk: Chunk) -> None:
        """Infer types of columns that were empty so far, from their first values alone."""
        layout = self._layout()
        empty = [name for name in layout.wanted if pa.types.is_null(self.types[name])]
        if not empty:
            return
        texts = layout._replace(wanted=empty, types=dict.fromkeys(empty, pa.string()))
        try:
            table = read(as_utf8(chunk.data), texts, bad=[])
        except pa.ArrowInvalid:
            return  # the bad row is reported when all columns are read
        for name in empty:
            if filled := _filled(table[name], self._nulls)[:1].to_pylist():
                cell = '"' + filled[0].replace('"', '""') + '"\n'
                one = Layout([name], ",", {}, [name], self._nulls)
                marked = self.reading.marked
                self.types.update(infer_types(cell.encode(), one, {}, self.target, marked))
                self._changed()

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
        if table is None:
            self._settle_empty(chunk)
        target = self.types.get(self.target or "")
        layout = self._layout()
        layout = layout._replace(mended=frozenset(filter(self._mends, layout.wanted)))
        found = rows_of(chunk, layout, self.bad_values, table)
        if self.types.get(self.target or "") != target:
            self._changed()
        return found
