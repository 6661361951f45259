"""Dicts, lists and unnamed arrays as Arrow tables with the columns of a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
from scipy.sparse import issparse

from onkel.columns.failures import first_failure, shorten
from onkel.columns.kinds.cells import is_missing, text_of
from onkel.columns.kinds.gaps import GAPS
from onkel.errors import DataError

if TYPE_CHECKING:
    from onkel.columns.encoding import Encoder


@runtime_checkable
class _Series(Protocol):
    """Of pandas or polars."""

    def to_list(self) -> list[Any]: ...


def _listed(values: Any) -> Any:
    """A column of any library as a list or array; a 0-d array as its one value."""
    if isinstance(values, np.ndarray):
        return values if values.ndim else values[()]
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values.to_pylist()
    return values.to_list() if isinstance(values, _Series) else values


def table_of_dict(data: Mapping[Any, Any], encoder: Encoder | None) -> Any:
    """A table of one row, or of columns of equal length."""
    listed = {str(name): _listed(values) for name, values in data.items()}
    columns = [isinstance(v, (list, tuple, range, np.ndarray)) for v in listed.values()]
    if not any(columns):
        return table_of_rows([listed], encoder)
    if not all(columns):
        raise DataError(
            "a dict of one row or of whole columns is expected; this one mixes values and lists"
        )
    return _table(listed, encoder)


def table_of_rows(rows: Iterable[Any], encoder: Encoder | None) -> Any:
    """Rows as a table; a key that a row lacks is a gap."""
    columns: dict[str, list[Any]] = {}
    for n, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise DataError(f"a dict is expected, got {shorten(row)}", row=n, source="the rows")
        for name, value in row.items():
            values = columns.setdefault(str(name), [])
            values += [None] * (n - len(values))
            values.append(value)
    n_rows = max(map(len, columns.values()), default=0)
    for values in columns.values():
        values += [None] * (n_rows - len(values))
    return _table(columns, encoder)


def table_by_position(data: Any, encoder: Encoder) -> Any:
    """An unnamed array as a table with the model's columns, in the model's order."""
    if issparse(data):
        data = data.toarray()
    array = data if isinstance(data, np.ndarray) else np.array(data, dtype=object)
    names = [column.name for column in encoder.columns]
    least = max(k for k, column in enumerate(encoder.columns, 1) if not column.late)
    if array.ndim != 2 or not least <= array.shape[1] <= len(names):
        shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
        raise DataError(
            f"an array of shape (n, {len(names)}) is expected, got shape {array.shape}; the "
            f"columns in their order are: {shown}",
            source="the array",
        )
    return _table(dict(zip(names, array.T, strict=False)), encoder)


def _table(columns: dict[str, Any], encoder: Encoder | None) -> Any:
    kinds = {} if encoder is None else encoder.stored
    arrays = {name: _array(name, values, kinds.get(name)) for name, values in columns.items()}
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(f"columns differ in length: {lengths}")
    return pa.table(arrays)


def _array(name: str, values: Any, kind: str | None) -> Any:
    """Python values as an Arrow column; a known column is read as its kind."""
    if isinstance(values, np.ndarray) and values.dtype != object:
        return pa.array(np.ascontiguousarray(values), from_pandas=True)
    found = list(values)
    if kind == "text":
        found = [None if is_missing(v) else text_of(v, name, k) for k, v in enumerate(found)]
    elif kind == "time":
        found = [_moment(name, row, v) for row, v in enumerate(found)]
    try:
        return pa.array(found, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        row, value = _misfit(found)
        raise DataError(
            f"{shorten(value)} is of another type than the values before it",
            source="the rows", row=row, column=name, value=value,
        ) from None  # fmt: skip


def _moment(name: str, row: int, value: Any) -> Any:
    """A time; text is read as ISO 8601 and converted to UTC if it has a zone."""
    if not isinstance(value, str):
        return value
    if value.strip() in GAPS:
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise DataError(
            f"{shorten(value)} stands where a time is expected, such as '2024-05-31 12:00'",
            source="the rows", row=row, column=name, value=value,
        ) from None  # fmt: skip
    return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)


def _misfit(values: list[Any]) -> tuple[int, Any]:
    """The first value whose type does not fit the values before it, and its row."""

    def works(n: int) -> bool:
        try:
            pa.array(values[:n], from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            return False
        return True

    row = first_failure(len(values), works)
    return row, values[row]
