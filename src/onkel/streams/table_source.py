"""The base class of sources of tables: Arrow record batches become blocks of features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from onkel.annotations import DTypeLike
from onkel.columns.column import Column
from onkel.columns.encoding import FIRST_ROWS, Encoder
from onkel.columns.failures import missing_column, moved
from onkel.columns.notation import Written
from onkel.columns.values import moments, needed_values, target_values
from onkel.errors import DataError, NoRowsError
from onkel.streams.blocks import Block
from onkel.streams.files import FileRef
from onkel.streams.schema import Schema
from onkel.streams.source import Source, piece_rows

if TYPE_CHECKING:
    import pyarrow as pa


class Batch(NamedTuple):
    """A record batch, and the file it comes from."""

    table: pa.RecordBatch
    where: str


def _joined(tables: list[pa.RecordBatch]) -> pa.RecordBatch:
    """One batch of all batches with the schema of the first."""
    if len(tables) == 1:
        return tables[0]
    import pyarrow as pa

    from onkel.columns.values import one_batch

    alike = [table for table in tables if table.schema.equals(tables[0].schema)]
    return one_batch(pa.Table.from_batches(alike))


def _raising(error: DataError) -> Iterator[Batch]:
    raise error
    yield


class TableSource(Source):
    """Rows in Arrow record batches; call :meth:`prepare` before the first piece."""

    # Said again, as type checkers ask for it where they are set.
    encoder: Encoder
    target: str | None = None
    group: str | None = None
    within: float = 1.0
    # Columns to read; None while all are wanted.
    wanted: dict[str, None] | None = None
    dtype: DTypeLike = "float32"
    # Whether columns may appear that the first rows lack.
    grows: bool = False
    # Columns that are features by default; the others come late.
    announced: list[str]
    known: set[str]
    # Whether the batches may be of any size.
    cut_at_will = False
    # Whether the types of the columns are the user's, not chosen by what reads the source.
    typed = False
    # How text is written.
    how: Written
    # Counts changes of the columns and types to read.
    version: int = 0

    def __init__(self, schema: Schema, files: list[FileRef] | None = None) -> None:
        super().__init__(files)
        self.schema: Schema = schema
        schema.typed = self.typed
        self.grows = self.grows or len(self.files) > 1
        self.announced = []
        self.kept: list[pa.RecordBatch] = []
        self._batches: Iterator[Batch] | None = self._read()
        head = next(self._batches, None)
        if head is None:
            raise NoRowsError("has no rows", source=self.name)
        heads = [head, *(self._more_heads(self._batches, head) if self.cut_at_will else ())]
        self.first: Any = _joined([one.table for one in heads])
        self.names: list[str] = self.names or list(self.first.schema.names)
        self.announced = self.announced or self.names
        self._batches = chain(heads, self._batches)

    def _more_heads(self, batches: Iterator[Batch], head: Batch) -> Iterator[Batch]:
        """Batches until there are enough rows to infer the columns."""
        rows = head.table.num_rows
        while rows < FIRST_ROWS:
            try:
                more = next(batches, None)
            except DataError as error:
                self._batches = _raising(error)
                return
            if more is None:
                return
            rows += more.table.num_rows
            yield more

    def _read(self) -> Iterator[Batch]:
        raise NotImplementedError

    def prepare(self) -> TableSource:
        """Choose the columns to read from now on, by the first rows; returns the source itself."""
        encoder, self.target = self.schema.resolve(
            self.first, self.names, self.announced, self.name, self.grows
        )
        reading = self.schema.reading
        beside = [*reading.keep, *filter(None, (reading.group, reading.time))]
        for name in beside:
            if name not in self.names:
                raise missing_column(name, self.names, self.name)
        self.encoder, self.group, self.first = encoder, reading.group, None
        self.how = reading.written._replace(na_values=encoder.na_values)
        target = [] if self.target is None else [self.target]
        self.wanted = dict.fromkeys([*(c.name for c in encoder.columns), *target, *beside])
        # Columns that are features, the target, or left out.
        self.known = {*self.announced, *self.wanted, *reading.exclude}
        self._changed()
        return self

    def _changed(self) -> None:
        """Count a change of the columns or types to read."""
        self.version += 1

    def _takes(self, name: str) -> bool:
        """Whether a column is read: it is wanted, or it is new and new ones become features."""
        return (
            self.wanted is None
            or name in self.wanted
            or (self.schema.extends and name not in self.known)
        )

    def _take_late(self, batch: pa.RecordBatch, where: str) -> None:
        """Turn columns that first appear in this batch into features."""
        if not self.schema.extends or self.known.issuperset(batch.schema.names):
            return
        from onkel.columns.screening import column_of

        new = [
            column_of(
                batch, field.name, self.schema.is_category(batch, field.name), where, self.how
            )
            for field in batch.schema
            if field.name not in self.known
        ]
        self.known.update(batch.schema.names)
        self.encoder.extend(new)
        assert self.wanted is not None
        self.wanted |= dict.fromkeys(column.name for column in new)
        self._changed()

    def _again(self) -> Iterator[Batch]:
        batches, self._batches = self._batches, None
        if batches is None:
            self.may_read_again()
            self.bad_values.clear()
            batches = self._read()
        return batches

    def pieces(self, skip: int, dtype: Any) -> Iterator[Block]:
        self.dtype, self._text = dtype, None
        by_row, rows = self.schema.by_row, 0
        for part in self._again():
            n = part.table.num_rows
            if not by_row:
                self._take_late(part.table, part.where)
            step = 1 if by_row else piece_rows(self.encoder.n_features)
            for at in range(min(max(skip - rows, 0), n), n, step):
                own = part.table.slice(at, step)
                self.within = min(at + step, n) / n
                if by_row:
                    self._take_late(self._with_values(own), part.where)
                yield from self._encoded(own, part.where, rows + at)
            rows += n

    def _with_values(self, row: pa.RecordBatch) -> pa.RecordBatch:
        """A row without the new columns in which it has no value: they come with a later one."""
        if self.known.issuperset(row.schema.names):
            return row
        held = [name for name in row.schema.names if name in self.known or not row[name].null_count]
        return row.select(held)

    def _encoded(self, part: pa.RecordBatch, where: str, row: int) -> Iterator[Block]:
        """The rows of a batch, or those before a bad row, then its error."""
        try:
            piece = self._piece(part, where)
            self._hand_on(part)
            yield piece
            return
        except DataError as error:
            failure = error
        # Another column may fail in an earlier row: cut until all rows are good.
        while failure.row:
            try:
                piece = self._piece(part.slice(0, failure.row), where)
            except DataError as error:
                failure = error
                continue
            self._hand_on(part.slice(0, failure.row))
            yield piece
            break
        raise moved(failure, source=where, rows=row)

    def _hand_on(self, part: pa.RecordBatch) -> None:
        if keep := self.schema.reading.keep:
            self.kept.append(part.select(list(keep)))

    def _piece(self, part: pa.RecordBatch, where: str) -> Block:
        # The target first: the encoder must not see the values of a refused row.
        y, unlabelled = (None, None) if self.target is None else self._targets(part)
        reading, groups, times = self.schema.reading, None, None
        if self.group is not None:
            found = needed_values(_column(part, self.group), self.group, "the group")
            # text in one piece and numbers in the next keep their types
            groups = found.astype(object)
        if reading.time is not None:
            forms = {c.name: c.form for c in self.encoder.columns if c.kind == "time"}
            own = _column(part, reading.time)
            times = moments(own, reading.time, forms.get(reading.time, ""))
        settled = self._settle_columns(part, where)
        try:
            bad: Counter[str] | None = Counter() if reading.bad_values == "missing" else None
            X = self.encoder.encode(
                part, self.dtype, missing=reading.missing, lacking=self.schema.lacking,
                learn=self.schema.learns, bad=bad,
            )  # fmt: skip
            self.bad_values.update(bad or ())
        except DataError:
            # a row before the first value may be bad
            for k, column in settled.items():
                self.encoder.layout.settle(k, column)
            raise
        return Block(X, y, 0, self.encoder.n_late, groups, times, where, unlabelled)

    def _settle_columns(self, part: pa.RecordBatch, where: str) -> dict[int, Column]:
        """Give empty columns the kind of their first value; returns them as they were."""
        before: dict[int, Column] = {}
        if not self.schema.learns or self.encoder.fixed:
            return before
        for k, column in enumerate(self.encoder.columns):
            if column.kind == "empty" and column.name in part.schema.names:
                from onkel.columns.screening import settled

                categorical = self.schema.is_category(part, column.name)
                found = settled(part, column, categorical, where, self.how)
                if found is not column:
                    self.encoder.layout.settle(k, found)
                    before[k] = column
        return before

    def _targets(self, part: pa.RecordBatch) -> tuple[np.ndarray, np.ndarray | None]:
        import pyarrow as pa

        from onkel.columns.values import given

        assert self.target is not None
        values = _column(part, self.target)
        form = self.encoder.target_form
        if form == "text":
            values = values.cast(pa.string())
        elif form:
            column = Column(self.target, "number", form=form)
            values = pa.array(given(values, column, self.encoder.na_values).values)
        y, unlabelled = target_values(values, self.target, na_values=self.encoder.na_values)
        if unlabelled is None or not unlabelled.all():
            row = 0 if unlabelled is None else int(np.argmin(unlabelled))
            self.check_target(y.dtype.kind == "U", y[row].item(), self.target)
        return y, unlabelled


def _column(part: pa.RecordBatch, name: str) -> pa.Array:
    """A column that every row needs."""
    if name not in part.schema.names:
        raise missing_column(name, part.schema.names, None)
    return part.column(name)
