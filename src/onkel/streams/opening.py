"""Open any source of rows as a stream of blocks."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import Any

import numpy as np

from onkel.columns.encoding import POLICIES, Encoder
from onkel.columns.failures import missing_column
from onkel.columns.screening import Written
from onkel.errors import DataError
from onkel.streams.dialect import Dialect
from onkel.streams.files import FileRef, find_files, find_format
from onkel.streams.schema import Choice, as_names
from onkel.streams.source import Source, TableSource
from onkel.streams.stream import Stream


def open_stream(
    source: Any, *, target: str | None = None, format: str | None = None,
    features: Iterable[str] | int | None = None, exclude: Iterable[str] = (),
    categorical: Iterable[str] = (), n_hash: int = 32, max_categories: int = 64,
    statistics: bool = False, missing: str = "error", block_rows: int = 4096, shuffle: int = 0,
    random_state: int | None = None, encoder: Encoder | None = None, extend: bool = False,
    skip_rows: int = 0, dtype: Any = "float32", fingerprint: bool | str = False,
    keep: Iterable[str] = (), sep: str | None = None, encoding: str | None = None,
    header: bool = True, na_values: Iterable[str] = (), labels: bool = False,
    thousands: str | None = None, decimal: str = ".", dates: str | None = None,
    group: str | None = None, time: str | None = None, tidy: bool = False,
    keep_columns: Iterable[str] = (),
) -> Stream:  # fmt: skip
    """Open any source of rows as a stream of blocks, in bounded memory.

    Parameters
    ----------
    source : path, str, array, table, or iterable
        A file; a folder (all data files in it, by name); a glob; a list of these; ``"-"`` for
        standard input; an fsspec URL. An array or CSR matrix of shape (n, d), or a pair (X, y).
        A pandas or polars frame, an Arrow table or record-batch reader, anything with
        ``__arrow_c_stream__``. An iterable of pairs ``(x, y)`` with x a dict or a vector.
    target : str, optional
        Target column of a table. By default that of the ``encoder``, if the table has it.
    format : {"csv", "tsv", "parquet", "arrow", "jsonl", "svmlight"}, optional
        By default the file's ending decides (text files may also end in ``.gz``, ``.bz2``,
        ``.xz``, ``.zst``).
    features : list of str, optional
        Columns to use; all but the target by default. For svmlight: the number of features.
    exclude : list of str
        Columns to leave out, also if only a later file has them.
    categorical : list of str
        Columns to read as categories although they look like numbers.
    n_hash : int, default=32
        Features shared by the values of a text column beyond ``max_categories``.
    max_categories : int, default=64
        Values of a text column that have a feature of their own.
    statistics : bool, default=False
        Whether text columns also give the codes of their values, for a `StreamModel`.
    missing : {"error", "auto", "zero", "mean", "skip"}, default="error"
        What to do with missing values in features: refuse them, use 0, use the running mean of
        the column, or drop the row (which then does not count). With "auto" a missing number
        becomes the running mean, with 1 in an extra feature; missing text is a category. If a
        later file lacks a column, its values are missing with "zero", "mean" and "skip"; the other
        policies refuse the file. Infinite values are always refused. Rows of a table without a
        target are left out and do not count.
    block_rows : int, default=4096
        Rows per block, except the last.
    shuffle : int, default=0
        Size of the shuffle buffer in rows; 0 keeps the order.
    random_state : int, optional
        Seed of the shuffle.
    encoder : Encoder, optional
        Encoder of a saved model: the same columns in any order become the same features.
    extend : bool, default=False
        Whether columns of a table that the ``encoder`` does not know become new features behind
        the old ones; otherwise they are left out. Without an encoder, a column or key that appears
        in a later file or row always becomes one, unless ``features`` names those to use.
    skip_rows : int, default=0
        Rows to leave out at the start, to resume.
    dtype : {"float32", "float64"}, default="float32"
    fingerprint : bool or str, default=False
        Whether to compute ``Stream.fingerprint``. A text is the fingerprint of the first
        ``skip_rows`` rows of an earlier run: other rows are refused.
    sep : str, optional
        Separator of the fields of a CSV file; by default the header decides.
    encoding : str, optional
        Encoding of a text file, such as "latin-1"; UTF-8 by default.
    header : bool, default=True
        Whether the first line of a CSV file may name the columns; else they are c0, c1, ...
    na_values : list of str
        Texts that mean a missing value, besides the usual: nothing, "?", "NA", "-", "None",
        "NaN", ...
    labels : bool, default=False
        Whether the target is text, whatever it looks like: both 1 and "one" are then labels.
    thousands : str, optional
        Mark that numbers may have between thousands. Needed only if the first rows have none;
        marks in the first rows are found without it.
    decimal : {".", ","}, default="."
        Decimal mark of numbers in text files.
    dates : {"dayfirst", "monthfirst"}, optional
        Order in times such as 2/3/2024, if the first rows do not show it.
    tidy : bool, default=False
        Whether to leave out columns of a new table that tell nothing about other rows: those that,
        judged by the first rows, count the rows, are ids, or have a text of their own in nearly
        every row. ``Stream.useless`` names them. A column that is constant in the first rows waits
        until another value comes (``Column.constant``).
    keep_columns : list of str
        Columns that ``tidy`` keeps.
    keep : list of str
        Columns of a table to hand on unchanged through `Stream.kept`.
    group : str, optional
        Column with the series that each row belongs to, see `Block.groups`. It is also a feature
        unless excluded.
    time : str, optional
        Column with the time of each row, as times or seconds, see `Block.times`. It is also a
        feature unless excluded.

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
    _check(missing, block_rows, shuffle, skip_rows, n_hash, max_categories)
    wide = _float_type(dtype)
    written = Written(decimal, dates, tuple(as_names(na_values)))
    written.check()
    dialect = Dialect.of(sep, encoding, header, written, thousands)
    if features is not None and not isinstance(features, int):
        features = as_names(features)
    choice = Choice(
        target, features, as_names(exclude), as_names(categorical), n_hash, max_categories,
        statistics, encoder, extend and encoder is not None, missing, written, labels=labels,
        tidy=tidy, asked=tuple(as_names(keep_columns)), resumes=skip_rows > 0,
        keep=tuple(as_names(keep)), group=group, time=time,
    )  # fmt: skip
    opened, encoder, target = open_source(source, format, choice, dialect)
    return Stream(
        opened, encoder, choice, target=target, block_rows=int(block_rows), shuffle=int(shuffle),
        random_state=random_state, skip_rows=int(skip_rows), dtype=wide, fingerprint=fingerprint,
    )  # fmt: skip


