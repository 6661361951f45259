"""Turn encoded rows into the learner's: target means replace codes, late columns get places.

A column that comes in mid-stream was 0 so far. So it needs no place among the learner's columns
before its first nonzero value. Places are given in the order of the rows with these first values,
and so do not depend on the blocks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from onkel.columns.target_means import TargetMeans
from onkel.state import Array, check, inside, require


class Segment(NamedTuple):
    """Consecutive rows with the same columns: where they start, and how many columns are late."""

    start: int
    X: Any
    y: np.ndarray
    late: int


class Widening:
    """The learner's columns if the encoder has statistics.

    Parameters
    ----------
    classes : bool
        Whether the target is a class.
    n_first : int
        Columns of the encoder that were there from the start; they keep their places.

    Attributes
    ----------
    late : list of (int, int)
        The learner's columns after the first ones: the encoder's column, and the index of its
        statistic (0 also for a column without statistics).
    """

    def __init__(self, classes: bool, n_first: int) -> None:
        self.means = TargetMeans(classes)
        self.n_first = n_first
        self.late: list[tuple[int, int]] = []
        #: whether new columns get no place
        self.fixed = False

    def learn(self, X: np.ndarray, y: np.ndarray, codes: list[int]) -> list[Segment]:
        """The learner's rows for encoded rows X (n, d), each by the rows before it; learn them.

        A new segment starts at each row where a column begins.
        """
        codes = [j for j in codes if j < X.shape[1]]
        means = self.means.learn({j: X[:, j] for j in codes}, y)
        held = len(self.late)
        rows = self._find_places(X, means)
        out = self._placed(X, means)
        starts = sorted({0, *rows})
        ends = [*starts[1:], len(X)]
        late = [held + sum(row <= start for row in rows) for start in starts]
        return [
            Segment(a, np.ascontiguousarray(out[a:b, : self.n_first + n]), y[a:b], n)
            for a, b, n in zip(starts, ends, late, strict=True)
        ]

    def now(self, X: np.ndarray, codes: list[int]) -> np.ndarray:
        """The learner's rows for encoded rows X, by everything learned so far."""
        codes = [j for j in codes if j < X.shape[1]]
        means = self.means.now({j: X[:, j] for j in codes}) if codes else {}
        return self._placed(X, means)

    def places(self) -> list[tuple[int, int]]:
        """For each learner's column: the encoder's column, and the index of its statistic."""
        return [*((j, 0) for j in range(self.n_first)), *self.late]

    def column(self, j: int) -> int:
        """The encoder's column that the learner's column j comes from."""
        return j if j < self.n_first else self.late[j - self.n_first][0]

    def _find_places(self, X: np.ndarray, means: dict[int, np.ndarray]) -> list[int]:
        """Give places to columns that begin in these rows; return where they begin."""
        if self.fixed:
            return []
        held = set(self.late)
        new: list[tuple[int, int, int]] = []
        for j in range(self.n_first, X.shape[1]):
            if (j, 0) not in held:
                values = means[j][:, :1] if j in means else X[:, j : j + 1]
                new += [(row, j, 0) for row in _first_rows(values)]
        for j, own in means.items():
            for k in range(1, own.shape[1]):
                if (j, k) not in held:
                    new += [(row, j, k) for row in _first_rows(own[:, k : k + 1])]
        new.sort()
        self.late += [(j, k) for _, j, k in new]
        return [row for row, _, _ in new]

    def _placed(self, X: np.ndarray, means: dict[int, np.ndarray]) -> np.ndarray:
        out = np.zeros((len(X), self.n_first + len(self.late)), dtype=X.dtype)
        out[:, : self.n_first] = X[:, : self.n_first]
        with np.errstate(over="ignore"):
            for j in means:
                if j < self.n_first:
                    out[:, j] = means[j][:, 0] if means[j].shape[1] else 0.0
            for at, (j, k) in enumerate(self.late, self.n_first):
                if j in means:
                    out[:, at] = means[j][:, k] if k < means[j].shape[1] else 0.0
                elif j < X.shape[1]:
                    out[:, at] = X[:, j]
        return out

    def get_state(self) -> dict[str, Any]:
        """A copy of the state."""
        return {
            "means": self.means.get_state(),
            "n_first": self.n_first,
            "late": np.array(self.late, dtype=np.int64).reshape(-1, 2),
        }

    @classmethod
    def from_state(
        cls, state: dict[str, Any], n_first: int, n_features: int, task: str
    ) -> Widening:
        """The inverse of ``get_state``, for an encoder that began with ``n_first`` features."""
        late = Array(dtype=np.int64, shape=("late", 2), low=0, high=n_features - 1)
        check(state, {"late": late})
        require(state.get("n_first") == n_first, f"n_first: must be {n_first}")
        widening = cls(False, n_first)
        with inside(state, "means") as means:
            widening.means = TargetMeans.from_state(means)
        right = widening.means.of_classes == (task == "classification")
        require(right, f"means: are not those of a {task}")
        widening.late = [(int(j), int(k)) for j, k in state["late"]]
        require(len(set(widening.late)) == len(widening.late), "late: holds a column twice")
        return widening


def _first_rows(values: np.ndarray) -> list[int]:
    """The first row whose value is not 0, if there is one."""
    there = (values != 0.0).any(axis=1)
    return [int(np.argmax(there))] if there.any() else []
