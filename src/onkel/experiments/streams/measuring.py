"""Runs of learners over streams, each row predicted before it is learned."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from onkel._version import __version__
from onkel.experiments.records import Record
from onkel.experiments.results import Measured
from onkel.experiments.streams.learners import Learner
from onkel.experiments.streams.published import PUBLISHED, Published
from onkel.experiments.streams.reading import StreamFile


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What learners did on a stream."""

    stream: str
    task: str
    n_rows: int
    whole: bool
    #: by the learner's name
    runs: dict[str, Measured]

    @property
    def published(self) -> Published | None:
        """The best number known, of the whole stream."""
        return PUBLISHED.get(self.stream)


def about(rows: int | None) -> dict[str, Any]:
    """What a record of these runs is about."""
    return {"streams": __version__, "rows": rows}


def measure(
    stream: StreamFile,
    learners: Sequence[Learner],
    record: Record,
    n_runs: int,
    rows: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Outcome:
    """Run learners over a stream; those that draw random numbers with several seeds.

    Runs that the record holds are not repeated; it is saved after every run. All rows but the
    first, of which nothing can be known, are scored: mistakes in percent or root mean squared
    error. Seconds are of the processor.
    """
    X, y, task = stream.read(rows)
    found = record.results.setdefault(stream.name, {"task": task, "rows": len(y), "runs": {}})
    asked = [(learner, n_runs if learner.random else 1) for learner in learners]
    done, total = 0, sum(n for _, n in asked)
    for learner, n in asked:
        run = found["runs"].setdefault(learner.name, {"values": [], "seconds": []})
        for seed in range(len(run["values"]), n):
            began = time.process_time()
            told = learner.run(X, y, task, seed)
            run["seconds"].append(time.process_time() - began)
            run["values"].append(_error(told[1:], y[1:], task))
            record.save()
            if progress is not None:
                progress(done + seed + 1, total)
        done += n
    runs = {
        name: Measured(n_rows=len(y), values=tuple(r["values"]), seconds=tuple(r["seconds"]))
        for name, r in found["runs"].items()
    }
    whole = rows is None or len(y) < rows
    return Outcome(stream=stream.name, task=task, n_rows=len(y), whole=whole, runs=runs)


def _error(told: np.ndarray, y: np.ndarray, task: str) -> float:
    if task == "classification":
        return 100.0 * float(np.mean(told != y))
    return float(np.sqrt(np.mean((told - y) ** 2)))
