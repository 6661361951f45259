"""Opening a stream: any source of rows, in blocks."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from .encoding import Encoder
from .missing import POLICIES
from .resolving import open_source
from .stream import Stream

__all__ = ["open_stream"]


def open_stream(
    source: Any,
    *,
    target: str | None = None,
    format: str | None = None,
    features: Iterable[str] | int | None = None,
    exclude: Iterable[str] = (),
    categorical: Iterable[str] = (),
    n_hash: int = 32,
    missing: str = "error",
    block_rows: int = 4096,
    shuffle: int = 0,
    random_state: int | None = None,
    encoder: Encoder | None = None,
    extend: bool = False,
    skip_rows: int = 0,
    dtype: Any = "float32",
) -> Stream:
    """Open any source of rows as a stream of blocks, in bounded memory.

    Parameters
    ----------
    source : path, str, array, table, or iterable
        A file; a folder (all data files in it, by name); a glob; a list of these; ``"-"`` for
        standard input; an fsspec URL. An array or CSR matrix of shape (n, d), or a pair (X, y).
        A pandas or polars frame, an Arrow table or record-batch reader, anything with
        ``__arrow_c_stream__``. An iterable of pairs ``(x, y)`` with x a dict or a vector.
    target : str, optional
        Target column of a table. Left out, an ``encoder`` tells it, if that column is there.
    format : {"csv", "tsv", "parquet", "arrow", "jsonl", "svmlight"}, optional
        Left out, the name of the file tells it (``.gz``, ``.bz2``, ``.zst`` for text files too).
    features : list of str, optional
        Columns to use; all but the target by default. For svmlight: the number of features.
    exclude : list of str
        Columns to leave out, also those that only a later file has.
    categorical : list of str
        Columns to read as categories though they look like numbers.
    n_hash : int, default=32
        Features for each text column.
    missing : {"error", "zero", "mean", "skip"}, default="error"
        What to do with NaN and empty values in features, and with columns that a later file
        lacks: refuse, 0, running mean of the column, or drop the row (which then does not count).
        Infinite values and missing targets are always refused.
    block_rows : int, default=4096
        Rows of every block but the last.
    shuffle : int, default=0
        Size in rows of a shuffle buffer; 0 keeps the order.
    random_state : int, optional
        Seed of the shuffle.
    encoder : Encoder, optional
        That of a saved model: the same columns in any order become the same features.
    extend : bool, default=False
        Whether columns of a table that the ``encoder`` doesn't know become features behind those
        it has, to learn from; else they are left out. Without an encoder, a column or key that
        only comes in a later file or row always does, unless ``features`` names those to use.
    skip_rows : int, default=0
        Rows to leave out at the start, to resume.
    dtype : {"float32", "float64"}, default="float32"

    Returns
    -------
    Stream

    Raises
    ------
    DataError
        Naming file, row (from 0, over all files), column and value: here for what is wrong with
        the source as a whole, or while iterating, after the good rows before the bad one.

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
    _check(missing=missing, block_rows=block_rows, shuffle=shuffle, skip_rows=skip_rows)
    if n_hash < 1:
        raise ValueError(f"n_hash must be at least 1, got {n_hash}")
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64, got {dtype!r}")
    opened, encoder, target = open_source(
        source if not isinstance(source, os.PathLike) else os.fspath(source),
        format=format,
        target=target,
        encoder=encoder,
        features=features,
        exclude=exclude,
        categorical=categorical,
        n_hash=n_hash,
        extend=extend,
        gaps=missing != "error",
    )
    return Stream(
        opened,
        encoder,
        target=target,
        missing=missing,
        block_rows=int(block_rows),
        shuffle=int(shuffle),
        random_state=random_state,
        skip_rows=int(skip_rows),
        dtype=dtype,
    )


def _check(*, missing: str, block_rows: int, shuffle: int, skip_rows: int) -> None:
    if missing not in POLICIES:
        raise ValueError(f"missing must be one of {', '.join(POLICIES)}, got {missing!r}")
    if block_rows < 1:
        raise ValueError(f"block_rows must be at least 1, got {block_rows}")
    if shuffle < 0 or skip_rows < 0:
        raise ValueError(f"shuffle and skip_rows must be >= 0, got {shuffle} and {skip_rows}")
