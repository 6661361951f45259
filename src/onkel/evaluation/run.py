"""A prequential run in progress: every row is predicted before it is learned, in one call."""

from __future__ import annotations

import contextlib
import copy
import time
from datetime import timedelta
from typing import Any, Protocol

import numpy as np

from onkel.errors import DataError, ModelFileError
from onkel.evaluation.delayed import Delayed, delay_of
from onkel.evaluation.details import Details
from onkel.evaluation.growing_curve import Marks
from onkel.evaluation.learner import (
    as_block,
    as_learner,
    link_of,
    predictions_then_learn,
    work_of_fits,
)
from onkel.evaluation.outliers import Extremes
from onkel.evaluation.result import CurveRow, PrequentialResult, rate
from onkel.evaluation.tally import Tally
from onkel.fields import State
from onkel.learners.predictions import Predictions
from onkel.metrics import Metric, metrics_of
from onkel.model.contract import WorkOfFits
from onkel.numerics.compiling import compile_seconds
from onkel.pipeline import StreamModel
from onkel.streams import Block
from onkel.streams.blocks import rows_of


class Progress(Protocol):
    """What watches a run: a progress bar, a table, a test."""

    def block(self, run: PrequentialRun) -> None:
        """Called after every block."""

    def checkpoint(self, row: CurveRow) -> None:
        """Called for every row of the curve."""


