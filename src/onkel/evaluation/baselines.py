"""The baselines of a stream: predictions made without looking at the rows.

Classes: the class most frequent so far, and the last label. Values: the mean so far, and the last
value. Each knows the labels before a row only, and under a delay only those that had come by then.
Before the first label nothing can be predicted: such rows have no loss, neither here nor for the
learner.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from onkel.fields import Array, Fields, Number, Sizes, State, Whole, require
from onkel.numerics.jit import jit
from onkel.state import Stateful

#: of each task: the most common label or mean, then the last label
NAMES = {"classification": ("majority", "last class"), "regression": ("mean", "last value")}


@jit
def _count_classes(known, counts, state, out):
    """Majority and last label after each of the labels; ``state`` holds both."""
    for t in range(len(known)):
        counts[known[t]] += 1
        if state[0] < 0 or counts[known[t]] > counts[state[0]]:
            state[0] = known[t]
        state[1] = known[t]
        out[t, 0], out[t, 1] = state[0], state[1]


class Baselines(Stateful):
    """Losses of the two baselines of a task."""

    STATE: ClassVar[Fields] = {
        "sums": Array(shape=(2,), low=0.0, finite=False),
        "n_rows": Whole(),
        "n_scored": Whole(),
        "_recent": Array(shape=("labels to come",)),
        "_counts": Array(np.int64, ("classes",), low=0),
        "_codes": Array(np.int64, (2,), low=-1),
        "_shift": Number(),
        "_total": Number(),
        "_n_known": Whole(),
        "_last": Number(),
    }

    def check_state(self, state: State, sizes: Sizes) -> None:
        """Raise a ModelFileError unless the most common and the last class were counted."""
        require(int(state["codes"].max()) < sizes["classes"], "codes: a class was never counted")

    def __init__(self, task: str) -> None:
        self.task = task
        self.names: tuple[str, str] = NAMES[task]
        self.sums: np.ndarray = np.zeros(2)
        self.n_rows: int = 0
        #: rows that came after the first label
        self.n_scored: int = 0
        #: labels that have not come yet
        self._recent = np.empty(0)
        self._counts = np.zeros(0, dtype=np.int64)
        self._codes = np.full(2, -1, dtype=np.int64)
        self._shift, self._total, self._n_known, self._last = 0.0, 0.0, 0, 0.0

    def forget_score(self) -> None:
        """Count rows from here on; the labels so far stay known."""
        self.sums[:] = 0.0
        self.n_rows = self.n_scored = 0

    def add(self, y: np.ndarray, missing: Sequence[int] | np.ndarray | None = None) -> np.ndarray:
        """Take the next labels (n,), codes of classes from 0 or values in float64.

        Returns the losses (m, 2) on those with a label known before. ``missing`` (n,): how many
        labels had not come by each row; None: all had come. It tells of the last labels only: what
        was known of the rows of an earlier call, a baseline knows of these rows, too.
        """
        seen = np.concatenate([self._recent, y])
        own = self.known(len(y), missing)
        scored = own > 0
        n_known = np.maximum(own - self._n_known, 0)
        known = seen[: n_known.max(initial=0)]
        self._recent = seen[len(known) :]
        if self.task == "classification":
            predicted = self._classes(known)[n_known]
            losses = (predicted != y[:, None]).astype(np.float64)
        else:
            losses = np.square(self._values(known)[n_known] - y[:, None])
        losses = losses[scored]
        self.n_rows += len(y)
        self.n_scored += len(losses)
        self.sums += losses.sum(axis=0)
        return np.asarray(losses)

    def known(self, n: int, missing: Sequence[int] | np.ndarray | None = None) -> np.ndarray:
        """How many labels had come by each of the next n rows; see `add`."""
        late = np.zeros(n, dtype=np.int64) if missing is None else np.asarray(missing)
        return np.maximum(self._n_known + len(self._recent) + np.arange(n) - late, 0)

    def _classes(self, known: np.ndarray) -> np.ndarray:
        """Majority and last label so far, and after each of these; -1 while none is known."""
        codes = known.astype(np.int64)
        more = int(codes.max(initial=-1)) + 1 - len(self._counts)
        if more > 0:
            self._counts = np.concatenate([self._counts, np.zeros(more, dtype=np.int64)])
        out = np.empty((len(codes) + 1, 2), dtype=np.int64)
        out[0] = self._codes
        _count_classes(codes, self._counts, self._codes, out[1:])
        self._n_known += len(codes)
        return out

    def _values(self, known: np.ndarray) -> np.ndarray:
        """Mean and last value so far, and after each of these; 0 while none is known."""
        if self._n_known == 0 and len(known):
            self._shift = float(known[0])
        totals = self._total + np.cumsum(known - self._shift)
        counts = self._n_known + np.arange(1, len(known) + 1)
        before = self._mean(), self._last
        if len(known):
            self._total, self._n_known = float(totals[-1]), int(counts[-1])
            self._last = float(known[-1])
        return np.vstack([before, np.column_stack([self._shift + totals / counts, known])])

    def _mean(self) -> float:
        return self._shift + self._total / self._n_known if self._n_known else 0.0
