"""Predict a source in partitions, into a folder of Parquet files."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onkel.distributed.partitions import client_or_default, dask, parts_of
from onkel.distributed.reports import PartReport, Predicted
from onkel.distributed.tasks import CANNOT_BE_READ, rows_in, unreadable
from onkel.errors import NoRowsError
from onkel.fields import State
from onkel.metrics import Score
from onkel.persistence.atomic import atomic_file
from onkel.pipeline import StreamModel
from onkel.pipeline.rows import reading_to_predict
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
    ValueError
        The folder is not empty, or there is no client.
    """
    client = client_or_default(client)
    folder = Path(folder).resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder}: is there already; give an empty folder, or a new one")
    parts = parts_of(source, format)
    folder.mkdir(parents=True, exist_ok=True)
    delayed = dask().delayed
    state = delayed(model.get_state(), traverse=False)
    how = {"keep": tuple(keep), "proba": proba, "skip_bad": skip_bad}
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


def predict_part(
    state: State, name: str, data: object, path: str, how: dict[str, Any]
) -> tuple[str | None, PartReport]:
    """Predict a partition into a file; returns its path (None: left out) and its report."""
    began = time.perf_counter()
    model = StreamModel.from_state(state)
    score = Score(model.task)
    try:
        rows = _write(model, data, path, score, how["keep"], how["proba"])
    except NoRowsError:
        return None, PartReport(name, 0, {}, time.perf_counter() - began)
    except CANNOT_BE_READ as error:
        if not how["skip_bad"]:
            raise unreadable(name, error) from None
        return None, PartReport(name, 0, {}, time.perf_counter() - began, str(error))
    sums = score.sums if score.n_rows == rows else {}
    return path, PartReport(name, rows, sums, time.perf_counter() - began)


def _write(
    model: StreamModel, data: object, path: str, score: Score, keep: tuple[str, ...], proba: bool
) -> int:
    """Write the predictions of a partition; returns the number of rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = 0
    reading = reading_to_predict(model.settings, keep=keep)
    stream = open_stream(rows_in(data), reading, encoder=model.encoder)
    with atomic_file(Path(path)) as file:
        writer: Any = None
        for block in stream:
            columns = stream.kept(block.n_rows) | {"prediction": model.predict_features(block.X)}
            if proba:
                shares = model.proba_features(block.X).T
                labels = model.classes_.tolist()
                columns |= {f"proba_{k}": own for k, own in zip(labels, shares, strict=True)}
            score.add(block.y, columns["prediction"])
            batch = pa.RecordBatch.from_pydict({k: pa.array(v) for k, v in columns.items()})
            writer = writer or pq.ParquetWriter(file, batch.schema)
            writer.write_batch(batch)
            rows += block.n_rows
        if writer is not None:
            writer.close()
    return rows
