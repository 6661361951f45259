"""Tables written by record batches, in bounded memory, and moved in place when whole."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from onkel._atomic import atomic_file
from onkel.cli.checks import check_outputs

__all__ = ["open_writer"]

Columns = dict[str, Any]
Write = Callable[[Columns], None]


@contextmanager
def open_writer(out: str) -> Iterator[Write]:
    """A function that writes columns to a file, or to stdout for "-".

    Parameters
    ----------
    out : str
        File ending in .parquet, .csv or .jsonl (.ndjson), or "-" for CSV on stdout.

    Yields
    ------
    callable
        Takes a dict of columns of the same length; every call the same names and types.

    Raises
    ------
    ValueError
        If the ending is another, or the folder cannot be written.
    """
    if out == "-":
        with _csv(sys.stdout.buffer) as write:
            yield write
        return
    path = Path(out)
    kinds = {".parquet": _parquet, ".csv": _csv, ".jsonl": _jsonl, ".ndjson": _jsonl}
    if path.suffix.lower() not in kinds:
        raise ValueError(f"--out {out}: must end in .parquet, .csv or .jsonl, or be '-' for stdout")
    check_outputs(path)
    with atomic_file(path) as file, kinds[path.suffix.lower()](file) as write:
        yield write


def _batch(columns: Columns) -> Any:
    import pyarrow as pa

    return pa.RecordBatch.from_pydict({k: pa.array(v) for k, v in columns.items()})


@contextmanager
def _parquet(file: Any) -> Iterator[Write]:
    import pyarrow.parquet as pq

    with _arrow(lambda schema: pq.ParquetWriter(file, schema)) as write:
        yield write


@contextmanager
def _csv(file: Any) -> Iterator[Write]:
    import pyarrow.csv as pc

    with _arrow(lambda schema: pc.CSVWriter(file, schema)) as write:
        yield write


@contextmanager
def _arrow(make: Callable[[Any], Any]) -> Iterator[Write]:
    """Arrow's writers want the schema first: it is that of the first batch."""
    writer: Any = None

    def write(columns: Columns) -> None:
        nonlocal writer
        batch = _batch(columns)
        if writer is None:
            writer = make(batch.schema)
        writer.write_batch(batch)

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()


@contextmanager
def _jsonl(file: Any) -> Iterator[Write]:
    def write(columns: Columns) -> None:
        names = list(columns)
        values = zip(*(columns[name].tolist() for name in names), strict=True)
        for row in values:
            line = json.dumps(dict(zip(names, row, strict=True)))
            file.write(line.encode() + b"\n")

    yield write
