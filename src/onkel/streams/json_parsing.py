"""JSON Lines as Arrow tables: nested objects become keys with a dot, times are read as such."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pajson

from onkel.columns.notation import FLAGS, text_of
from onkel.columns.values import kind_of, parsed_times

Types = dict[str, pa.DataType]

_NESTED = re.compile(rb":\s*\{")


def flattened(data: bytes) -> bytes:
    """The same JSON lines, with nested objects rewritten as keys with a dot."""
    if not _NESTED.search(data):
        return data
    return b"\n".join(map(_flat, data.split(b"\n")))


def _flat(line: bytes) -> bytes:
    """A line without nested objects; one that cannot be read stays unchanged.

    A key that stands there twice stays so: Arrow refuses it.
    """
    if not _NESTED.search(line):
        return line
    try:
        found = json.loads(line, object_pairs_hook=_Object)
        pairs = list(_pairs(found, "")) if isinstance(found, _Object) else []
    except (ValueError, RecursionError):
        return line
    if len(flat := dict(pairs)) == len(pairs):
        return json.dumps(flat).encode() if pairs else line
    texts = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in pairs]
    return f"{{{', '.join(texts)}}}".encode()


class _Object(dict[str, object]):
    """An object of JSON, with all of its pairs."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def _pairs(found: _Object, before: str) -> Iterator[tuple[str, object]]:
    for name, value in found.pairs:
        if isinstance(value, _Object):
            yield from _pairs(value, f"{before}{name}.")
        else:
            yield before + name, value


_TIME = r"^\d{4}-\d\d-\d\d([T ]\d\d(:\d\d(:\d\d(\.\d{1,9})?)?)?(Z|[+-]\d\d(:?\d\d)?)?)?$"
_NANOSECONDS = r"\.\d{7}"


def table_of(data: bytes, types: Types, others: bool = False) -> pa.Table:
    """All rows; with ``others``, also the keys that have no type here."""
    times = {name: t for name, t in types.items() if pa.types.is_temporal(t)}
    schema = pa.schema(types | dict.fromkeys(times, pa.string()))
    data = flattened(data)
    if not data:
        return pa.schema(types).empty_table()
    table = pajson.read_json(
        pa.BufferReader(data),
        read_options=pajson.ReadOptions(use_threads=False, block_size=len(data) + 1),
        parse_options=pajson.ParseOptions(
            explicit_schema=schema, unexpected_field_behavior="infer" if others else "ignore"
        ),
    )
    ends = data.count(b"\n") + (not data.endswith(b"\n"))
    if table.num_rows != ends and table.num_rows != sum(
        map(bool, map(bytes.strip, data.split(b"\n")))
    ):
        raise pa.ArrowInvalid("a line holds several objects, or a part of one")
    table.validate(full=True)
    for name, t in times.items():
        at = table.schema.get_field_index(name)
        table = table.set_column(at, name, parsed_times(table[name], t))
    return table


def time_type(column: pa.Array) -> pa.DataType | None:
    """Type of a text column of times only; Arrow itself finds those without fractions."""
    known = column.drop_null()
    if not pa.types.is_string(column.type) or not len(known):
        return None
    if not pc.all(pc.match_substring_regex(known, _TIME)).as_py():
        return None
    fine = pc.any(pc.match_substring_regex(known, _NANOSECONDS)).as_py()
    return pa.timestamp("ns" if fine else "us")


def type_by(value: object) -> pa.DataType:
    """The type of a column by its first value."""
    if isinstance(value, bool):
        return pa.bool_()
    if not isinstance(value, str):
        return pa.float64()
    if not re.match(_TIME, value):
        return pa.string()
    return pa.timestamp("ns" if re.search(_NANOSECONDS, value) else "us")


_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d{1,38}", re.ASCII)


def as_typed(name: str, value: object, t: pa.DataType, gaps: Collection[str], row: int) -> object:
    """A value as its column holds it, where the text is the same; others stay.

    A number, a flag or a gap in quotes is one, as in a CSV file. A number or flag among texts is
    text.
    """
    kind = kind_of(t)
    if kind == "text" and isinstance(value, int | float):
        return text_of(value, name, row)
    if kind not in ("number", "flag") or pa.types.is_null(t):
        return value
    text = str(value).strip() if isinstance(value, str | int) else ""
    if kind == "flag":
        value = FLAGS.get(text, value)
    elif isinstance(value, str) and _NUMBER.fullmatch(text):
        return int(text) if _WHOLE.fullmatch(text) else float(text)
    return None if isinstance(value, str) and text in gaps else value
