"""Parse a chunk of CSV text into a record batch; name the first bad row."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from onkel.columns.failures import A_FLAG, A_NUMBER, count, first_failure, misfit, shorten
from onkel.columns.notation import GAPS, numbers_of
from onkel.columns.values import one_batch, parsed_times, texts
from onkel.errors import DataError
from onkel.streams.lines import Chunk, line_of

_WORDS = {
    pa.float64(): A_NUMBER,
    pa.int64(): A_NUMBER,
    pa.bool_(): A_FLAG,
}
NULLS = tuple(sorted(GAPS))
# Arrow reads 0x1F as the integer 31.
HEXADECIMAL = r"^\s*[+-]?0[xX]"


class Layout(NamedTuple):
    """A file's columns, delimiter, types by name, columns to read, and texts of missing values."""

    names: list[str]
    delimiter: str
    types: dict[str, pa.DataType]
    wanted: list[str]
    nulls: tuple[str, ...]
    #: columns whose values may be gaps where they do not fit
    mended: frozenset[str] = frozenset()


def read(data: bytes, layout: Layout, bad: list[pacsv.InvalidRow] | None = None) -> pa.Table:
    """Parse CSV rows; those with a wrong number of fields go to ``bad``, or raise if it is None."""

    def on_bad_row(row: pacsv.InvalidRow) -> str:
        assert bad is not None
        bad.append(row)
        return "skip"

    return pacsv.read_csv(
        pa.BufferReader(data),
        read_options=pacsv.ReadOptions(
            use_threads=False, block_size=len(data) + 1, column_names=layout.names
        ),
        parse_options=pacsv.ParseOptions(
            delimiter=layout.delimiter,
            newlines_in_values=b'"' in data,
            invalid_row_handler=None if bad is None else on_bad_row,
        ),
        convert_options=pacsv.ConvertOptions(
            column_types=layout.types, include_columns=layout.wanted, null_values=layout.nulls
        ),
    )


def rows_of(
    chunk: Chunk, layout: Layout, counted: Counter[str], table: pa.Table | None = None
) -> tuple[pa.RecordBatch, DataError | None]:
    """The chunk's rows before the first bad one, and its error (its row counts in the chunk).

    ``counted`` takes in the values of ``layout.mended`` that do not fit; they are gaps.

    ``table`` is the result of :func:`read`, if the chunk was already read. An integer target with a
    fraction further down widens to float64 in ``layout.types``.
    """
    types = [layout.types.get(name) for name in layout.wanted]
    if pa.int64() not in types or not (b"0x" in chunk.data or b"0X" in chunk.data):
        try:
            return one_batch(read(chunk.data, layout) if table is None else table), None
        except pa.ArrowInvalid:
            pass
    return _search(chunk, layout, counted)


def _search(
    chunk: Chunk, layout: Layout, counted: Counter[str]
) -> tuple[pa.RecordBatch, DataError | None]:
    """Parse a chunk with a bad row: read all columns as bytes, then convert the good rows."""
    data = as_utf8(chunk.data)
    bad: list[pacsv.InvalidRow] = []
    try:
        table = read(data, layout._replace(types=dict.fromkeys(layout.names, pa.binary())), bad)
    except pa.ArrowInvalid as error:
        raise DataError(f"cannot be parsed: {error}", row=0) from None
    batch, failure = one_batch(table), None
    if bad:
        failure = _bad_row(bad[0], chunk, layout)
        batch = batch.slice(0, bad[0].number - 1)
    columns: list[pa.Array] = []
    for name in layout.wanted:
        raw = batch.column(name).slice(0, batch.num_rows)
        good, t = _good_rows(raw, name, layout, data is not chunk.data), layout.types[name]
        mends = pa.types.is_floating(t) or pa.types.is_temporal(t) or pa.types.is_boolean(t)
        if good < len(raw) and not (mends and name in layout.mended):
            failure = _bad_value(raw[good], good, name, t, chunk)
            batch = batch.slice(0, good)
        columns.append(raw)
    kept = []
    for raw, name in zip(columns, layout.wanted, strict=True):
        own, t = raw.slice(0, batch.num_rows), layout.types[name]
        found = _converted(own, t, layout.nulls)
        if found is None:
            known = pc.unique(own)
            each = [known.slice(k, 1) for k in range(len(known))]
            fits = [_converted(one, t, layout.nulls) is not None for one in each]
            good = pc.is_in(own, known.filter(pa.array(fits, pa.bool_())))
            counted[name] += len(own) - pc.sum(good).as_py()
            found = _converted(pc.if_else(good, own, None), t, layout.nulls)
        kept.append(found)
    return pa.RecordBatch.from_arrays(kept, names=layout.wanted), failure


