"""The partitions of a source, and the Dask client that learns them."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from onkel.columns.failures import count, damaged
from onkel.errors import DataError
from onkel.streams.files import FileRef, find_files, find_format, is_files

# With up to this many files, the row groups of a file are partitions.
_FEW_FILES = 64


@dataclass(frozen=True)
class FilePart:
    """A file, or some row groups of a Parquet file: read by the worker that learns it."""

    path: str
    row_groups: tuple[int, ...] | None = None

    def opened(self) -> Any:
        """What `onkel.open_stream` reads."""
        if self.row_groups is None:
            return self.path
        import pyarrow as pa
        import pyarrow.parquet as pq

        file = pq.ParquetFile(self.path)
        batches = file.iter_batches(row_groups=list(self.row_groups), batch_size=32_768)
        return pa.RecordBatchReader.from_batches(file.schema_arrow, self._guarded(batches))

    def _guarded(self, batches: Iterator[Any]) -> Iterator[Any]:
        try:
            yield from batches
        except Exception as error:
            raise DataError(damaged(error), source=self.path) from None


@dataclass(frozen=True)
class Part:
    """A partition and its name; ``data`` is a :class:`FilePart` or a Dask object."""

    name: str
    data: object


def parts_of(source: Any, format: str | None = None) -> list[Part]:
    """The partitions of paths, globs, a Dask DataFrame, or a pair of Dask arrays (X, y).

    A folder stands for the data files in it. If there are few files, each row group of a Parquet
    file is a partition; any other file is one. DataError where there is no partition.
    """
    if isinstance(source, tuple) and len(source) == 2 and all(map(_is_dask, source)):
        return _array_parts(*source)
    if _is_dask(source):
        if not hasattr(source, "dtypes"):
            raise DataError("a Dask array has no column to learn: give a pair (X, y)")
        named = enumerate(source.to_delayed())
        return [Part(f"partition {k}", delayed) for k, delayed in named]
    if not is_files(source):
        raise DataError(
            f"a {type(source).__name__} has no partitions: give files, a folder, a Dask DataFrame "
            "or a pair of Dask arrays (X, y)"
        )
    found = find_files(source)
    for file in found:
        if file.once:
            raise DataError("can be read only once: give files", source=file.name)
    if find_format(found, format) == "parquet" and len(found) <= _FEW_FILES:
        return [part for file in found for part in _row_groups(file)]
    return [Part(file.name, FilePart(file.name)) for file in found]


def _is_dask(source: object) -> bool:
    return hasattr(source, "__dask_graph__") and hasattr(source, "to_delayed")


def _array_parts(X: Any, y: Any) -> list[Part]:
    """Blocks of rows of X (n, d), with y (n,) cut the same way."""
    from dask import delayed

    if (X.ndim, y.ndim) != (2, 1):
        raise DataError(f"X {X.shape} and y {y.shape} must be of the shapes (n, d) and (n,)")
    for name, array in (("X", X), ("y", y)):
        if any(np.isnan(rows) for rows in array.chunks[0]):
            raise DataError(
                f"the chunks of {name} have no known sizes: call {name}.compute_chunk_sizes() first"
            )
    if len(X) != len(y):
        raise DataError(f"X has {count(len(X), 'row')}, and y has {len(y):,}: each row needs one")
    X = X.rechunk({1: -1})
    y = y.rechunk((X.chunks[0],))
    pairs = zip(X.to_delayed().ravel(), y.to_delayed().ravel(), strict=True)
    return [Part(f"block {k}", delayed(_pair)(*pair)) for k, pair in enumerate(pairs)]


def _pair(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return X, y


def _row_groups(file: FileRef) -> list[Part]:
    """A part for each row group; an unreadable file is one part, so that its error names it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    whole = Part(file.name, FilePart(file.name))
    if "://" in file.name:
        return [whole]
    try:
        groups = pq.read_metadata(file.name).num_row_groups
    except (OSError, pa.ArrowException):
        return [whole]
    if groups < 2:
        return [whole]
    return [Part(f"{file.name}[{k}]", FilePart(file.name, (k,))) for k in range(groups)]


def head(data: Any, rows: int) -> Any:
    """The first rows of a partition in memory; a file comes back as it is, to be read later."""
    if isinstance(data, FilePart):
        return data
    return tuple(one[:rows] for one in data) if isinstance(data, tuple) else data.iloc[:rows]


def spread(parts: list[Part], most: int) -> list[Part]:
    """Reorder the parts: first ``most`` of them, as far apart as possible, then the rest."""
    first = np.unique(np.linspace(0, len(parts) - 1, min(most, len(parts))).astype(int)).tolist()
    rest = sorted(set(range(len(parts))) - set(first))
    return [parts[k] for k in [*first, *rest]]


#: By default, Dask's workers return memory to the system at once. Each large array then needs new
#: pages, and the search for landmarks takes three times as long.
WORKER_ENVIRONMENT = {
    "MALLOC_TRIM_THRESHOLD_": str(1 << 28),
    "MALLOC_MMAP_THRESHOLD_": str(1 << 25),
}


# What a worker runs as it starts.
_WITHOUT_CTRL_C = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"


def dask() -> Any:
    """The packages ``dask`` and ``dask.distributed``."""
    try:
        import dask
        import dask.distributed
    except ImportError as error:
        raise ImportError(
            f"learning over several workers needs Dask ({error}): pip install 'onkel[dask]'"
        ) from None
    return dask


def client_or_default(client: Any) -> Any:
    """The client given, or the one that was started last."""
    found = dask().distributed
    if client is not None:
        status = getattr(client, "status", "running")
        if status in ("closed", "closing"):
            raise ValueError(
                f"the Dask client given is {status} and takes no more work: start another, "
                "client = dask.distributed.Client(...), or learn inside its 'with'"
            )
        return client
    try:
        return found.default_client()
    except ValueError:
        raise ValueError(
            "there is no Dask client: start one, client = dask.distributed.Client(n_workers=4, "
            "threads_per_worker=1), or give the address of a scheduler to it"
        ) from None


def local_client(workers: int) -> Any:
    """A client of a new local cluster with ``workers`` processes of one thread each.

    Ctrl-C, which the terminal sends to all of them, ends this process, and that ends the others.
    """
    distributed = dask().distributed
    how: dict[str, Any] = {
        f"distributed.nanny.pre-spawn-environ.{k}": v for k, v in WORKER_ENVIRONMENT.items()
    }
    before = dask().config.get("distributed.worker.preload", [])
    how["distributed.worker.preload"] = [*before, _WITHOUT_CTRL_C]
    with dask().config.set(how):
        cluster = distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address=":0",
            # a task's failure comes back as its error; logs would only repeat it
            silence_logs=logging.CRITICAL,
        )
    return distributed.Client(cluster)


def client_of(address: str) -> Any:
    """A client of a running scheduler, such as "tcp://10.0.0.1:8786"."""
    distributed = dask().distributed
    try:
        return distributed.Client(address, timeout=10)
    except (OSError, TimeoutError, ValueError) as error:
        raise ValueError(
            f"no Dask scheduler answers at {address} ({error}); 'dask scheduler' starts one and "
            "prints its address"
        ) from None
