"""What memory of the target is worth on real streams in the order of time.

    python -m benchmarks.memory FOLDER [NAME ...]

FOLDER holds streams as Parquet files with a target column ``y``. Each is learned whole, row after
row, by the default with ``speed="fast"``, without memory and with it, beside the last value (or
class) again. RMSE, or mistakes in percent; every row counts, but the last value has no first one.
"""

from __future__ import annotations

from benchmarks.timing import head, line, one_core  # first: it sets the threads

# isort: split
import argparse
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from onkel import OnlineKernelClassifier, OnlineKernelRegressor

# More distinct whole numbers than these are a regression.
_MOST_CLASSES = 100


def read(path: Path) -> tuple[np.ndarray, np.ndarray, bool]:
    """Rows (n, d), target (n,), and whether the target is a class."""
    table = pq.read_table(path)
    y = table["y"].to_numpy()
    X = np.column_stack([table[name].to_numpy() for name in table.column_names if name != "y"])
    whole = y.dtype.kind not in "f" or bool((y == np.round(y)).all())
    return X.astype(np.float32), y, whole and len(np.unique(y)) <= _MOST_CLASSES


def error(predicted: np.ndarray, y: np.ndarray, classes: bool) -> float:
    """RMSE, or mistakes in percent."""
    if classes:
        return 100.0 * float(np.mean(predicted != y))
    return float(np.sqrt(np.mean((predicted - y) ** 2)))


def learned(X: np.ndarray, y: np.ndarray, classes: bool, memory: str | bool) -> tuple[float, float]:
    """Error before learning, and rows a CPU second."""
    kind = OnlineKernelClassifier if classes else OnlineKernelRegressor
    model, known = kind(speed="fast", memory=memory), {"classes": np.unique(y)} if classes else {}
    began = time.process_time()
    before = model.predict_then_learn(X, y, **known)
    return error(before, y, classes), len(y) / (time.process_time() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    one_core()
    head("stream", "rows", "last", "without memory", "rows/s", "with memory", "rows/s")
    for path in sorted(options.folder.glob("*.parquet")):
        if options.names and path.stem not in options.names:
            continue
        X, y, classes = read(path)
        without, rate = learned(X, y, classes, memory=False)
        value, slower = learned(X, y, classes, memory="auto")
        last = error(y[:-1], y[1:], classes)
        cells = [f"{v:.4g}" for v in (last, without, value)]
        rates = f"{rate:,.0f}", f"{slower:,.0f}"
        line(path.stem, f"{len(y):,}", cells[0], cells[1], rates[0], cells[2], rates[1])


if __name__ == "__main__":
    main()
