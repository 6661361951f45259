"""Choose which columns of a table become features, and how: the encoder of a new stream."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress

import pyarrow as pa

from onkel.columns.column import Column
from onkel.columns.encoding import FIRST_ROWS, Encoder
from onkel.columns.failures import count, missing_column
from onkel.columns.screening import (
    column_of,
    if_constant,
    is_index,
    why_useless,
    without_counts,
    written_column,
)
from onkel.columns.values import given, kind_of
from onkel.errors import DataError
from onkel.streams.reading import Reading


def require_distinct(names: Sequence[str], source: str) -> None:
    """Refuse a table with several columns of one name."""
    if len(set(names)) < len(names):
        twice = sorted(n for n, count in Counter(names).items() if count > 1)
        raise DataError(f"has several columns of the same name: {twice}", source=source)


class Schema:
    """Which columns are read, and how they become features.

    ``encoder`` is that of a saved model. With ``extend``, columns that it does not know become
    features. ``resumes``: whether the first rows were learned before. ``by_row``: whether rows to
    learn become features one by one.
    """

    def __init__(
        self,
        reading: Reading,
        encoder: Encoder | None = None,
        extend: bool = False,
        resumes: bool = False,
        by_row: bool = False,
    ) -> None:
        self.reading: Reading = reading
        self.encoder: Encoder | None = encoder
        self.extend: bool = extend and encoder is not None
        self.resumes: bool = resumes
        #: whether each row becomes features by itself, as where rows come one by one
        self.by_row: bool = by_row and self.learns
        lacks = reading.missing in ("zero", "mean", "skip")
        #: whether a later file, or a file to predict, may lack a column
        self.lacking: bool = lacks if reading.lacking is None else reading.lacking
        #: reason for each column that was left out, by name
        self.useless: dict[str, str] = {}
        #: kinds of the columns known beforehand
        self.kinds: dict[str, str] = dict.fromkeys(reading.categorical, "text")
        #: whether the columns of the source have types, so that a dictionary holds categories
        self.typed: bool = False
        #: the target asked for, or that of the saved encoder
        self.known_target = reading.target
        # Columns that are not wanted are not read.
        self._unread = set(reading.exclude)
        self._only = set(reading.features) if isinstance(reading.features, tuple) else None
        if reading.labels and reading.target is not None:
            self.kinds[reading.target] = "text"
        if encoder is not None:
            if self.extend:
                encoder.na_values = tuple(dict.fromkeys((*encoder.na_values, *reading.na_values)))
            self.kinds = encoder.stored
            if encoder.target_form and encoder.target is not None:
                self.kinds[encoder.target] = "text"
            self.known_target = encoder.target if reading.target is None else reading.target
            self._unread -= self.kinds.keys()
            self._only = None if self.extend else set(self.kinds)

    @property
    def extends(self) -> bool:
        """Whether columns that appear in mid-stream become features."""
        return self.extend or (self.encoder is None and self.reading.features is None)

    @property
    def learns(self) -> bool:
        """Whether to learn from the rows: new values and columns then extend the encoder."""
        return self.extend or self.resumes or self.encoder is None

    def reads(self, name: str) -> bool:
        """Whether a column is wanted; the others are not read."""
        if name in (self.known_target, self.reading.group, self.reading.time, *self.reading.keep):
            return True
        return name not in self._unread and (self._only is None or name in self._only)

    def resolve(
        self,
        first: pa.RecordBatch,
        names: Sequence[str],
        announced: Sequence[str],
        source: str,
        grows: bool,
    ) -> tuple[Encoder, str | None]:
        """Encoder and target for tables that begin with the batch ``first``.

        ``names`` are all columns known so far; those in ``announced`` are features unless others
        are asked for. ``grows``: later files may have more columns, which ``exclude`` may name.
        """
        present = set(names)
        target = self.reading.target
        if target is not None and target not in present:
            raise missing_column(target, names, source)
        if target is None and self.encoder is not None and self.encoder.target in present:
            target = self.encoder.target
        require_distinct(names, source)
        encoder = self.encoder
        if encoder is None:
            # Excluded columns may be among those that come later.
            reading = self.reading
            named = reading.categorical + reading.keep_columns + (() if grows else reading.exclude)
            for name in [*(self._only or ()), *named]:
                if name not in present:
                    raise missing_column(name, names, source)
            return self._new(first, announced, target, source), target
        if encoder.n_vector is not None:
            raise DataError(
                f"the model was learned from vectors of "
                f"{count(encoder.n_vector, 'unnamed feature')}; give an array, not a table",
                source=source,
            )
        for column in encoder.columns:
            if column.name not in present and not (column.late or self.lacking):
                raise missing_column(column.name, names, source, gone=True)
        if self.extend:
            left = {*self.reading.exclude, *encoder.kinds, target}
            encoder.extend(self._columns(first, [n for n in announced if n not in left], source))
        return encoder, target

    def _new(
        self, first: pa.RecordBatch, announced: Sequence[str], target: str | None, source: str
    ) -> Encoder:
        left = {*self.reading.exclude, target}
        names = announced if self.reading.features is None else self.reading.features
        if isinstance(names, int):
            raise DataError("a table has named columns; features are their names", source=source)
        columns = self._columns(first, [n for n in names if n not in left], source)
        if self.reading.tidy:
            columns = self._without_index(first, columns)
            if first.num_rows >= FIRST_ROWS:
                columns = self._useful(first, columns)
        if all(column.kind == "empty" for column in columns):
            columns = [Column(column.name, "number") for column in columns]
        if not columns:
            raise DataError(
                "no feature columns are left once target and excluded columns are taken out",
                source=source,
            )
        encoder = Encoder(
            without_counts(columns),
            n_hash=self.reading.n_hash,
            max_categories=self.reading.max_categories,
            statistics=self.reading.statistics,
            na_values=self.reading.written.na_values,
            target=target,
            target_form=self._target_form(first, target, source),
        )
        rows = first.slice(0, FIRST_ROWS)
        with suppress(DataError):
            encoder.begin(encoder.read(rows), rows.num_rows)
        return encoder

    def _target_form(self, first: pa.RecordBatch, target: str | None, source: str) -> str:
        """How to read a text target: as labels, or as numbers with marks in them."""
        at = -1 if target is None else first.schema.get_field_index(target)
        if self.reading.labels:
            return "text"
        if (
            at < 0
            or kind_of(first.schema.field(at).type) != "text"
            or target in self.reading.categorical
        ):
            return ""
        try:
            # labels that look like times are labels
            how = self.reading.written._replace(dates="dayfirst")
            column = written_column(first.column(at), str(target), how)
        except ValueError as error:
            raise DataError(str(error), source=source, column=target) from None
        return column.form if column.kind == "number" else ""

    def _without_index(self, first: pa.RecordBatch, columns: list[Column]) -> list[Column]:
        """Leave out the index of a table, unless it was asked for or stands alone."""
        named = (*self.reading.keep_columns, *self.reading.categorical)
        if len(columns) < 2 or columns[0].name in named or columns[0].name != first.schema.names[0]:
            return columns
        with suppress(DataError):
            if is_index(columns[0], given(first.column(0), columns[0])):
                self.useless[columns[0].name] = "is an index: it has no name and counts the rows"
                return columns[1:]
        return columns

    def _useful(self, first: pa.RecordBatch, columns: list[Column]) -> list[Column]:
        """Leave out columns that tell nothing about other rows, unless they were asked for.

        Constant columns stay and wait for another value.
        """
        useful = []
        for column in columns:
            if column.name not in (*self.reading.keep_columns, *self.reading.categorical):
                with suppress(DataError):
                    if column.kind == "empty":
                        useful.append(column)
                        continue
                    array = first.column(first.schema.get_field_index(column.name))
                    values = given(array, column, self.reading.written.na_values)
                    if why := why_useless(column, values, self.reading.statistics):
                        self.useless[column.name] = why
                        continue
                    column = if_constant(column, values)
            useful.append(column)
        if all(column.constant is not None for column in useful):
            for column in columns:
                self.useless.pop(column.name, None)
            return columns
        return useful

    def _columns(self, first: pa.RecordBatch, names: list[str], source: str) -> list[Column]:
        how = self.reading.written
        return [
            column_of(first, name, self.is_category(first, name), source, how) for name in names
        ]

    def is_category(self, batch: pa.RecordBatch, name: str) -> bool:
        """Whether a column holds categories, because it was asked for or by its type."""
        if name in self.reading.categorical:
            return True
        at = batch.schema.get_field_index(name) if self.typed else -1
        return at >= 0 and pa.types.is_dictionary(batch.schema.field(at).type)
