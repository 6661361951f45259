"""The streams of a folder as an experiment: every learner on every stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from onkel.experiments.entry import Case, Rows
from onkel.experiments.experiment import Experiment
from onkel.experiments.files import StreamFile
from onkel.experiments.published import Cell
from onkel.experiments.streams.learners import Learner
from onkel.experiments.streams.published import PUBLISHED

#: without a folder it has no cases
STREAMS = Experiment(
    "streams", "onkel", "Streams in the order of time, beside River's forests",
    "Every row predicted before it is learned; mistakes in percent or root mean squared error, of "
    "all rows but the first.",
    layout="streams",
)  # fmt: skip


def experiment(
    streams: Sequence[StreamFile], learners: Sequence[Learner], n_runs: int, rows: int | None
) -> Experiment:
    """Learners on streams; those that draw random numbers with ``n_runs`` seeds."""
    cases = [_case(at, learner, n_runs, rows) for at in streams for learner in learners]
    return replace(STREAMS, cases=tuple(cases))


def _case(stream: StreamFile, learner: Learner, n_runs: int, rows: int | None) -> Case:
    printed = PUBLISHED.get(stream.name)
    classes = stream.task == "classification"
    return Case(
        rows=Rows("", file=str(stream.path.resolve()), n_first=rows),
        algorithm=learner.name,
        parameters={},
        task="multiclass" if classes else "regression",
        metric="mistakes" if classes else "rmse",
        measure="in order",
        published=None if printed is None else Cell(printed.value),
        n_runs=n_runs if learner.random else 1,
        step="default",
        panel=stream.name,
        slow=learner.slow,
    )