def _float_type(dtype: Any) -> np.dtype:
    for known in (np.float32, np.float64):
        try:
            if np.dtype(dtype) == known:
                return np.dtype(known)
        except TypeError:
            break
    raise ValueError(f"dtype must be float32 or float64, got {dtype!r}")


def _check(
    missing: str, block_rows: int, shuffle: int, skip_rows: int, n_hash: int, max_categories: int
) -> None:
    if missing not in POLICIES:
        raise ValueError(f"missing must be one of {', '.join(POLICIES)}, got {missing!r}")
    if block_rows < 1 or n_hash < 1:
        raise ValueError(f"block_rows={block_rows} and n_hash={n_hash} must be at least 1")
    if shuffle < 0 or skip_rows < 0 or max_categories < 0:
        raise ValueError(f"{shuffle=}, {skip_rows=} and {max_categories=} must be >= 0")


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
        from onkel.streams.tables import ParquetSource

        return _table(ParquetSource(files), choice)
    if kind == "arrow":
        from onkel.streams.tables import ArrowSource

        return _table(ArrowSource(files), choice)
    kinds = choice.kinds if kind == "jsonl" else _as_written(choice)
    options = files, kinds, choice.known_target, choice.reads
    if kind == "jsonl":
        from onkel.streams.jsonl import JsonlSource

        return _table(JsonlSource(*options, dialect), choice)
    if kind not in ("csv", "tsv"):
        raise DataError(f"unknown format {kind!r}")
    from onkel.streams.csv import CsvSource

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
