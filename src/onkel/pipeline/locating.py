"""Errors in terms of the stream's rows and the columns' names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onkel.errors import DataError
from onkel.pipeline.statistics import TARGET

if TYPE_CHECKING:
    from onkel.columns.encoding import Encoder


def located(
    error: DataError,
    start: int,
    source: str | None,
    settings: dict[str, Any],
    encoder: Encoder | None,
) -> DataError:
    """The error of a block that begins at row ``start``, with the source's rows and columns."""
    column = error.column
    if column == TARGET:
        column = settings.get("target") or (encoder and encoder.target) or TARGET
    elif isinstance(column, int) and encoder is not None:
        column = encoder.column_of(column)
    told = type(error)(
        error.message,
        source=error.source or source,
        row=None if error.row is None else error.row + start,
        column=column,
        value=error.value,
    )
    told.predictions = error.predictions
    told.scores, told.classes = error.scores, error.classes
    return told
