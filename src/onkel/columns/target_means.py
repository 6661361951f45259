"""Ordered target statistics: the mean target of a category over the rows before.

For a row with category c, from earlier rows only,

    s = n_c / (n_c + a) · (mean of y over rows with c - mean of y),   a = 10 rows,

which is 0 for a new category. For classes y is 1 for the class and 0 for the others, and there is
one s for each class but the first. The order of the stream takes the place of CatBoost's
permutations.

A text has several codes, those of its words. Its statistic is the sum of theirs by the square root
of their number, which keeps the scale of short and long texts alike.

Source: Prokhorenkova et al. 2018 (ordered target statistics); Micci-Barreca 2001 (the smoothing).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from onkel.fields import Array, Fields, Flag, Listed, Named, Number, Sizes, State, Text, require
from onkel.merging import joined, require_same
from onkel.state import Stateful

# What undoing takes for a column: its arrays, the codes of the rows, and the numbers there.
_Held = tuple[np.ndarray, np.ndarray, int | np.ndarray, np.ndarray, np.ndarray]
_OfColumns = dict[int, np.ndarray]
_Mark = tuple[list[str], float, np.ndarray, tuple[_OfColumns, _OfColumns], list[_Held]]
_SMOOTHING = 10.0
# A difference of two sums below this share of one of them is rounding. Else a column that has had
# one category so far would be noise, which units of its own would make as large as other columns.
_ROUNDING = 1e-12
# Classes beyond this number have no statistic.
_MOST_CLASSES = 16
_FEWEST_CODES = 64
# In the mean of so many rows, a row's own label counts for next to nothing.
_MANY = 256


class TargetMeans(Stateful):
    """Counts and sums of the target, a number or a class, for each code of each column."""

    STATE: ClassVar[Fields] = {
        "of_classes": Flag(),
        "classes": Listed(Text(), "classes"),
        "n_rows": Number(low=0.0),
        "total": Array(shape=("J",)),
        "counts": Named(Array(shape=("codes",), low=0.0), int),
        "sums": Named(Array(shape=("codes", "own")), int),
    }

    def __init__(self, classes: bool = False) -> None:
        self.of_classes = classes
        #: names of the classes so far, in order of first appearance
        self.classes: list[str] = []
        self.n_rows: float = 0.0
        self.total: np.ndarray = np.zeros(0 if classes else 1)
        self.counts: dict[int, np.ndarray] = {}
        self.sums: dict[int, np.ndarray] = {}

    @property
    def n_means(self) -> int:
        """Statistics of each column, J."""
        return len(self.total)

    def learn(self, codes: dict[int, np.ndarray], y: np.ndarray) -> dict[int, np.ndarray]:
        """The statistics (n, J) of each column before each row; then learn the rows.

        ``codes`` (n,), or (n, m) where a row has several, by column number; 0 means no category.
        ``y`` (n,): numbers, or labels.
        """
        from onkel.columns.running import running_means

        Y = self._as_targets(y)
        before = np.zeros_like(Y)
        self.n_rows = running_means(Y, self.total, self.n_rows, before)
        return {name: self._of(name, own, Y, before, True) for name, own in codes.items()}

    def now(self, codes: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
        """The statistics (n, J) of each column after all rows so far."""
        n = len(next(iter(codes.values())))
        before = np.tile(self.total / max(self.n_rows, 1.0), (n, 1))
        return {name: self._of(name, own, before, before, False) for name, own in codes.items()}

    def of_others(
        self, codes: dict[int, np.ndarray], places: np.ndarray, folds: np.ndarray
    ) -> dict[int, np.ndarray]:
        """The statistics (n, J) of rows that were learned, by all rows but those of their fold.

        ``places`` (n,): what :meth:`places` gave for their targets. Codes of many rows have one
        value for all of them, which bins and cuts do not split.
        """
        Y = self._of_places(places)
        out = {name: np.zeros_like(Y) for name in codes}
        for fold in np.unique(folds):
            rows = np.flatnonzero(folds == fold)
            own = {name: c[rows] for name, c in codes.items()}
            for name, found in self._without(own, Y[rows]).now(own).items():
                out[name][rows] = found
        return out

    def _without(self, codes: dict[int, np.ndarray], Y: np.ndarray) -> TargetMeans:
        """What is known without these rows, which were learned, of codes that are not of many."""
        rest = TargetMeans(self.of_classes)
        rest.n_rows, rest.total = self.n_rows, self.total
        for name, own in codes.items():
            most = max(int(own.max(initial=0)) + 1, len(self.counts.get(name, ())))
            counts, sums = self._padded(name, most, self.n_means)
            few = counts < _MANY
            for c in own.reshape(len(own), -1).T:
                some = few[c]
                np.subtract.at(counts, c[some], 1.0)
                np.subtract.at(sums, c[some], Y[some])
            rest.counts[name], rest.sums[name] = np.maximum(counts, 0.0), sums
        return rest

    def places(self, y: np.ndarray) -> np.ndarray:
        """What stands for targets y (n,): the numbers, or the places of labels among the classes.

        A class without a statistic has the place of the first.
        """
        if not self.of_classes:
            return np.asarray(y, dtype=np.float64)
        names, _, index = _named(y)
        return self._placed(names, index)

    def _placed(self, names: list[str], index: np.ndarray) -> np.ndarray:
        place = [self.classes.index(name) if name in self.classes else 0 for name in names]
        return np.array(place, dtype=np.float64)[index]

    def _of_places(self, places: np.ndarray) -> np.ndarray:
        """The numbers (n, 1), or one indicator column for each class but the first."""
        if not self.of_classes:
            return places[:, None]
        return (places[:, None] == np.arange(1, self.n_means + 1)).astype(np.float64)

    def by_code(self) -> dict[int, np.ndarray]:
        """The statistics (codes, J) of the codes 0, 1, ... of each column after all rows so far."""
        copied = TargetMeans.from_state(self.get_state())
        codes = {name: np.arange(len(own)) for name, own in self.counts.items()}
        return {name: copied.now({name: own})[name] for name, own in codes.items()}

    def _of(
        self, name: int, codes: np.ndarray, Y: np.ndarray, before: np.ndarray, learn: bool
    ) -> np.ndarray:
        from onkel.columns.running import means_of_codes

        codes = codes.reshape(len(codes), -1).astype(np.int64)
        self._make_room(name, int(codes.max(initial=0)) + 1)
        out = np.zeros_like(Y)
        own = self.counts[name], self.sums[name]
        means_of_codes(codes, Y, before, *own, _SMOOTHING, _ROUNDING, out, learn)
        return out

    def learn_row(self, codes: dict[int, int | list[int]], label: Any) -> dict[int, list[float]]:
        """As :meth:`learn`, to the same bits, of one row: a list (J,) of each column.

        A compiled loop would take longer to call than one row needs.
        """
        target = [float(label)] if not self.of_classes else []
        if self.of_classes:
            own = _name(label)
            self._meet([own])
            place = self.classes.index(own) if own in self.classes else 0
            target = [float(k == place) for k in range(1, self.n_means + 1)]
        n = self.n_rows
        before = [total / n if n > 0.0 else 0.0 for total in self.total.tolist()]
        found = {name: self._of_row(name, c, before) for name, c in codes.items()}
        self.total += target
        self.n_rows = n + 1.0
        for name, which in codes.items():
            for c in (which,) if isinstance(which, int) else which:
                self._learn_code(name, c, target)
        return found

    def _learn_code(self, name: int, c: int, target: list[float]) -> None:
        counts, sums = self.counts.get(name), self.sums.get(name)
        if counts is None or sums is None or len(counts) <= c or sums.shape[1] < len(target):
            self._make_room(name, c + 1)
            counts, sums = self.counts[name], self.sums[name]
        if c:
            counts[c] += 1.0
            for k, one in enumerate(target):
                if one:
                    sums[c, k] += one

    def row_now(self, codes: dict[int, int | list[int]]) -> dict[int, list[float]]:
        """As :meth:`now`, to the same bits, of one row: a list (J,) of each column."""
        n = max(self.n_rows, 1.0)
        before = [total / n for total in self.total.tolist()]
        return {name: self._of_row(name, own, before) for name, own in codes.items()}

    def _of_row(self, name: int, codes: int | list[int], before: list[float]) -> list[float]:
        """The statistics (J,) of one row's code, or codes."""
        if isinstance(codes, int):
            return self._of_code(name, codes, before)
        found, n_codes = [0.0] * len(before), 0
        for c in codes:
            if c:
                n_codes += 1
                own = self._of_code(name, c, before)
                # one addition after the other, as the compiled loop adds them
                found = [a + b for a, b in zip(found, own, strict=True)]
        return [a / math.sqrt(n_codes) for a in found] if n_codes > 1 else found

    def _of_code(self, name: int, c: int, before: list[float]) -> list[float]:
        """The statistics (J,) of one code."""
        counts = self.counts.get(name)
        if not c or counts is None or c >= len(counts):
            return [0.0] * len(before)
        n, sums = counts.item(c), self.sums[name]
        m = n + _SMOOTHING
        if len(before) == 1 == sums.shape[1]:
            return [_away(sums.item(c, 0), n * before[0]) / m]
        # a class that came after the last row of this column has no sum there
        own = [*sums[c].tolist(), *[0.0] * (len(before) - sums.shape[1])]
        return [_away(s, n * b) / m for s, b in zip(own, before, strict=True)]

    def _make_room(self, name: int, n: int) -> None:
        held = self.counts.get(name, np.zeros(0))
        sums = self.sums.get(name, np.zeros((0, self.n_means)))
        if n > len(held) or sums.shape[1] < self.n_means:
            # a power of two: the order of the codes does not matter
            n = max(1 << (n - 1).bit_length(), len(held), _FEWEST_CODES)
            self.counts[name], self.sums[name] = self._padded(name, n, self.n_means)

    def _padded(self, name: int, n: int, n_means: int) -> tuple[np.ndarray, np.ndarray]:
        """Counts (n,) and sums (n, n_means) of a column's codes, with zeros for new codes."""
        held = self.counts.get(name, np.zeros(0))
        sums = self.sums.get(name, np.zeros((0, n_means)))
        more = [(0, n - len(sums)), (0, n_means - sums.shape[1])]
        return np.pad(held, (0, n - len(held))), np.pad(sums, more)

    def _as_targets(self, y: np.ndarray) -> np.ndarray:
        """The numbers (n, 1), or one indicator column for each class but the first."""
        if not self.of_classes:
            return self._of_places(self.places(y))
        names, first, index = _named(y)
        self._meet(names[k] for k in np.argsort(first))
        return self._of_places(self._placed(names, index))

    def _meet(self, names: Iterable[str]) -> None:
        """Add the classes that are new, in this order."""
        for name in names:
            if name not in self.classes and len(self.classes) < _MOST_CLASSES:
                self.classes.append(name)
        more = len(self.classes) - 1 - len(self.total)
        if more > 0:
            self.total = np.pad(self.total, (0, more))

    def require_alike(self, other: TargetMeans) -> None:
        """Raise MergeError unless both have their classes in the same order."""
        require_same("the order of the classes", self.classes, other.classes)

    def take_in(self, other: TargetMeans, origin: TargetMeans | None) -> None:
        """Add what ``other``, which is alike, has counted since both were ``origin``.

        None: since the first row.
        """
        of_all = (self, other, TargetMeans(self.of_classes) if origin is None else origin)
        J = self.n_means
        self.n_rows = joined(of.n_rows for of in of_all)
        self.total = joined(np.pad(of.total, (0, J - of.n_means)) for of in of_all)
        for name in {**self.counts, **other.counts}:
            n = max(len(of.counts.get(name, ())) for of in of_all)
            padded = [of._padded(name, n, J) for of in of_all]
            self.counts[name], self.sums[name] = map(joined, zip(*padded, strict=True))

    def mark(self, codes: dict[int, np.ndarray]) -> _Mark:
        """What :meth:`go_back` needs to undo the learning of rows with these codes."""
        held: list[_Held] = []
        for name, own in codes.items():
            if name in self.counts:
                counts, sums = self.counts[name], self.sums[name]
                # arrays without room for a code are replaced by longer ones
                if own.size == 1:
                    c = int(own.item())
                    if c < len(counts):
                        held.append((counts, sums, c, counts[c], sums[c].copy()))
                    continue
                old = own.ravel().astype(np.int64)
                old = old[old < len(counts)]
                held.append((counts, sums, old, counts[old], sums[old]))
        kept = dict(self.counts), dict(self.sums)
        return list(self.classes), self.n_rows, self.total.copy(), kept, held

    def go_back(self, mark: _Mark) -> None:
        """Forget what was learned since the mark."""
        self.classes, self.n_rows, self.total, (self.counts, self.sums), held = mark
        for counts, sums, codes, own_counts, own_sums in held:
            counts[codes], sums[codes] = own_counts, own_sums

    def check_state(self, state: State, sizes: Sizes) -> None:
        wanted = max(sizes["classes"] - 1, 0) if state["of_classes"] else 1
        require(sizes["J"] == wanted, f"total: has {sizes['J']} entries, not {wanted}")
        counts, sums = state["counts"], state["sums"]
        require(counts.keys() == sums.keys(), "sums: are of other columns than the counts")
        for name, own in sums.items():
            require(name.isdecimal(), f"counts: {name!r} is no column's number")
            fits = len(own) == len(counts[name]) and own.shape[1] <= wanted
            require(fits, f"sums: those of column {name} do not fit its counts and the classes")


def _name(label: Any) -> str:
    """A label as text, the same for 1 and 1.0."""
    return f"={label}" if isinstance(label, str) else repr(float(label))


def _named(y: np.ndarray) -> tuple[list[str], np.ndarray, np.ndarray]:
    """The names of different labels, the first row of each, and which of them each row has."""
    if len(y) == 1:
        # one row has no need to be sorted
        return [_name(y[0])], np.zeros(1, np.int64), np.zeros(1, np.int64)
    values, first, index = np.unique(y, return_index=True, return_inverse=True)
    return [_name(value) for value in values], first, index


def _away(total: float, expected: float) -> float:
    """The difference of two sums, or 0 where it is rounding."""
    away = total - expected
    return away if abs(away) > _ROUNDING * abs(total) else 0.0
