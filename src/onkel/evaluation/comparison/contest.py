"""The runs of a comparison: every learner over every order of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from onkel.annotations import Matrix
from onkel.errors import DataError
from onkel.evaluation.comparison.adapters import Adapter
from onkel.evaluation.comparison.entries import Entry
from onkel.evaluation.prequential import take
from onkel.evaluation.processes import in_processes
from onkel.evaluation.progress import RunProgress
from onkel.evaluation.result import PrequentialResult
from onkel.evaluation.run import PrequentialRun
from onkel.pipeline import StreamModel
from onkel.streams import Block
from onkel.streams.blocks import concat
from onkel.streams.stream import nothing_to_learn

if TYPE_CHECKING:
    from rich.console import Console

    from onkel.columns.encoding import Encoder


@dataclass
class Contest:
    """What is compared, and how every model is made."""

    entries: Sequence[Entry]
    #: of the features
    scaling: str = "auto"
    #: run r has the seed ``seed + r``: its order of rows, and its random features
    seed: int = 0
    #: kept in the models
    encoder: Encoder | None = None
    #: gives a context in which no signal acts; each block is learned in one
    held: Callable[[], AbstractContextManager[None]] = nullcontext
    #: the model of each learner's last run
    models: dict[str, StreamModel] = field(default_factory=dict)
    #: runs that are finished, learner by learner
    results: list[PrequentialResult] = field(default_factory=list)

    def play(
        self,
        rows: Callable[[int], Iterable[Block]],
        console: Console,
        *,
        runs: int,
        total: int | None = None,
        limit: int | None = None,
        jobs: int = 1,
    ) -> list[PrequentialResult]:
        """Run every learner over every order of the rows; the results, learner by learner.

        If an exception cuts it short, ``results`` has the runs that were finished. ``rows`` gives
        the blocks of a run by its seed, the same each time. ``total``: the rows of a run, if known;
        ``limit``: the most that a run takes. ``jobs`` processes of one thread each share the runs.
        """
        from rich.progress import track

        parts = [(entry, self.seed + r) for entry in self.entries for r in range(runs)]
        own = self if jobs == 1 else replace(self, held=nullcontext, models={}, results=[])
        calls = []
        for entry, seed in parts:
            title = entry.name if runs == 1 else f"{entry.name} {seed - self.seed + 1}/{runs}"
            watch = RunProgress(console, title, total=total, table=False) if jobs == 1 else None
            calls.append(partial(own._run_one, entry, seed, rows, limit, watch))
        made: Iterable[Any] = in_processes(calls, jobs)
        if jobs > 1:
            made = track(made, f"{jobs} processes", len(parts), console=console, transient=True,
                         disable=not console.is_terminal)  # fmt: skip
        done: dict[int, PrequentialResult] = {}
        for number, (result, model) in made:
            entry, seed = parts[number]
            result.settings |= {"seed of the run": seed} if runs > 1 else {}
            done[number] = result
            self.results[:] = [done[k] for k in sorted(done)]
            if seed == self.seed + runs - 1:
                self.models[entry.name] = model
        return self.results

    def _run_one(
        self,
        entry: Entry,
        seed: int,
        rows: Callable[[int], Iterable[Any]],
        limit: int | None,
        progress: RunProgress | None,
    ) -> tuple[PrequentialResult, StreamModel]:
        """The result of one run, and its model."""
        model = StreamModel(entry.make(seed), scaling=self.scaling, encoder=self.encoder)
        own = model.estimator
        params = own.settings() if isinstance(own, Adapter) else own.get_params(deep=False)
        # the same in all runs
        settings = {name: value for name, value in params.items() if name != "random_state"}
        run = PrequentialRun(model, name=entry.name, settings=settings, progress=progress)
        try:
            with progress or nullcontext():
                for i, block in enumerate(take(rows(seed), limit)):
                    with self.held():
                        if i == 0:
                            self._make_room(model.estimator, block.X.shape[1])
                            run.warm_up(block)
                        run.step(block)
        except DataError as error:
            where = entry.name if error.source is None else f"{entry.name}: {error.source}"
            raise DataError(
                error.message, source=where, row=error.row, column=error.column, value=error.value
            ) from error
        return run.result(), model

    def _make_room(self, learner: Any, width: int) -> None:
        """Tell an adapter how wide rows may become; now they have ``width`` columns."""
        if isinstance(learner, Adapter):
            codes = 0 if self.encoder is None else len(self.encoder.codes)
            means = 1 if learner.classes is None else max(len(learner.classes) - 1, 1)
            learner.room = width + codes * (means - 1)


_BLOCK_ROWS = 4096


def read_all(
    blocks: Iterable[Block], most_bytes: float, limit: int | None = None
) -> tuple[Matrix, np.ndarray] | None:
    """All rows (X, y) of a stream, the first ``limit`` at most; None if X takes too many bytes.

    DataError if there are no rows, or no targets.
    """
    parts, size = [], 0
    for block in take(blocks, limit):
        values = block.X if isinstance(block.X, np.ndarray) else block.X.data
        size += 2 * values.nbytes  # while they are put together there are two of each
        if size > most_bytes:
            return None
        parts.append(block)
        if block.means is not None:
            block.means.learn(block, block.n_rows)
    if not parts:
        raise nothing_to_learn(blocks)
    rows = concat(parts)
    return rows.X, np.asarray(rows.y)


def permuted(X: Matrix, y: np.ndarray, seed: int | None) -> Iterator[Block]:
    """Blocks of copies of the rows; same seed, same order. None: as they came."""
    order = np.arange(len(y))
    if seed is not None:
        order = np.random.default_rng(seed).permutation(len(y))
    for start in range(0, len(y), _BLOCK_ROWS):
        chosen = order[start : start + _BLOCK_ROWS]
        yield Block(X[chosen], y[chosen], start)
