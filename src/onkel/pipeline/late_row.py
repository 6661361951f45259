"""A copy of one row, kept while it waits for its label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from onkel.columns.failures import shorten
from onkel.errors import DataError
from onkel.numerics.arrays import as_dense, as_values
from onkel.pipeline.rows import NamedRow
from onkel.pipeline.stream_model import StreamModel


def kept(x: Any, model: Any) -> Any:
    """A row as a dict, or as an array (1, d) where the model's columns have no names.

    Raises
    ------
    DataError
        ``x`` is not one row.
    """
    takes_names = isinstance(model, StreamModel)
    if takes_names and isinstance(x, Mapping | NamedRow):
        return dict(x.items())
    found = _records(x) if takes_names and hasattr(x, "columns") else [_vector(x)]
    if len(found) != 1 or found[0] is None:
        what = "a dict or an array (d,)" if takes_names else "an array (d,)"
        raise DataError(f"one row is expected, {what}; got {shorten(x)}")
    return _by_position(found[0], model) if takes_names else found[0]


def _records(x: Any) -> list[dict[str, Any]]:
    """The rows of a frame or table: of polars, Arrow or pandas."""
    for name in ("to_dicts", "to_pylist"):
        if hasattr(x, name):
            return list(getattr(x, name)())
    return list(x.to_dict("records"))


def _vector(x: Any) -> np.ndarray | None:
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
