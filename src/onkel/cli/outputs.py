"""Output files: checked before hours of learning, written in bounded memory, moved when whole."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from onkel.cli.guarded import UnwrittenError
from onkel.persistence.atomic import atomic_file
from onkel.streams.reading import Reading

if TYPE_CHECKING:
    from typing import IO

    import numpy as np
    import pyarrow as pa

    from onkel.evaluation.result import PrequentialResult

Columns: TypeAlias = "dict[str, np.ndarray | pa.Array]"
Write = Callable[[Columns], None]


@contextmanager
def open_writer(out: str, named: Callable[[Path], Path]) -> Iterator[Write]:
    """A function that writes columns to a file, or as CSV to stdout for "-".

    It takes a dict of columns of the same length, every time with the same names and types.
    ``named``: as for :func:`atomic_file`. ValueError if the file does not end in .parquet, .csv or
    .jsonl (.ndjson), or its folder cannot be written.
    """
    if out == "-":
        with _csv(sys.stdout.buffer) as write:

            def at_once(columns: Columns) -> None:
                write(columns)
                sys.stdout.buffer.flush()

            yield at_once
        return
    path = Path(out)
    kinds = {".parquet": _parquet, ".csv": _csv, ".jsonl": _jsonl, ".ndjson": _jsonl}
    if path.suffix.lower() not in kinds:
        raise ValueError(f"--out {out}: must end in .parquet, .csv or .jsonl, or be '-' for stdout")
    check_outputs(path)
    try:
        with atomic_file(path, named) as file, kinds[path.suffix.lower()](file) as write:
            yield write
    except OSError as error:
        raise UnwrittenError(error.errno, error.strerror or str(error), out) from error


@contextmanager
def _parquet(file: IO[bytes]) -> Iterator[Write]:
    import pyarrow.parquet as pq

    with _arrow(lambda schema: pq.ParquetWriter(file, schema)) as write:
        yield write


@contextmanager
def _csv(file: IO[bytes]) -> Iterator[Write]:
    import pyarrow.csv as pc

    with _arrow(lambda schema: pc.CSVWriter(file, schema)) as write:
        yield lambda columns: write({name: _plain(own) for name, own in columns.items()})


def _plain(values: np.ndarray | pa.Array) -> np.ndarray | pa.Array:
    """Values that CSV can hold: durations, lists and the like as text."""
    import pyarrow as pa
    import pyarrow.types as pt

    if not isinstance(values, pa.Array):
        return values
    t = values.type
    if not (pt.is_duration(t) or pt.is_nested(t) or pt.is_string_view(t)):
        return values
    return pa.array([None if v is None else str(v) for v in values.to_pylist()], pa.string())


@contextmanager
def _arrow(make: Callable[[pa.Schema], Any]) -> Iterator[Write]:
    """Arrow's writers need the schema first: that of the first batch."""
    import pyarrow as pa

    writer: Any = None

    def write(columns: Columns) -> None:
        nonlocal writer
        batch = pa.RecordBatch.from_pydict({k: pa.array(v) for k, v in columns.items()})
        if writer is None:
            writer = make(batch.schema)
        writer.write_batch(batch)

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()


@contextmanager
def _jsonl(file: IO[bytes]) -> Iterator[Write]:
    def write(columns: Columns) -> None:
        names = list(columns)
        values = zip(*(columns[name].tolist() for name in names), strict=True)
        for row in values:
            line = json.dumps(dict(zip(names, row, strict=True)), default=str)
            file.write(line.encode() + b"\n")

    yield write


def reported(result: PrequentialResult) -> PrequentialResult:
    """A result with the settings that its report shows."""
    return replace(result, settings=settings_to_show(result.settings))


def settings_to_show(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings without those that no option sets, and without defaults of how a source is read."""
    usual = Reading(missing="auto", statistics=True).settings()
    return {
        name: value
        for name, value in settings.items()
        if name not in _NO_OPTIONS and not (name in usual and usual[name] == value)
    }


# The columns of a report say which were left out.
_NO_OPTIONS = ("tidy", "labels", "left_out", "useless")


def beside(path: Path) -> Path:
    """Where a run that was cut short writes: beside an existing file, which it does not replace."""
    return path.with_name(f"{path.stem}.partial{path.suffix}") if path.exists() else path


def check_report(path: Path | None) -> None:
    """Check that a report, which is an HTML page, is not given another ending."""
    if path is not None and path.suffix.lower() not in ("", ".html", ".htm"):
        right = path.with_suffix(".html")
        raise ValueError(f"cannot write {path}: a report is an HTML page; name it {right}")


def check_outputs(*paths: Path | None, inputs: Sequence[str] = ()) -> None:
    """Check that files can be written, and that none overwrites one of ``inputs``.

    ValueError if a folder does not exist or cannot be written, or a file is named twice.
    """
    taken = {Path(name).resolve() for name in inputs if name != "-"}
    for path in paths:
        if path is None:
            continue
        if path.resolve() in taken:
            raise ValueError(f"cannot write {path}: this command has another use for that file")
        taken.add(path.resolve())
        if path.is_dir():
            raise ValueError(f"cannot write {path}: it is a folder, name a file in it")
        if path.exists() and not path.is_file():
            raise ValueError(f"cannot write {path}: it is a device, pipe or socket, not a file")
        if path.exists() and not path.stat().st_mode & 0o222:
            raise ValueError(f"cannot write {path}: it is write-protected")
        if not path.parent.is_dir():
            raise ValueError(f"cannot write {path}: the folder {path.parent} does not exist")
        if not os.access(path.parent, os.W_OK):
            raise ValueError(f"cannot write {path}: no permission in the folder {path.parent}")
