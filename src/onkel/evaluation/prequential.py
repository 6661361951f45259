"""The prequential loop over a stream."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import numpy as np

from onkel.evaluation.learner import as_block
from onkel.evaluation.progress import RunProgress
from onkel.evaluation.result import PrequentialResult
from onkel.evaluation.run import PrequentialRun, Progress
from onkel.pipeline import StreamModel
from onkel.streams import Block, Stream
from onkel.streams.blocks import beside, rows_of
from onkel.streams.tables import ArrowRows, Query

_SOURCES = (str, tuple, os.PathLike, np.ndarray, ArrowRows, Query)
"""What is opened with `onkel.streams.open_stream`; anything else is taken as blocks."""


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
    delay: int | timedelta = 0,
    group: Any = None,
    time: Any = None,
    intervals: float | None = None,
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
        Also put a row of the curve every ``every`` rows. At least 1.
    limit : int, optional
        Stop after this many rows.
    name : str, optional
        For legends; the estimator's class name by default.
    settings : dict, optional
        JSON-able notes for the report.
    progress : Progress or bool, default=False
        True shows a bar and a table on stderr if that is a terminal. An object of your own is
        called after every block and every checkpoint.
    after_block : callable, optional
        Called with the run after every block.
    warm_up : bool, default=True
        Learn the first block with a copy first, so that compiling does not count as learning.
    delay : int or timedelta, default=0
        The label of a row is learned only after ``delay`` more rows have been predicted, or, by
        ``time``, before the first row that comes at least that much later. So the score is of
        predictions made that far ahead. Rows are then learned one by one, which is slower.
    group : str or array of shape (n,), optional
        The series that each row belongs to, a column of a table or an array: a learner with a
        memory keeps one for each series.
    time : str or array of shape (n,), optional
        When each row came, a column of a table or an array, times or seconds.
    intervals : float, optional
        In (0, 1). In regression: also put bounds around each prediction, before its label is known,
        that cover this share of the targets (`onkel.Intervals`). ``details["intervals"]`` of the
        result has their coverage, mean width, Winkler score and worst window of 500 rows. In
        classification, for learners with probabilities: sets of labels (`onkel.ClassSets`);
        ``details["sets"]`` has their coverage, mean size and worst window.

    Returns
    -------
    PrequentialResult
        Curve, totals and times; the time for learning is kept apart from the whole time.

    Raises
    ------
    DataError
        If a row is bad; the model has then learned the rows before it.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel.learners import FOGDClassifier
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
    run = PrequentialRun(
        model,
        name=name,
        checkpoints=checkpoints,
        every=every,
        settings=settings,
        delay=delay,
        intervals=intervals,
    )
    blocks = _opened(model, stream, target, group, time)
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
        run.finish()
        return run.result()


def _opened(model: Any, stream: Any, target: str | None, group: Any, time: Any) -> Iterable[Any]:
    """Blocks for a model; a model that reads columns by name opens the source itself."""
    names = ("group", group), ("time", time)
    named: dict[str, Any] = {k: v for k, v in names if isinstance(v, str)}
    by_row = {"groups": group, "times": time}
    by_row = {k: v for k, v in by_row.items() if v is not None and not isinstance(v, str)}
    opened: Any = stream
    if target is None and not isinstance(stream, _SOURCES):
        for name in named:
            raise ValueError(f"{name}= names a column: give a table, or {name}= as an array")
    elif isinstance(model, StreamModel):
        opened = model.open(stream, target=target, **named)
        model.adopt(opened)
    else:
        opened = blocks_of(stream, target, **named)
    return beside(opened, **by_row) if by_row else opened


def _bar(name: str, blocks: Any, limit: int | None) -> RunProgress:
    from rich.console import Console

    console = Console(stderr=True)
    if not isinstance(blocks, Stream):
        return RunProgress(console, name)
    total = blocks.n_rows
    if total is not None and limit is not None:
        total = min(total, limit)
    return RunProgress(console, name, total=total, fraction=blocks.progress)


def blocks_of(stream: Any, target: str | None = None, **columns: Any) -> Iterable[Any]:
    """Blocks of a stream, or of anything a stream can be opened on.

    ``columns``: ``group`` and ``time``, as of :func:`onkel.streams.open_stream`.
    """
    if target is None and not isinstance(stream, _SOURCES):
        return stream
    from onkel.streams import open_stream

    double = isinstance(stream, tuple) and np.asarray(stream[0][:0]).dtype == np.float64
    dtype = "float64" if double else "float32"
    return open_stream(stream, target=target, dtype=dtype, **columns)


def take(blocks: Iterable[Block], limit: int | None = None) -> Iterator[Block]:
    """The first ``limit`` rows of some blocks; pairs (X, y) become blocks."""
    left = math.inf if limit is None else limit
    start = 0
    if left <= 0:
        return
    for given in blocks:
        block = as_block(given, start)
        n = block.n_rows
        if n > left:
            block = rows_of(block, slice(int(left)))
        left -= n
        start += n
        yield block
        if left <= 0:
            return
