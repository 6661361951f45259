"""One chunk of CSV text to a record batch; what does not parse is found and named."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from onkel.errors import DataError

from .arrow_values import one_batch
from .failures import first_failure, shorten
from .lines import Chunk, line_of

__all__ = ["NULLS", "parse_chunk", "read_all"]

_WORDS = {
    pa.float64(): "a number",
    pa.bool_(): "true or false",
    pa.timestamp("us"): "a time (like 2024-05-17T12:30:00)",
    pa.timestamp("ns"): "a time (like 2024-05-17T12:30:00)",
}
NULLS = pacsv.ConvertOptions().null_values


def _read(
    data: bytes,
    names: list[str],
    delimiter: str,
    types: dict[str, pa.DataType],
    wanted: list[str] | None = None,
    bad: list[Any] | None = None,
) -> pa.Table:
    """Rows with the wrong number of fields go to ``bad``; without it they are an error."""

    def on_bad_row(row: Any) -> str:
        assert bad is not None
        bad.append(row)
        return "skip"

    return pacsv.read_csv(
        pa.BufferReader(data),
        read_options=pacsv.ReadOptions(
            use_threads=False, block_size=len(data) + 1, column_names=names
        ),
        parse_options=pacsv.ParseOptions(
            delimiter=delimiter,
            newlines_in_values=b'"' in data,
            invalid_row_handler=None if bad is None else on_bad_row,
        ),
        convert_options=pacsv.ConvertOptions(column_types=types, include_columns=wanted),
    )


def read_all(data: bytes, names: list[str], delimiter: str, wanted: list[str]) -> pa.Table:
    """All well-formed rows, with types as pyarrow infers them."""
    return _read(_as_utf8(data), names, delimiter, {}, wanted, bad=[])


def parse_chunk(
    chunk: Chunk,
    names: list[str],
    delimiter: str,
    types: dict[str, pa.DataType],
    wanted: list[str] | None,
) -> tuple[pa.RecordBatch, DataError | None]:
    """The chunk's rows up to the first bad one, and what is wrong with that (row: in the chunk).

    A whole-number target with a fraction further down widens to float64 in ``types``.
    """
    try:
        return one_batch(_read(chunk.data, names, delimiter, types, wanted)), None
    except pa.ArrowInvalid:
        return _search(chunk, names, delimiter, types, wanted)


def _search(
    chunk: Chunk,
    names: list[str],
    delimiter: str,
    types: dict[str, pa.DataType],
    wanted: list[str] | None,
) -> tuple[pa.RecordBatch, DataError | None]:
    """Parse a chunk with a bad row: read columns that fail as bytes, then convert what can be."""
    data = _as_utf8(chunk.data)
    loose: dict[str, pa.DataType] = {}
    bad: list[Any] = []
    while True:
        bad.clear()
        try:
            table = _read(data, names, delimiter, {**types, **loose}, wanted, bad)
            break
        except pa.ArrowInvalid as error:
            name = _failing_column(error, wanted or names, types, loose)
            if types.get(name) == pa.int64():
                types[name] = pa.float64()
            else:
                loose[name] = pa.binary()
    batch = one_batch(table)
    failure = None
    if bad:
        failure = _bad_row(bad[0], chunk, names)
        batch = batch.slice(0, bad[0].number - 1)
    for name in loose:
        batch, failure = _tighten(batch, name, types[name], chunk, failure)
    if data is not chunk.data:
        batch, failure = _refuse_replaced(batch, chunk, failure)
    return batch, failure


def _as_utf8(data: bytes) -> bytes:
    """The same text; bytes that are not UTF-8 become U+FFFD (pyarrow's reports need UTF-8)."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace").encode()
    return data


def _refuse_replaced(
    batch: pa.RecordBatch, chunk: Chunk, failure: DataError | None
) -> tuple[pa.RecordBatch, DataError | None]:
    """Cut before the first text that was not UTF-8."""
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if pa.types.is_dictionary(column.type):
            hits = pc.match_substring(column.cast(pa.string()), "\ufffd")
            row = pc.index(hits, True).as_py()
            if 0 <= row < batch.num_rows:
                value = column[row].as_py()
                failure = DataError(
                    f"{line_of(chunk, row)}{shorten(value)} is not text in UTF-8",
                    row=row,
                    column=name,
                    value=value,
                )
                batch = batch.slice(0, row)
    return batch, failure


def _failing_column(
    error: Exception, names: list[str], types: dict[str, Any], loose: dict[str, Any]
) -> str:
    found = re.search(r"In CSV column #(\d+)", str(error))
    if found and int(found[1]) < len(names) and names[int(found[1])] not in loose:
        return names[int(found[1])]
    # The message does not tell: loosen the next one.
    for name in names:
        if name not in loose and types.get(name) is not None:
            return name
    raise DataError(f"cannot be parsed: {error}", row=0) from None


def _bad_row(row: Any, chunk: Chunk, names: list[str]) -> DataError:
    index = row.number - 1
    text = f": {shorten(row.text)}" if row.text else ""
    return DataError(
        f"{line_of(chunk, index)}{row.actual_columns} fields where {len(names)} are expected{text}",
        row=index,
        value=row.text,
    )


def _tighten(
    batch: pa.RecordBatch, name: str, t: pa.DataType, chunk: Chunk, failure: DataError | None
) -> tuple[pa.RecordBatch, DataError | None]:
    """Convert a column that was read as bytes; cut before the first value that does not fit."""
    raw = batch.column(name)
    good = first_failure(len(raw) + 1, lambda k: _converted(raw.slice(0, k), t) is not None)
    if good < len(raw):
        value = raw[good].as_py().decode("utf-8", "replace")
        word = _WORDS.get(t, str(t))
        failure = DataError(
            f"{line_of(chunk, good)}{shorten(value)} stands where {word} is expected",
            row=good,
            column=name,
            value=value,
        )
        batch, raw = batch.slice(0, good), raw.slice(0, good)
    at = batch.schema.get_field_index(name)
    return batch.set_column(at, name, _converted(raw, t)), failure


def _converted(raw: Any, t: pa.DataType) -> Any:
    try:
        text = raw.cast(pa.string())
        if pa.types.is_dictionary(t):
            return pc.dictionary_encode(text).cast(t)
        text = pc.utf8_trim_whitespace(text)
        text = pc.if_else(pc.is_in(text, pa.array(NULLS)), None, text)
        return text.cast(t)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
