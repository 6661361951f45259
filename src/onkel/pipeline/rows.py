"""Open rows in any form that users hold them as a stream for a model's encoder."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeGuard, runtime_checkable

import numpy as np
import pyarrow as pa

from onkel.columns.failures import missing_column
from onkel.errors import DataError, NoRowsError
from onkel.numerics.arrays import as_values, issparse, unmasked
from onkel.pipeline.rows_as_tables import is_column, table_by_position, table_of_dict, table_of_rows
from onkel.streams.reading import Reading

if TYPE_CHECKING:
    from onkel.columns.encoding import Encoder
    from onkel.streams import Stream


def is_array(data: object) -> bool:
    """Whether rows have no column names: an array, a sparse matrix, a list of lists."""
    if isinstance(data, (list, tuple)):
        return not any(isinstance(row, (str, PathLike, Mapping)) for row in data)
    return isinstance(data, np.ndarray) or issparse(data)


class Keys(NamedTuple):
    """What becomes of rows without a key, and of those with a key too many.

    None: as usual. A dict may lack keys ("gap"), and others are left out ("ignore"); a table needs
    all columns, and no others ("error").
    """

    missing: str | None = None
    extra: str | None = None

    def __bool__(self) -> bool:
        return any(self)

    def checked(self) -> Keys:
        """Itself; ValueError where it says something else."""
        for name, value in self._asdict().items():
            usual = "gap" if name == "missing" else "ignore"
            if value not in (None, usual, "error"):
                raise ValueError(f"{name}={value!r} must be {usual!r}, 'error' or None")
        return self

    def lacking(self, dicts: bool) -> bool | None:
        """Whether rows may lack a column; None: what reads them decides."""
        return (True if dicts else None) if self.missing is None else self.missing == "gap"

    def ignores(self, dicts: bool) -> bool:
        """Whether columns that the model never had are left out when it predicts."""
        return dicts if self.extra is None else self.extra == "ignore"


USUAL_KEYS = Keys()


def are_dicts(data: object) -> bool:
    """Whether rows come as dicts, each with keys of its own: one, or a list of them."""
    if isinstance(data, (list, tuple)):
        return bool(data) and isinstance(data[0], Mapping)
    if isinstance(data, Mapping) and not issparse(data):
        return not any(map(is_column, data.values()))
    return isinstance(data, NamedRow)


def open_to_predict(
    data: object,
    encoder: Encoder,
    settings: dict[str, Any],
    keys: Keys = USUAL_KEYS,
    by_group: bool = False,
) -> Stream:
    """Open rows to predict; the encoder is not changed. ``by_group``: also read their groups.

    A DataError names columns that are missing, or that the model never had.
    """
    from onkel.streams import open_stream

    dicts = are_dicts(data)
    ignores = keys.ignores(dicts)
    known = {*encoder.kinds, *other_columns(encoder, settings)} if dicts and ignores else None
    source = _source(data, encoder, known)
    how = {"dtype": _dtype(source, settings), "lacking": keys.lacking(dicts)}
    group = settings.get("group") if by_group else None
    reading = reading_to_predict(settings, group=group, **how)
    stream = open_stream(source, reading, encoder=copy.deepcopy(encoder))
    if keys.missing == "gap" and not dicts and not encoder.kinds.keys() & set(stream.columns):
        raise missing_column(next(iter(encoder.kinds)), stream.columns, stream.source)
    extra = [] if ignores else extra_columns(stream.columns, encoder, settings)
    if extra:
        names = ", ".join(map(repr, extra))
        raise DataError(
            f"the model never had the columns {names}; drop them, let it learn them first "
            "(partial_fit), or load it with extra='ignore'",
            source=stream.source,
        )
    return stream


def open_to_learn(
    data: object,
    y: object,
    encoder: Encoder | None,
    settings: dict[str, Any],
    target: str | None,
    keys: Keys = USUAL_KEYS,
    by_row: bool = False,
    **more: Any,
) -> Stream:
    """Open rows to learn. New columns widen a copy of the encoder, ``Stream.encoder``.

    ``by_row``: as of `onkel.open_stream`; ``more``: other options of the reading.
    """
    from onkel.streams import open_stream

    if y is None and _is_pair(data):
        data, y = data
    if y is not None:
        if target is not None:
            raise ValueError("y and target= were both given; the targets are one of them")
        if not is_array(data) and isinstance(data, (str, PathLike)):
            raise ValueError("the targets of a file are one of its columns: give target=, not y")
    source = _source(data, encoder)
    reading = _as_learned(settings, dtype=_dtype(source, settings), **more)
    if encoder is not None:
        reading = reading.changed(lacking=keys.lacking(are_dicts(data)))
    how: dict[str, Any] = {"by_row": by_row}
    if encoder is None:
        reading = reading.changed(statistics=True)
    else:
        how |= {"encoder": copy.deepcopy(encoder), "extend": encoder.n_vector is None}
    if is_array(source):
        return open_stream(source if y is None else (source, as_values(y)), reading, **how)
    if encoder is not None:
        reading = reading.changed(exclude=excluded(settings))
    if y is None:
        return open_stream(source, reading, target=target, **how)
    rows, name = (source, as_values(y)), y.name if isinstance(y, _Named) else None
    stream = open_stream(rows, reading, **how)
    if encoder is None and isinstance(name, str):
        # a column with the name and the values of the targets is not a feature
        if name in stream.columns:
            _check_same(source[name], rows[1], name, stream.source)
            stream = open_stream(rows, reading, target=name, **how)
        stream.encoder.target = name
    return stream


def _check_same(column: object, y: np.ndarray, name: str, source: str) -> None:
    """Refuse a column that has the name of the targets, but other values."""
    values = as_values(column)
    numbers = values.dtype.kind in "biuf" and y.dtype.kind in "biuf"
    if numbers and np.array_equal(values, y, equal_nan=True):
        return
    if numbers or _listed(values) != _listed(y):
        raise DataError(
            f"is a column of X, and y has its name, but other values; rename y if the column is a "
            f"feature (y.rename('next {name}')), else drop the column",
            source=source,
            column=name,
        )


def _listed(values: np.ndarray) -> list[object]:
    """Values as Python's own; None is a missing one."""
    try:
        return pa.array(values, from_pandas=True).to_pylist()
    except pa.ArrowException:
        return [None if value is None else str(value) for value in values.tolist()]


