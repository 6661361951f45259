"""Rows in any form: what a model's methods over features and blocks give for them.

Single rows and short lists of dicts are looked up (:mod:`onkel.pipeline.one_row`); any others are
opened as a stream (:mod:`onkel.pipeline.rows`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sklearn.exceptions import NotFittedError

from onkel.columns.failures import count
from onkel.errors import DataError, NoRowsError
from onkel.learners.predictions import Forecast
from onkel.model.transaction import locked
from onkel.pipeline.rows import is_array, left_out, open_to_learn, open_to_predict
from onkel.pipeline.statistics import is_fitted
from onkel.streams.blocks import concat

if TYPE_CHECKING:
    from onkel.pipeline.block_model import BlockModel
    from onkel.streams import Stream

# What takes features, and arguments of its own.
Method = Callable[..., np.ndarray]
_Found = TypeVar("_Found", np.ndarray, Forecast)
# The source that errors name where rows have none.
_ROWS = "the rows"


def over(model: BlockModel, X: object, method: Method, *args: float) -> np.ndarray:
    """Apply a method that takes features, and these arguments, to rows in any form."""
    encoder = model.encoder
    if encoder is None:
        return _over_array(model, X, method, *args)
    one = model._one_row.features(X, encoder, model.settings, model.keys)
    if one is not None:
        return _located(model, 0, _ROWS, method, one, *args)
    try:
        stream = open_to_predict(X, encoder, model.settings, model.keys)
    except NoRowsError:
        return of_no_rows(model, method, *args)
    source = stream.source
    parts = [_located(model, own.start, source, method, own.X, *args) for own in stream]
    return np.concatenate(parts)


def over_next(model: BlockModel, X: object, method: Callable[..., _Found], *args: float) -> _Found:
    """As :func:`over`, but for all rows at once and with their groups, the last argument."""
    encoder, settings = model.encoder, model.settings
    if encoder is None:
        return _over_array(model, X, method, *args)
    if "group" not in settings:
        one = model._one_row.features(X, encoder, settings, model.keys)
        if one is not None:
            return _located(model, 0, _ROWS, method, one, *args)
    try:
        rows = concat(list(open_to_predict(X, encoder, settings, model.keys, by_group=True)))
    except NoRowsError:
        groups = [""] if "group" in settings else None
        return of_no_rows(model, method, *args, groups)
    return _located(model, 0, _ROWS, method, rows.X, *args, rows.groups)


def _over_array(
    model: BlockModel, X: object, method: Callable[..., _Found], *args: float
) -> _Found:
    """What a method gives of an array, by a model whose columns have no names."""
    if not is_array(X) or not is_fitted(model.estimator):
        raise _unnamed(model.estimator)
    return method(X, *args)


def _located(
    model: BlockModel, start: int, source: str, method: Callable[..., _Found], *args: object
) -> _Found:
    """What a method gives of features; its errors name the rows and columns of the source."""
    try:
        return method(*args)
    except DataError as error:
        raise model.located(error, start, source) from error.__cause__


def of_no_rows(model: BlockModel, method: Callable[..., _Found], *args: object) -> _Found:
    """What a method that takes features gives for no rows: of the right type and shape."""
    assert model.encoder is not None
    found = method(np.zeros((1, model.encoder.n_features), dtype=np.float32), *args)
    return found.none() if isinstance(found, Forecast) else found[:0]


@locked
def learn_few(model: BlockModel, row: object, y: object, learn: Callable[..., Any]) -> Any:
    """What ``learn`` gives of a few rows that change no columns; None: they are a table."""
    encoder = model.encoder
    if encoder is None:
        return None
    before = encoder.means, encoder.counts, encoder.layout.gaps
    n_rows = model.n_rows
    try:
        block = model._one_row.block(row, y, encoder, model.settings, model.keys)
        return None if block is None else learn(block, _ROWS)
    except BaseException:
        encoder.means, encoder.counts, encoder.layout.gaps = before
        if learned := model.n_rows - n_rows:
            rows = row[:learned] if isinstance(row, list) else row
            model._one_row.features(rows, encoder, model.settings, model.keys, learn=True)
        raise


def learn_blocks(
    model: BlockModel,
    X: object,
    y: object,
    target: str | None,
    group: str | None,
    learn: Callable[..., Any],
) -> list[np.ndarray]:
    """Learn rows block by block; what ``learn`` returns of each, of no rows nothing."""
    try:
        stream = opened(model, X, y, target, group)
    except NoRowsError:
        return []
    before = model.n_rows, model.encoder, dict(model.settings)
    predictions: list[np.ndarray] = []
    try:
        for block in stream:
            if block.y is not None:
                adopt(model, stream)
            predictions.append(learn(block, stream.source))
    except BaseException as error:
        if model.n_rows == before[0]:
            # nothing was learned: the columns are as they were, too
            _, model.encoder, model.settings = before
        if isinstance(error, DataError):
            if error.predictions is not None:
                predictions.append(error.predictions)
            own = [part if part.ndim == 1 else part[:, 0] for part in predictions]
            error.predictions = np.concatenate(own) if own else None
        raise
    return predictions


def opened(
    model: BlockModel,
    X: object,
    y: object,
    target: str | None,
    group: str | None,
    **more: Any,
) -> Stream:
    """Rows as a stream to learn from, read as the model reads them and as ``more`` says."""
    encoder, settings, group = model.encoder, model.settings, group or model.settings.get("group")
    stream = open_to_learn(X, y, encoder, settings, target, model.keys, group=group, **more)
    if encoder is None and stream.encoder.n_vector is None and is_fitted(model.estimator):
        raise _unnamed(model.estimator, stream.source)
    return stream


def adopt(model: BlockModel, stream: Stream) -> None:
    """From now on the model reads rows as the stream does, with the columns it has by now."""
    if model.encoder is None:
        model.settings["left_out"] = left_out(stream)
        if stream.group is not None:
            model.settings["group"] = stream.group
    model.encoder = stream.encoder


class _NotFittedError(DataError, NotFittedError):
    """Nothing has been learned, in scikit-learn's class, too."""


def _unnamed(estimator: Any, source: str | None = None) -> DataError:
    """The error of a model without names of columns, which were needed."""
    if not is_fitted(estimator):
        return _NotFittedError("the model has learned no rows yet", source=source)
    d = estimator.n_features_in_
    return DataError(
        f"the model learned {count(d, 'feature')} without names; give an array of "
        f"{count(d, 'column')}",
        source=source,
    )
