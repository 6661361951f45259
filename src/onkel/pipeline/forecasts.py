"""Late labels: bounds, sets and alarm judge the prediction that was made when the row came."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from onkel.intervals.feedback import UNKNOWN_WAY, Feedback, SetsThen
from onkel.learners.predictions import Forecast
from onkel.pipeline.label_queue import Waiting
from onkel.pipeline.stream_model import StreamModel


def _feedback(model: Any) -> Feedback | None:
    """What learns how far predictions of a model were off; None if nothing does."""
    # that of an estimator begins with its first row
    found = model.feedback if isinstance(model, StreamModel) else getattr(model, "feedback_", None)
    return found if isinstance(found, Feedback) else None


def way_now(model: Any) -> np.ndarray | None:
    """How bounds around the next value are made; None if there are none."""
    feedback = _feedback(model)
    if feedback is None or feedback.task == "classification":
        return None
    return feedback.next.way()  # type: ignore[no-any-return]


def sets_now(model: Any, found: Forecast | None) -> list[SetsThen] | None:
    """What is known of the classes of rows (n,) that are forecast; None if nothing is."""
    feedback = _feedback(model)
    if found is None or found.probabilities is None or feedback is None:
        return None
    classes = getattr(model, "estimator", model).classes_
    if len(classes) < 2:
        return None
    learned, best = feedback.next.n_rows, classes.searchsorted(found.predictions).tolist()
    outside = feedback.next.outside(found.probabilities)
    return [SetsThen(learned, k, own.tobytes()) for k, own in zip(best, outside, strict=True)]


@contextmanager
def judging_forecasts(model: Any, rows: Sequence[Waiting]) -> Iterator[None]:
    """Let the model, which learns these rows, judge the predictions made when they came."""
    feedback = _feedback(model)
    if feedback is None:
        yield
        return
    if feedback.task == "classification":
        feedback.forecasts = [row.sets for row in rows]
    else:
        feedback.forecasts = _values(rows)
    try:
        yield
    finally:
        feedback.forecasts = None


def _values(rows: Sequence[Waiting]) -> np.ndarray:
    """What was predicted of each row (NaN: nothing), and the way of its bounds, side by side."""
    forecasts = np.empty((len(rows), 1 + len(UNKNOWN_WAY)))
    values: Any = [math.nan if row.predicted is None else row.predicted for row in rows]
    forecasts[:, 0] = values
    for row, way in zip(rows, forecasts[:, 1:], strict=True):
        way[:] = UNKNOWN_WAY if row.way is None else row.way
    return forecasts
