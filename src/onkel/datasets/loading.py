"""Find data sets on this machine; load their rows, split and scaled as in the papers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from onkel.annotations import DTypeLike
from onkel.datasets.registry import DATASETS, Entry, folders, info
from onkel.errors import DataError


def available() -> list[Entry]:
    """All data sets, on this machine or not; see ``entry.local``.

    Examples
    --------
    >>> from onkel import datasets
    >>> "german" in [entry.name for entry in datasets.available()]
    True
    """
    return list(DATASETS.values())


def path(name: str) -> Path:
    """The file of a data set that is on this machine.

    Parameters
    ----------
    name : str
        A name of :data:`onkel.datasets.DATASETS`.

    Raises
    ------
    ValueError
        Unknown name.
    FileNotFoundError
        The set isn't on this machine; the message says where it was looked for and how to get it.
    """
    entry = info(name)
    if entry.file is None:
        raise FileNotFoundError(missing(entry))
    return entry.file


def missing(entry: Entry) -> str:
    """The message for a data set that isn't on this machine."""
    looked = " and ".join(str(folder) for folder in folders())
    if entry.openml is not None:
        how = f"get it with 'onkel datasets fetch {entry.name}', or"
    else:
        how = "it is not on OpenML in the papers' form:"
    return (
        f"data set {entry.name!r} is not on this machine (looked for "
        f"{' or '.join(entry.candidates)} in {looked}): {how} take it from {entry.source} and put "
        f"it there as Parquet ({needs(entry)}); the environment variable ONKEL_DATA names another "
        f"folder; 'onkel datasets fetch {entry.name}' then checks the file"
    )


def needs(entry: Entry) -> str:
    """What the file of a data set holds."""
    target = f"{entry.n_classes} classes" if entry.n_classes else "numbers"
    split = ", and split: train or test" if entry.subset == "train" else ""
    return (
        f"{entry.n_rows:,} rows; columns f0, ..., f{entry.n_features - 1}, and y with "
        f"{target}{split}"
    )


def check(entry: Entry, file: Path) -> None:
    """Refuse a file that isn't the data set's; it may hold a part of the rows.

    DataError: columns are missing, or there are other classes or more rows than the set has.
    """
    X, y, n_rows = _read(file, "all", entry, False)
    found = len(np.unique(y)) if entry.n_classes else 0
    few = n_rows < entry.n_rows and found < entry.n_classes  # a part may lack a class
    if n_rows > entry.n_rows or not (few or found == entry.n_classes or entry.above is not None):
        raise DataError(
            f"{n_rows:,} rows of {X.shape[1]} features, {found} classes; {entry.name} has "
            f"{needs(entry)}",
            source=str(file),
        )


_SCALINGS = ("none", "minmax", "unit", "symmetric")
_ORDERS = ("file", "time")
_SUBSETS = ("all", "train", "test")


@dataclass(frozen=True)
class Dataset:
    """Rows X (n, d) of a data set, their targets y (n,), and facts about them."""

    X: np.ndarray
    #: integer classes (-1 and 1 for two) or float64 targets
    y: np.ndarray
    name: str
    task: str
    subset: str
    scaling: str
    #: False if the file holds only a part of the set's rows
    complete: bool
    path: Path

    @property
    def classes(self) -> np.ndarray | None:
        """The classes, sorted; None for regression."""
        return None if self.task == "regression" else np.unique(self.y)


