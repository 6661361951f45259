"""One row, in whatever form it is given, as a copy that waits for its label.

A row is a dict where the model knows its columns by name, else an array (1, d).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from onkel.annotations import Row
from onkel.columns.failures import shorten
from onkel.errors import DataError
from onkel.numerics.arrays import as_dense, as_values
from onkel.pipeline.rows import NamedRow, extra_columns
from onkel.pipeline.stream_model import StreamModel


def without_new_columns(x: Any, model: StreamModel) -> Any:
    """A row without the columns that the model never had, if it does not leave them out itself."""
    if model.keys.extra != "error":
        return x
    encoder = model.encoder
    if encoder is None or encoder.n_vector is not None:
        return x
    new = extra_columns(x, encoder, model.settings) if isinstance(x, dict) else []
    return {name: value for name, value in x.items() if name not in new} if new else x


def with_gaps(x: object, model: Any) -> Any:
    """A row that waited, with gaps for the columns that came after it."""
    encoder = model.encoder if isinstance(model, StreamModel) else None
    if encoder is None or not isinstance(x, dict):
        return x
    return {column.name: None for column in encoder.columns if column.name not in x} | x


def copied(x: object, model: Any) -> Any:
    """A row as a dict, or as an array (1, d) where the model's columns have no names.

    Raises
    ------
    DataError
        ``x`` is not one row.
    """
    takes_names = isinstance(model, StreamModel)
    if takes_names and type(x) is dict:
        return x.copy()
    if takes_names and isinstance(x, Mapping | NamedRow):
        return dict(x.items())
    found = _records(x) if takes_names and hasattr(x, "columns") else [_vector(x)]
    if len(found) != 1 or found[0] is None:
        what = "a dict or an array (d,)" if takes_names else "an array (d,)"
        raise DataError(f"one row is expected, {what}; got {shorten(x)}")
    return _by_position(found[0], model) if takes_names else found[0]


def _records(x: Any) -> list[Row]:
    """The rows of a frame or table: of polars, Arrow or pandas."""
    for name in ("to_dicts", "to_pylist"):
        if hasattr(x, name):
            return list(getattr(x, name)())
    return list(x.to_dict("records"))


def _vector(x: object) -> np.ndarray | None:
    """A copy (1, d) of a row; None if ``x`` is not one row."""
    try:
        row = np.array(as_dense(x) if hasattr(x, "toarray") else as_values(x))
    except ValueError:  # values of several shapes
        return None
    single = row.ndim == 1 or (row.ndim == 2 and len(row) == 1)
    return row.reshape(1, -1) if single else None


def _by_position(row: Any, model: StreamModel) -> Any:
    """An array as a dict, where the model knows the names of its columns."""
    encoder = model.encoder
    if isinstance(row, dict) or encoder is None or encoder.n_vector is not None:
        return row
    names, values = [column.name for column in encoder.columns], row[0].tolist()
    if len(names) != len(values):
        raise DataError(f"{len(values)} values where the model has {len(names)} columns: {names}")
    return dict(zip(names, values, strict=True))
