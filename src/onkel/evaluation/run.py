"""A prequential run in progress: every row is predicted before it is learned, in one call."""

from __future__ import annotations

import contextlib
import copy
import math
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from onkel._version import __version__
from onkel.errors import DataError, ModelFileError
from onkel.evaluation.delayed import Delayed
from onkel.evaluation.details.details import Details
from onkel.evaluation.learner import as_block, as_learner, link_of, tell_then_learn
from onkel.evaluation.metrics import metrics_of
from onkel.evaluation.result import CurveRow, PrequentialResult
from onkel.learners.told import Told
from onkel.numerics.compiling import compile_seconds
from onkel.pipeline import StreamModel
from onkel.streams import Block
from onkel.streams.blocks import rows_of

_FIRST_TIMED = 256
"""Rows: checkpoints before share the time of the rows up to here."""


class Progress(Protocol):
    """What watches a run: a progress bar, a table, a test."""

    def block(self, run: PrequentialRun) -> None:
        """Called after every block."""

    def checkpoint(self, row: CurveRow) -> None:
        """Called for every row of the curve."""


@dataclass
class _Totals:
    """Sums over the rows so far; all that a resumed run needs to continue its curve."""

    n_rows: int = 0
    sums: list[float] = field(default_factory=list)
    last_rows: int = 0
    last_loss: float = 0.0
    learn_seconds: float = 0.0
    seconds: float = 0.0


