"""The learner's columns: encoded rows as they are, or with target means in the place of codes.

A column that comes in mid-stream was 0 so far. So it needs no place among the learner's columns
before its first nonzero value. Places are given in the order of the rows with these first values,
and so do not depend on the blocks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from onkel.annotations import Matrix
from onkel.columns.encoding import Encoder
from onkel.columns.kept_codes import KeptCodes
from onkel.columns.target_means import TargetMeans
from onkel.fields import Array, Fields, State, Whole, require
from onkel.merging import require_same
from onkel.numerics.arrays import with_zero_columns
from onkel.numerics.random import splitmix64
from onkel.pipeline.places import Codes, Places, all_of, codes_of, codes_of_row
from onkel.state import Part, Stateful

# Kept rows get the target means of the other folds. Folds are drawn by the rows' numbers.
_FOLDS = 10


class Segment(NamedTuple):
    """Consecutive rows with the same columns: where they start, and how many columns are late."""

    start: int
    X: Matrix
    y: np.ndarray
    late: int


class Inputs(Stateful):
    """The learner's columns: those of the encoder, or of the array if there is no encoder.

    If the encoder has statistics, each of its first columns keeps its place, and others get one as
    they begin.
    """

    def __init__(self, encoder: Encoder | None, task: str) -> None:
        self.encoder = encoder
        self._task = task
        #: whether new columns get no place
        self.fixed: bool = False
        self._begin()

    def _begin(self) -> None:
        """Have learned no row."""
        #: the encoder's first columns; None without statistics, and before the first row
        self.n_first: int | None = None
        #: the learner's columns after the first ones: the encoder's column, and the index of its
        #: statistic (0 also for a column without statistics)
        self.late: list[tuple[int, int]] = []
        self.means: TargetMeans = TargetMeans(self._task == "classification")
        #: codes of rows that the learner keeps; None where there are none
        self.kept: KeptCodes | None = None
        self._known_places: Places | None = None

    @property
    def names(self) -> list[str]:
        """Names of the learner's columns; empty without an encoder."""
        names = [] if self.encoder is None else self.encoder.feature_names
        if self.n_first is None:
            return names
        return names[: self.n_first] + [names[j] + (f" {k + 1}" if k else "") for j, k in self.late]

    @property
    def n_late(self) -> int:
        """Features of the encoder that came in mid-stream."""
        return 0 if self.encoder is None else self.encoder.n_late

    def encoded(self, j: int) -> int:
        """The encoder's feature that the learner's column j comes from."""
        first = self.n_first
        return j if first is None or j < first else self.late[j - first][0]

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
        layout = self.encoder.layout
        known = len(layout) if self.n_first is None else self.n_first + len(self.late)
        own = [self.encoded(j) for j in columns if j < known]
        return len(own) < len(columns) or any(layout.is_first(j) for j in own)

    def now(self, X: Matrix) -> Any:
        """The learner's rows for encoded rows X, by everything learned so far."""
        if self.n_first is None:
            return X
        codes = self._codes(X)
        if not codes and not self.late and X.shape[1] == self.n_first:
            return X
        places = self._places(X.shape[1], codes)
        if len(X) == 1:
            return places.placed_row(X, self.means.row_now(codes_of_row(X, codes)))
        return places.placed(X, self.means.now(codes_of(X, codes)) if codes else {})

    def as_tables(self) -> tuple[list[tuple[int, int]], dict[int, np.ndarray]]:
        """The mapping of :meth:`now`, as tables.

        For each learner's column the encoder's feature, and the index of its statistic; then the
        statistics (codes, J) of each code, by the feature that holds the codes.
        """
        n = self.n_first
        if n is None:
            n = 0 if self.encoder is None else self.encoder.n_features
        return [*((j, 0) for j in range(n)), *self.late], self.means.by_code()

    def learn(self, X: Matrix, y: np.ndarray, late: int) -> list[Segment]:
        """The learner's rows for encoded rows X (n, d), each by the rows before it; learn them.

        ``late`` of the encoder's columns came in mid-stream. With target means, a new segment
        starts at each row where a column begins.
        """
        if self.encoder is None or not self.encoder.statistics:
            return [Segment(0, X, y, late)]
        if self.n_first is None:
            self.n_first = self.encoder.layout.n_first
        codes, first = self._codes(X), self.n_first
        if len(X) == 1:
            row = self._learn_row(X, y[0], codes)
            self._keep(X, y)
            return [Segment(0, row, y, len(self.late))]
        means = self.means.learn(codes_of(X, codes), y)
        self._keep(X, y)
        held = len(self.late)
        rows = self._find_places(X, means, all_of(codes))
        out = self._places(X.shape[1], codes).placed(X, means)
        starts = sorted({0, *rows})
        ends = [*starts[1:], len(X)]
        widths = [held + sum(row <= start for row in rows) for start in starts]
        return [
            Segment(a, np.ascontiguousarray(out[a:b, : first + n]), y[a:b], n)
            for a, b, n in zip(starts, ends, widths, strict=True)
        ]

    def _codes(self, X: Matrix) -> Codes:
        """The columns of X that hold codes."""
        assert self.encoder is not None
        codes, d = self.encoder.codes, X.shape[1]
        return codes if not codes or max(codes) < d else {j: m for j, m in codes.items() if j < d}

    def _learn_row(self, X: np.ndarray, label: object, codes: Codes) -> np.ndarray:
        """As :meth:`learn`, of one row X (1, d)."""
        means = self.means.learn_row(codes_of_row(X, codes), label)
        if not self.fixed:
            places = self._places(X.shape[1], codes)
            begin = [(j, 0) for j in places.open if X[0, j] != 0.0] if places.any_begins(X) else []
            begin += [
                (j, k) for j, k in places.open_means if k < len(means[j]) and means[j][k] != 0.0
            ]
            self.late += sorted(begin)
        return self._places(X.shape[1], codes).placed_row(X, means)

    def _find_places(
        self, X: np.ndarray, means: dict[int, np.ndarray], coded: set[int]
    ) -> list[int]:
        """Give places to columns that begin in these rows; return where they begin."""
        if self.fixed:
            return []
        held, first = set(self.late), self.n_first or 0
        new: list[tuple[int, int, int]] = []
        for j in range(first, X.shape[1]):
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

    def _places(self, d: int, codes: Codes) -> Places:
        """Where the learner's columns come from, for rows of d encoded columns."""
        key = d, len(self.late), self.means.n_means, codes
        if self._known_places is None or self._known_places.key != key:
            self._known_places = Places(key, self.n_first or 0, self.late)
        return self._known_places

    # ---- target means of rows that are fitted once more ----------------------------------------

    def _keep(self, X: np.ndarray, y: np.ndarray) -> None:
        """Keep the codes of rows that are learned."""
        if self.kept is None and not self.fixed and self.means.n_rows == len(X):
            # the first rows; a model that began without codes to keep goes on without
            self.kept = KeptCodes()
        if self.kept is None or self.encoder is None:
            return
        if not self.encoder.codes:
            self.kept.pass_by(len(X))
            return
        columns = sorted(all_of(self.encoder.codes))
        lacking = max(columns[-1] + 1 - X.shape[1], 0)
        codes = with_zero_columns(X, lacking)[:, columns]
        self.kept.add(columns, codes, self.means.places(y))

    def means_anew(self, ago: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """The learner's columns with target means, and these (n, c) in rows that were learned.

        A row has the means of all rows but those of its fold. None where codes are not known.
        """
        found = None if self.kept is None else self.kept.find(ago)
        if found is None or self.encoder is None or self.kept is None:
            return None
        held, targets, born = found
        # the encoder may have met columns in rows that were not learned yet
        codes, known = self.encoder.codes, self.kept.columns
        coded = np.flatnonzero(held.any(axis=1))
        own = {j: held[coded][:, known.index(j) :][:, :m] for j, m in codes.items() if j in known}
        folds = splitmix64(born[coded]) % np.uint64(_FOLDS)
        means = self.means.of_others(own, targets[coded], folds)
        places = self._places(self.encoder.n_features, codes)
        out = np.zeros((len(ago), len(places.of_means)))
        for i, (_, j, k) in enumerate(places.of_means):
            if j in means and k < means[j].shape[1]:
                out[coded, i] = means[j][:, k]
        return places.at_means, out

    # ---- undoing, and columns of several parts of a stream -------------------------------------

    def mark(self, X: Matrix) -> Any:
        """What :meth:`go_back` needs to undo the learning of the rows X."""
        if self.n_first is None:
            return None
        kept = None if self.kept is None else self.kept.mark()
        return len(self.late), self.means.mark(codes_of(X, self._codes(X))), kept

    def go_back(self, mark: Any) -> None:
        """Forget what was learned since the mark."""
        if mark is None:
            self._begin()
            return
        n_late, means, kept = mark
        del self.late[n_late:]
        self.means.go_back(means)
        if kept is None or self.kept is None:
            self.kept = None
        else:
            self.kept.go_back(kept)
        # others may come in the places of the columns that are gone
        self._known_places = None

    def fix(self) -> None:
        """Fix columns and categories; the target means continue to learn."""
        if self.encoder is not None:
            self.encoder.fix()
        self.fixed, self.kept = True, None

    def require_alike(self, other: Inputs) -> None:
        """Raise MergeError, naming the difference, unless both make the same columns of a row."""
        require_same("the columns", *map(_encoding, (self, other)))
        require_same("the places of the columns", self.late, other.late)
        self.means.require_alike(other.means)

    def take_in(self, other: Inputs, origin: Inputs | None) -> None:
        """Add the counts of ``other``, which is alike, since both were ``origin`` (if given)."""
        if self.encoder is not None and other.encoder is not None:
            gaps = None if origin is None or origin.encoder is None else origin.encoder.layout.gaps
            self.encoder.layout.add_gaps(other.encoder.layout.gaps, gaps)
        self.means.take_in(other.means, None if origin is None else origin.means)

    # ---- state ---------------------------------------------------------------------------------

    def state_fields(self) -> Fields:
        require(self.encoder is not None, "is for an encoder, and there is none")
        assert self.encoder is not None
        first = self.encoder.layout.n_first
        return {
            "n_first": Whole(low=first, high=first),
            "_late": Array(np.int64, ("late", 2), low=0, high=2**58),
            "means": Part(),
            "kept": Part(lambda _: KeptCodes(), anew=True, optional=True),
        }

    @property
    def _late(self) -> np.ndarray:
        return np.array(self.late, dtype=np.int64).reshape(-1, 2)

    def set_fields(self, values: State) -> None:
        self.n_first = values["n_first"]
        self.late = [(j, k) for j, k in values["_late"].tolist()]

    def state_is_set(self) -> None:
        right = self.means.of_classes == (self._task == "classification")
        require(right, f"means: are not those of a {self._task}")
        require(len(set(self.late)) == len(self.late), "late: holds a column twice")
        d = 0 if self.encoder is None else self.encoder.n_features
        J = max(self.means.n_means, 1)
        known = all(j < d and k < J for j, k in self.late)
        require(known, f"late: names a column beyond {d}, or a statistic beyond {J}")
        self.fixed = self.encoder is not None and self.encoder.fixed


def _encoding(inputs: Inputs) -> Any:
    """The encoder's state without its counts of gaps; None without an encoder."""
    if inputs.encoder is None:
        return None
    state = inputs.encoder.get_state()
    own = {name: value for name, value in state["layout"].items() if name != "gaps"}
    return {**state, "layout": own}


def _first_rows(values: np.ndarray) -> list[int]:
    """The first row whose value is not 0, if there is one."""
    there = (values != 0.0).any(axis=1)
    return [int(np.argmax(there))] if there.any() else []
