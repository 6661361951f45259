"""Loops are compiled before the first request comes: a copy of the model answers a few rows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, repeat
from typing import Any

import numpy as np

import onkel
from onkel.errors import ModelFileError
from onkel.numerics.compiling import watch
from onkel.serve.live import LiveModel

# Enough for the first fits of a new model; for its searches and early trees. Each is learned twice.
_ROWS, _ROWS_OF_SEARCHES = 300, 2400
# Rows at a time: single ones and blocks, before the first fits and after them.
_SIZES = (1, 1, 62, 64, 1, 1)
_BLOCK = 256


def warm_up(live: LiveModel, content: bytes) -> None:
    """Answer and learn rows with a copy of a live model, which has the bytes of its model."""
    for _ in _steps(live, content, _ROWS):
        pass


def compile_where_needed(live: LiveModel) -> None:
    """Compile the loops that a model is likely to need, where those of its first row are not kept.

    That takes some seconds, in which rows would wait. Kept loops are loaded in no time.
    """
    steps, before = _steps(live, live.model.to_bytes(), _ROWS_OF_SEARCHES), watch.n_compiled
    next(steps)
    if watch.n_compiled > before:
        for _ in steps:
            pass


def _steps(live: LiveModel, content: bytes, n_rows: int) -> Iterator[None]:
    model = onkel.from_bytes(content)
    if not isinstance(model, onkel.StreamModel):
        raise ModelFileError("the bytes hold no model of a table")
    options = {name: live.options[name] for name in ("id", "target", "level", "proba")}
    copy = LiveModel(model, **options, say=lambda line: None)
    known = model.encoder is not None and model.n_rows > 0
    rows, labels = _rows(model) if known else _any_rows(model.task, n_rows)
    sizes, start = chain(_SIZES, repeat(_BLOCK)), 0
    while start < len(rows):
        part = range(start, min(start + next(sizes), len(rows)))
        start = part.stop
        copy_rows = [{live.id: t, **rows[t]} for t in part]
        list(copy.take_all(copy_rows))
        list(copy.take_all([{live.id: t, copy.target: labels[t]} for t in part]))
        both = [row | {live.id: f"{row[live.id]} again", copy.target: labels[t]}
                for t, row in zip(part, copy_rows, strict=True)]  # fmt: skip
        list(copy.take_all(both))
        while copy.model.estimator.fit_ahead():
            pass
        yield


def _rows(model: Any) -> tuple[list[dict[str, Any]], list[Any]]:
    """Rows of the model's columns, with values that are there or not."""
    rng = np.random.default_rng(0)
    known = onkel.pipeline.summary.columns_of(model)
    numbers = [column["name"] for column in known if column["kind"] == "number"]
    rows: list[dict[str, Any]] = [
        {column["name"]: None for column in known} | dict(zip(numbers, x, strict=True))
        for x in rng.normal(size=(130, len(numbers))).tolist()
    ]
    if model.task == "classification":
        classes = model.classes_.tolist()
        return rows, [classes[t % len(classes)] for t in range(len(rows))]
    return rows, rng.normal(size=len(rows)).tolist()


def _any_rows(task: str, n: int) -> tuple[list[dict[str, Any]], list[Any]]:
    X = np.random.default_rng(0).normal(size=(n, 2))
    rows = [{"a": a, "b": b, "c": f"c{t % 3}"} for t, (a, b) in enumerate(X.tolist())]
    value = X.prod(axis=1)
    labels = value if task == "regression" else np.where(value > 0, "x", "y")
    return rows, labels.tolist()
