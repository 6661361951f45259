"""What workers run: pure functions of rows and models, so that each can be run again.

Spark, Ray or Pathway need only ``learn_sample``, ``learn_part`` and ``merge_parts``;
docs/scaling.md shows how.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from onkel.distributed.plan import CANNOT_BE_READ, Plan, unreadable
from onkel.distributed.reports import PartReport
from onkel.errors import DataError
from onkel.evaluation.metrics import Score
from onkel.pipeline import StreamModel
from onkel.streams.blocks import concat, rows_of

_BLOCK_ROWS = 4096

State = dict[str, Any]


@dataclass(frozen=True)
class Sample:
    """The model of the sample, its map fixed, and how many rows of each partition it has learned.

    ``state`` is the model's: named arrays and plain values.
    """

    state: State
    taken: dict[str, int]
    report: PartReport
    #: seconds of merging so far
    merging: float = 0.0


@dataclass(frozen=True)
class LearnedPart:
    """The state of a model that has learned one or more partitions; None if they had no rows."""

    state: State | None
    report: PartReport
    #: seconds of merging, in this part of the tree
    merging: float = 0.0


def learn_sample(plan: Plan, names: list[str], heads: list[Any]) -> Sample:
    """Learn the first rows of partitions, in a random order, and fix the map.

    Parameters
    ----------
    plan : Plan
        What is learned, and how.
    names : list of str
        Of the partitions.
    heads : list
        Their data, or its first rows, in the same order.
    """
    began = time.perf_counter()
    model, blocks, taken = plan.sample(list(zip(names, heads, strict=True)))
    if not blocks:
        raise DataError("there are no rows to learn from")
    rows, score = concat(blocks), Score(model.task)
    rows = rows_of(rows, np.random.default_rng(plan.seed).permutation(rows.n_rows))
    for a in range(0, rows.n_rows, _BLOCK_ROWS):
        block = rows_of(rows, slice(a, a + _BLOCK_ROWS))._replace(start=a)
        score.add(block.y, model.tell_then_learn(block, "the sample").predictions)
    model.fix_map()
    report = _report("sample", score, began)
    return Sample(model.get_state(), dict(zip(names, taken, strict=True)), report)


def learn_part(
    plan: Plan, sample: Sample, name: str, data: Any, before: LearnedPart | None = None
) -> LearnedPart:
    """Learn a partition with a copy of the sample's model, without rows that the sample learned.

    ``before``: a model that has learned other partitions, to go on from instead.

    Raises
    ------
    DataError
        The partition cannot be read or learned, unless ``plan.skip_bad``; the error says why.
    """
    began = time.perf_counter()
    known = None if before is None else before.state
    model = StreamModel.from_state(sample.state if known is None else known)
    score = Score(model.task)
    try:
        for block in plan.to_learn(data, model, sample.taken.get(name, 0)):
            score.add(block.y, model.tell_then_learn(block, name).predictions)
    except CANNOT_BE_READ as error:
        if not plan.skip_bad:
            raise unreadable(name, error) from None
        report = PartReport(name, 0, {}, time.perf_counter() - began, str(error))
        return LearnedPart(known, report)
    return LearnedPart(model.get_state() if score.n_rows else known, _report(name, score, began))


def merge_parts(sample: Sample, *parts: LearnedPart) -> LearnedPart:
    """Merge models that all started from the sample's into one."""
    began = time.perf_counter()
    states = [part.state for part in parts if part.state is not None]
    spent, report = sum(part.merging for part in parts), parts[0].report
    if len(states) < 2:
        return LearnedPart(states[0] if states else None, report, spent)
    since = StreamModel.from_state(sample.state)
    merged = StreamModel.from_state(states[0])
    for state in states[1:]:
        merged.merge(StreamModel.from_state(state), since=since)
    return LearnedPart(merged.get_state(), report, spent + time.perf_counter() - began)


def go_on(sample: Sample, merged: LearnedPart) -> Sample:
    """The start of the next round: the merged model, and the rows that the sample learned."""
    state = sample.state if merged.state is None else merged.state
    return replace(sample, state=state, merging=sample.merging + merged.merging)


def report_of(part: LearnedPart) -> PartReport:
    """The report of a partition, without its model."""
    return part.report


def sample_without_model(sample: Sample) -> Sample:
    """The sample, without its model."""
    return replace(sample, state={})


def _report(name: str, score: Score, began: float) -> PartReport:
    return PartReport(name, score.n_rows, score.sums, time.perf_counter() - began)
