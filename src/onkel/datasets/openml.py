"""Download a data set from OpenML and keep it as one Parquet file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from onkel.datasets.loading import check, missing
from onkel.datasets.registry import Entry, folders, info
from onkel.errors import DataError
from onkel.numerics.arrays import as_dense
from onkel.persistence.atomic import atomic_file


def fetch(name: str, *, force: bool = False) -> Path:
    """Download a data set and return its file; one that is here already is checked instead.

    Uses scikit-learn's ``fetch_openml``. The file is written atomically to the first of
    :func:`onkel.datasets.registry` (the folder of ``ONKEL_DATA``, else the user's cache).

    Parameters
    ----------
    name : str
        A name of :data:`onkel.datasets.DATASETS`.
    force : bool, default=False
        Download even if the set is on this machine.

    Raises
    ------
    ValueError
        Unknown name.
    FileNotFoundError
        The set is not on OpenML; the message says where to get it, and what the file must hold.
    OSError
        No network, or the folder can't be written to.
    DataError
        OpenML's data, or the file that is here, differ from the set in the number of rows, features
        or classes.
    """
    entry = info(name)
    found = entry.file
    if found is not None and not force:
        check(entry, found)
        return found
    if entry.openml is None:
        raise FileNotFoundError(missing(entry))
    X, y = _download(entry)
    folder = folders()[0]
    _write(X, y, entry, folder / entry.candidates[0])
    return folder / entry.candidates[0]


def _download(entry: Entry) -> tuple[np.ndarray, np.ndarray]:
    """X (n, d) float64 and y (n,) as on OpenML."""
    from sklearn.datasets import fetch_openml

    assert entry.openml is not None
    which = entry.openml.arguments()
    if entry.openml.target is not None:
        which["target_column"] = entry.openml.target
    try:
        got = fetch_openml(**which, as_frame=False, parser="auto")
    except OSError as error:
        raise OSError(
            f"data set {entry.name!r}: OpenML can't be reached ({error}); with no network, take it "
            f"from {entry.source} and put it into {folders()[0]} as Parquet"
        ) from error
    X = as_dense(got.data)
    keep = [j for j, c in enumerate(got.feature_names) if c not in entry.openml.drop]
    X = np.asarray(X[:, keep], dtype=np.float64)
    if X.shape != (entry.n_rows, entry.n_features):
        raise DataError(
            f"{X.shape[0]} rows of {X.shape[1]} features; {entry.name} has {entry.n_rows} rows of "
            f"{entry.n_features}",
            source=f"OpenML {which}",
        )
    return X, np.asarray(got.target)


def _codes(y: np.ndarray, entry: Entry) -> np.ndarray:
    """Labels as integers: -1 and 1 for two classes; else the numbers, or 1, 2, ... by name."""
    if entry.task == "regression":
        return y.astype(np.float32)
    try:
        labels: np.ndarray = y.astype(np.float64)
    except ValueError:
        labels = y.astype(str)
    known, codes = np.unique(labels, return_inverse=True)
    if len(known) != entry.n_classes:
        raise DataError(
            f"{len(known)} classes; {entry.name} has {entry.n_classes}", source="OpenML", column="y"
        )
    if entry.task == "binary":
        return (2 * codes - 1).astype(np.int32)
    return (labels if labels.dtype.kind == "f" else codes + 1).astype(np.int32)


def _write(X: np.ndarray, y: np.ndarray, entry: Entry, file: Path) -> None:
    """Write the table as one Parquet file, whole or not at all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: dict[str, object] = {
        f"f{j}": np.ascontiguousarray(X[:, j], dtype=np.float32) for j in range(X.shape[1])
    }
    columns["y"] = _codes(y, entry)
    n_train = entry.openml.n_train if entry.openml is not None else None
    rows = np.arange(len(y))
    columns["split"] = np.where(rows < n_train, "train", "test") if n_train else ["all"] * len(y)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(file) as out:
            pq.write_table(pa.table(columns), out, compression="zstd")
    except OSError as error:
        raise OSError(
            f"can't write to {file.parent} ({error}); the environment variable ONKEL_DATA names "
            "another folder"
        ) from error
