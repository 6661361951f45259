"""The values of an Arrow column, read as what the column is."""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.columns import arrow_values
from onkel.columns.column import Column, Given
from onkel.columns.gaps import GAPS

__all__ = ["given"]


def given(array: Any, column: Column) -> Given:
    """What stands in a column of a table.

    Raises
    ------
    DataError
        It cannot be read as the column's kind.
    """
    if column.kind == "text":
        return _text(*arrow_values.categories(array, column.name))
    if column.kind == "time":
        return Given(arrow_values.seconds(array, column.name))
    return Given(arrow_values.numbers(array, column.name))


def _text(index: np.ndarray, known: list[str]) -> Given:
    """Text without blanks around it; what stands for nothing is missing."""
    values = [value.strip() for value in known]
    gone = np.array([value in GAPS for value in values] + [True])
    return Given(np.where(gone[index], -1, index), values)