@runtime_checkable
class _Named(Protocol):
    """A series: values with a name."""

    @property
    def name(self) -> object:
        """The name of the values."""


@runtime_checkable
class NamedRow(Protocol):
    """A row of a pandas frame: values with the names of their columns."""

    def items(self) -> Iterable[tuple[str, object]]: ...

    def to_frame(self) -> object: ...


def _is_pair(data: object) -> TypeGuard[tuple[object, object]]:
    """Whether features and targets come as a tuple, as `onkel.streams.open_stream` takes them."""
    return (
        isinstance(data, tuple)
        and len(data) == 2
        and not isinstance(data[0], (str, PathLike, Mapping))
    )


def extra_columns(names: Iterable[str], encoder: Encoder, settings: dict[str, Any]) -> list[str]:
    """Those of the columns that the model never had."""
    if encoder.n_vector is not None:
        return []
    met = {*encoder.kinds, *other_columns(encoder, settings)}
    return [name for name in names if str(name) not in met]


def other_columns(encoder: Encoder, settings: dict[str, Any]) -> list[str]:
    """Columns that are no features: the target, and those that were left out."""
    target = [] if encoder.target is None else [encoder.target]
    return [*target, *excluded(settings)]


def left_out(stream: Stream) -> list[str]:
    """Columns of a new stream that are not features; later tables may have them, too."""
    used = {*stream.encoder.kinds, stream.target}
    return [name for name in stream.columns if name not in used]


def excluded(settings: dict[str, Any]) -> list[str]:
    """Columns that were left out: those that were asked for, and those that did not help."""
    return [*settings.get("exclude", ()), *settings.get("left_out", ())]


def _dtype(source: Any, settings: dict[str, Any]) -> str:
    double = is_array(source) and source.dtype == np.float64
    known: str = settings.get("dtype", "float64" if double else "float32")
    return known


def _source(data: object, encoder: Encoder | None, known: Collection[str] | None = None) -> Any:
    """Data as `onkel.streams.open_stream` takes it: named columns where the model has them."""
    if isinstance(data, NamedRow):
        return table_of_rows([dict(data.items())], encoder, known)
    if isinstance(data, Mapping) and not issparse(data):
        return table_of_dict(data, encoder, known)
    if isinstance(data, (list, tuple)) and data and isinstance(data[0], Mapping):
        return table_of_rows(data, encoder, known)
    if not is_array(data):
        return data
    if isinstance(data, (list, tuple)) and not data:
        raise NoRowsError("has no rows", source="the rows")
    if encoder is None or encoder.n_vector is not None:
        return data if issparse(data) else np.asarray(unmasked(data))
    return table_by_position(data, encoder)


# What a model's settings say of any rows that it reads.
_NOTED = ("missing", "bad_values", "dtype", "sep", "encoding", "header")


def _as_learned(settings: dict[str, Any], **more: Any) -> Reading:
    noted = {name: settings[name] for name in _NOTED if name in settings}
    return Reading(**{"missing": "auto"} | noted | more)


def reading_to_predict(settings: dict[str, Any], **more: Any) -> Reading:
    """How a model reads rows to predict: as it has learned, but every row gets a prediction."""
    reading = _as_learned(settings, **more)
    return reading.changed(missing="error") if reading.missing == "skip" else reading
