"""Rows become predictions: each by itself, from the labels before, or learned afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from onkel.annotations import Ahead, Matrix
from onkel.errors import DataError
from onkel.learners.predictions import Predictions, joined
from onkel.streams import Block
from onkel.streams.blocks import rows_of

if TYPE_CHECKING:
    from onkel.cli.outputs import Columns
    from onkel.pipeline import StreamModel

BOUNDS = ("prediction_low", "prediction_high")
#: a column ``set_LABEL`` says whether a label is in the set of its row
SET = "set"
_SMALLEST = 1e-300


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is written of each row besides its prediction."""

    proba: bool = False
    scores: bool = False
    level: float | None = None

    @property
    def more(self) -> bool:
        """Whether anything is."""
        return self.proba or self.scores or self.level is not None


@dataclass
class Alone:
    """Predicts each row by itself; learns nothing."""

    model: StreamModel
    wanted: Wanted
    #: the error of a row that could not be learned; the rows before it are
    failure: DataError | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        # a file has the same columns throughout, whatever class comes
        self._labels = self.model.classes_.tolist() if self.model.task == "classification" else []

    def predict(self, block: Block) -> tuple[Columns, Predictions]:
        """The columns to write, and for the score the predictions with what is behind them."""
        model, wanted = self.model, self.wanted
        columns = self._located(block)
        predictions = columns["prediction"]
        if model.task == "regression" or (block.y is None and not wanted.more):
            return columns, Predictions(predictions)
        scores, classes = None, model.classes_
        if hasattr(model.estimator, "predict_proba"):
            probabilities = self.probabilities(block)
            if wanted.proba:
                columns |= self._by_class("proba", probabilities)
            # their softmax are the probabilities again
            scores = np.log(np.maximum(probabilities, _SMALLEST))
        elif block.y is not None:
            found = model.decision_features(block.X)
            scores = found[:, None] if found.ndim == 1 else found
        return columns, Predictions(predictions, scores, classes)

    def _located(self, block: Block) -> Columns:
        """The `columns` of a block; errors name the row and the column of the source."""
        try:
            return self.columns(block)
        except DataError as error:
            raise self.model.located(error, block.start) from None

    def of_no_rows(self) -> Columns:
        """What `predict` gives to write of a file without rows: the same columns, empty."""
        # a model of files has columns
        assert self.model.encoder is not None
        X = np.zeros((1, self.model.encoder.n_features), np.float32)
        groups = np.array([""]) if "group" in self.model.settings else None
        block = Block(X, None, 0, groups=groups)
        columns = self.columns(block)
        if self.wanted.proba:
            columns |= self._by_class("proba", self.probabilities(block))
        return {name: values[:0] for name, values in columns.items()}

    def columns(self, block: Block) -> Columns:
        """Predictions, bounds and scores of a block."""
        columns: Columns = {"prediction": self.model.predict_features(block.X)}
        if self.wanted.level is not None:
            columns |= self.bounds(block, self.wanted.level)
        if self.wanted.scores:
            columns |= self._by_class("score", self.model.decision_features(block.X))
        return columns

    def bounds(self, block: Block, level: float) -> Columns:
        """Bounds around the predictions of a block, or which labels are in their sets."""
        if self.model.task == "classification":
            return self._by_class(SET, self.model.set_features(block.X, level))
        return dict(zip(BOUNDS, self.model.interval_features(block.X, level).T, strict=True))

    def probabilities(self, block: Block) -> np.ndarray:
        """Class probabilities (n, K) of a block."""
        found: np.ndarray = self.model.proba_features(block.X)
        return found

    def _by_class(self, name: str, values: np.ndarray) -> Columns:
        if values.ndim == 1:
            return {name: values}
        labels = self.model.classes_.tolist()
        return {f"{name}_{label}": values[:, labels.index(label)] for label in self._labels}


@dataclass
class Next(Alone):
    """Predicts rows as those that come next (of their groups), in order; learns nothing."""

    #: rows since the last label: of each group, or of None
    ahead: Counter[Hashable] = field(default_factory=Counter, init=False)

    def predict(self, block: Block) -> tuple[Columns, Predictions]:
        found = super().predict(block)
        self.ahead.update(_groups(block))
        return found

    def columns(self, block: Block) -> Columns:
        columns: Columns = {"prediction": self.model.next_features(*self._next(block))}
        if self.wanted.level is not None:
            columns |= self.bounds(block, self.wanted.level)
        return columns

    def bounds(self, block: Block, level: float) -> Columns:
        X, ahead, groups = self._next(block)
        if self.model.task == "classification":
            return self._by_class(SET, self.model.next_sets(X, level, ahead, groups))
        found = self.model.next_intervals(X, level, ahead, groups)
        return dict(zip(BOUNDS, found.T, strict=True))

    def probabilities(self, block: Block) -> np.ndarray:
        found: np.ndarray = self.model.next_proba(*self._next(block))
        return found

    def _next(self, block: Block) -> tuple[Matrix, Ahead, np.ndarray | None]:
        """Features of a block, the rows ahead of each of its rows before it, and their groups."""
        if block.groups is None:
            return block.X, self.ahead[None], None
        ahead = np.array([self.ahead[group] for group in _groups(block)], np.int64)
        return block.X, ahead, block.groups


def _groups(block: Block) -> list[Hashable]:
    """The group of each row of a block; None where there are none."""
    return [None] * block.n_rows if block.groups is None else block.groups.tolist()


@dataclass
class Learning(Next):
    """Predicts rows as those that come next, and learns each that has a label."""

    failure: DataError | None = field(default=None, init=False)

    def predict(self, block: Block) -> tuple[Columns, Predictions]:
        known = labelled(block.y)
        parts = []
        for rows, learn in self._runs(known):
            part = rows_of(block, rows)._replace(start=block.start + rows.start)
            parts.append(self._part(part, learn))
            if self.failure is not None:
                break
        first = parts[0][0]
        columns = {name: np.concatenate([own[name] for own, _ in parts]) for name in first}
        learned = [own for _, own in parts if own is not None]
        return columns, joined(learned) if learned else Predictions(columns["prediction"][:0])

    def _runs(self, known: np.ndarray) -> Iterator[tuple[slice, bool]]:
        """Rows that go together; where more than predictions is wanted, each by itself."""
        n = len(known)
        changes = range(1, n) if self.wanted.more else np.flatnonzero(np.diff(known)) + 1
        starts = [0, *changes]
        for start, end in zip(starts, [*starts[1:], n], strict=True):
            yield slice(start, end), bool(known[start])

    def _part(self, part: Block, learn: bool) -> tuple[Columns, Predictions | None]:
        columns = self._located(part) if self.wanted.more or not learn else {}
        if self.wanted.proba:
            columns |= self._by_class("proba", self.probabilities(part))
        if not learn:
            self.ahead.update(_groups(part))
            return columns, None
        # labels beside gaps come as objects
        assert part.y is not None
        try:
            found = self.model.predictions_then_learn(part._replace(y=np.array(part.y.tolist())))
        except DataError as error:
            self.failure = error
            before = error.predictions if error.predictions is not None else np.array([])
            found = Predictions(before, error.scores, error.classes)
            columns = {name: values[: len(before)] for name, values in columns.items()}
        for group in _groups(part):
            self.ahead.pop(group, None)
        return columns | {"prediction": found.predictions}, found


def labelled(y: np.ndarray | None) -> np.ndarray:
    """Which targets (n,) are known; NaN differs from itself."""
    y = np.asarray(y)
    if y.dtype == object:
        return np.array([value is not None and value == value for value in y], dtype=bool)
    return np.asarray(y == y)
