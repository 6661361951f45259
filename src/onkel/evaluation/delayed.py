"""Labels that come late: a row is learned only when its label has come."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any, ClassVar

import numpy as np

from onkel.errors import DataError
from onkel.fields import Fields, Number, Whole, require
from onkel.learners.checking import by_group
from onkel.learners.predictions import Forecast
from onkel.parameters import is_whole
from onkel.pipeline import StreamModel
from onkel.pipeline.forecasts import judging_forecasts, sets_now, way_now
from onkel.pipeline.label_queue import LabelQueue, Waiting
from onkel.pipeline.statistics import is_fitted
from onkel.state import Made, Stateful
from onkel.streams import Block
from onkel.streams.blocks import rows_of


def delay_of(delay: Any) -> int | timedelta:
    """A delay as rows or as a time; ValueError if it is neither, or below 0."""
    if isinstance(delay, np.timedelta64):
        delay = delay.astype("timedelta64[us]").item()
    if not is_whole(delay) and not isinstance(delay, timedelta):
        raise ValueError(f"delay={delay!r} must be a whole number of rows, or a timedelta")
    found = delay if isinstance(delay, timedelta) else int(delay)
    if found < timedelta(0) if isinstance(found, timedelta) else found < 0:
        raise ValueError(f"delay={delay}: must be at least 0")
    return found


class _Now(Number):
    """A time or, whole, the number of a row."""

    def saved(self, value: float) -> float:
        return value


class _RowsOfRun(LabelQueue):
    """Rows that may come in a run: of numbers, and with a label that comes at a known time."""

    def state_is_set(self) -> None:
        for row in self.rows():
            known = row.y is not None and row.due < math.inf
            require(known, "due: a row that waits has no label, or no time when it comes")
            fine = not isinstance(row.x, dict) and row.x.dtype.kind == "f"
            require(fine, "X: must be numbers")


class Delayed(Stateful):
    """A model with ``predict_next``, and the same as a ``learner``; labels come ``delay`` late.

    A delay in rows: row t is predicted when the labels up to row t - delay - 1 have come and are
    learned. A delay in time: when those of all rows at least that much older are; it needs blocks
    with ``times``. The rows in between have come without their labels. Rows are taken one by one,
    so blocks don't matter.
    """

    #: what a run that was cut off needs besides the model to go on
    STATE: ClassVar[Fields] = {
        "waiting": Made(_RowsOfRun),
        "n_rows": Whole(),
        "now": _Now(finite=False),
    }

    def __init__(self, model: Any, learner: Any, delay: int | timedelta) -> None:
        self.model: Any = model
        self.learner: Any = learner
        self.delay: int | timedelta = delay
        self.task: str = learner.task
        #: rows whose labels are still to come, by their numbers
        self.waiting: LabelQueue = LabelQueue()
        #: how many labels had not come when each row of the last block was predicted
        self.missing: list[int] = []
        self.n_rows: int = 0
        self.now: float = -math.inf

    @property
    def nbytes(self) -> int:
        """Bytes of the model's state."""
        return int(self.learner.nbytes)

    def learn(self, block: Block) -> np.ndarray:
        """Predict the rows of a block, and learn those whose labels have come by then.

        Before the first label comes, 0 is predicted for a value, and None for a class: a mistake.
        """
        predictions: list[object] = []
        self.missing = []
        try:
            for t in range(block.n_rows):
                row = rows_of(block, slice(t, t + 1))._replace(start=block.start + t)
                first = self.waiting.first_due()
                grows = first is not None and first.x.shape[1] != row.X.shape[1]
                if grows and not isinstance(self.model, StreamModel):
                    text = "a column came in mid-stream, which a run with a delay does not take"
                    raise DataError(text, row=row.start)
                due = self._due(row)
                self._learn_until(self.now)
                self.missing.append(len(self.waiting))
                found = self._forecast(row)
                nothing = 0.0 if self.task == "regression" else None
                predictions.append(nothing if found is None else found.predictions[0])
                self.waiting.add(self.n_rows, self._waiting(row, due, found))
                self.n_rows += 1
        except DataError as error:
            error.predictions = self._array(predictions)
            raise
        finally:
            if block.means is not None and isinstance(self.model, StreamModel):
                # rows that wait are kept with the model
                block.means.learn(block, len(predictions), self.model.encoder)
        return self._array(predictions)

    def finish(self) -> None:
        """Learn the rows that still wait: the stream has ended and their labels come."""
        self._learn_until(math.inf)

    def _due(self, row: Block) -> float:
        """When the label of the next row comes; moves ``now`` to the time of the row itself."""
        if not isinstance(self.delay, timedelta):
            self.now = self.n_rows
            return self.n_rows + self.delay + 1
        if row.times is None:
            raise DataError(
                "a delay by time needs the time of every row: name its column with time= (on the "
                "command line --time)",
                row=row.start,
            )
        # a row that comes late does not turn time back
        self.now = max(self.now, float(row.times[0]))
        return round(float(row.times[0]) + self.delay.total_seconds(), 6)

    def _learn_until(self, now: float) -> None:
        """Learn the rows whose labels have come, in the order in which they come."""
        while (row := self.waiting.take_due(now)) is not None:
            groups = None if row.group is None else np.array([row.group])
            times = None if row.time is None else np.array([row.time])
            block = Block(row.x, np.array([row.y]), row.start, row.late, groups, times)
            with judging_forecasts(self.model, [row]):
                self.learner.learn(block)

    def _forecast(self, row: Block) -> Forecast | None:
        """What is predicted of a row; None before the first label."""
        ahead, found = self.waiting.ahead(_group(row)), None
        if isinstance(self.model, StreamModel):
            if is_fitted(self.model.estimator):
                found = self.model.next_forecast(row.X, ahead, row.groups)
        elif is_fitted(self.model):
            more = by_group(self.model, row.groups)
            found = self.model.forecast_next(row.X, ahead, **more)
        return found

    def _waiting(self, row: Block, due: float, found: Forecast | None) -> Waiting:
        """A block of one row, as it waits for its label."""
        assert row.y is not None
        time, way = None if row.times is None else row.times[0], way_now(self.model)
        sets = sets_now(self.model, found)
        predicted = None if way is None or found is None else float(found.predictions[0])
        return Waiting(
            row.X, _group(row), predicted, row.y[0], due, time, row.start, row.late, way,
            None if sets is None else sets[0],
        )  # fmt: skip

    def _array(self, predictions: list[object]) -> np.ndarray:
        return np.array(predictions, dtype=np.float64 if self.task == "regression" else object)


def _group(row: Block) -> Any:
    return None if row.groups is None else row.groups[0]
