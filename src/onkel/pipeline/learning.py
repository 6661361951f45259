"""Learn a block whole, or up to the row that is refused, or not at all.

Columns, running statistics and the learner go on together. Whatever breaks off the learning of a
block, a bad row or Ctrl-C, the first two go back to the rows that the learner has learned.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from onkel.annotations import Matrix
from onkel.columns.scaling import OnlineScaler
from onkel.errors import DataError
from onkel.learners.base import OnlineEstimator
from onkel.learners.checking import by_group
from onkel.learners.labels import targets
from onkel.learners.predictions import (
    Predictions,
    attach_predictions,
    joined,
    predictions_of,
)
from onkel.numerics.arrays import with_zero_columns
from onkel.numerics.signals import signals_wait
from onkel.pipeline.inputs import Inputs, Segment
from onkel.pipeline.sample import SampledRows
from onkel.pipeline.statistics import RunningStatistics, is_fitted

# A learner that has learned no row says after so many which rows it fits in mid-stream.
_ASKED_AFTER = 1024.0


class Parts(Protocol):
    """What learns together: the parts of a :class:`onkel.pipeline.block_model.BlockModel`."""

    estimator: Any
    task: str
    _inputs: Inputs
    _statistics: RunningStatistics
    _sample: SampledRows

    @property
    def n_rows(self) -> int: ...
    @property
    def scaler(self) -> OnlineScaler: ...


def learn_rows(
    model: Parts, X: Matrix, y: np.ndarray, late: int, groups: np.ndarray | None
) -> Predictions:
    """Learn rows up to the first bad one."""
    if model.task == "regression" and y.dtype.kind not in "biuf":
        y, error = targets(y, "float64")
        if error is not None:
            head = slice(error.row)
            if error.row:
                own = None if groups is None else groups[head]
                attach_predictions(error, learn_rows(model, X[head], y[head], late, own))
            raise error
    kept = model._inputs.kept
    if kept is not None and kept.is_full(len(X)):
        kept.keep_only(rows_kept(model))
    before = model._inputs.mark(X), model._statistics.mark(), model.n_rows
    done: list[Predictions] = []
    try:
        for rows in _between_fits(model, len(y)):
            own = None if groups is None else groups[rows]
            for segment in model._inputs.learn(X[rows], y[rows], late):
                if done:
                    signals_wait.answer()
                done.append(_learn_segment(model, segment, own))
    except BaseException as error:
        _go_back(model, before, X, y, late)
        if isinstance(error, DataError) and error.row is not None:
            error.row += sum(len(one.predictions) for one in done)
        found = predictions_of(error)
        if found is not None:
            done.append(found)
        if done:
            attach_predictions(error, joined(done))
        raise
    model._sample.add(X)
    return joined(done)


def _between_fits(model: Parts, n: int) -> Iterator[slice]:
    """The next n rows, in parts that end where the learner fits rows kept in mid-stream.

    These then get target means anew.
    """
    done, encoder, learner = 0, model._inputs.encoder, model.estimator
    coded = encoder is not None and encoder.codes and isinstance(learner, OnlineEstimator)
    while done < n:
        left = math.inf
        if coded:
            left = learner.rows_before_anew() if is_fitted(learner) else _ASKED_AFTER
        if left == 0:
            take_means_anew(model)
            left = math.inf
        end = int(min(done + left, n))
        yield slice(done, end)
        done = end


def take_means_anew(model: Parts) -> None:
    """Let the rows that the learner keeps have the target means of all other rows."""
    ago, kept = rows_kept(model), model._inputs.kept
    # rows of no weight are not counted by the learner
    alike = kept is not None and kept.n_rows == model.n_rows
    anew = model._inputs.means_anew(ago) if alike and len(ago) else None
    if anew is not None:
        model.estimator.change_rows_kept(*anew)


def rows_kept(model: Parts) -> np.ndarray:
    """How many rows ago each row came that the learner may fit to once more: the last one, 1.

    None of them if the rows that it keeps are scaled: these could not be changed.
    """
    learner, as_is = model.estimator, model.scaler.mode == "none"
    if not (as_is and isinstance(learner, OnlineEstimator)):
        return np.empty(0, np.int64)
    return learner.rows_kept()


def _learn_segment(model: Parts, segment: Segment, groups: np.ndarray | None) -> Predictions:
    """Learn rows with the same columns up to the first bad one."""
    X, late = _widened(model, segment.X, segment.late)
    if late:
        take_late(model, X.shape[1], late)
    try:
        rows = model._statistics.learn_transform(X, segment.y)
    except DataError as error:
        # Nothing was learned yet: learn the rows before the bad one.
        if error.row:
            head = segment._replace(X=segment.X[: error.row], y=segment.y[: error.row])
            attach_predictions(error, _learn_segment(model, head, groups))
        raise
    own = None if groups is None else groups[segment.start :][: len(segment.y)]
    try:
        found = model.estimator.predictions_then_learn(
            rows.X, rows.y, **by_group(model.estimator, own)
        )
    except BaseException as error:
        made = predictions_of(error)
        if made is not None:
            attach_predictions(error, _in_units(made, rows))
        raise
    return _in_units(found, rows)


def _in_units(found: Predictions, rows: Any) -> Predictions:
    """Predictions of scaled rows in the target's own units."""
    alone = None if found.alone is None else rows.in_units(found.alone)
    return found._replace(predictions=rows.in_units(found.predictions), alone=alone)


def take_late(model: Parts, d: int, late: int) -> None:
    """Widen the statistics and the learner by columns that came in mid-stream."""
    model._statistics.take_late(d, late)
    if is_fitted(model.estimator):
        new = d - model.estimator.n_features_in_
        if 0 < new <= late:
            known = not model._inputs.are_news(range(d - new, d))
            model.estimator.add_columns(new, quietly=known)


def _widened(model: Parts, X: Matrix, late: int) -> tuple[Matrix, int]:
    """The rows with as many columns as the statistics, which take the late ones of the rows."""
    if late:
        if is_fitted(model.scaler):
            # columns that began in rejected rows and are unused so far
            spare = max(model.scaler.n_features_in_ - X.shape[1], 0)
            X, late = with_zero_columns(X, spare) if spare else X, late + spare
        model._statistics.take_late(X.shape[1], late)
    return X, late


def _go_back(
    model: Parts, before: tuple[Any, Any, int], X: Matrix, y: np.ndarray, late: int
) -> None:
    """Let columns and statistics know the rows that the learner has learned, and no others.

    This is the one place that undoes, after a bad row as after Ctrl-C. The learner itself
    holds whole rows.
    """
    inputs, statistics, n_rows = before
    learned = model.n_rows - n_rows
    model._statistics.go_back(statistics)
    model._inputs.go_back(inputs)
    if learned:
        for segment in model._inputs.learn(X[:learned], y[:learned], late):
            model._statistics.learn_transform(
                _widened(model, segment.X, segment.late)[0], segment.y
            )
        model._sample.add(X[:learned])
    if is_fitted(model.estimator) and is_fitted(model.scaler):
        # columns that began in refused rows stay, without a value
        more = model.estimator.n_features_in_ - model.scaler.n_features_in_
        if more > 0:
            model.scaler.add_columns(more)
