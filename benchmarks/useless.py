"""What useless columns cost the default: ``python -m benchmarks.useless [--file FILE]``.

Rows are made by formula, so the columns that matter are known: the sign of a product of two normal
columns, and sin(6a)·b + 0.3 cos(5c) with noise of 0.1 over uniform ones. 4 800 rows are learned and
1 200 predicted by the frozen model: mistakes in percent, or RMSE in standard deviations of the
target. The table has ``speed="fast"`` and the default with all columns, and the default with those
alone that matter.

``--file``: also learn the first 4/9 of a Parquet file with columns f0, f1, ... and a target y, in a
seeded order, and predict the rest.
"""

from __future__ import annotations

from benchmarks.timing import arguments, head, line  # first: it sets the threads

# isort: split
import time

import numpy as np

from onkel import make
from onkel.algorithms import DEFAULT

N_ROWS = 6000
COLUMNS = (20, 50, 100)


def product(d: int) -> tuple[np.ndarray, np.ndarray, int]:
    """X, y, and how many of the first columns matter."""
    X = np.random.default_rng(7).standard_normal((N_ROWS, d))
    return X, np.where(X[:, 0] * X[:, 1] > 0.0, "above", "below"), 2


def waves(d: int) -> tuple[np.ndarray, np.ndarray, int]:
    """X, y, and how many of the first columns matter."""
    rng = np.random.default_rng(7)
    X = rng.uniform(-1.0, 1.0, (N_ROWS, d))
    y = np.sin(6.0 * X[:, 0]) * X[:, 1] + 0.3 * np.cos(5.0 * X[:, 2])
    return X, y + 0.1 * rng.standard_normal(N_ROWS), 3


def of_file(path: str) -> tuple[np.ndarray, np.ndarray]:
    """X and y in a seeded order."""
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    names = [name for name in table.column_names if name.startswith("f") and name[1:].isdigit()]
    X = np.column_stack([table[name].to_numpy() for name in names]).astype(np.float64)
    order = np.random.default_rng(0).permutation(len(X))
    return X[order], table["y"].to_numpy()[order]


def error(X: np.ndarray, y: np.ndarray, n: int, speed: str) -> tuple[float, float]:
    """The error on the rows after the first n, and seconds to learn these."""
    classes = y.dtype.kind == "U"
    model = make(DEFAULT, "classification" if classes else "regression", speed=speed)
    began = time.process_time()
    model.set_params(random_state=0).fit(X[:n], y[:n])
    seconds = time.process_time() - began
    return error_of(model.predict(X[n:]), y[n:], 1.0 if classes else y.std()), seconds


def error_of(predicted: np.ndarray, y: np.ndarray, spread: float) -> float:
    """Mistakes in percent, or RMSE in units of ``spread``."""
    if y.dtype.kind == "U":
        return 100.0 * float(np.mean(predicted != y))
    return float(np.sqrt(np.mean((predicted - y) ** 2)) / spread)


def compare(name: str, X: np.ndarray, y: np.ndarray, n: int, matter: int = 0) -> None:
    """A line of the table."""
    alone = [("balanced", X[:, :matter])] if matter else []
    found = [error(of, y, n, speed) for speed, of in [("fast", X), ("balanced", X), *alone]]
    cells = [f"{value:.3g}" for value, _ in found] + [""] * (not matter)
    line(name, X.shape[1], matter or "", *cells, *(f"{seconds:.1f}" for _, seconds in found[:2]))


def main() -> None:
    options = arguments(__doc__, {"file": "a Parquet file with columns f0, f1, ... and y"})
    head(
        "data", "columns", "that matter", "fast", "default", "these alone", "s, fast", "s, default"
    )
    for name, made in (("sign of a product", product), ("waves", waves)):
        for d in COLUMNS:
            X, y, matter = made(d)
            compare(name, X, y, int(0.8 * N_ROWS), matter)
    if options.file:
        X, y = of_file(options.file)
        name = options.file.rsplit("/", 1)[-1].removesuffix(".parquet")
        compare(name, X, y, 4 * len(X) // 9)


if __name__ == "__main__":
    main()
