"""Streams of JSON Lines: one object per line; nested objects become keys with a dot."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Callable
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from onkel.columns.failures import no_feature
from onkel.columns.notation import GAPS
from onkel.columns.values import kind_of, one_batch, texts
from onkel.errors import DataError
from onkel.streams.files import FileRef
from onkel.streams.json_lines import (
    ERRORS,
    Line,
    joined,
    lines_of,
    object_of,
    readable,
    reason,
    wrong_with,
)
from onkel.streams.json_parsing import Types, as_typed, table_of, time_type, type_by
from onkel.streams.lines import Chunk
from onkel.streams.text import TextSource

_TYPES = {"number": pa.float64(), "flag": pa.bool_(), "text": pa.string(), "empty": pa.null()}
# whole numbers beyond 64 bits, as far as Arrow has them: 38 digits
_WIDE = pa.decimal128(38, 0)


class JsonlSource(TextSource):
    """Rows of JSON Lines files; the columns are the keys of the first row.

    Keys of nested objects are columns, too: {"a": {"b": 1}} has the column "a.b".

    An absent or null key is a missing value. With ``extends``, a later key becomes a new column
    behind the others (a row without it has 0 there); without, it is ignored. A column's type is
    that of its values in the first chunk that has it; if there are none, that of its first value.
    """

    names: list[str]
    announced: list[str]

    grows = True

    def _begin(self, chunk: Chunk, file: FileRef) -> Chunk:
        return chunk._replace(data=chunk.data.removeprefix(BOM_UTF8))

    def _looks(self) -> bool:
        """Whether unknown keys become columns."""
        return self.schema.extends and self.wanted is not None

    def _schema(self) -> Types:
        names = self.types if self.wanted is None else self.wanted
        types = {name: self.types.get(name, pa.float64()) for name in names}
        return {name: t for name, t in types.items() if not pa.types.is_null(t)}

    def _is_empty(self, name: str) -> bool:
        """Whether a key that is read has had no value so far."""
        wanted = self.wanted is None or name in self.wanted
        return wanted and name in self.types and pa.types.is_null(self.types[name])

    def _is_new(self, name: str) -> bool:
        """Whether a key is to become a column, or gets its type, with its first value."""
        return self._is_empty(name) or (self._looks() and name not in self.known)

    def _awaits(self) -> bool:
        """Whether keys without a type may get one."""
        return self._looks() or any(map(self._is_empty, self.types))

    def _reader(self) -> Callable[[bytes], pa.Table]:
        return partial(table_of, types=self._schema(), others=self._awaits())

    def _parsed(
        self, chunk: Chunk, file: FileRef, table: pa.Table | None
    ) -> tuple[pa.RecordBatch, DataError | None]:
        if not self.types:
            self._infer(lines_of(chunk))
        schema = self._schema()
        try:
            if table is None:
                table = self._reader()(chunk.data)
            new = self._new_types(table) if self._awaits() else {}
            if new:
                table = table_of(chunk.data, schema | new)
            batch = one_batch(table.select([*schema, *new]))
            return self._with_empty(batch), None
        except ERRORS:
            return self._search(lines_of(chunk))

    def _infer(self, lines: list[Line]) -> None:
        """Infer names and types from the good rows of the first chunk."""
        good = readable(lines, {}, others=True)
        if not good:
            raise reason(*lines[0], 0, {})
        while good < len(lines):
            known = table_of(joined(lines[:good]), {}, others=True)
            types = {name: self._type_of(name, known[name]) for name in known.schema.names}
            mended = self._typed(lines, types)
            if (more := readable(mended, {}, others=True)) == good:
                mended = self._typed(mended, self._turned_to_text(mended, good, types))
                if (more := readable(mended, {}, others=True)) == good:
                    break
            lines, good = mended, more
        table = table_of(joined(lines[:good]), {}, others=True)
        first = object_of(lines[0][1])
        # A late key that only has nulls so far becomes known with its first value.
        fields = [f for f in table.schema if f.name in first or not pa.types.is_null(f.type)]
        self.names = [field.name for field in fields]
        # A late key of lists is refused as one of the first row is.
        lists = {field.name for field in fields if kind_of(field.type) is None}
        self.announced = [name for name in self.names if name in first or name in lists]
        for name in filter(self.schema.reads, self.names):
            t = self._type_of(name, table[name])
            if name not in self.kinds and not len(self._values(table[name])):
                t = pa.null()
            t = pa.null() if self.kinds.get(name) == "empty" else t
            if kind_of(t) is not None:
                self.types[name] = t
        for name, kind in self.kinds.items():
            self.types.setdefault(name, _TYPES.get(kind, pa.timestamp("us")))

    def _turned_to_text(self, lines: list[Line], bad: int, types: Types) -> Types:
        """The columns of numbers or flags that are text, as the text in a bad row shows.

        As in a CSV file, a column with numbers in nine of ten rows stays one of numbers.
        """
        found: Types = {}
        for name, value in object_of(lines[bad][1]).items():
            kind = kind_of(types[name]) if name in types and name not in self.kinds else None
            if isinstance(value, str) and kind in ("number", "flag"):
                values = [object_of(line).get(name) for _, line in lines]
                known = [value for value in values if value is not None]
                n_texts = sum(isinstance(value, str) for value in known)
                if kind == "flag" or n_texts > 0.1 * len(known):
                    found[name] = pa.string()
        return found

    def _type_of(self, name: str, column: pa.ChunkedArray) -> pa.DataType:
        t = column.type
        if name in self.reading.keep:
            kind = self.kinds.get(name)
            if kind in (None, "number") and pa.types.is_integer(t):
                return t
            if kind in (None, "number") and _whole_beyond_64_bits(column):
                return _WIDE
            if kind in (None, "time") and kind_of(t) in ("time", "text"):
                return pa.string()
        if self.kinds.get(name, "time") not in ("time", "empty"):
            return _TYPES[self.kinds[name]]
        if pa.types.is_integer(t) and name == self.target:
            return t
        if pa.types.is_timestamp(t):
            # A fraction of a second may follow.
            return pa.timestamp("us")
        return pa.float64() if kind_of(t) == "number" else time_type(column) or t

    def _values(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """The values of a column that are not missing."""
        known = column.drop_null()
        if not pa.types.is_string(known.type):
            return known
        gaps = texts([*GAPS, *self.reading.na_values])
        return known.filter(pc.invert(pc.is_in(pc.utf8_trim_whitespace(known), gaps)))

    def _new_types(self, table: pa.Table) -> Types:
        """Types of the keys whose first value is in this table; an Arrow error: it is a list."""
        if any(kind_of(f.type) is None and self._is_new(f.name) for f in table.schema):
            raise pa.ArrowInvalid("a list")
        empty = {}
        for name in filter(self._is_empty, table.schema.names):
            if len(values := self._values(table[name])):
                text = pa.types.is_string(values.type)
                t = type_by(values[0].as_py()) if text else self._type_of(name, values)
                if kind_of(t) is not None:
                    empty[name] = t
        if empty:
            self.types.update(empty)
            self._changed()
        if not self._looks():
            return empty
        for field in table.schema:
            if field.name not in self.known and field.name not in self.types:
                t = self._type_of(field.name, table[field.name])
                if kind_of(t) is not None and not pa.types.is_null(field.type):
                    self.types[field.name] = t
        names = table.schema.names
        late = {n: self.types[n] for n in names if n in self.types and n not in self.known}
        return empty | {n: t for n, t in late.items() if not pa.types.is_null(t)}

    def _with_empty(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The batch, with columns of nulls for the keys that have had no value so far."""
        for name in filter(self._is_empty, self.types):
            if name not in batch.schema.names:
                batch = batch.append_column(name, pa.nulls(batch.num_rows))
        return batch

    def _search(self, lines: list[Line]) -> tuple[pa.RecordBatch, DataError | None]:
        """The rows before the first bad one, and its error, by bisection."""
        schema = self._schema()
        lines, failure = self._before_lists(lines)
        if self._awaits():
            schema |= self._new_keys(lines)
        lines = self._typed(lines, schema)
        good = readable(lines, schema)
        whole = [n for n, t in schema.items() if pa.types.is_integer(t) or pa.types.is_decimal(t)]
        for t in (_WIDE, pa.float64()):
            for names in (*([name] for name in whole), whole):
                wider = schema | dict.fromkeys(names, t)
                if good < len(lines) and (wide := readable(lines, wider)) > good:
                    good, schema = wide, wider
                    self.types.update(dict.fromkeys(names, t))
                    self._changed()
        gaps: list[tuple[int, str]] = []
        if good < len(lines) and self.reading.bad_values == "missing":
            lines, gaps = self._mended(lines, schema)
            good = readable(lines, schema)
        self.bad_values.update(name for row, name in gaps if row < good)
        if good < len(lines):
            failure = reason(*lines[good], good, schema)
        late = schema.keys() - self._schema().keys()
        if late:
            # Forget keys that only appear after the bad row.
            late -= {key for _, line in lines[:good] for key in object_of(line)}
            schema = {name: t for name, t in schema.items() if name not in late}
        return self._with_empty(one_batch(table_of(joined(lines[:good]), schema))), failure

    def _before_lists(self, lines: list[Line]) -> tuple[list[Line], DataError | None]:
        """The lines before the first with a list under a new key to learn, and its error."""
        for row, (_, line) in enumerate(lines) if self.schema.learns else ():
            for name, value in object_of(line).items():
                if isinstance(value, list | dict) and self._is_new(name):
                    return lines[:row], no_feature("object or list", name, row=row, value=value)
        return lines, None

    def _typed(self, lines: list[Line], types: Types) -> list[Line]:
        """The lines, with values as their columns hold them where only quotes tell them apart."""
        gaps = GAPS.union(self.reading.na_values)
        # a label is text or a number, as it is written
        if self.target in types and self.kinds.get(self.target) != "text":
            types = {n: t for n, t in types.items() if n != self.target or kind_of(t) != "text"}
        out = []
        for row, (number, line) in enumerate(lines):
            found = object_of(line)
            typed = {
                n: as_typed(n, v, types[n], gaps, row) if n in types else v
                for n, v in found.items()
            }
            if any(typed[n] is not v for n, v in found.items()):
                line = json.dumps(typed).encode()
            out.append((number, line))
        return out

    def _mended(self, lines: list[Line], types: Types) -> tuple[list[Line], list[tuple[int, str]]]:
        """The lines without values that do not fit; row and name of each of these."""
        out, gaps = [], []
        for row, (number, line) in enumerate(lines):
            found = object_of(line)
            kinds = {n: kind_of(types[n]) for n in found if n in types and self._mends(n)}
            wrong = [
                name
                for name, kind in kinds.items()
                if kind in ("number", "flag", "time") and wrong_with(name, found[name], types[name])
            ]
            if wrong:
                line = json.dumps(found | dict.fromkeys(wrong)).encode()
            out.append((number, line))
            gaps += [(row, name) for name in wrong]
        return out, gaps

    def _new_keys(self, lines: list[Line]) -> Types:
        """Types of the unknown keys, by their first values."""
        found: Types = {}
        for _, line in lines:
            for name, value in object_of(line).items():
                known = name in found or not self._is_new(name)
                if known or not isinstance(value, str | int | float):
                    continue
                if self._is_empty(name):
                    if isinstance(value, str) and not len(self._values(pa.array([value]))):
                        continue
                    self.types[name] = found[name] = type_by(value)
                    self._changed()
                    continue
                t = _TYPES.get(self.kinds.get(name, ""), type_by(value))
                found[name] = self.types.setdefault(name, t)
        return found


def _whole_beyond_64_bits(column: pa.ChunkedArray) -> bool:
    """Whether the numbers may all be whole, and some are too large for 64 bits."""
    if not pa.types.is_floating(column.type) or not len(known := column.drop_null()):
        return False
    numbers = known.to_numpy()
    return bool((numbers == np.trunc(numbers)).all() and np.abs(numbers).max() >= 2.0**63)
