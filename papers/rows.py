"""The rows of a case, loaded once per process, cut and ordered by seeds; streams in files."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from onkel import DataError, datasets
from onkel.evaluation.search import part_of
from papers.cases import Rows

#: seed of the orders that are reported; a search has another
SEED = 0
# A target with more distinct values has no classes.
_MOST_CLASSES = 100


@dataclass(frozen=True)
class StreamFile:
    """A stream in a file."""

    path: Path

    @property
    def name(self) -> str:
        """The file's name."""
        return self.path.stem

    @property
    def task(self) -> str:
        """ "classification" or "regression", by the type of the target."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            if "y" not in pq.read_schema(self.path).names:
                raise DataError("has no target column y", source=str(self.path))
            return _task(pq.read_table(self.path, columns=["y"])["y"].to_numpy())
        except (pa.ArrowInvalid, OSError) as error:
            raise DataError(
                f"not a readable Parquet file: {error}", source=str(self.path)
            ) from error

    def read(self, rows: int | None = None) -> tuple[np.ndarray, np.ndarray, str]:
        """Features (n, d) in float32, targets (n,), and the task, of the first ``rows`` rows.

        Columns of texts become codes by the order of their first rows.
        """
        import pyarrow.parquet as pq

        task, table = self.task, pq.read_table(self.path)
        y = table["y"].to_numpy()
        X = np.column_stack(
            [_numbers(table[name].to_numpy()) for name in table.column_names if name != "y"]
        )
        return X[:rows], y[:rows], task


def _task(y: np.ndarray) -> str:
    """Whole numbers, texts and booleans of up to 100 kinds are classes; other numbers values."""
    classes = y.dtype.kind != "f" and len(np.unique(y)) <= _MOST_CLASSES
    return "classification" if classes else "regression"


def _numbers(column: np.ndarray) -> np.ndarray:
    if column.dtype.kind in "biuf":
        return column.astype(np.float32)
    codes = {value: float(k) for k, value in enumerate(dict.fromkeys(column.tolist()))}
    return np.array([codes[value] for value in column.tolist()], np.float32)


def find_streams(folder: Path, names: Sequence[str] | None = None) -> list[StreamFile]:
    """The streams of a folder, or those of these names.

    Raises
    ------
    DataError
        There are none, or none of a name; the message lists those that there are.
    """
    found = {path.stem: StreamFile(path) for path in sorted(folder.glob("*.parquet"))}
    if not found:
        raise DataError("holds no Parquet files", source=str(folder))
    for name in names or ():
        if name not in found:
            raise DataError(f"has no stream {name!r}; there are {', '.join(found)}",
                            source=str(folder))  # fmt: skip
    return [found[name] for name in names or found]


def order(n_rows: int, run: int, seed: int = SEED) -> np.ndarray:
    """The order of the rows in a run, a permutation of 0, ..., n_rows - 1."""
    return np.random.default_rng([seed, run]).permutation(n_rows)


@lru_cache(maxsize=3)
def load_rows(rows: Rows) -> tuple[np.ndarray, np.ndarray, bool]:
    """X (n, d), y (n,), and whether the set is whole."""
    if rows.file:
        X, y, _ = StreamFile(Path(rows.file)).read(rows.n_first)
        return X, y, rows.n_first is None or len(y) < rows.n_first
    data = datasets.load(rows.dataset, subset=rows.subset, scaling=rows.scaling, dtype=rows.dtype)
    X, y = data.X[: rows.n_first], data.y[: rows.n_first]
    if rows.one_hot:
        X = _one_hot(X, rows.one_hot)
    if rows.positive is not None:
        y = (y == rows.positive).astype(int)
    if rows.unit_target:
        y = (y - y.min()) / (y.max() - y.min())
    if rows.share < 1.0 or rows.most is not None:
        chosen = part_of(len(y), rows.share, rows.most)
        X, y = X[chosen], y[chosen]
    return X, y, data.complete


def _one_hot(X: np.ndarray, columns: tuple[int, ...]) -> np.ndarray:
    """A column of 0 and 1 for each value of these columns; the others scaled to [0, 1]."""
    plain = np.delete(X, columns, axis=1)
    low, high = plain.min(axis=0), plain.max(axis=0)
    plain = (plain - low) / np.where(high > low, high - low, 1.0)
    symbols = [(X[:, [j]] == np.unique(X[:, j])).astype(X.dtype) for j in columns]
    return np.hstack([plain, *symbols])


def train_and_test(rows: Rows) -> tuple[tuple[np.ndarray, ...], bool]:
    """X, y of the training rows and of the test rows, and whether the split is the set's own.

    A file without test rows is cut four to one at random. ``share`` and ``most`` apply to the
    training rows.
    """
    whole = replace(rows, subset="train", share=1.0, most=None)
    try:
        X, y, _ = load_rows(whole)
        X_test, y_test, _ = load_rows(replace(whole, subset="test"))
    except DataError:
        X, y, _ = load_rows(replace(whole, subset="all"))
        X_test, y_test = X, y
    own = len(y) != len(y_test)  # else there are no test rows, or no column marks them
    if not own:
        test, train = np.split(order(len(y), 0), [len(y) // 5])
        X, y, X_test, y_test = X[train], y[train], X[test], y[test]
    if rows.share < 1.0 or rows.most is not None:
        chosen = part_of(len(y), rows.share, rows.most)
        X, y = X[chosen], y[chosen]
    return (X, y, X_test, y_test), own


@lru_cache(maxsize=64)
def content_of(file: Path, size: int, changed: int) -> str:
    """SHA-256 of a file, read once while it stays as it is."""
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(1 << 22):
            digest.update(block)
    return digest.hexdigest()


def fingerprint(rows: Rows) -> str | None:
    """A hash of the file of the rows; None for rows that are generated.

    Raises
    ------
    FileNotFoundError
        The data set isn't on this machine; the message says how to get it.
    """
    if not rows.file and not rows.dataset:
        return None
    file = Path(rows.file) if rows.file else datasets.path(rows.dataset)
    about = file.stat()
    return content_of(file, about.st_size, about.st_mtime_ns)