class PrequentialRun:
    """A run in progress: learns blocks and keeps the curve.

    `prequential` is the loop around it. Use it directly to drive the loop yourself.

    Parameters
    ----------
    model, name, checkpoints, every, settings, delay, intervals
        As of `prequential`.
    progress : Progress, optional
        Called after every block and every checkpoint.
    began : float, optional
        When the run began, by `time.perf_counter`; now by default.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel.learners import PAClassifier
    >>> from onkel.evaluation import PrequentialRun
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 2))
    >>> run = PrequentialRun(PAClassifier())
    >>> run.step((X, X[:, 0] > X[:, 1]))
    >>> run.result().value < 10
    True
    """

    def __init__(
        self,
        model: Any,
        *,
        name: str | None = None,
        checkpoints: str = "powers",
        every: int | None = None,
        settings: dict[str, Any] | None = None,
        progress: Progress | None = None,
        began: float | None = None,
        delay: int | timedelta = 0,
        intervals: float | None = None,
    ) -> None:
        if checkpoints not in ("powers", "none"):
            raise ValueError(f"checkpoints={checkpoints!r}: must be 'powers' or 'none'")
        if every is not None and every < 1:
            raise ValueError(f"every={every}: must be at least 1")
        delay = delay_of(delay)
        by_time = isinstance(delay, timedelta)
        self.model = model
        learner = as_learner(model)
        self._learner = Delayed(model, learner, delay) if delay else learner
        self.name: str = name or _name(model)
        self.task: str = self._learner.task
        self.metrics: tuple[Metric, ...] = metrics_of(self.task)
        late = {"delay": str(delay) if by_time else delay} if delay else {}
        self.settings: dict[str, Any] = dict(settings or {}) | late
        self.progress = progress
        self._marks = Marks(checkpoints == "powers", every)
        self._warm_seconds = 0.0
        self._compiled = compile_seconds()
        link = None if delay else link_of(model)
        if intervals is not None and self.task == "classification" and link is None:
            raise ValueError(
                f"intervals={intervals!r}: sets of labels need a classifier with probabilities "
                "(loss='logistic', say), and labels without a delay"
            )
        details = Details(self.task, link, intervals)
        self._all = Tally(details, self._marks, self._measure, self._watch)
        self._part: Tally | None = None
        self._extremes = Extremes()
        self._began = time.perf_counter() if began is None else began
        #: rows scored before the run, and work of the fits that the model had made then
        self.rows_before: int = 0
        self.work_before: float = self.work_of_fits(0).so_far

    @property
    def curve(self) -> list[CurveRow]:
        """Checkpoints so far."""
        return self._all.curve.rows

    @property
    def startup_seconds(self) -> float:
        """Time for loading and compiling, counted in no other."""
        return self._warm_seconds + compile_seconds() - self._compiled

    @property
    def n_rows(self) -> int:
        """Rows predicted and learned so far."""
        return self._all.curve.totals.n_rows

    @property
    def value(self) -> float:
        """Main metric so far."""
        return self._all.value

    @property
    def rows_per_second(self) -> float:
        """Rows a second of learning time so far."""
        totals = self._all.curve.totals
        return rate(totals.n_rows - totals.untimed_rows, totals.learn_seconds)

    def work_of_fits(self, rows: int) -> WorkOfFits:
        """Work of the model's fits so far, and of those to come with the next ``rows`` rows."""
        return work_of_fits(self.model, rows)

    def warm_up(self, block: Block) -> None:
        """Learn a block with a copy that is thrown away, so that compiling is not timed.

        Usually the first of the stream. A bad row in it raises no error here, but in the run.
        """
        block = as_block(block, 0)
        began = self._clock()
        with contextlib.suppress(DataError):
            copy.deepcopy(self._learner).learn(block)
        self._warm_seconds += self._clock() - began

    def step(self, block: Block) -> None:
        """Predict and learn the next rows, a `Block` or (X, y).

        DataError: a row is bad; the rows before it are learned, and in the curve.
        """
        block = as_block(block, self.n_rows)
        # in parts that end at checkpoints, so that each of these has times of its own
        for a, b in self._marks.parts(self.n_rows, block.n_rows):
            self._step(rows_of(block, slice(a, b))._replace(start=block.start + a))
        if self.progress is not None:
            self.progress.block(self)

    def _step(self, block: Block) -> None:
        y = np.asarray(block.y)
        began = self._clock()
        try:
            predicted = predictions_then_learn(self._learner, block)
        except DataError as error:
            if error.predictions is not None:
                n = len(error.predictions)
                scores = None if error.classes is None else error.scores
                predicted = Predictions(error.predictions, scores, error.classes)
                self._count(y[:n], predicted, self._clock() - began)
            raise
        self._count(y, predicted, self._clock() - began)

    @staticmethod
    def _clock() -> float:
        """Seconds on a clock that stands still while something compiles."""
        return time.perf_counter() - compile_seconds()

    def finish(self) -> None:
        """Learn the rows whose labels were late; the curve stays as it is."""
        if isinstance(self._learner, Delayed):
            self._learner.finish()

    def result(self) -> PrequentialResult:
        """Curve and totals; the curve is closed at the rows seen so far."""
        found = self._all.result(self.name, self.startup_seconds, self.settings)
        if self._part is not None and self._part.curve.totals.n_rows:
            found.part = self._part.result(self.name)
        return found

    def begin_part(self) -> Tally:
        """From now on score the next rows by themselves as well: the result's ``part``.

        The baselines know the labels so far.
        """
        self._part = Tally(self._all.details.anew(), self._marks, self._measure)
        return self._part

    def get_state(self, timed: bool = True) -> State:
        """Totals and curve, as named arrays and plain values, to be kept beside the model.

        Without times (``timed=False``) the same rows give the same state.
        """
        return self._all.state_after(self._seconds() if timed else None)

    def set_state(self, state: State) -> None:
        """Continue a run that was cut off (see `get_state`); ModelFileError for another state."""
        self._all.set_state(state)
        self.rows_before = self.n_rows

    def get_info(self) -> State:
        """All that a run needs to go on, to be kept beside its model: `set_info` takes it."""
        info: State = {"run": self.get_state()}
        if self._part is not None:
            info["part"] = self._part.state_after(self._seconds())
        if isinstance(self._learner, Delayed) and self.n_waiting:
            info |= {"waiting": self._learner.get_state(), "n_waiting": self.n_waiting}
        return info

    def set_info(self, info: State) -> None:
        """Go on as a run whose `get_info` this is; ModelFileError for one of another delay."""
        if "run" in info:
            self.set_state(info["run"])
        if "part" in info:
            self.begin_part().set_state(info["part"])
        try:
            if "waiting" in info and isinstance(self._learner, Delayed):
                self._learner.set_state(info["waiting"])
        except ModelFileError as error:
            raise ModelFileError(
                f"the rows kept beside the model are not those of a run with a delay ({error})"
            ) from None

    @property
    def n_waiting(self) -> int:
        """Rows that were predicted and wait for their labels."""
        return len(self._learner.waiting) if isinstance(self._learner, Delayed) else 0

    def _seconds(self) -> float:
        before = self._all.curve.totals.seconds
        return before + time.perf_counter() - self._began - self.startup_seconds

    def _measure(self) -> tuple[float, int]:
        return self._seconds(), self._learner.nbytes

    def _watch(self, row: CurveRow) -> None:
        if self.progress is not None:
            self.progress.checkpoint(row)

    def strange_target(self) -> tuple[int, float] | None:
        """Row and value of a target that is far from all others; None if there is none."""
        return self._extremes.strange(self._all.details.values.sample.rows[:, 1])

    def tiny_target(self) -> float | None:
        """The target farthest from 0, where even its square is lost; None where it is not."""
        return self._extremes.tiny()

    def _count(self, y: np.ndarray, predicted: Predictions, spent: float) -> None:
        if self.task == "regression":
            self._extremes.add(y, self.n_rows)
        late = self._learner.missing[: len(y)] if isinstance(self._learner, Delayed) else None
        for tally in (self._all, self._part):
            if tally is not None:
                tally.add(y, predicted, spent, late)


def _name(model: object) -> str:
    estimator = model.estimator if isinstance(model, StreamModel) else model
    return type(estimator).__name__
