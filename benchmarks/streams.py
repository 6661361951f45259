"""The streams that are timed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from onkel.datasets import folders, load
from papers.rows import order

BLOCK = 4096


def nonlinear(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """n rows of 22 standard normal columns (float32) and a nonlinear noisy label in {0, 1}."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 22), dtype=np.float32)
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(n)
    return X, (f > 0).astype(np.int64)


def shuffled(name: str, n_rows: int | None, **how: Any) -> tuple[np.ndarray, np.ndarray]:
    """The first rows (None: all) of a data set in random order; ``how`` goes to ``load``."""
    rows = load(name, **how)
    chosen = order(len(rows.y), 0)[:n_rows]
    return np.ascontiguousarray(rows.X[chosen]), rows.y[chosen]


def file_rows(name: str, seed: int, n_rows: int | None) -> tuple[np.ndarray, np.ndarray]:
    """The first rows (None: all) of a file of the folder ONKEL_DATA in a seeded order.

    X is in float64, and y, too, where it has numbers; classes are text.
    """
    table = pq.read_table(folders()[0] / f"{name}.parquet")
    features = [column for column in table.column_names if column not in ("y", "split")]
    table = table.take(np.random.default_rng(seed).permutation(table.num_rows)[:n_rows])
    X = np.column_stack([table[column].to_numpy() for column in features]).astype(np.float64)
    y = table["y"].to_numpy()
    return X, y.astype(np.float64 if y.dtype.kind == "f" else str)


def in_blocks(
    X: np.ndarray, y: np.ndarray, block: int = BLOCK
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The rows and their labels, in order."""
    for a in range(0, len(y), block):
        yield X[a : a + block], y[a : a + block]


def learn(estimator, X: np.ndarray, y: np.ndarray, block: int = BLOCK) -> float:
    """Learn the stream strictly online, in blocks; the share of mistakes."""
    classes = np.unique(y)
    mistakes = 0
    for rows, labels in in_blocks(X, y, block):
        before = estimator.predict_then_learn(rows, labels, classes=classes)
        classes = None
        mistakes += int((before != labels).sum())
    return mistakes / len(y)
