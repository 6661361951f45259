"""Predict a source in partitions, into a folder of Parquet files."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from onkel.distributed.partitions import client_or_default, dask, parts_of
from onkel.distributed.reports import PartReport, Predicted
from onkel.distributed.tasks import CANNOT_BE_READ, rows_in, unreadable
from onkel.errors import NoRowsError
from onkel.fields import State
from onkel.metrics import Score
from onkel.persistence.atomic import atomic_file
from onkel.pipeline import StreamModel
from onkel.pipeline.rows import reading_to_predict
from onkel.pipeline.statistics import is_fitted
from onkel.streams import open_stream

if TYPE_CHECKING:
    from distributed import Client


def predict(
    model: StreamModel,
    source: object,
    folder: str | Path,
    *,
    client: Client | None = None,
    keep: Iterable[str] = (),
    proba: bool = False,
    format: str | None = None,
    skip_bad: bool = False,
) -> Predicted:
    """Predict a source into one Parquet file per partition.

    A file appears whole or not at all. If a worker dies, others rewrite its files.

    Parameters
    ----------
    model : StreamModel
        A fitted model of named columns or of arrays.
    source : path, glob, folder, list of files, Dask DataFrame, or a pair of Dask arrays (X, y)
        As for `learn`. If it holds the target, ``metrics`` gives the score.
    folder : path
        For the files ``part-00000.parquet``, ...; all workers must be able to write there. It must
        be empty or not exist yet.
    client : dask.distributed.Client, optional
        By default the one started last.
    keep : list of str
        Columns of the source to write as well.
    proba : bool, default=False
        Whether to write class probabilities as well: ``proba_LABEL``.
    format : str, optional
        Of the source's files, if their names do not show it.
    skip_bad : bool, default=False
        Leave out partitions that cannot be read, and report them.

    Returns
    -------
    Predicted
        With ``files``, ``n_rows`` and, where there are targets, ``metrics``.

    Raises
    ------
    DataError
        A partition cannot be read; the error names it and says why.
    OSError
        A file cannot be written.
    ValueError
        The model has learned nothing or has no probabilities, a column to keep has the name of
        one that is written, the folder is not empty, or there is no client.
    """
    client, keep = client_or_default(client), tuple(keep)
    _check(model, keep, proba)
    folder = Path(folder).resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder}: is there already; give an empty folder, or a new one")
    parts = parts_of(source, format)
    folder.mkdir(parents=True, exist_ok=True)
    delayed = dask().delayed
    state = delayed(model.get_state(), traverse=False)
    how = {"keep": keep, "proba": proba, "skip_bad": skip_bad}
    tasks = [
        delayed(predict_part)(state, part.name, part.data, f"{folder}/part-{k:05}.parquet", how)
        for k, part in enumerate(parts)
    ]
    futures = client.compute(tasks)
    try:
        results = [future.result() for future in futures]
    finally:
        for future in futures:
            future.release()
    return Predicted([path for path, _ in results if path], [report for _, report in results])


def _check(model: StreamModel, keep: tuple[str, ...], proba: bool) -> None:
    """Refuse a model that cannot predict so, before anything is read."""
    if not isinstance(model, StreamModel):
        raise ValueError(f"model: a {type(model).__name__} reads no files: give a StreamModel")
    if not (is_fitted(model.estimator) and is_fitted(model.scaler)):
        raise ValueError("model: has learned no rows yet")
    if proba and not hasattr(model, "predict_proba"):
        raise ValueError(f"proba=True: {type(model.estimator).__name__} has no probabilities")
    names = ["prediction", *(map(_proba_name, model.classes_.tolist()) if proba else ())]
    for name in keep:
        if name in names:
            raise ValueError(f"keep: {name!r} is a name that the predictions have")


def _proba_name(label: object) -> str:
    return f"proba_{label}"


class _UnreadError(Exception):
    """A partition cannot be read or predicted; ``__cause__`` says why."""


def predict_part(
    state: State, name: str, data: object, path: str, how: dict[str, Any]
) -> tuple[str | None, PartReport]:
    """Predict a partition into a file; returns its path (None: left out) and its report."""
    began = time.perf_counter()
    model = StreamModel.from_state(state)
    score = Score(model.task)
    try:
        rows = _write(_predicted(model, data, score, how["keep"], how["proba"]), path)
    except NoRowsError:
        return None, PartReport(name, 0, {}, time.perf_counter() - began)
    except _UnreadError as error:
        cause = error.__cause__
        assert isinstance(cause, Exception)
        if not how["skip_bad"]:
            raise unreadable(name, cause) from None
        return None, PartReport(name, 0, {}, time.perf_counter() - began, cause)
    sums = score.sums if score.n_rows else {}
    seconds = time.perf_counter() - began
    return path, PartReport(name, rows, sums, seconds, n_scored=score.n_rows)


def _predicted(
    model: StreamModel, data: object, score: Score, keep: tuple[str, ...], proba: bool
) -> Iterator[pa.RecordBatch]:
    """What is written of each block of a partition; ``score`` takes in those with targets."""
    reading = reading_to_predict(model.settings, keep=keep)
    try:
        stream = open_stream(rows_in(data), reading, encoder=model.encoder)
        for block in stream:
            columns = stream.kept(block.n_rows) | {"prediction": model.predict_features(block.X)}
            if proba:
                shares = model.proba_features(block.X).T
                names = map(_proba_name, model.classes_.tolist())
                columns |= dict(zip(names, shares, strict=True))
            score.add(block.y, columns["prediction"])
            yield pa.RecordBatch.from_pydict({k: pa.array(v) for k, v in columns.items()})
    except NoRowsError:
        raise
    except CANNOT_BE_READ as error:
        raise _UnreadError from error


def _write(batches: Iterator[pa.RecordBatch], path: str) -> int:
    """Write a file of these; returns the number of rows. OSError if it cannot be written."""
    import pyarrow.parquet as pq

    rows = 0
    try:
        with atomic_file(Path(path)) as file:
            writer: Any = None
            for batch in batches:
                writer = writer or pq.ParquetWriter(file, batch.schema)
                writer.write_batch(batch)
                rows += batch.num_rows
            if writer is not None:
                writer.close()
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), path) from None
    return rows
