"""Streams of JSON Lines: one object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pajson

from onkel.errors import DataError

from .arrow_values import kind_of, one_batch
from .failures import moved, shorten
from .files import FileRef, joint_name, joint_size
from .lines import Chunk, line_chunks, line_of
from .sources import Batch, TableSource

__all__ = ["JsonlSource"]

_TYPES = {"number": pa.float64(), "flag": pa.bool_(), "text": pa.string()}
_TIME = r"^\d{4}-\d\d-\d\d([T ]\d\d(:\d\d(:\d\d(\.\d{1,9})?)?)?(Z|[+-]\d\d(:?\d\d)?)?)?$"
_NANOSECONDS = r"\.\d{7}"
_FITS = {"number": (int, float), "flag": (bool,), "text": (str,)}


class JsonlSource(TableSource):
    """Rows of JSON Lines files; columns and types come from the first chunk.

    A key that is absent or null is a missing value. A key unknown to the first chunk becomes a
    column behind those there are, from the chunk on in which it comes (where ``extends``; a row
    without it has 0 there), or is ignored.

    Parameters
    ----------
    files : list of FileRef
    kinds : dict
        Kind of the columns that are known beforehand.
    target : str or None
    """

    grows = True

    def __init__(self, files: list[FileRef], kinds: dict[str, str], target: str | None) -> None:
        self.files, self.kinds = files, kinds
        self.name = joint_name(files)
        self.once = any(f.once for f in files)
        self.total = joint_size(files)
        self.target = target
        self.types: dict[str, pa.DataType] = {}
        super().__init__()

    def _read(self) -> Iterator[Batch]:
        rows, before = 0, 0
        for file in self.files:
            for chunk in line_chunks(file, quotes=False):
                if chunk.data.isspace():
                    continue
                batch, failure = self._parsed(chunk)
                if batch.num_rows:
                    yield Batch(batch, file.name)
                if failure is not None:
                    raise moved(failure, source=file.name, rows=rows)
                rows += batch.num_rows
                self.done = before + chunk.done
            before += file.size or 0

    def _schema(self) -> pa.Schema:
        names = self.types if self.wanted is None else self.wanted
        return pa.schema([(n, self.types.get(n, pa.float64())) for n in names])

    def _parsed(self, chunk: Chunk) -> tuple[pa.RecordBatch, DataError | None]:
        if not self.types:
            self._infer(chunk)
        extends = self.extends and self.wanted is not None
        try:
            table = _read(chunk.data, self._schema(), others=extends)
        except pa.ArrowInvalid:
            return self._slowly(chunk)
        batch = one_batch(table)
        if extends:
            self._extend(batch)
        return batch, None

    def _extend(self, batch: pa.RecordBatch) -> None:
        """Columns for the keys of a batch that have not been seen."""
        for column in self._take_late(batch, self.name):
            t = batch.schema.field(column.name).type
            self.types[column.name] = pa.float64() if column.kind == "number" else t

    def _extend_by(self, row: dict[str, Any]) -> None:
        """Columns for the keys of one row that have not been seen."""
        new = {
            k: v if isinstance(v, (bool, str)) else float(v)
            for k, v in row.items()
            if k not in self.known and isinstance(v, (bool, int, float, str))
        }
        if new:
            self._extend(one_batch(_first_values([new])))

    def _infer(self, chunk: Chunk) -> None:
        try:
            table = _read(chunk.data, None, others=True)
        except pa.ArrowInvalid:
            # A bad row somewhere: what the first good rows have.
            table = _first_values([r for r, _ in _objects(chunk) if isinstance(r, dict)])
        for name, column in zip(table.schema.names, table.columns, strict=True):
            t = column.type
            if name in self.kinds and self.kinds[name] in _TYPES:
                self.types[name] = _TYPES[self.kinds[name]]
            elif pa.types.is_integer(t) and name == self.target:
                self.types[name] = t
            elif kind_of(t) == "number":
                self.types[name] = pa.float64()
            elif pa.types.is_timestamp(t) and t.unit == "s":
                # A fraction of a second may follow.
                self.types[name] = pa.timestamp("us", t.tz)
            else:
                self.types[name] = _time_type(column) or t
        for name, kind in self.kinds.items():
            self.types.setdefault(name, _TYPES.get(kind, pa.timestamp("us")))

    def _slowly(self, chunk: Chunk) -> tuple[pa.RecordBatch, DataError | None]:
        """Line by line with Python's reader, up to the first row that does not fit."""
        rows: list[dict[str, Any]] = []
        failure = None
        extends = self.extends and self.wanted is not None
        for row, text in _objects(chunk):
            if extends and isinstance(row, dict):
                self._extend_by(row)
            failure = self._check(row, text, len(rows))
            if failure is not None:
                at = line_of(chunk._replace(data=chunk.data.replace(b'"', b"'")), len(rows))
                failure = DataError(
                    at + failure.message, row=len(rows), column=failure.column, value=failure.value
                )
                break
            rows.append(row)
        schema = self._schema()
        times = [f.name for f in schema if pa.types.is_temporal(f.type)]
        plain = pa.schema([f.with_type(pa.string()) if f.name in times else f for f in schema])
        batch = pa.RecordBatch.from_pylist(rows, schema=plain)
        for name in times:
            at, t = schema.get_field_index(name), schema.field(name).type
            moments = [row.get(name) and _moment(row[name], t) for row in rows]
            batch = batch.set_column(at, name, pa.array(moments, t))
        return batch, failure

    def _check(self, row: Any, text: bytes, index: int) -> DataError | None:
        shown = text.decode("utf-8", "replace")
        if not isinstance(row, dict):
            return DataError(f"{shorten(shown)} is not a JSON object", value=shown)
        if self.target in row and pa.types.is_integer(self.types.get(str(self.target), pa.null())):
            value = row[self.target]
            if isinstance(value, float):
                self.types[str(self.target)] = pa.float64()
        for name, t in zip(self._schema().names, self._schema().types, strict=True):
            value = row.get(name)
            if value is None:
                continue
            kind = "text" if pa.types.is_temporal(t) else kind_of(t) or ""
            fits = isinstance(value, _FITS.get(kind, object))
            if not fits or (kind == "number" and isinstance(value, bool)):
                return DataError(
                    f"{shorten(value)} stands where {kind} is expected", column=name, value=value
                )
            if pa.types.is_temporal(t) and _moment(value, t) is None:
                return DataError(
                    f"{shorten(value)} stands where a time is expected", column=name, value=value
                )
        return None


