"""Columns with target means for codes, and with places for what comes in mid-stream.

A column that comes in mid-stream was 0 so far. So it needs no place among the learner's columns
before its first nonzero value. Places are given in the order of the rows with these first values,
and so do not depend on the blocks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from onkel.annotations import Matrix
from onkel.columns.target_means import TargetMeans
from onkel.state import Array, State, check, inside, require

#: the encoded columns that hold codes, each with how many, from it on, belong together
Codes = dict[int, int]


class Segment(NamedTuple):
    """Consecutive rows with the same columns: where they start, and how many columns are late."""

    start: int
    X: Matrix
    y: np.ndarray
    late: int


class Places:
    """Where each of the learner's columns comes from, looked up once for many rows.

    ``key``: the encoded columns d, how many columns are late, the statistics of a code J, and the
    columns with codes, with how many follow each other.
    """

    open: list[int]

    def __init__(self, key: tuple[int, int, int, Codes], n_first: int, late: Matrix) -> None:
        self.key = key
        d, _, n_means, codes = key
        held, coded = set(late), all_of(codes)
        source = [*((j, 0) for j in range(n_first)), *late]
        #: (column, code's column, statistic) of the columns that hold statistics
        self.of_means: list[tuple[int, int, int]] = [
            (at, j, k) for at, (j, k) in enumerate(source) if j in codes
        ]
        self.at_means: np.ndarray = np.array([at for at, _, _ in self.of_means], dtype=np.intp)
        self._from = np.array([j if j < d else 0 for j, _ in source], dtype=np.intp)
        self._lacking = np.array([at for at, (j, _) in enumerate(source) if j >= d], dtype=np.intp)
        #: encoded columns, and statistics of codes, that have no place before their first value
        self.open = [j for j in range(n_first, d) if j not in coded and (j, 0) not in held]
        self._open = np.array(self.open, dtype=np.intp)
        self.open_means: list[tuple[int, int]] = [
            (j, k)
            for j in codes
            for k in range(n_means)
            if (k or j >= n_first) and (j, k) not in held
        ]

    def copied(self, X: np.ndarray) -> np.ndarray:
        """The columns of X (n, d) in their places; statistics are to be put in theirs."""
        out = X.take(self._from, axis=1)
        if len(self._lacking):
            out[:, self._lacking] = 0.0
        return out

    def any_begins(self, X: np.ndarray) -> bool:
        """Whether a column without a place has a value in the row X (1, d)."""
        return bool(self.open) and bool(X.take(self._open).any())


class Widening:
    """The learner's columns if the encoder has statistics, of numbers or of ``classes``.

    The first ``n_first`` columns of the encoder keep their places.
    """

    def __init__(self, classes: bool, n_first: int) -> None:
        self.means: TargetMeans = TargetMeans(classes)
        self.n_first = n_first
        #: the learner's columns after the first ones: the encoder's column, and the index of its
        #: statistic (0 also for a column without statistics)
        self.late: list[tuple[int, int]] = []
        #: whether new columns get no place
        self.fixed = False
        self._known_places: Places | None = None

    def learn(self, X: np.ndarray, y: np.ndarray, codes: Codes) -> list[Segment]:
        """The learner's rows for encoded rows X (n, d), each by the rows before it; learn them.

        A new segment starts at each row where a column begins.
        """
        codes = within(codes, X.shape[1])
        if len(X) == 1:
            return [Segment(0, self._learn_row(X, y[0], codes), y, len(self.late))]
        means = self.means.learn(codes_of(X, codes), y)
        held = len(self.late)
        rows = self._find_places(X, means, all_of(codes))
        out = self._placed(X, means, codes)
        starts = sorted({0, *rows})
        ends = [*starts[1:], len(X)]
        late = [held + sum(row <= start for row in rows) for start in starts]
        return [
            Segment(a, np.ascontiguousarray(out[a:b, : self.n_first + n]), y[a:b], n)
            for a, b, n in zip(starts, ends, late, strict=True)
        ]

    def _learn_row(self, X: np.ndarray, label: object, codes: Codes) -> np.ndarray:
        """As :meth:`learn`, of one row X (1, d)."""
        means = self.means.learn_row(_codes_of_row(X, codes), label)
        if not self.fixed:
            places = self._places(X.shape[1], codes)
            begin = [(j, 0) for j in places.open if X[0, j] != 0.0] if places.any_begins(X) else []
            begin += [
                (j, k) for j, k in places.open_means if k < len(means[j]) and means[j][k] != 0.0
            ]
            self.late += sorted(begin)
        return self._placed_row(X, means, codes)

    def now(self, X: np.ndarray, codes: Codes) -> np.ndarray:
        """The learner's rows for encoded rows X, by everything learned so far."""
        if not codes and not self.late and X.shape[1] == self.n_first:
            return X
        codes = within(codes, X.shape[1])
        if len(X) == 1:
            return self._placed_row(X, self.means.row_now(_codes_of_row(X, codes)), codes)
        means = self.means.now(codes_of(X, codes)) if codes else {}
        return self._placed(X, means, codes)

    def places(self) -> list[tuple[int, int]]:
        """For each learner's column: the encoder's column, and the index of its statistic."""
        return [*((j, 0) for j in range(self.n_first)), *self.late]

    def column(self, j: int) -> int:
        """The encoder's column that the learner's column j comes from."""
        return j if j < self.n_first else self.late[j - self.n_first][0]

    def _find_places(
        self, X: np.ndarray, means: dict[int, np.ndarray], coded: set[int]
    ) -> list[int]:
        """Give places to columns that begin in these rows; return where they begin."""
        if self.fixed:
            return []
        held = set(self.late)
        new: list[tuple[int, int, int]] = []
        for j in range(self.n_first, X.shape[1]):
            if (j, 0) not in held and (j in means or j not in coded):
                values = means[j][:, :1] if j in means else X[:, j : j + 1]
                new += [(row, j, 0) for row in _first_rows(values)]
        for j, own in means.items():
            for k in range(1, own.shape[1]):
                if (j, k) not in held:
                    new += [(row, j, k) for row in _first_rows(own[:, k : k + 1])]
        new.sort()
        self.late += [(j, k) for _, j, k in new]
        return [row for row, _, _ in new]

    def _placed(self, X: np.ndarray, means: dict[int, np.ndarray], codes: Codes) -> np.ndarray:
        places = self._places(X.shape[1], codes)
        out = places.copied(X)
        with np.errstate(over="ignore"):
            for at, j, k in places.of_means:
                out[:, at] = means[j][:, k] if k < means[j].shape[1] else 0.0
        return out

    def _placed_row(self, X: np.ndarray, means: dict[int, list[float]], codes: Codes) -> np.ndarray:
        places = self._places(X.shape[1], codes)
        out = places.copied(X)
        if places.of_means:
            found = [means[j][k] if k < len(means[j]) else 0.0 for _, j, k in places.of_means]
            with np.errstate(over="ignore"):
                out[0, places.at_means] = found
        return out

    def _places(self, d: int, codes: Codes) -> Places:
        """Where the learner's columns come from, for rows of d encoded columns."""
        key = d, len(self.late), self.means.n_means, codes
        if self._known_places is None or self._known_places.key != key:
            self._known_places = Places(key, self.n_first, self.late)
        return self._known_places

    def get_state(self) -> State:
        """A copy of the state."""
        return {
            "means": self.means.get_state(),
            "n_first": self.n_first,
            "late": np.array(self.late, dtype=np.int64).reshape(-1, 2),
        }

    @classmethod
    def from_state(cls, state: State, n_first: int, n_features: int, task: str) -> Widening:
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


