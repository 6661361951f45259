"""Late labels: bounds and alarm judge the prediction that was made when the row came."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from onkel.intervals.feedback import UNKNOWN_WAY, Feedback
from onkel.pipeline.label_queue import Waiting
from onkel.pipeline.stream_model import StreamModel


def _feedback(model: Any) -> Feedback | None:
    """What learns how far values of a model were off; None if nothing does."""
    # that of an estimator begins with its first row
    found = model.feedback if isinstance(model, StreamModel) else getattr(model, "feedback_", None)
    return None if found is None or found.task == "classification" else found


def way_now(model: Any) -> np.ndarray | None:
    """How bounds around the next value are made; None if there are none."""
    feedback = _feedback(model)
    return None if feedback is None else feedback.next.way()  # type: ignore[no-any-return]


@contextmanager
def judging_forecasts(model: Any, rows: Sequence[Waiting]) -> Iterator[None]:
    """Let the model, which learns these rows, judge the predictions made when they came."""
    feedback = _feedback(model)
    if feedback is None:
        yield
        return
    forecasts = np.empty((len(rows), 1 + len(UNKNOWN_WAY)))
    values: Any = [math.nan if row.predicted is None else row.predicted for row in rows]
    forecasts[:, 0] = values
    for row, way in zip(rows, forecasts[:, 1:], strict=True):
        way[:] = UNKNOWN_WAY if row.way is None else row.way
    feedback.forecasts = forecasts
    try:
        yield
    finally:
        feedback.forecasts = None
