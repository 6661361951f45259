"""Header of a CSV file, and types of its columns."""

from __future__ import annotations

import csv
import re
from codecs import BOM_UTF8
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from onkel.errors import DataError

from .csv_parse import NULLS, read_all

__all__ = ["header_of", "infer_types"]

_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_DECIMAL_COMMA = r"^[+-]?\d*,\d+$"
_KINDS = {
    "number": pa.float64(),
    "flag": pa.bool_(),
    "text": pa.dictionary(pa.int32(), pa.string()),
}


def header_of(data: bytes, delimiter: str | None, where: str) -> tuple[list[str], str, int]:
    """Column names, delimiter, and where the rows begin."""
    data = data[:1_000_000]
    start = len(BOM_UTF8) if data.startswith(BOM_UTF8) else 0
    start = len(data) - len(data[start:].lstrip(b"\r\n"))
    end = start + _first_record(data[start:])
    line = data[start:end].decode("utf-8", "replace").strip("\r\n")
    if delimiter is None:
        delimiter = next((d for d in ",;\t|" if d in line), ",")
    try:
        names = [n.strip() for n in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error as error:
        raise DataError(f"the header line cannot be parsed: {error}", source=where) from None
    if not _is_header(names):
        return [f"c{j}" for j in range(len(names))], delimiter, start
    names = [n or f"column{j}" for j, n in enumerate(names)]
    twice = {n for n in names if names.count(n) > 1} if len(set(names)) < len(names) else None
    if twice:
        raise DataError(
            f"the header has two columns of the same name: {sorted(twice)}", source=where
        )
    return names, delimiter, end


def _first_record(data: bytes) -> int:
    """Where the first record ends: a line end inside quotes is text, unless a quote is stray."""
    first = end = data.find(b"\n") + 1
    while end and data.count(b'"', 0, end) % 2:
        end = data.find(b"\n", end) + 1
    return end or first or len(data)


def _is_header(names: list[str]) -> bool:
    """Not a header: numbers only, unless they count columns (whole and all different)."""
    if not all(re.match(_NUMBER, n) for n in names):
        return True
    return all(n.isdigit() for n in names) and len(set(names)) == len(names) > 1


def infer_types(
    data: bytes,
    names: list[str],
    delimiter: str,
    wanted: list[str],
    kinds: dict[str, str],
    target: str | None,
) -> dict[str, pa.DataType]:
    """Types of the wanted columns from the first chunk; all numbers are read as float64.

    A column of text in which nine of ten values are numbers is a column of numbers: the odd
    value is refused with its row instead of turning the column into categories unseen.
    """
    table = read_all(data, names, delimiter, wanted)
    types = {}
    for name, column in zip(wanted, table.columns, strict=True):
        t = column.type
        if pa.types.is_temporal(t) and kinds.get(name, "time") == "time":
            types[name] = t if _has_nanoseconds(t) or pa.types.is_time(t) else pa.timestamp("us")
        elif name in kinds:
            types[name] = _KINDS.get(kinds[name], pa.timestamp("us"))
        elif pa.types.is_string(t):
            if delimiter != "," and _mostly_numbers(column, _DECIMAL_COMMA):
                raise DataError(
                    "holds numbers with a decimal comma; a decimal point is expected (to take "
                    "them for categories, say so with categorical)",
                    column=name,
                )
            types[name] = _KINDS["number" if _mostly_numbers(column) else "text"]
        elif pa.types.is_integer(t) and name == target:
            types[name] = pa.int64()
        else:
            types[name] = _KINDS["flag" if pa.types.is_boolean(t) else "number"]
    return types


def _has_nanoseconds(t: pa.DataType) -> bool:
    return pa.types.is_timestamp(t) and (t.unit == "ns" or t.tz is not None)


def _mostly_numbers(column: Any, pattern: str = _NUMBER) -> bool:
    text = pc.utf8_trim_whitespace(column)
    filled = text.filter(pc.invert(pc.is_in(text, pa.array(NULLS))))
    if not len(filled):
        return False
    hits = pc.sum(pc.match_substring_regex(filled, pattern)).as_py()
    return bool(hits >= 0.9 * len(filled))
