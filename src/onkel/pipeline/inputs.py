"""The learner's columns: encoded rows as they are, or widened where the encoder has statistics."""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.annotations import Matrix
from onkel.columns.encoding import Encoder
from onkel.merging import require_same
from onkel.pipeline.widening import Segment, Widening, codes_of
from onkel.state import State, inside, require


class Inputs:
    """The learner's columns: those of the encoder, or of the array if there is no encoder.

    If the encoder has statistics, columns are added as categories come
    (`Widening`); otherwise they are the encoder's own.
    """

    def __init__(self, encoder: Encoder | None, task: str) -> None:
        self.encoder = encoder
        self._task = task
        self._widening: Widening | None = None

    @property
    def names(self) -> list[str]:
        """Names of the learner's columns; empty without an encoder."""
        names = [] if self.encoder is None else self.encoder.feature_names
        widening = self._widening
        if widening is None:
            return names
        late = [names[j] + (f" {k + 1}" if k else "") for j, k in widening.late]
        return names[: widening.n_first] + late

    @property
    def n_late(self) -> int:
        """Features of the encoder that came in mid-stream."""
        return 0 if self.encoder is None else self.encoder.n_late

    def encoded(self, j: int) -> int:
        """The encoder's feature that the learner's column j comes from."""
        return j if self._widening is None else self._widening.column(j)

    def by_column(self, d: int) -> list[np.ndarray]:
        """For each input column, the indices of the learner's d columns made from it."""
        if self.encoder is None or self.encoder.n_vector is not None:
            return [np.array([j]) for j in range(d)]
        columns: dict[str | int, list[int]] = {column.name: [] for column in self.encoder.columns}
        for j in range(d):
            columns[self.encoder.column_of(self.encoded(j))].append(j)
        return [np.array(own, dtype=np.int64) for own in columns.values()]

    def are_news(self, columns: range) -> bool:
        """Whether any of these columns comes from a new input column, not from a new category."""
        if self.encoder is None:
            return True
        layout, widening = self.encoder.layout, self._widening
        known = widening.n_first + len(widening.late) if widening else len(layout)
        own = [self.encoded(j) for j in columns if j < known]
        return len(own) < len(columns) or any(layout.is_first(j) for j in own)

    def now(self, X: Matrix) -> Any:
        """The learner's rows for encoded rows X, by everything learned so far."""
        if self._widening is None or self.encoder is None:
            return X
        return self._widening.now(X, self.encoder.codes)

    def as_tables(self) -> tuple[list[tuple[int, int]], dict[int, np.ndarray]]:
        """The mapping of :meth:`now`, as tables.

        For each learner's column the encoder's feature, and the index of its statistic; then the
        statistics (codes, J) of each code, by the feature that holds the codes.
        """
        if self._widening is None:
            n = 0 if self.encoder is None else self.encoder.n_features
            return [(j, 0) for j in range(n)], {}
        return self._widening.places(), self._widening.means.by_code()

    def learn(self, X: Matrix, y: np.ndarray, late: int) -> list[Segment]:
        """The learner's rows for encoded rows X (n, d), each by the rows before it; learn them.

        ``late`` of the encoder's columns came in mid-stream. With target means, a new segment
        starts at each row where a column begins.
        """
        if self.encoder is None or not self.encoder.statistics:
            return [Segment(0, X, y, late)]
        if self._widening is None:
            self._widening = Widening(self._task == "classification", self.encoder.layout.n_first)
        return self._widening.learn(X, y, self.encoder.codes)

    def mark(self, X: Matrix) -> Any:
        """What :meth:`go_back` needs to undo the learning of the rows X."""
        if self._widening is None or self.encoder is None:
            return None
        codes = codes_of(X, self.encoder.codes)
        return self._widening, len(self._widening.late), self._widening.means.mark(codes)

    def go_back(self, mark: Any) -> None:
        """Forget what was learned since the mark."""
        self._widening = None
        if mark is not None:
            self._widening, n_late, means = mark
            del self._widening.late[n_late:]
            self._widening.means.go_back(means)

    # ---- columns of several parts of a stream --------------------------------------------------

    def fix(self) -> None:
        """Fix columns and categories; the target means continue to learn."""
        if self.encoder is not None:
            self.encoder.fix()
        if self._widening is not None:
            self._widening.fixed = True

    def require_alike(self, other: Inputs) -> None:
        """Raise MergeError, naming the difference, unless both make the same columns of a row."""
        require_same("the columns", *map(_encoding, (self, other)))
        places = (own._widening and own._widening.late for own in (self, other))
        require_same("the places of the columns", *places)

    def take_in(self, other: Inputs, origin: Inputs | None) -> None:
        """Add the counts of ``other``, which is alike, since both were ``origin`` (if given)."""
        if self.encoder is not None and other.encoder is not None:
            gaps = None if origin is None or origin.encoder is None else origin.encoder.layout.gaps
            self.encoder.layout.add_gaps(other.encoder.layout.gaps, gaps)
        if self._widening is not None and other._widening is not None:
            means = None if origin is None or origin._widening is None else origin._widening.means
            self._widening.means.take_in(other._widening.means, means)

    # ---- state ---------------------------------------------------------------------------------

    def get_state(self) -> State | None:
        """A copy of what was learned; the encoder is not part of it."""
        return None if self._widening is None else self._widening.get_state()

    def set_state(self, state: State, known: int | None) -> None:
        """Restore "widening" from a model's state; its rows have ``known`` columns so far."""
        with inside(state, "widening") as widening:
            if widening is not None:
                require(known is not None, "is for a model that has seen rows")
                assert known is not None
                require(self.encoder is not None, "is for an encoder, and there is none")
                assert self.encoder is not None
                sizes = self.encoder.layout.n_first, self.encoder.n_features
                self._widening = own = Widening.from_state(widening, *sizes, self._task)
                own.fixed = self.encoder.fixed
                wide = own.n_first + len(own.late)
                require(wide <= known, f"late: the rows have {known} columns, not {wide}")


def _encoding(inputs: Inputs) -> Any:
    """The encoder's state without its counts of gaps; None without an encoder."""
    if inputs.encoder is None:
        return None
    state = inputs.encoder.get_state()
    own = {name: value for name, value in state["layout"].items() if name != "gaps"}
    return {**state, "layout": own}
