"""The prequential loop over a stream."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from typing import Any

from onkel.evaluation.adapt import Rows, as_block
from onkel.evaluation.progress import RunProgress
from onkel.evaluation.result import PrequentialResult
from onkel.evaluation.run import PrequentialRun, Progress

__all__ = ["prequential"]


def prequential(
    model: Any,
    stream: Any,
    *,
    target: str | None = None,
    checkpoints: str = "powers",
    every: int | None = None,
    limit: int | None = None,
    name: str | None = None,
    settings: dict[str, Any] | None = None,
    progress: Progress | bool = False,
    after_block: Callable[[PrequentialRun], None] | None = None,
    warm_up: bool = True,
) -> PrequentialResult:
    """Predict every row of a stream with the rows before it, learn it, and keep the curve.

    Parameters
    ----------
    model : StreamModel or estimator
        Learned in place; after the run it has learned the whole stream.
    stream : Stream, iterable of Block or of blocks (X, y), or a source
        A tuple of arrays, a path, a frame or a query is opened with `onkel.streams.open_stream`.
        Open rows (x, y) with it yourself.
    target : str, optional
        Target column of a source that is a table.
    checkpoints : {"powers", "none"}, default="powers"
        "powers" puts a row of the curve at 1, 2, 4, 8, ... rows.
    every : int, optional
        A row of the curve every so many rows as well. At least 1.
    limit : int, optional
        Stop after so many rows.
    name : str, optional
        For legends; the estimator's class name by default.
    settings : dict, optional
        JSON-able notes for the report.
    progress : Progress or bool, default=False
        True shows a bar and a table on stderr if that is a terminal. An object of one's own is
        told of every block and every checkpoint.
    after_block : callable, optional
        Called with the run after every block.
    warm_up : bool, default=True
        Learn the first block with a copy first, so that compiling does not count as learning.

    Returns
    -------
    PrequentialResult
        Curve, totals, times. The time for learning and the time for all of it are kept apart.

    Raises
    ------
    DataError
        If a row is bad; the model has then learned the rows before it.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel.estimators import FOGDClassifier
    >>> from onkel.evaluation import prequential
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4096, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> model = FOGDClassifier(n_components=100, gamma=0.5, random_state=0)
    >>> result = prequential(model, (X, y))
    >>> result.metric.name, result.value < 10
    ('mistakes', True)
    >>> [row.n_rows for row in result.curve][-3:]
    [1024, 2048, 4096]
    """
    run = PrequentialRun(model, name=name, checkpoints=checkpoints, every=every, settings=settings)
    blocks = blocks_of(stream, target)
    with ExitStack() as stack:
        if progress is True:
            progress = stack.enter_context(_bar(run.name, blocks, limit))
        run.progress = progress or None
        for i, block in enumerate(take(blocks, limit)):
            if i == 0 and warm_up:
                run.warm_up(block)
            run.step(block)
            if after_block is not None:
                after_block(run)
        return run.result()


def _bar(name: str, blocks: Any, limit: int | None) -> RunProgress:
    from rich.console import Console

    total = getattr(blocks, "n_rows", None)
    if total is not None and limit is not None:
        total = min(total, limit)
    return RunProgress(
        Console(stderr=True), name, total=total, fraction=getattr(blocks, "progress", None)
    )


_SOURCES = ("__array__", "__fspath__", "__arrow_c_stream__", "collect_batches")
"""What marks arrays, paths, tables and queries, beside strings and tuples."""


def blocks_of(stream: Any, target: str | None = None) -> Iterable[Any]:
    """Blocks of a stream, or of anything a stream can be opened on."""
    opens = isinstance(stream, str | tuple) or any(hasattr(stream, mark) for mark in _SOURCES)
    if not opens and target is None:
        return stream
    from onkel.streams import open_stream

    dtype = getattr(stream[0], "dtype", None) if isinstance(stream, tuple) else None
    dtype = "float64" if dtype == "float64" else "float32"
    return open_stream(stream, target=target, dtype=dtype)


def take(blocks: Iterable[Any], limit: int | None = None) -> Iterator[Any]:
    """The first ``limit`` rows of some blocks; pairs (X, y) become blocks."""
    left = math.inf if limit is None else limit
    start = 0
    if left <= 0:
        return
    for given in blocks:
        block = as_block(given, start)
        n = block.X.shape[0]
        if n > left:
            late = getattr(block, "late", 0)
            block = Rows(block.X[: int(left)], block.y[: int(left)], block.start, late)
        left -= n
        start += n
        yield block
        if left <= 0:
            return
