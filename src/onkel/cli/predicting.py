"""Rows become predictions: each by itself, from the labels before, or learned afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from onkel.errors import DataError
from onkel.learners.predictions import Forecast, Predictions, joined
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
    #: whether bounds and sets are those of rows that come next
    comes_next: ClassVar[bool] = False

    def __post_init__(self) -> None:
        # a file has the same columns throughout, whatever class comes
        self._labels = self.model.classes_.tolist() if self.model.task == "classification" else []

    def predict(self, block: Block) -> tuple[Columns, Predictions]:
        """The columns to write, and for the score the predictions with what is behind them."""
        model, found = self.model, self._located(block)
        columns = self._columns(block, found)
        if model.task == "regression" or not self._is_more(block):
            return columns, Predictions(found.predictions)
        scores = None
        if found.probabilities is not None:
            # their softmax are the probabilities again
            scores = np.log(np.maximum(found.probabilities, _SMALLEST))
        elif block.y is not None:
            own = model.decision_features(block.X)
            scores = own[:, None] if own.ndim == 1 else own
        return columns, Predictions(found.predictions, scores, model.classes_)

    def _located(self, block: Block) -> Forecast:
        """The `forecast` of a block; errors name the row and the column of the source."""
        try:
            return self.forecast(block)
        except DataError as error:
            raise self.model.located(error, block.start) from None

    def of_no_rows(self) -> Columns:
        """What `predict` gives to write of a file without rows: the same columns, empty."""
        # a model of files has columns
        assert self.model.encoder is not None
        X = np.zeros((1, self.model.encoder.n_features), np.float32)
        groups = np.array([""]) if "group" in self.model.settings else None
        block = Block(X, None, 0, groups=groups)
        columns = self._columns(block, self.forecast(block))
        return {name: values[:0] for name, values in columns.items()}

    def _is_more(self, block: Block) -> bool:
        """Whether more than predictions is wanted of a block, if only for the score."""
        return self.wanted.more or block.y is not None

    def forecast(self, block: Block) -> Forecast:
        """Predictions of a block, and what probabilities are needed."""
        model = self.model
        predictions, probabilities = model.predict_features(block.X), None
        if self._is_more(block) and hasattr(model.estimator, "predict_proba"):
            probabilities = model.proba_features(block.X)
        return Forecast(predictions, probabilities)

    def _columns(self, block: Block, found: Forecast) -> Columns:
        """Predictions, bounds or sets, scores and probabilities of a block."""
        model, wanted = self.model, self.wanted
        columns: Columns = {"prediction": found.predictions}
        if wanted.level is not None:
            around = model.around(found, wanted.level, self.comes_next)
            of_labels = model.task == "classification"
            columns |= self._by_class(SET, around) if of_labels else _bounds(around)
        if wanted.scores:
            columns |= self._by_class("score", model.decision_features(block.X))
        if wanted.proba:
            assert found.probabilities is not None
            columns |= self._by_class("proba", found.probabilities)
        return columns

    def _by_class(self, name: str, values: np.ndarray) -> Columns:
        if values.ndim == 1:
            return {name: values}
        labels = self.model.classes_.tolist()
        return {f"{name}_{label}": values[:, labels.index(label)] for label in self._labels}


@dataclass
class Next(Alone):
    """Predicts rows as those that come next (of their groups), in order; learns nothing."""

    comes_next: ClassVar[bool] = True
    #: rows since the last label: of each group, or of None
    ahead: Counter[Hashable] = field(default_factory=Counter, init=False)

    def predict(self, block: Block) -> tuple[Columns, Predictions]:
        found = super().predict(block)
        self.ahead.update(_groups(block))
        return found

    def forecast(self, block: Block) -> Forecast:
        if block.groups is None:
            return self.model.next_forecast(block.X, self.ahead[None])
        ahead = np.array([self.ahead[group] for group in _groups(block)], np.int64)
        return self.model.next_forecast(block.X, ahead, block.groups)


def _bounds(values: np.ndarray) -> Columns:
    return dict(zip(BOUNDS, values.T, strict=True))


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
        columns: Columns = {}
        if self.wanted.more or not learn:
            columns = self._columns(part, self._located(part))
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