def load(
    name: str,
    *,
    subset: str | None = None,
    scaling: str | None = None,
    order: str = "file",
    dtype: DTypeLike = "float64",
) -> Dataset:
    """Load a data set of the papers.

    Parameters
    ----------
    name : str
        A name of :data:`onkel.datasets.DATASETS`.
    subset : {"all", "train", "test"}, optional
        The rows; by default those the papers stream.
    scaling : {"none", "minmax", "unit", "symmetric"}, optional
        "minmax": all columns to [0, 1], including the target of a regression. "unit": only the
        features to [0, 1]. "symmetric": the features to [-1, 1]. By default as in the papers.
    order : {"file", "time"}, default="file"
        "time" sorts the rows by time, if the set has one (``airlines_*``: month, day, departure
        time).
    dtype : {"float64", "float32"}, default="float64"
        Type of X. Use float64 for unscaled columns with values in the thousands: distances cancel
        in float32.

    Raises
    ------
    ValueError
        Unknown name, subset, scaling or order; a set whose rows have no time.
    FileNotFoundError
        The set isn't on this machine; the message says how to get it.
    DataError
        The file is not a data set's file.
    """
    entry = info(name)
    subset = _choice("subset", subset or entry.subset, _SUBSETS)
    scaling = _choice("scaling", scaling or entry.scaling, _SCALINGS)
    by_time = _choice("order", order, _ORDERS) == "time"
    if by_time and not entry.time:
        raise ValueError(f"order='time': the rows of {entry.name} don't say when they were")
    file = path(name)
    X, y, n_rows = _read(file, subset, entry, by_time)
    if entry.divide != 1.0:
        X /= entry.divide
    X = _scaled(X, scaling)
    if entry.above is not None:
        y = np.where(y > entry.above, 1, -1)
    if entry.task == "regression":
        y = y.astype(np.float64)
        if scaling == "minmax":
            y = _scaled(y[:, None], scaling)[:, 0]
    return Dataset(
        np.ascontiguousarray(X, dtype=dtype),
        y,
        entry.name,
        entry.task,
        subset,
        scaling,
        n_rows >= entry.n_rows,
        file,
    )


def _choice(name: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise ValueError(f"{name}={value!r} must be one of {', '.join(allowed)}")
    return value


def _read(
    file: Path, subset: str, entry: Entry, by_time: bool
) -> tuple[np.ndarray, np.ndarray, int]:
    """X (n, d) in float64, y (n,), and the number of rows in the whole file."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    try:
        names = pq.read_schema(file).names
        features = _feature_columns(names, entry, file)
        split = ["split"] if "split" in names else []
        table = pq.read_table(file, columns=[*features, "y", *split])
    except (pa.ArrowInvalid, OSError) as error:
        raise DataError(f"not a readable Parquet file: {error}", source=str(file)) from error
    n_rows = table.num_rows
    if subset != "all" and "split" in table.column_names:
        table = table.filter(pc.equal(table["split"].cast("string"), subset))
    if table.num_rows == 0:
        raise DataError(f"no rows of the split {subset!r}", source=str(file), column="split")
    if by_time:
        # rows of the same time keep their order
        table = table.take(np.lexsort([table[name].to_numpy() for name in reversed(entry.time)]))
    X = np.empty((table.num_rows, len(features)))
    for j, column in enumerate(features):
        X[:, j] = table[column].to_numpy()
    return X, table["y"].to_numpy(), n_rows


def _feature_columns(names: list[str], entry: Entry, file: Path) -> list[str]:
    """f0, f1, ..., or, if a file uses other names, all columns but y and split."""
    wanted = [f"f{j}" for j in range(entry.n_features)]
    if "f0" not in names:
        wanted = [column for column in names if column not in ("y", "split")]
    absent = [column for column in (*wanted, "y") if column not in names]
    if absent or len(wanted) != entry.n_features:
        what = f"no column {absent[0]!r}" if absent else f"{len(wanted)} feature columns"
        raise DataError(
            f"{what}; {entry.name} has {entry.n_features} features (f0, f1, ...) and y",
            source=str(file),
        )
    return wanted


def _scaled(X: np.ndarray, scaling: str) -> np.ndarray:
    """X (n, d) with every column scaled to the range; constant columns go to its lower end."""
    if scaling == "none":
        return X
    low, high = X.min(axis=0), X.max(axis=0)
    unit = (X - low) / np.where(high > low, high - low, 1.0)
    return 2.0 * unit - 1.0 if scaling == "symmetric" else unit
