"""Judge columns by their first values: kind, form, and whether they say anything."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from onkel.columns.categories import is_mostly_one
from onkel.columns.column import Column, Given
from onkel.columns.encoding import FIRST_ROWS
from onkel.columns.failures import moved, no_feature
from onkel.columns.notation import FLAGS, Written, are_times_of_day, number_form, time_form
from onkel.columns.running import ROUNDING
from onkel.columns.values import as_numpy, given, kind_of, text_of
from onkel.columns.words import share_words
from onkel.errors import DataError

# No value gets a feature if a text column has more values than this in its first 100 rows.
_MANY = 50
# The first number is subtracted if the largest is more than _FAR times their range, and more
# than _EXACT.
_FAR, _EXACT = 1000.0, 2.0**20
# If more columns than this are mostly one number, the table holds counts or pixels.
_MOST_REPEAT = 8


def column_of(
    first: pa.RecordBatch, name: str, categorical: bool, source: str, how: Written
) -> Column:
    """A column, judged by its values in the batch ``first``."""
    # A source may leave out columns that cannot be features.
    at = first.schema.get_field_index(name)
    t = "object or list" if at < 0 else first.schema.field(at).type
    kind = None if at < 0 else kind_of(t)
    if kind is None:
        raise no_feature(t, name, source=source)
    if pa.types.is_null(t) and not categorical:
        return Column(name, "empty", late=True, constant="")
    column = Column(name, "text" if categorical else kind)
    try:
        if column.kind == "text" and not categorical:
            column = written_column(first.column(at), name, how)
        return by_values(
            column, given(first.column(at).slice(0, FIRST_ROWS), column, how.na_values)
        )
    except ValueError as error:
        if isinstance(error, DataError):
            return column  # the bad row is reported when it is read
        raise DataError(str(error), source=source, column=name) from None


def settled(
    batch: pa.RecordBatch, column: Column, categorical: bool, source: str, how: Written
) -> Column:
    """An empty column as its first value shows it; the same column if the batch has no value.

    Other values do not count, so that it does not matter how rows come in batches.
    """
    array = batch.column(batch.schema.get_field_index(column.name))
    if kind_of(array.type) == "text":
        there = text_of(array, column.name, how.na_values).values >= 0
    else:
        there = ~as_numpy(array.is_null(nan_is_null=True))
    if not there.any():
        return column
    row = int(np.argmax(there))
    try:
        found = column_of(batch.slice(row, 1), column.name, categorical, source, how)
    except DataError as error:
        raise moved(error, rows=row) from None
    zero = f"{found.origin:.12g}" if found.kind in ("number", "flag") else ""
    return replace(found, late=True, repeats=False, constant=zero)


def written_column(array: pa.Array, name: str, how: Written) -> Column:
    """A text column as times, numbers, flags or categories, judged by its values.

    ValueError if these are ambiguous; it names the option that settles it.
    """
    text = text_of(array, name, how.na_values)
    known = [text.known[k] for k in np.unique(text.values[text.values >= 0]).tolist()]
    if not known:
        return Column(name, "text")
    if form := time_form(known, how.dates):
        return Column(name, "time", form=form)
    if are_times_of_day(known):
        return Column(name, "time")
    if form := number_form(known, how.decimal):
        return Column(name, "number", form=form)
    return Column(name, "flag" if FLAGS.keys() >= set(known) else "text")


def by_values(column: Column, first: Given) -> Column:
    """The column with form, origin and repeats set from its first values."""
    kind = column.kind
    if kind == "text":
        texts = [first.known[k] for k in np.unique(first.values[first.values >= 0]).tolist()]
        if len(texts) <= _MANY:
            return replace(column, form="")
        return replace(column, form="words" if share_words(texts) else "many")
    known = first.values[np.isfinite(first.values)]
    if kind == "number" and len(known):
        column = replace(column, repeats=is_mostly_one(known))
    if not len(known) or kind not in ("number", "time"):
        return column
    # numbers so far from 0 that float32 would blur their differences
    largest, spread = float(np.abs(known).max()), float(known.max()) - float(known.min())
    # fractions that differ by rounding alone are left where they are
    rounding = 0.0 < spread <= ROUNDING * largest and bool((known % 1.0).any())
    far = largest > _FAR * spread and largest > _EXACT and not rounding
    return replace(column, origin=float(known[0])) if far or kind == "time" else column


def without_counts(columns: Sequence[Column]) -> list[Column]:
    """The columns, with ``repeats`` unset if it holds for many of them."""
    if sum(column.repeats for column in columns) <= _MOST_REPEAT:
        return list(columns)
    return [replace(column, repeats=False) for column in columns]


# A text column is useless if more than this share of its values are distinct, among at least so
# many: a column of gaps may have few.
_UNIQUE, _FEWEST_VALUES = 0.95, 100
_ID = re.compile(r"(^|[\W_])(id|uuid|guid)$|[a-z](Id|ID)$", re.IGNORECASE)


def if_constant(column: Column, given: Given) -> Column:
    """The column; if all first rows have the same value, made to wait for another one.

    A gap counts as a value: a column with one value and gaps is not constant.
    """
    text = column.kind == "text"
    there = given.values >= 0 if text else np.isfinite(given.values)
    values = np.unique(given.values[there])
    if column.kind == "time" or len(values) > 1 or (len(values) and not there.all()):
        return column
    waiting = replace(column, late=True, repeats=False, constant="")
    if not len(values):
        return waiting
    if text:
        return replace(waiting, constant=given.known[int(values[0])])
    return replace(waiting, origin=float(values[0]), constant=f"{values[0]:.12g}")


# What readers and writers of tables call a column without a name.
_NAMELESS = ("column0", "Unnamed: 0", "__index_level_0__")


def is_index(column: Column, given: Given) -> bool:
    """Whether a first column is the index of a table: it has no name and counts from 0 or 1."""
    values = given.values
    if column.name not in _NAMELESS or column.kind != "number" or len(values) < 3:
        return False
    return values[0] in (0.0, 1.0) and bool((values == np.arange(len(values)) + values[0]).all())


def why_useless(column: Column, given: Given, statistics: bool) -> str | None:
    """Why a column is useless to a learner, judged by 100 rows or more; None if it is useful.

    Words that values share are of use where there are statistics.
    """
    text = column.kind == "text"
    there = given.values >= 0 if text else np.isfinite(given.values)
    values = given.values[there]
    distinct = len(np.unique(values))
    if distinct < 2:
        return None
    if text and column.form == "words" and statistics:
        return None
    if text:
        own = len(values) >= _FEWEST_VALUES and distinct > _UNIQUE * len(values)
        return "has a value of its own in nearly every row" if own else None
    if column.kind != "number" or not there.all() or distinct < len(values):
        return None
    if bool((np.diff(values) == 1.0).all()):
        return "counts the rows"
    whole = bool((values == np.rint(values)).all())
    return "is an id" if whole and _ID.search(column.name) else None
