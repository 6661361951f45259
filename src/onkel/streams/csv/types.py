"""Header and column types of a CSV file."""

from __future__ import annotations

import csv
import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from onkel.columns.failures import shorten
from onkel.errors import DataError
from onkel.streams.csv.parsing import HEXADECIMAL, Layout, as_utf8, read
from onkel.streams.dialect import Dialect

AGAIN = "\0again"

_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_WHOLE = r"^[+-]?\d{1,18}$"
_KINDS = {
    "number": pa.float64(),
    "flag": pa.bool_(),
    "text": pa.dictionary(pa.int32(), pa.string()),
}


def header_of(
    data: bytes, dialect: Dialect, where: str, reads: Callable[[str], bool]
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
    delimiter = dialect.sep
    if delimiter is None:
        delimiter = next((d for d in ",;\t|" if d in line), ",")
    before = csv.field_size_limit(max(len(line), 1 << 17))
    try:
        names = [n.strip() for n in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error as error:
        told = f"the header line cannot be parsed: {error}"
        if "\r" in line:
            told = r"its lines end with \r alone; write it with \n, say with tr '\r' '\n'"
        raise DataError(told, source=where) from None
    finally:
        csv.field_size_limit(before)
    if not (dialect.header and _is_header(names)):
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


def _is_header(names: list[str]) -> bool:
    """False for numbers only, unless they number the columns (integers, all different)."""
    if not all(re.match(_NUMBER, n) for n in names):
        return True
    return all(n.isdigit() for n in names) and len(set(names)) == len(names) > 1


def infer_types(
    data: bytes,
    layout: Layout,
    kinds: dict[str, str],
    target: str | None,
    as_written: bool,
) -> dict[str, pa.DataType]:
    """Types of the wanted columns from the first rows; all numeric features are float64.

    A text column in which nine of ten values are numbers is numeric: the odd value is refused with
    its row, instead of turning the column into categories. With ``as_written``, numbers are read as
    text, to be parsed later.
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
    name: str, column: Any, kinds: dict[str, str], is_target: bool, nulls: tuple[str, ...]
) -> pa.DataType:
    t = column.type
    if pa.types.is_temporal(t) and kinds.get(name, "time") == "time":
        fine = pa.types.is_timestamp(t) and (t.unit == "ns" or t.tz is not None)
        return t if fine or pa.types.is_time(t) else pa.timestamp("us")
    if name in kinds:
        return _KINDS.get(kinds[name], pa.timestamp("us"))
    if pa.types.is_string(t):
        if is_target and _mostly(column, nulls, _WHOLE):
            return pa.int64()
        return _KINDS["number" if _mostly(column, nulls, _NUMBER) else "text"]
    if pa.types.is_integer(t) and is_target:
        return pa.int64()
    return _KINDS["flag" if pa.types.is_boolean(t) else "number"]


def _mostly(column: Any, nulls: tuple[str, ...], pattern: str) -> bool:
    """Whether nine of ten values match the pattern."""
    text = pc.utf8_trim_whitespace(column)
    filled = text.filter(pc.invert(pc.is_in(text, pa.array(nulls))))
    if not len(filled):
        return False
    hits = pc.sum(pc.match_substring_regex(filled, pattern)).as_py()
    return bool(hits >= 0.9 * len(filled))
