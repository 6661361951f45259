"""What workers run: the plan of a run, and pure functions of rows and models.

Each can be run again. Spark, Ray or Pathway need only ``learn_sample``, ``learn_part`` and
``merge_parts``; docs/guide/scaling.md shows how.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from onkel.columns.encoding import Encoder
from onkel.columns.failures import damaged
from onkel.distributed.partitions import FilePart
from onkel.distributed.reports import PartReport
from onkel.errors import DataError, NoRowsError
from onkel.fields import State
from onkel.metrics import Score
from onkel.pipeline import StreamModel
from onkel.pipeline.rows import left_out
from onkel.streams import Block, Reading, Stream, open_stream
from onkel.streams.blocks import concat, rows_of


@dataclass(frozen=True)
class Plan:
    """What is learned, and how: all that a worker needs besides the rows.

    Parameters
    ----------
    estimator : estimator
        Not fitted.
    scaling : {"auto", "standard", "minmax", "none"}, default="auto"
        As for `onkel.StreamModel`, with the sample's statistics.
    reading : Reading, or dict of its options, optional
        How partitions are read, the target column included. In a dict, ``missing`` is "auto" and
        ``statistics`` true unless it says otherwise.
    settings : dict, optional
        JSON-able notes, kept with the model.
    sample_rows : int, default=131072
        Rows ≥ 1 that the map is fixed on; the default learner's search uses up to 131 072.
    seed : int, default=0
        Of the order in which the sample is learned.
    skip_bad : bool, default=False
        Leave out partitions that cannot be read or learned, and report them.
    """

    estimator: Any
    scaling: str = "auto"
    reading: Any = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    sample_rows: int = 131_072
    seed: int = 0
    skip_bad: bool = False

    def __post_init__(self) -> None:
        if self.sample_rows < 1:
            raise ValueError(f"sample_rows={self.sample_rows} must be at least 1")
        if not isinstance(self.reading, Reading):
            usual: dict[str, Any] = {"missing": "auto", "statistics": True}
            object.__setattr__(self, "reading", Reading(**usual | self.reading))

    def new_model(self) -> StreamModel:
        """A model that has learned nothing."""
        from sklearn.base import clone

        return StreamModel(clone(self.estimator), scaling=self.scaling, settings=self.settings)

    def first(self, data: object) -> Stream:
        """The first partition of the sample, whose columns become features."""
        return open_stream(rows_in(data), self.reading)

    def next(self, data: object, encoder: Encoder, left: list[str]) -> Stream:
        """Another partition, read with the columns known so far but without those in ``left``."""
        reading, named = self.reading, encoder.n_vector is None
        if named:
            reading = reading.changed(exclude=(*reading.exclude, *left))
        return open_stream(rows_in(data), reading, encoder=copy.deepcopy(encoder), extend=named)

    def to_learn(self, data: object, model: StreamModel, skip: int) -> Iterator[Block]:
        """Blocks of a partition after the first ``skip`` rows, which the sample has learned."""
        assert model.encoder is not None
        for block in self.next(data, model.encoder, model.settings.get("left_out", [])):
            if block.y is None:
                raise DataError("has no target column to learn from")
            if skip < block.n_rows:
                yield rows_of(block, slice(skip, None))._replace(start=block.start + skip)
            skip = max(skip - block.n_rows, 0)

    def sample(self, heads: list[tuple[str, object]]) -> tuple[StreamModel, list[Block], list[int]]:
        """A new model that knows its columns, the sample's blocks, and each partition's rows."""
        model, blocks, taken = self.new_model(), list[Block](), list[int]()
        failure: Exception | None = None
        share = -(-self.sample_rows // min(len(heads), SAMPLED))
        for name, data in heads:
            wanted = min(share, self.sample_rows - sum(taken))
            known, left = model.encoder, model.settings.get("left_out", [])
            try:
                stream = self.first(data) if known is None else self.next(data, known, left)
                own = list(_first_rows(stream, wanted)) if wanted else []
            except NoRowsError:
                taken.append(0)
                continue
            except CANNOT_BE_READ as error:
                if not self.skip_bad:
                    raise unreadable(name, error) from None
                failure = failure or error
                taken.append(0)
                continue
            if known is None:
                model.settings |= {"left_out": left_out(stream), "useless": stream.useless}
            model.encoder = stream.encoder
            blocks += own
            taken.append(sum(block.n_rows for block in own))
        if failure is not None and not blocks:
            raise none_read(failure)
        return model, blocks, taken


#: partitions that the sample is taken from, if they have enough rows
SAMPLED = 16


#: what a damaged file or a bad row raises
CANNOT_BE_READ = OSError, ValueError, pa.ArrowException


def unreadable(name: str, error: Exception) -> DataError:
    """The error of a partition, with its name."""
    hint = ". To leave such partitions out: skip_bad=True (--skip-bad-partitions)"
    if isinstance(error, DataError):
        own = error.source or name
        return DataError(
            error.message + hint,
            source=own if own.startswith(name) else f"{name}: {own}",
            row=error.row,
            column=error.column,
            value=error.value,
        )
    # of files, in words of our own
    text = str(error) if isinstance(error, OSError) else damaged(error)
    where = "" if text.startswith(name) else f"{name}: "
    return DataError(f"{where}{text}{hint}")


def none_read(first: Exception | None) -> DataError:
    """The error where no partition could be read; ``first``: that of the first."""
    why = "no partition could be read; the first: "
    if not isinstance(first, DataError):
        return DataError(f"{why}{first}")
    return DataError(
        why + first.message,
        source=first.source, row=first.row, column=first.column, value=first.value,
    )  # fmt: skip


def rows_in(data: object) -> Any:
    """The rows of a partition, as `onkel.streams.open_stream` takes them."""
    return data.opened() if isinstance(data, FilePart) else data


def _first_rows(stream: Stream, rows: int) -> Iterator[Block]:
    for block in stream:
        if block.y is None:
            raise DataError("there is no column to learn: name it with target= (--target)")
        own = rows_of(block, slice(rows))
        if own.means is not None:
            own.means.learn(own, own.n_rows)
        # the sample is learned in another order
        yield own._replace(means=None, unfilled=None)
        rows -= block.n_rows
        if rows <= 0:
            return


_BLOCK_ROWS = 4096


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


def learn_sample(plan: Plan, names: list[str], heads: list[object]) -> Sample:
    """Learn the first rows of partitions, in a random order, and fix the map.

    ``heads``: the data of the partitions of these ``names``, or their first rows.
    """
    began = time.perf_counter()
    model, blocks, taken = plan.sample(list(zip(names, heads, strict=True)))
    if not blocks:
        raise DataError("there are no rows to learn from")
    rows, score = concat(blocks), Score(model.task)
    rows = rows_of(rows, np.random.default_rng(plan.seed).permutation(rows.n_rows))
    for a in range(0, rows.n_rows, _BLOCK_ROWS):
        block = rows_of(rows, slice(a, a + _BLOCK_ROWS))._replace(start=a)
        predictions = model.predictions_then_learn(block, "the sample").predictions
        # before the first label nothing can be predicted
        first = int(a == 0)
        score.add(np.asarray(block.y)[first:], predictions[first:])
    if not _one_class(model):
        model.fix_map()
    seconds = time.perf_counter() - began
    report = PartReport("sample", rows.n_rows, score.sums, seconds, n_scored=score.n_rows)
    return Sample(model.get_state(), dict(zip(names, taken, strict=True)), report)


def learn_part(
    plan: Plan, sample: Sample, name: str, data: object, before: LearnedPart | None = None
) -> LearnedPart:
    """Learn a partition with a copy of the sample's model, without rows that the sample learned.

    ``before``: a model that has learned other partitions, to continue instead. A DataError says
    why the partition cannot be read or learned, unless ``plan.skip_bad``.
    """
    began = time.perf_counter()
    known = None if before is None else before.state
    model = StreamModel.from_state(sample.state if known is None else known)
    score = Score(model.task)
    try:
        for block in plan.to_learn(data, model, sample.taken.get(name, 0)):
            score.add(block.y, model.predictions_then_learn(block, name).predictions)
        if not (model.map_fixed or _one_class(model)):
            classes = ", ".join(map(repr, model.classes_.tolist()))
            raise DataError(
                f"{name}: has rows of the classes {classes}, and the sample, which tells the "
                "classes, has one only: take a larger sample (sample_rows=)"
            )
    except NoRowsError:
        return LearnedPart(known, _report(name, score, began))
    except CANNOT_BE_READ as error:
        if not plan.skip_bad:
            raise unreadable(name, error) from None
        report = PartReport(name, 0, {}, time.perf_counter() - began, error)
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
    for other in map(StreamModel.from_state, states[1:]):
        if since.map_fixed:
            merged.merge(other, since=since)
        else:
            # of one class there is nothing to add up but the rows
            merged.estimator.n_rows_ += other.n_rows - since.n_rows
    return LearnedPart(merged.get_state(), report, spent + time.perf_counter() - began)


def _one_class(model: StreamModel) -> bool:
    """Whether a classifier knows one class only: it then has no map to fix."""
    return model.task == "classification" and len(model.classes_) < 2


def next_sample(sample: Sample, merged: LearnedPart) -> Sample:
    """The start of the next round: the merged model, and the rows that the sample learned."""
    state = sample.state if merged.state is None else merged.state
    return replace(sample, state=state, merging=sample.merging + merged.merging)


def _report(name: str, score: Score, began: float) -> PartReport:
    return PartReport(name, score.n_rows, score.sums, time.perf_counter() - began)