def within(codes: Codes, d: int) -> Codes:
    """Those that rows of d encoded columns have."""
    return codes if not codes or max(codes) < d else {j: m for j, m in codes.items() if j < d}


def all_of(codes: Codes) -> set[int]:
    """All columns that hold codes."""
    return {j + i for j, m in codes.items() for i in range(m)}


def codes_of(X: np.ndarray, codes: Codes) -> dict[int, np.ndarray]:
    """The codes (n, m) in rows X (n, d), by the first of their columns."""
    return {j: X[:, j : j + m] for j, m in within(codes, X.shape[1]).items()}


def _codes_of_row(X: np.ndarray, codes: Codes) -> dict[int, int | list[int]]:
    """The codes of one row X (1, d), by the first of their columns: one, or several."""
    if not codes:
        return {}
    found: dict[int, int | list[int]] = {}
    found |= zip(codes, map(int, X.take(list(codes)).tolist()), strict=True)
    several = {j: m for j, m in codes.items() if m > 1}
    return found | {j: [int(c) for c in X[0, j : j + m].tolist()] for j, m in several.items()}


def _first_rows(values: np.ndarray) -> list[int]:
    """The first row whose value is not 0, if there is one."""
    there = (values != 0.0).any(axis=1)
    return [int(np.argmax(there))] if there.any() else []