class PrequentialRun:
    """A run in progress: learns blocks and keeps the curve.

    `prequential` is the loop around it. Use it directly to drive the loop yourself.

    Parameters
    ----------
    model : StreamModel or estimator
        Learned in place.
    name : str, optional
        For legends; the class name by default.
    task : {"classification", "regression"}, optional
        Taken from the model by default.
    checkpoints : {"powers", "none"}, default="powers"
        "powers" puts a row of the curve at 1, 2, 4, 8, ... rows.
    every : int, optional
        A row of the curve every so many rows as well.
    settings : dict, optional
        JSON-able notes for the report.
    progress : Progress, optional
        Is told of every block and every checkpoint.
    began : float, optional
        When the run began, as `time.perf_counter` told it; now by default.
    delay : int or timedelta, default=0
        The label of a row is learned only after so many more rows have been predicted, or when so
        much time has passed (by `Block.times`).

    Attributes
    ----------
    curve : list of CurveRow
        Checkpoints so far.
    n_rows : int
        Rows so far.

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
        task: str | None = None,
        checkpoints: str = "powers",
        every: int | None = None,
        settings: dict[str, Any] | None = None,
        progress: Progress | None = None,
        began: float | None = None,
        delay: int | timedelta = 0,
    ) -> None:
        if checkpoints not in ("powers", "none"):
            raise ValueError(f"checkpoints={checkpoints!r}: must be 'powers' or 'none'")
        if every is not None and every < 1:
            raise ValueError(f"every={every}: must be at least 1")
        by_time = isinstance(delay, timedelta)
        if (delay.total_seconds() if isinstance(delay, timedelta) else delay) < 0:
            raise ValueError(f"delay={delay}: must be at least 0")
        self.model = model
        learner = as_learner(model)
        self._learner = Delayed(model, learner, delay) if delay else learner
        self.name = name or _name(model)
        self.task = task or self._learner.task
        self.metrics = metrics_of(self.task)
        self.powers = checkpoints == "powers"
        self.every = every
        told = {"delay": str(delay) if by_time else delay} if delay else {}
        self.settings = dict(settings or {}) | told
        self.progress = progress
        self.curve: list[CurveRow] = []
        self._warm_seconds = 0.0
        self._compiled = compile_seconds()
        self.details = Details(self.task, None if delay else link_of(model))
        self._totals = _Totals(sums=[0.0] * len(self.metrics))
        self._began = time.perf_counter() if began is None else began

    @property
    def startup_seconds(self) -> float:
        """Time for loading and compiling, counted in no other."""
        return self._warm_seconds + compile_seconds() - self._compiled

    @property
    def n_rows(self) -> int:
        """Rows predicted and learned so far."""
        return self._totals.n_rows

    @property
    def value(self) -> float:
        """Main metric so far."""
        sums = self._totals.sums
        return self.metrics[0].finish(sums[0] / self.n_rows) if self.n_rows else math.nan

    @property
    def rows_per_second(self) -> float:
        """Rows a second of learning time so far."""
        seconds = self._totals.learn_seconds
        return self.n_rows / seconds if seconds > 0 else math.nan

    def warm_up(self, block: Any) -> None:
        """Learn a block with a copy that is thrown away, so that compiling is not timed.

        Parameters
        ----------
        block : Block or (X, y)
            Usually the first of the stream. A bad row in it is left for the run itself to meet.
        """
        block = as_block(block, 0)
        began = self._clock()
        with contextlib.suppress(DataError):
            copy.deepcopy(self._learner).learn(block)
        self._warm_seconds += self._clock() - began

    def step(self, block: Any) -> None:
        """Predict and learn one block.

        Parameters
        ----------
        block : Block or (X, y)
            The next rows.

        Raises
        ------
        DataError
            If a row is bad; the rows before it are learned, and in the curve.
        """
        for part in self._cut(as_block(block, self.n_rows)):
            self._step(part)
        if self.progress is not None:
            self.progress.block(self)

    def _cut(self, block: Block) -> Iterator[Block]:
        """A block in parts that end at checkpoints, so that each of these has times of its own."""
        n = block.X.shape[0]
        marks = self._marks(self.n_rows, self.n_rows + n) if n else []
        ends = [at - self.n_rows for at in marks if at >= _FIRST_TIMED]
        for a, b in pairwise([0, *(end for end in ends if end < n), n]):
            yield rows_of(block, slice(a, b))._replace(start=block.start + a)

    def _step(self, block: Block) -> None:
        y = np.asarray(block.y)
        began = self._clock()
        try:
            told = tell_then_learn(self._learner, block)
        except DataError as error:
            if error.predictions is not None:
                n = len(error.predictions)
                scores = None if error.classes is None else error.scores
                told = Told(error.predictions, scores, error.classes)
                self._count(y[:n], told, self._clock() - began)
            raise
        self._count(y, told, self._clock() - began)

    @staticmethod
    def _clock() -> float:
        """Seconds that go on while nothing compiles."""
        return time.perf_counter() - compile_seconds()

    def finish(self) -> None:
        """Learn the rows whose labels were late; the curve stays as it is."""
        if isinstance(self._learner, Delayed):
            self._learner.finish()

    def result(self) -> PrequentialResult:
        """Curve and totals; the curve is closed at the rows seen so far."""
        if not self.curve or self.curve[-1].n_rows != self.n_rows:
            self._checkpoint(self.n_rows, self._totals.sums, self._totals.learn_seconds)
        return PrequentialResult(
            self.name,
            self.task,
            list(self.curve),
            self.startup_seconds,
            self.settings,
            self.details.summary(),
        )

    def get_state(self, timed: bool = True) -> dict[str, Any]:
        """Totals and curve, JSON-able, to be kept beside the model.

        Without times (``timed=False``) the same rows give the same state.
        """
        totals = asdict(self._totals) | {"seconds": self._seconds()}
        rows = [asdict(row) for row in self.curve]
        if not timed:
            for part in (totals, *rows):
                part |= {"learn_seconds": 0.0, "seconds": 0.0}
        return {"totals": totals, "curve": rows, "details": self.details.get_state()}

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue the totals and the curve of a run that was cut off (see `get_state`).

        Raises
        ------
        ModelFileError
            If the state is not that of such a run.
        """
        try:
            self._totals = _Totals(**state["totals"])
            self.curve = [CurveRow(**row) for row in state["curve"]]
            self.details.set_state(state["details"])
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ModelFileError(
                f"the score kept beside the model is none of a {self.task} with onkel "
                f"{__version__} ({error!r})"
            ) from None

    @property
    def n_waiting(self) -> int:
        """Rows that were predicted and wait for their labels."""
        return len(self._learner.waiting) if isinstance(self._learner, Delayed) else 0

    def get_waiting(self) -> dict[str, Any] | None:
        """The rows that wait for their labels, JSON-able; None in a run without a delay."""
        return self._learner.get_state() if isinstance(self._learner, Delayed) else None

    def set_waiting(self, state: Any) -> None:
        """Go on with the rows that waited when a run was cut off (see `get_waiting`).

        Raises
        ------
        ModelFileError
            If the state is not that of a run with this delay.
        """
        try:
            if isinstance(self._learner, Delayed):
                self._learner.set_state(state)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ModelFileError(
                f"the rows kept beside the model wait for labels of no delay ({error!r})"
            ) from None

    def _seconds(self) -> float:
        return self._totals.seconds + time.perf_counter() - self._began - self.startup_seconds

    def _count(self, y: np.ndarray, told: Told, spent: float) -> None:
        totals = self._totals
        n = len(y)
        losses = [metric.per_row(y, told.predictions) for metric in self.metrics]
        late = self._learner.missing[:n] if isinstance(self._learner, Delayed) else None
        self.details.add(y, told, losses[0], late)
        values = [np.cumsum(loss) for loss in losses]
        before = totals.sums
        for at in self._marks(totals.n_rows, totals.n_rows + n):
            i = at - totals.n_rows
            sums = [b + float(v[i - 1]) for b, v in zip(before, values, strict=True)]
            self._checkpoint(at, sums, totals.learn_seconds + spent * i / n)
        if n:
            totals.sums = [b + float(v[-1]) for b, v in zip(before, values, strict=True)]
        totals.n_rows += n
        totals.learn_seconds += spent

    def _marks(self, low: int, high: int) -> list[int]:
        """Checkpoints in (low, high]."""
        marks = set()
        if self.powers:
            marks |= {1 << k for k in range(low.bit_length(), high.bit_length())}
        if self.every:
            marks |= set(range((low // self.every + 1) * self.every, high + 1, self.every))
        return sorted(marks)

    def _checkpoint(self, n_rows: int, sums: list[float], learn_seconds: float) -> None:
        totals = self._totals
        loss = sums[0] / n_rows if n_rows else math.nan
        since = n_rows - totals.last_rows
        row = CurveRow(
            n_rows=n_rows,
            loss=loss,
            loss_since_last=(sums[0] - totals.last_loss) / since if since else loss,
            metrics={
                metric.name: metric.finish(total / n_rows) if n_rows else math.nan
                for metric, total in zip(self.metrics, sums, strict=True)
            },
            learn_seconds=learn_seconds,
            seconds=self._seconds(),
            model_bytes=self._learner.nbytes,
        )
        totals.last_rows, totals.last_loss = n_rows, sums[0]
        self.curve.append(row)
        if self.progress is not None:
            self.progress.checkpoint(row)


def _name(model: Any) -> str:
    estimator = model.estimator if isinstance(model, StreamModel) else model
    return type(estimator).__name__
