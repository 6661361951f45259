"""Rows as users hold them, dicts and arrays, as Arrow tables with the columns of a model."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime, time
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from onkel.columns.failures import shorten
from onkel.columns.notation import GAPS, TIME_OF_DAY, is_missing, text_of
from onkel.errors import DataError
from onkel.numerics.arrays import issparse, unmasked

if TYPE_CHECKING:
    import pyarrow as pa

    from onkel.columns.encoding import Encoder


@runtime_checkable
class _Series(Protocol):
    """Of pandas or polars."""

    def to_list(self) -> list[object]: ...


def _listed(values: object) -> Any:
    """A column of any library as a list or array; a 0-d array as its one value."""
    import pyarrow as pa

    if isinstance(values, np.ndarray):
        return values if values.ndim else values[()]
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values.to_pylist()
    return values.to_list() if isinstance(values, _Series) else values


# Units of NumPy that Arrow lacks.
_COARSE = ("Y", "M", "W", "h", "m")
_WHOLE = (list, tuple, range, np.ndarray)


def is_column(values: object) -> bool:
    """Whether values of a dict are a whole column, not one value."""
    return isinstance(_listed(values), _WHOLE)


def table_of_dict(
    data: Mapping[str, object], encoder: Encoder | None, known: Collection[str] | None
) -> pa.Table:
    """A table of one row, or of columns of equal length; see `table_of_rows`."""
    listed = {str(name): _listed(values) for name, values in data.items()}
    columns = [isinstance(v, _WHOLE) for v in listed.values()]
    if not any(columns):
        return table_of_rows([listed] if listed else [], encoder, known)
    if not all(columns):
        one = next(name for name, values in listed.items() if isinstance(values, _WHOLE))
        raise DataError(
            "a dict of one row or of whole columns is expected; this one mixes values and lists, "
            f"such as that of {one!r}"
        )
    return _table(listed, encoder)


def table_of_rows(
    rows: Iterable[object], encoder: Encoder | None, known: Collection[str] | None
) -> pa.Table:
    """Rows as a table; a key that a row lacks is a gap.

    ``known``: other keys are left out, and a row needs one that is a column.
    """
    columns: dict[str, list[object]] = {}
    for n, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise DataError(f"a dict is expected, got {shorten(row)}", row=n, source="the rows")
        if known is not None and encoder is not None:
            row = {name: value for name, value in row.items() if str(name) in known}
            if not any(str(name) in encoder.kinds for name in row):
                kinds = list(encoder.kinds)
                shown = ", ".join(map(repr, kinds[:12])) + (", ..." * (len(kinds) > 12))
                text = f"none of its keys is a column of the model; these are {shown}"
                raise DataError(text, source="the rows", row=n)
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


def _table(columns: Mapping[str, Iterable[object]], encoder: Encoder | None) -> pa.Table:
    import pyarrow as pa

    from onkel.columns.arrow import check_names

    check_names(columns, "the rows")
    kinds = {} if encoder is None else encoder.stored
    gaps = GAPS.union(() if encoder is None else encoder.na_values)
    arrays = {name: _array(name, values, kinds.get(name), gaps) for name, values in columns.items()}
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(f"columns differ in length: {lengths}")
    return pa.table(arrays)


def _array(
    name: str, values: Iterable[object], kind: str | None, gaps: Collection[str]
) -> pa.Array:
    """Python values as an Arrow column; a known column is read as its kind."""
    import pyarrow as pa

    from onkel.columns.arrow import arrow_array, without_type

    values = unmasked(values)
    if isinstance(values, np.ndarray) and values.dtype.kind not in "OU":
        if values.dtype.kind in "mM" and np.datetime_data(values.dtype)[0] in _COARSE:
            values = values.astype(f"{values.dtype.kind}8[s]")
        return without_type(pa.array(np.ascontiguousarray(values), from_pandas=True))
    found = list(values)
    if kind == "text":
        found = [None if is_missing(v) else text_of(v, name, k) for k, v in enumerate(found)]
    elif kind == "time":
        found = [_moment(name, row, v, gaps) for row, v in enumerate(found)]
    return arrow_array(found, name, "the rows")


def _moment(name: str, row: int, value: object, gaps: Collection[str]) -> Any:
    """A time; text is read as ISO 8601 and converted to UTC if it has a zone."""
    if not isinstance(value, str):
        return value
    if value.strip() in gaps:
        return None
    try:
        if TIME_OF_DAY.fullmatch(value.strip()):
            return time.fromisoformat(value.strip())
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise DataError(
            f"{shorten(value)} stands where a time is expected, such as '2024-05-31 12:00'",
            source="the rows", row=row, column=name, value=value,
        ) from None  # fmt: skip
    return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