def as_utf8(data: bytes) -> bytes:
    """The same text; bytes that are not UTF-8 become U+FFFD (pyarrow's reports need UTF-8)."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace").encode()
    return data


def _good_rows(raw: pa.Array, name: str, layout: Layout, replaced: bool) -> int:
    """How many leading values of a column fit its type; integers widen if more values then fit."""

    types = layout.types

    def fitting(t: pa.DataType) -> int:
        def works(k: int) -> bool:
            return _converted(raw.slice(0, k), t, layout.nulls, replaced) is not None

        return first_failure(len(raw) + 1, works)

    # The bisection assumes that something fails, hence the + 1.
    good = fitting(types[name])
    if good < len(raw) and types[name] == pa.int64():
        wide = fitting(pa.float64())
        if wide > good:
            types[name], good = pa.float64(), wide
    return good


def _converted(
    raw: pa.Array, t: pa.DataType, nulls: tuple[str, ...], replaced: bool = False
) -> pa.Array:
    """The bytes of a column converted to its type; None if a value does not fit."""
    try:
        text = raw.cast(pa.string())
        if replaced and pc.any(pc.match_substring(text, "\ufffd")).as_py():
            return None
        if pa.types.is_dictionary(t):
            return pc.dictionary_encode(text).cast(t)
        if pa.types.is_integer(t) and pc.any(pc.match_substring_regex(text, HEXADECIMAL)).as_py():
            return None
        text = pc.utf8_trim_whitespace(text)
        if pa.types.is_null(t):
            there = pc.invert(pc.is_in(text, texts(nulls)))
            return None if pc.any(pc.and_(there, text.is_valid())).as_py() else pa.nulls(len(raw))
        text = pc.if_else(pc.is_in(text, texts(nulls)), pa.NULL, text)
        # a zone may stand in some rows only
        return parsed_times(text, t) if pa.types.is_temporal(t) else text.cast(t)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def _bad_row(row: pacsv.InvalidRow, chunk: Chunk, layout: Layout) -> DataError:
    index, n, text, hint = row.number - 1, len(layout.names), "", ""
    if row.text:
        text = f": {shorten(row.text)}"
        if "\n" in row.text:
            hint = "; is a quote not closed?"
        elif row.actual_columns == n + 1 and row.text.endswith(layout.delimiter):
            hint = "; take out the separator at its end, or put one at the end of the header, too"
    return DataError(
        f"{line_of(chunk, index)}{count(row.actual_columns, 'field')} where {n} "
        f"{'is' if n == 1 else 'are'} expected{text}{hint}",
        row=index,
        value=row.text,
    )


def _bad_value(raw: pa.Array, row: int, name: str, t: pa.DataType, chunk: Chunk) -> DataError:
    value = raw.as_py().decode("utf-8", "replace")
    wanted = _WORDS.get(t, str(t))
    if pa.types.is_timestamp(t):
        wanted = "a time (like 2024-05-17T12:30:00)"
    elif pa.types.is_time(t):
        wanted = "a time of day (like 12:30:00)"
    what = misfit(value, wanted)
    if wanted == A_NUMBER and np.isfinite(numbers_of([value.strip()], "point")[0]):
        what += "; if it is one, learn with thousands=',' (on the command line --thousands ,)"
    elif wanted == A_NUMBER and np.isfinite(numbers_of([value.strip()], "comma")[0]):
        what += (
            "; if it has a decimal comma, learn with decimal=',' (on the command line --decimal ,)"
        )
    if value.strip() == name:
        what = f"{shorten(value)}: the header stands here again; take the line out"
    if pa.types.is_dictionary(t):
        what = f"{shorten(value)} is not text in UTF-8; say which encoding it is (--encoding)"
    return DataError(f"{line_of(chunk, row)}{what}", row=row, column=name, value=value)
