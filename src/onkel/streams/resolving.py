"""From what a user gives to the source that reads it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from onkel.errors import DataError

from .encoding import Encoder
from .files import FileRef, find_files, find_format
from .sources import Source, TableSource

__all__ = ["open_source"]

Opened = tuple[Source, Encoder, str | None]


def open_source(
    source: Any,
    *,
    format: str | None,
    target: str | None,
    encoder: Encoder | None,
    features: Any,
    exclude: Iterable[str],
    categorical: Iterable[str],
    n_hash: int,
    extend: bool,
    gaps: bool,
) -> Opened:
    """Source, encoder and target column of anything that :func:`open_stream` takes."""
    columns = {"features": features, "exclude": exclude, "categorical": categorical}
    columns |= {"extend": extend and encoder is not None, "gaps": gaps}
    if _is_files(source):
        return _files(source, format, target, encoder, n_hash, columns)
    y = None
    if isinstance(source, tuple) and len(source) == 2:
        source, y = source
    if _speaks_arrow(source):
        from .table_sources import FrameSource

        table = FrameSource(source, None if y is None else _labels(y))
        return _table(table, target, encoder, n_hash, columns)
    _no_columns(target if y is None else None, columns)
    if isinstance(source, np.ndarray) or _is_sparse(source) or y is not None:
        from .array_sources import ArraySource

        array = ArraySource(source, y)
        return array, array.encoder_for(encoder), None
    return _rows(source, encoder, n_hash)


def _is_files(source: Any) -> bool:
    if isinstance(source, (list, tuple)) and source:
        return all(isinstance(s, str) or hasattr(s, "__fspath__") for s in source)
    return isinstance(source, str)


def _speaks_arrow(source: Any) -> bool:
    if hasattr(source, "__arrow_c_stream__") or hasattr(source, "collect_batches"):
        return True
    return type(source).__module__.startswith("pyarrow")


def _is_sparse(source: Any) -> bool:
    return type(source).__module__.startswith("scipy.sparse")


def _labels(y: Any) -> np.ndarray:
    from .array_sources import as_target

    return as_target(y, len(y))


def _no_columns(target: str | None, columns: dict[str, Any]) -> None:
    """Arrays and rows have no columns to name."""
    asked = [k for k, v in columns.items() if v is not None and not isinstance(v, int) and v]
    if target is not None:
        asked.insert(0, "target")
    if asked:
        raise DataError(
            f"{' and '.join(asked)} name columns, and arrays and rows of (x, y) have no such "
            "columns; give (X, y), or a table"
        )


def _files(
    source: Any,
    format: str | None,
    target: str | None,
    encoder: Encoder | None,
    n_hash: int,
    columns: dict[str, Any],
) -> Opened:
    refs = find_files(source)
    kind = find_format(refs, format)
    if kind == "svmlight":
        return _svmlight(refs, encoder, columns)
    kinds = {} if encoder is None else dict(encoder.kinds)
    if encoder is None:
        from .choosing import as_names

        kinds.update(dict.fromkeys(as_names(columns["categorical"]), "text"))
    wish = target if target is not None or encoder is None else encoder.target
    table: TableSource
    if kind in ("csv", "tsv"):
        from .csv_source import CsvSource

        unread = [columns["exclude"]] if isinstance(columns["exclude"], str) else columns["exclude"]
        table = CsvSource(refs, "\t" if kind == "tsv" else None, kinds, wish, unread)
    elif kind == "jsonl":
        from .jsonl_source import JsonlSource

        table = JsonlSource(refs, kinds, wish)
    else:
        from .binary_sources import ArrowSource, ParquetSource

        table = ParquetSource(refs) if kind == "parquet" else ArrowSource(refs)
    return _table(table, target, encoder, n_hash, columns)


def _svmlight(refs: list[FileRef], encoder: Encoder | None, columns: dict[str, Any]) -> Opened:
    from .svmlight import SvmlightSource

    width = columns["features"]
    if width is not None and not isinstance(width, int):
        raise DataError("svmlight has no named columns; features is the number of features")
    if encoder is not None and encoder.n_vector is None:
        raise DataError("the model was learned from named columns; svmlight has none")
    opened = SvmlightSource(refs, width)
    encoder = opened.encoder_for(encoder)
    opened.prepare(encoder)
    return opened, encoder, None


def _table(
    table: TableSource,
    target: str | None,
    encoder: Encoder | None,
    n_hash: int,
    columns: dict[str, Any],
) -> Opened:
    from .choosing import as_names, choose_columns, resolve_target
    from .failures import missing_column

    names = table.names
    target = resolve_target(names, target, encoder, table.name)
    extend, table.gaps = columns.pop("extend"), columns.pop("gaps")
    left_out = set(as_names(columns["exclude"]))
    # columns that may come later are left out when they come
    columns["exclude"] = left_out & set(names) if table.grows else left_out
    table.extends = extend or (encoder is None and columns["features"] is None)
    if encoder is None:
        encoder = choose_columns(
            table.first, names, target=target, n_hash=n_hash, source=table.name, **columns
        )
    elif extend:
        known = [target, *(column.name for column in encoder.columns)]
        left = [name for name in names if name not in known]
        if set(left) - left_out:
            columns = columns | {"features": left, "n_hash": encoder.n_hash}
            found = choose_columns(table.first, names, target=target, source=table.name, **columns)
            encoder.extend(found.columns)
    for column in encoder.columns:
        if column.name not in names and not column.late:
            raise missing_column(column.name, names, table.name)
    if encoder.n_vector is not None:
        raise DataError(
            f"the model was learned from vectors of {encoder.n_vector} unnamed features; "
            "give an array, not a table",
            source=table.name,
        )
    table.prepare(encoder, target)
    table.known |= left_out
    return table, encoder, target


def _rows(source: Any, encoder: Encoder | None, n_hash: int) -> Opened:
    from .rows import RowSource

    if not hasattr(source, "__iter__"):
        raise DataError(
            f"a {type(source).__name__} is not a source of rows; give a path, an array, a table, "
            "or an iterable of (x, y)"
        )
    rows = RowSource(source)
    encoder = rows.encoder_for(encoder, n_hash)
    rows.prepare(encoder)
    return rows, encoder, None