def _time_type(column: Any) -> pa.DataType | None:
    """The type of text that is nothing but times; Arrow finds those without fractions itself."""
    known = column.drop_null()
    if not pa.types.is_string(column.type) or not len(known):
        return None
    if not pc.all(pc.match_substring_regex(known, _TIME)).as_py():
        return None
    fine = pc.any(pc.match_substring_regex(known, _NANOSECONDS)).as_py()
    return pa.timestamp("ns" if fine else "us")


def _moment(value: str, t: pa.DataType) -> Any:
    """The time a text tells, in UTC where it names a zone; None if it tells none."""
    for told in (t, pa.timestamp(t.unit, "UTC")) if pa.types.is_timestamp(t) else (t,):
        try:
            return pa.array([value]).cast(told).cast(t)[0]
        except pa.ArrowInvalid:
            continue
    return None


def _objects(chunk: Chunk) -> Iterator[tuple[Any, bytes]]:
    for line in chunk.data.split(b"\n"):
        if line.strip():
            try:
                yield json.loads(line), line
            except (ValueError, RecursionError):
                yield None, line


def _first_values(rows: list[dict[str, Any]]) -> pa.Table:
    """The first value of each key that is not null."""
    values: dict[str, Any] = {}
    for row in rows:
        for name, value in row.items():
            if value is not None:
                values.setdefault(name, value)
    return pa.table({name: pa.array([value]) for name, value in values.items()})


def _read(data: bytes, schema: pa.Schema | None, others: bool) -> pa.Table:
    """The rows; ``others``: with the keys that are not in the schema."""
    return pajson.read_json(
        pa.BufferReader(data),
        read_options=pajson.ReadOptions(use_threads=False, block_size=len(data) + 1),
        parse_options=pajson.ParseOptions(
            explicit_schema=schema,
            unexpected_field_behavior="infer" if others else "ignore",
        ),
    )
