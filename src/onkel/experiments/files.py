"""Streams as Parquet files with a target column ``y``, in their own order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from onkel.errors import DataError

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
        """ "classification" or "regression", told from the target."""
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
