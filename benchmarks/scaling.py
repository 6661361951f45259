"""Flights learned in one pass and in partitions: ``python -m benchmarks.scaling --rows 400000``.

The default regressor on minutes of delay, shuffled. First one pass in this process, on each number
of threads; then the same files on local clusters of each number of workers, with one thread each.
All models are tested on the same rows, which none has learned. The error is what is left of the
target's variance, in percent. With ``--late`` the target is whether a flight comes 15 minutes late,
and the error is the mistakes, in percent. ``--threads`` and ``--workers`` may be empty.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from benchmarks.streams import shuffled
from onkel import OnlineKernelClassifier, OnlineKernelRegressor, StreamModel, distributed
from onkel.distributed.partitions import local_client

TARGET = "delay"
AS_MINUTES = "airlines_delay", OnlineKernelRegressor
Default = OnlineKernelRegressor | OnlineKernelClassifier


class Run(NamedTuple):
    """A line of the table."""

    name: str
    seconds: float
    error: float
    stages: str = ""
    moved: str = ""


def columns(X: np.ndarray) -> dict[str, np.ndarray]:
    return {f"c{j}": X[:, j] for j in range(X.shape[1])}


def error(model: StreamModel, X: np.ndarray, y: np.ndarray) -> float:
    """What is left of the variance of y, or the mistakes, in percent."""
    if isinstance(model.estimator, OnlineKernelClassifier):
        return 100.0 * float(np.mean(model.predict(columns(X)) != y))
    return 100.0 * float(np.mean((model.predict(columns(X)) - y) ** 2) / np.var(y))


def one_pass(estimator: Default, files: list[Path], threads: int) -> tuple:
    """A model that learned the files one after the other, and the seconds."""
    model = StreamModel(clone(estimator))
    began = time.perf_counter()
    with threadpool_limits(threads):
        model.partial_fit([str(file) for file in files], target=TARGET)
    return model, time.perf_counter() - began


def apart(estimator: Default, folder: Path, workers: int, sample: int) -> tuple:
    """What a cluster has learned of the folder, and the seconds without starting it."""
    with local_client(workers) as client:
        client.run(warm, estimator)
        began = time.perf_counter()
        plan = distributed.Plan(estimator, sample_rows=sample)
        learned = distributed.learn(plan, folder, target=TARGET, client=client)
        seconds = time.perf_counter() - began
        client.cluster.close()
    return learned, seconds


def warm(estimator: Default) -> None:
    """Load the compiled loops."""
    X = np.random.default_rng(0).normal(size=(1500, 9))
    y = X[:, 0] > 0.0 if isinstance(estimator, OnlineKernelClassifier) else X[:, 0]
    model = StreamModel(type(estimator)(n_components=20))
    model.partial_fit(columns(X) | {TARGET: y}, target=TARGET)


def written(X: np.ndarray, y: np.ndarray, folder: Path, parts: int) -> list[Path]:
    files = []
    for k, rows in enumerate(np.array_split(np.arange(len(y)), parts)):
        files.append(folder / f"{k:03}.parquet")
        pq.write_table(pa.table(columns(X[rows]) | {TARGET: y[rows]}), files[-1])
    return files


def table(runs: list[Run], rows: int) -> None:
    print("| run | seconds | rows/s | speed-up | error, % | seconds a stage | moved |")
    print("|---|---:|---:|---:|---:|---|---:|")
    first: dict[bool, float] = {}
    for run in runs:
        base = first.setdefault("worker" in run.name, run.seconds)
        speed = f"{rows / run.seconds:,.0f}", f"{base / run.seconds:.2f}"
        cells = run.name, f"{run.seconds:.1f}", *speed, f"{run.error:.2f}", run.stages, run.moved
        print(f"| {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=None, help="all of them if not given")
    parser.add_argument("--parts", type=int, default=16)
    parser.add_argument("--sample", type=int, default=131_072, help="rows that fix the map")
    parser.add_argument("--landmarks", type=int, default=500)
    parser.add_argument("--late", action="store_true", help="mistakes, and not minutes")
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4])
    asked = parser.parse_args()
    data, kind = ("airlines_late", OnlineKernelClassifier) if asked.late else AS_MINUTES
    X, y = shuffled(data, asked.rows, scaling="none", dtype="float32")
    held = len(y) // 10
    X, y, X_new, y_new = X[held:], y[held:], X[:held], y[:held]
    estimator = kind(n_components=asked.landmarks)
    runs = []
    warm(estimator)
    with tempfile.TemporaryDirectory() as name:
        files = written(X, y, Path(name), asked.parts)
        for threads in asked.threads:
            model, seconds = one_pass(estimator, files, threads)
            runs.append(Run(f"one pass, threads: {threads}", seconds, error(model, X_new, y_new)))
            print(runs[-1], flush=True)
        for workers in asked.workers:
            learned, seconds = apart(estimator, Path(name), workers, asked.sample)
            stages = ", ".join(
                f"{stage} {learned.seconds[stage]:.1f}" for stage in ("sample", "parts", "merge")
            )
            moved = f"{learned.moved_bytes / 2**20:.0f} MB"
            left = error(learned.model, X_new, y_new)
            runs.append(Run(f"workers: {workers}", seconds, left, stages, moved))
            print(runs[-1], flush=True)
    print(f"\n{len(y):,} rows learned, {held:,} predicted, {asked.parts} files\n")
    table(runs, len(y))


if __name__ == "__main__":
    main()
