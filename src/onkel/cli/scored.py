"""The score of predictions that were written, over the rows that have a target."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from onkel.cli.predicting import BOUNDS, SET, labelled
from onkel.evaluation.bounds import RunBounds, RunSets
from onkel.evaluation.details import Details
from onkel.evaluation.growing_curve import Marks
from onkel.evaluation.learner import link_of
from onkel.evaluation.result import PrequentialResult
from onkel.evaluation.tally import Tally
from onkel.fields import State
from onkel.learners.predictions import Predictions

if TYPE_CHECKING:
    from onkel.cli.outputs import Columns
    from onkel.pipeline import StreamModel


class Scored:
    """The score of what was predicted, over the rows that have a target.

    ``info`` was saved beside the model: its baselines know the labels that were learned.
    ``learns``: whether rows are learned: then they also count for the score of all rows so far.
    ``level``: of bounds or sets that are written, and measured as they are.
    """

    part: Tally

    def __init__(
        self, model: StreamModel, info: State, learns: bool, level: float | None = None
    ) -> None:
        self.model: StreamModel = model
        self.n_missing: int = 0
        self._written: RunBounds | RunSets | None = None
        if level is not None:
            self._written = (RunBounds if model.task == "regression" else RunSets)(level)
        self._began = time.perf_counter()
        marks = Marks(powers=True, every=None)
        whole = Tally(Details(model.task, link_of(model)), marks, self._measure)
        if "run" in info:
            whole.set_state(info["run"])
        self.part = Tally(whole.details.anew(None if learns else "softmax"), marks, self._measure)
        self._whole = whole if learns else None

    def _measure(self) -> tuple[float, int]:
        return time.perf_counter() - self._began, self.model.nbytes

    def add(
        self,
        y: np.ndarray | None,
        predicted: Predictions,
        spent: float,
        columns: Columns,
        n_learned: int | None = None,
    ) -> None:
        """Take in targets (n,), None where there are none, and what was predicted in ``spent`` s.

        ``columns``: what was written. ``n_learned``: so many rows were gone through, and those with
        a target learned; only these are in ``predicted``.
        """
        if y is None:
            return
        y = y[:n_learned]
        known = labelled(y)
        self.n_missing += int(np.count_nonzero(~known))
        if not known.any():
            return
        y = np.array(np.asarray(y)[known].tolist())
        if n_learned is None:
            scores = None if predicted.scores is None else predicted.scores[known]
            predicted = Predictions(predicted.predictions[known], scores, predicted.classes)
        if (y.dtype.kind == "U") != (predicted.predictions.dtype.kind == "U"):
            # labels of another type are known by their text
            y = self._as_learned(y)
        self._measure_written(y, {name: values[known] for name, values in columns.items()})
        for tally in (self._whole, self.part):
            if tally is not None:
                tally.add(y, predicted, spent)

    def _measure_written(self, y: np.ndarray, columns: Columns) -> None:
        if isinstance(self._written, RunBounds):
            bounds = np.column_stack([columns[name] for name in BOUNDS])
            self._written.count(y.astype(np.float64), columns["prediction"], bounds)
        elif self._written is not None:
            sets = {name: values for name, values in columns.items() if name.startswith(f"{SET}_")}
            places = {name: k for k, name in enumerate(sets)}
            codes = np.array([places.get(f"{SET}_{label}", -1) for label in y.tolist()])
            self._written.count(codes, np.column_stack(list(sets.values())))

    def _as_learned(self, y: np.ndarray) -> np.ndarray:
        if self.model.task == "regression":
            return y
        classes = {str(label): label for label in self.model.classes_.tolist()}
        return np.array([classes.get(str(v), str(v)) for v in y.tolist()] + [None], object)[:-1]

    def result(self, name: str) -> PrequentialResult | None:
        """The score of this source; None if no row has a target."""
        if not self.part.curve.totals.n_rows:
            return None
        found = self.part.result(name)
        if self._written is not None or self._whole is None:
            # bounds that are not written would learn from these targets
            for kind in ("intervals", "sets"):
                found.details.pop(kind, None)
        if self._written is not None:
            kind = "intervals" if isinstance(self._written, RunBounds) else "sets"
            found.details[kind] = self._written.summary()
        return found

    def info(self) -> State:
        """What is saved beside the model that has learned the rows: the score of all rows."""
        return {} if self._whole is None else {"run": self._whole.state_after(None)}
