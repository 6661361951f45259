"""Labels that come late: a row is learned only after later rows have been predicted."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from onkel.errors import DataError
from onkel.pipeline import StreamModel
from onkel.pipeline.statistics import is_fitted
from onkel.streams import Block

__all__ = ["Delayed"]


class Delayed:
    """A model whose labels come ``delay`` rows late.

    Row t is predicted when the labels up to row t - delay - 1 are known and learned; the rows
    between are known without their labels. Rows are taken one by one, so blocks don't matter.

    Parameters
    ----------
    model : StreamModel or estimator
        With ``predict_next``.
    learner : BlockLearner
        The same model, as one that learns blocks.
    delay : int
        Number of rows, at least 1.
    """

    def __init__(self, model: Any, learner: Any, delay: int) -> None:
        self.model, self.learner, self.delay = model, learner, delay
        self.task: str = learner.task
        #: rows whose labels are still to come
        self.waiting: deque[Block] = deque()

    @property
    def nbytes(self) -> int:
        """Bytes of the model's state."""
        return int(self.learner.nbytes)

    def learn(self, block: Block) -> np.ndarray:
        """Predict the rows of a block, and learn those whose labels have come by then.

        Before a label has come, a value is predicted as 0 and a class as None, a mistake.
        """
        y, told = np.asarray(block.y), []
        try:
            for t in range(len(y)):
                row = Block(block.X[t : t + 1], y[t : t + 1], block.start + t, block.late)
                self._check_width(row)
                told.append(self._predict(row))
                self.waiting.append(row)
                if len(self.waiting) > self.delay:
                    self.learner.learn(self.waiting.popleft())
        except DataError as error:
            error.predictions = self._array(told)
            raise
        return self._array(told)

    def finish(self) -> None:
        """Learn the rows that still wait: the stream has ended and their labels come."""
        while self.waiting:
            self.learner.learn(self.waiting.popleft())

    def _check_width(self, row: Block) -> None:
        grows = self.waiting and self.waiting[-1].X.shape[1] != row.X.shape[1]
        if grows and not isinstance(self.model, StreamModel):
            raise DataError(
                "a column came in mid-stream, which a run with a delay does not take", row=row.start
            )

    def _predict(self, row: Block) -> Any:
        whole = isinstance(self.model, StreamModel)
        if is_fitted(self.model.estimator if whole else self.model):
            return self.model.predict_next(row.X, ahead=len(self.waiting))[0]
        return 0.0 if self.task == "regression" else None

    def _array(self, told: list[Any]) -> np.ndarray:
        return np.array(told, dtype=np.float64 if self.task == "regression" else object)
