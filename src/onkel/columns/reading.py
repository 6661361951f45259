"""Read the values of an Arrow column as its kind."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from onkel.columns import arrow_values
from onkel.columns.column import Column, Given
from onkel.columns.failures import misfit
from onkel.columns.kinds.gaps import GAPS
from onkel.columns.kinds.written import numbers_of, seconds_of
from onkel.errors import DataError


def given(array: Any, column: Column, na_values: Collection[str] = ()) -> Given:
    """The values in a column of a table.

    Raises
    ------
    DataError
        A value cannot be read as the column's kind.
    """
    if column.kind == "text":
        # the constant counts as a gap: it says nothing
        constant = (column.constant,) if column.constant else ()
        return text_of(array, column.name, (*na_values, *constant))
    # a frame may hold text where the reader of a file found times, year first
    form = column.form or ("ymd" if column.kind == "time" else "")
    if form and arrow_values.kind_of(array.type) == "text":
        return _parsed(array, column, form, na_values)
    if column.kind == "time":
        return Given(arrow_values.seconds(array, column.name))
    return Given(arrow_values.numbers(array, column.name, na_values))


def text_of(array: Any, name: str, na_values: Collection[str] = ()) -> Given:
    """Text without blanks around it; the usual gaps and ``na_values`` are missing."""
    index, known = arrow_values.categories(array, name)
    values = [value.strip() for value in known]
    gone = np.array([value in GAPS or value in na_values for value in values] + [True])
    return Given(np.where(gone[index], -1, index), values)


def _parsed(array: Any, column: Column, form: str, na_values: Collection[str]) -> Given:
    """Numbers or times that are written as text."""
    text = text_of(array, column.name, na_values)
    parse = seconds_of if column.kind == "time" else numbers_of
    values = np.append(parse(text.known, form), np.nan)
    found = values[text.values]
    bad = np.isnan(found) & (text.values >= 0)
    if bad.any():
        row = int(np.argmax(bad))
        value = text.known[text.values[row]]
        what = "time" if column.kind == "time" else "number"
        raise DataError(
            misfit(value, f"a {what}"),
            row=row,
            column=column.name,
            value=value,
        )
    return Given(found)
