"""The score of rows as they come: their curve, and the measures beside it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from onkel._version import __version__
from onkel.errors import ModelFileError
from onkel.evaluation.details import Details
from onkel.evaluation.growing_curve import GrowingCurve, Marks
from onkel.evaluation.result import CurveRow, PrequentialResult
from onkel.fields import Fields, State
from onkel.learners.predictions import Predictions
from onkel.metrics import Metric, metrics_of
from onkel.state import Part, Stateful


class Tally(Stateful):
    """Counts predictions and their targets.

    ``details`` is what is measured beside the score; see `GrowingCurve` for the others.
    """

    #: totals, curve and details
    STATE: ClassVar[Fields] = {"curve": Part(among="totals"), "details": Part()}

    def __init__(
        self,
        details: Details,
        marks: Marks,
        measure: Callable[[], tuple[float, int]],
        watch: Callable[[CurveRow], None] = lambda row: None,
    ) -> None:
        self.details = details
        self.metrics: tuple[Metric, ...] = metrics_of(details.task)
        self.curve: GrowingCurve = GrowingCurve(self.metrics, marks, measure, watch)

    @property
    def value(self) -> float:
        """Main metric so far."""
        totals = self.curve.totals
        n = totals.n_scored
        return self.metrics[0].finish(totals.sums[0] / n) if n else math.nan

    def add(
        self,
        y: np.ndarray,
        predicted: Predictions,
        spent: float = 0.0,
        missing: list[int] | None = None,
    ) -> None:
        """Take in targets (n,) and what was predicted for them, in ``spent`` seconds.

        ``missing`` (n,): how many labels had not come when each row was predicted.
        """
        losses = [metric.per_row(y, predicted.predictions) for metric in self.metrics]
        n_scored = self.details.add(y, predicted, losses[0], missing)
        self.curve.add([loss[len(y) - n_scored :] for loss in losses], len(y), spent)

    def result(
        self, name: str, startup_seconds: float = 0.0, settings: dict[str, Any] | None = None
    ) -> PrequentialResult:
        """Curve and totals; the curve is closed at the rows seen so far."""
        self.curve.close()
        return PrequentialResult(
            name,
            self.details.task,
            list(self.curve.rows),
            startup_seconds,
            settings or {},
            self.details.summary(),
        )

    def state_after(self, seconds: float | None) -> State:
        """The state after so many seconds of a run.

        None: without times; then the same rows give the same state.
        """
        state = self.get_state()
        totals, curve = state["totals"], state["curve"]
        totals["seconds"] = seconds
        if seconds is None:
            totals |= {"learn_seconds": 0.0, "seconds": 0.0, "untimed_rows": totals["n_rows"]}
            none = np.zeros(len(curve["n_rows"]))
            curve |= {"learn_seconds": none, "seconds": none, "untimed_rows": curve["n_rows"]}
        return state

    def set_state(self, state: State) -> None:
        """Take a state of :meth:`state_after`; raises a ModelFileError for any other state."""
        try:
            super().set_state(state)
        except ModelFileError as error:
            raise ModelFileError(
                f"the score kept beside the model is none of a {self.details.task} with onkel "
                f"{__version__} ({error})"
            ) from None
