"""The rows of a case: loaded once per process, cut and ordered by seeds."""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from onkel import datasets
from onkel.errors import DataError
from onkel.experiments.entry import Rows
from onkel.experiments.files import StreamFile

#: seed of the orders that are reported
SEED = 0
#: seed of the orders and parts that settings are chosen on: none of them is reported
SEARCH_SEED = 2016


def order(n_rows: int, run: int, seed: int = SEED) -> np.ndarray:
    """The order of the rows in a run, a permutation of 0, ..., n_rows - 1."""
    return np.random.default_rng([seed, run]).permutation(n_rows)


def part_of(n_rows: int, share: float, most: int | None) -> np.ndarray:
    """Places of a random part of the rows, for a search."""
    wanted = min(math.ceil(share * n_rows), most or n_rows)
    return order(n_rows, 0, SEARCH_SEED)[:wanted]


@lru_cache(maxsize=3)
def load_rows(rows: Rows) -> tuple[np.ndarray, np.ndarray, bool]:
    """X (n, d), y (n,), and whether the set is whole."""
    if rows.file:
        X, y, _ = StreamFile(Path(rows.file)).read(rows.n_first)
        return X, y, rows.n_first is None or len(y) < rows.n_first
    data = datasets.load(rows.dataset, subset=rows.subset, scaling=rows.scaling, dtype=rows.dtype)
    X, y = data.X[: rows.n_first], data.y[: rows.n_first]
    if rows.positive is not None:
        y = (y == rows.positive).astype(int)
    if rows.unit_target:
        y = (y - y.min()) / (y.max() - y.min())
    if rows.share < 1.0 or rows.most is not None:
        chosen = part_of(len(y), rows.share, rows.most)
        X, y = X[chosen], y[chosen]
    return X, y, data.complete


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
