"""Open any source of rows as a stream of blocks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from onkel.columns.encoding import Encoder
from onkel.errors import DataError
from onkel.streams.files import FileRef, find_files, find_format, is_files
from onkel.streams.reading import Reading, described
from onkel.streams.schema import Schema
from onkel.streams.source import Source
from onkel.streams.stream import Stream


def open_stream(
    source: object,
    reading: Reading | None = None,
    *,
    encoder: Encoder | None = None,
    extend: bool = False,
    skip_rows: int = 0,
    fingerprint: bool | str = False,
    every_row: bool = False,
    by_row: bool = False,
    **how: Any,
) -> Stream:
    """Open any source of rows as a stream of blocks, in bounded memory.

    Parameters
    ----------
    source : path, str, array, table, or iterable
        A file; a folder (all data files in it, by name); a glob; a list of these; ``"-"`` for
        standard input; an fsspec URL. An array or CSR matrix of shape (n, d), or a pair (X, y).
        A pandas or polars frame, an Arrow table or record-batch reader, anything with
        ``__arrow_c_stream__``. An iterable of pairs ``(x, y)`` with x a dict or a vector.
    reading : Reading, optional
        How the source is read. By default, or where they are given, the options below say it.
    encoder : Encoder, optional
        Encoder of a saved model: the same columns in any order become the same features.
    extend : bool, default=False
        Whether columns of a table that the ``encoder`` does not know become new features behind
        the old ones; otherwise they are left out. Without an encoder, a column or key that appears
        in a later file or row always becomes one, unless ``features`` names those to use.
    skip_rows : int, default=0
        Rows to leave out at the start, to resume.
    fingerprint : bool or str, default=False
        Whether to compute ``Stream.fingerprint``. A text is the fingerprint of the first
        ``skip_rows`` rows of an earlier run: other rows are refused.
    every_row : bool, default=False
        Whether rows without a target come as well when the stream is one to learn from; their
        target is None. Blocks to predict have them in any case.
    by_row : bool, default=False
        Whether each row of a table to learn becomes features by itself, as where rows come one by
        one: a column or value is new from its own row on, not from its block on. It is slow.
    {reading}

    Returns
    -------
    Stream

    Raises
    ------
    DataError
        It names file, row (from 0, over all files), column and value. Errors of the source as a
        whole are raised here, those of a row while iterating, after the good rows before it.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel.streams import open_stream
    >>> X = np.arange(10.0).reshape(5, 2)
    >>> for block in open_stream((X, [0, 1, 0, 1, 1]), block_rows=2):
    ...     print(block.start, block.X.shape, block.y)
    0 (2, 2) [0 1]
    2 (2, 2) [0 1]
    4 (1, 2) [1]
    """
    reading = Reading(**how) if reading is None else reading.changed(**how)
    if skip_rows < 0:
        raise ValueError(f"skip_rows must be at least 0, got {skip_rows}")
    schema = Schema(reading, encoder, extend, resumes=skip_rows > 0, by_row=by_row)
    return Stream(_opened(source, schema), schema, int(skip_rows), fingerprint, every_row)


open_stream.__doc__ = described(open_stream.__doc__ or "")


def _opened(source: object, schema: Schema) -> Source:
    """The source of anything that :func:`open_stream` takes."""
    if is_files(source):
        return _files(find_files(source), schema)
    y = None
    if isinstance(source, tuple) and len(source) == 2:
        source, y = source
    if type(source).__module__.startswith("pyarrow") or _is_table(source):
        from onkel.streams.arrays import as_target
        from onkel.streams.tables import FrameSource

        return FrameSource(source, schema, None if y is None else as_target(y)).prepare()
    _no_columns(schema.reading, y is not None)
    sparse = type(source).__module__.startswith("scipy.sparse")
    if isinstance(source, np.ndarray) or sparse or y is not None:
        from onkel.streams.arrays import ArraySource

        return ArraySource(source, y, schema.encoder)
    from onkel.streams.rows import RowSource

    if not isinstance(source, Iterable):
        raise DataError(
            f"a {type(source).__name__} is not a source of rows; give a path, an array, a table, "
            "or an iterable of (x, y)"
        )
    return RowSource(source, schema)


def _is_table(source: Any) -> bool:
    if isinstance(source, (np.ndarray, list, tuple, dict)):
        return False
    from onkel.streams.tables import ArrowRows, Query

    return isinstance(source, (ArrowRows, Query))


def _no_columns(reading: Reading, labelled: bool) -> None:
    """Refuse column names: arrays and rows have none."""
    names = [] if reading.target is None or labelled else ["target"]
    if reading.features is not None and not isinstance(reading.features, int):
        names.append("features")
    named = ("exclude", "categorical", "keep", "group", "time")
    names += [k for k in named if getattr(reading, k)]
    if names:
        raise DataError(
            f"{' and '.join(names)} name columns, and arrays and rows of (x, y) have no such "
            "columns; give (X, y), or a table"
        )


def _files(files: list[FileRef], schema: Schema) -> Source:
    reading = schema.reading
    kind = find_format(files, reading.format)
    if kind == "svmlight":
        from onkel.streams.svmlight import SvmlightSource

        return SvmlightSource(files, schema)
    if kind in ("parquet", "arrow"):
        from onkel.streams.tables import ArrowSource, ParquetSource

        return (ParquetSource if kind == "parquet" else ArrowSource)(files, schema).prepare()
    if kind == "jsonl":
        from onkel.streams.jsonl import JsonlSource

        schema.lacking |= reading.lacking is None
        return JsonlSource(files, schema, schema.kinds, reading).prepare()
    from onkel.streams.csv import CsvSource

    if schema.encoder is not None:
        reading = reading.changed(na_values=schema.encoder.na_values)
    if kind == "tsv" and reading.sep is None:
        reading = reading.changed(sep="\t")
    # numbers and times to keep stay text: 00501 and 1/2/24; the encoder reads those, too
    kinds = schema.kinds
    keys = [name for name in reading.keep if kinds.get(name, "time") in ("number", "time")]
    return CsvSource(files, schema, kinds | dict.fromkeys(keys, "text"), reading).prepare()
