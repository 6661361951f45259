"""Choose the source that reads what the user gives."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import Any

import numpy as np

from onkel.columns.choosing import Choice
from onkel.columns.encoding import Encoder
from onkel.columns.failures import missing_column
from onkel.errors import DataError
from onkel.streams.dialect import Dialect
from onkel.streams.files import FileRef, find_files, find_format
from onkel.streams.sources.source import Source
from onkel.streams.sources.table_source import TableSource

Opened = tuple[Source, Encoder, str | None]


def open_source(source: Any, format: str | None, choice: Choice, dialect: Dialect) -> Opened:
    """Source, encoder and target column of anything that :func:`open_stream` takes."""
    if _is_files(source):
        return _files(find_files(source), format, choice, dialect)
    y = None
    if isinstance(source, tuple) and len(source) == 2:
        source, y = source
    if type(source).__module__.startswith("pyarrow") or _is_table(source):
        from onkel.streams.arrays import as_target
        from onkel.streams.tables import FrameSource

        return _table(FrameSource(source, None if y is None else as_target(y)), choice)
    _no_columns(choice, y is not None)
    sparse = type(source).__module__.startswith("scipy.sparse")
    if isinstance(source, np.ndarray) or sparse or y is not None:
        from onkel.streams.arrays import ArraySource

        array = ArraySource(source, y)
        return array, array.encoder_for(choice.encoder), None
    return _rows(source, choice)


def _is_files(source: Any) -> bool:
    if isinstance(source, (list, tuple)) and source:
        return all(isinstance(s, (str, PathLike)) for s in source)
    return isinstance(source, (str, PathLike))


def _is_table(source: Any) -> bool:
    if isinstance(source, (np.ndarray, list, tuple, dict)):
        return False
    from onkel.streams.tables import ArrowRows, Query

    return isinstance(source, (ArrowRows, Query))


def _no_columns(choice: Choice, labelled: bool) -> None:
    """Refuse column names: arrays and rows have none."""
    asked = [] if choice.target is None or labelled else ["target"]
    if choice.features is not None and not isinstance(choice.features, int):
        asked.append("features")
    named = ("exclude", "categorical", "keep", "group", "time")
    asked += [k for k in named if getattr(choice, k)]
    if asked:
        raise DataError(
            f"{' and '.join(asked)} name columns, and arrays and rows of (x, y) have no such "
            "columns; give (X, y), or a table"
        )


def _files(files: list[FileRef], format: str | None, choice: Choice, dialect: Dialect) -> Opened:
    kind = find_format(files, format)
    if kind == "svmlight":
        return _svmlight(files, choice)
    if kind == "parquet":
        from onkel.streams.binary import ParquetSource

        return _table(ParquetSource(files), choice)
    if kind == "arrow":
        from onkel.streams.binary import ArrowSource

        return _table(ArrowSource(files), choice)
    kinds = choice.kinds if kind == "jsonl" else _as_written(choice)
    options = files, kinds, choice.known_target, choice.reads
    if kind == "jsonl":
        from onkel.streams.jsonl.source import JsonlSource

        return _table(JsonlSource(*options, dialect), choice)
    if kind not in ("csv", "tsv"):
        raise DataError(f"unknown format {kind!r}")
    from onkel.streams.csv.source import CsvSource

    if choice.encoder is not None:
        dialect = dialect._replace(na_values=choice.encoder.na_values)
    if kind == "tsv" and dialect.sep is None:
        dialect = dialect._replace(sep="\t")
    return _table(CsvSource(*options, dialect, choice.target), choice)


def _as_written(choice: Choice) -> dict[str, str]:
    """Kinds of the columns, with numbers to keep as text, so that 00501 or 17 digits stay exact.

    The encoder reads numbers in text, too.
    """
    kinds = choice.kinds
    keys = [name for name in choice.keep if kinds.get(name, "number") == "number"]
    return kinds | dict.fromkeys(keys, "text")


def _svmlight(files: list[FileRef], choice: Choice) -> Opened:
    from onkel.streams.svmlight import SvmlightSource

    if choice.features is not None and not isinstance(choice.features, int):
        raise DataError("svmlight has no named columns; features is the number of features")
    if choice.encoder is not None and choice.encoder.n_vector is None:
        raise DataError("the model was learned from named columns; svmlight has none")
    opened = SvmlightSource(files, choice.features)
    encoder = opened.encoder_for(choice.encoder)
    opened.prepare(encoder)
    return opened, encoder, None


def _table(table: TableSource, choice: Choice) -> Opened:
    encoder, target = choice.resolve(
        table.first, table.names, table.announced, table.name, table.grows
    )
    for name in (*choice.keep, choice.group, choice.time):
        if name is not None and name not in table.names:
            raise missing_column(name, table.names, table.name)
    table.missing, table.keep, table.learns = choice.missing, choice.keep, choice.learns
    table.group, table.time = choice.group, choice.time
    table.extends = choice.extend or (choice.encoder is None and choice.features is None)
    table.prepare(encoder, target, choice.exclude)
    return table, encoder, target


def _rows(source: Any, choice: Choice) -> Opened:
    from onkel.streams.rows import RowSource

    if not isinstance(source, Iterable):
        raise DataError(
            f"a {type(source).__name__} is not a source of rows; give a path, an array, a table, "
            "or an iterable of (x, y)"
        )
    rows = RowSource(source)
    encoder = rows.encoder_for(choice)
    rows.missing = choice.missing
    rows.prepare(encoder)
    return rows, encoder, None
