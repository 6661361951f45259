"""The interface of a model that a run learns, and estimators behind it."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from sklearn.base import is_regressor

from onkel.errors import DataError
from onkel.learners.checking import by_group
from onkel.learners.classification import OnlineClassifier
from onkel.learners.predictions import Predictions
from onkel.learners.regression import OnlineRegressor
from onkel.model.contract import WorkOfFits
from onkel.pipeline import StreamModel
from onkel.pipeline.statistics import is_fitted
from onkel.sklearn_bases import BaseEstimator
from onkel.streams import Block


class BlockLearner(Protocol):
    """A model that learns blocks: a `StreamModel`, or one of your own."""

    @property
    def task(self) -> str:
        """ "classification" or "regression"."""

    @property
    def nbytes(self) -> int:
        """Bytes of the model's state; 0 if unknown."""

    def learn(self, block: Block) -> np.ndarray:
        """Learn a block; returns the predictions made before each row was learned."""


class _Estimator:
    """An estimator of onkel as a `BlockLearner`."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator
        self.task = "regression" if is_regressor(estimator) else "classification"

    @property
    def nbytes(self) -> int:
        return int(self.estimator.nbytes_) if is_fitted(self.estimator) else 0

    def learn(self, block: Block) -> np.ndarray:
        return self.predictions_then_learn(block).predictions

    def predictions_then_learn(self, block: Block) -> Predictions:
        if block.late and is_fitted(self.estimator):
            new = block.X.shape[1] - self.estimator.n_features_in_
            if 0 < new <= block.late:
                self.estimator.add_columns(new)
        groups = by_group(self.estimator, block.groups)
        if isinstance(self.estimator, (OnlineClassifier, OnlineRegressor)):
            return self.estimator.predictions_then_learn(block.X, block.y, **groups)
        return Predictions(self.estimator.predict_then_learn(block.X, block.y, **groups))


@runtime_checkable
class _WithScores(Protocol):
    """A model that gives scores beside its predictions."""

    def predictions_then_learn(self, block: Block) -> Predictions: ...


def predictions_then_learn(learner: BlockLearner, block: Block) -> Predictions:
    """Learn a block; returns the predictions made before, with scores where the model has them."""
    if isinstance(learner, _WithScores):
        return learner.predictions_then_learn(block)
    return Predictions(learner.learn(block))


def link_of(model: object) -> str | None:
    """How a model's probabilities follow from its scores; None where it has no probabilities."""
    estimator = model.estimator if isinstance(model, StreamModel) else model
    return estimator.probability_link if isinstance(estimator, OnlineClassifier) else None


def work_of_fits(model: object, rows: int) -> WorkOfFits:
    """Work of a model's fits so far, and of those to come with the next ``rows`` rows."""
    estimator = model.estimator if isinstance(model, StreamModel) else model
    if isinstance(estimator, (OnlineClassifier, OnlineRegressor)):
        return estimator.work_of_fits(rows)
    return WorkOfFits()


def as_learner(model: Any) -> BlockLearner:
    """The model itself, or an estimator wrapped as one that learns blocks; else TypeError."""
    if hasattr(model, "learn"):
        return model
    if not isinstance(model, BaseEstimator) or not hasattr(model, "predict_then_learn"):
        raise TypeError(
            f"{model!r} does not predict rows before it learns them (predict_then_learn): a "
            "StreamModel or an estimator of onkel is expected; onkel.compare takes others, too"
        )
    return _Estimator(model)


def as_block(block: Block, start: int) -> Block:
    """A block as it is, a pair (X, y) as a block that begins at row ``start``.

    Refuses rows without a target (DataError) and single rows (ValueError).
    """
    if not isinstance(block, Block):
        block = Block(block[0], block[1], start)
    if block.y is None:
        raise DataError("name the column to learn with target= (on the command line --target)")
    if isinstance(block.X, dict) or np.ndim(block.y) == 0:
        raise ValueError(
            "blocks of rows (X, y) are expected, not single rows (x, y): open those with "
            "onkel.open_stream"
        )
    return block
