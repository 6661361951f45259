"""The features of each column of a table; new features go last."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np

from onkel.columns.categories import BUCKETS, NOTHING, ROOM, Categories, Repeated
from onkel.columns.column import (
    CODE,
    EXACT,
    FORMS,
    GAP,
    KINDS,
    TIME_PARTS,
    VALUE,
    WORDS,
    Column,
)
from onkel.columns.words import MOST_WORDS, Words, share_words
from onkel.fields import Fields, Flag, Listed, Named, Number, Sizes, State, Text, Whole, require
from onkel.state import Stateful

# Parts of a text whose values share words.
_OF_WORDS = range(WORDS, WORDS + MOST_WORDS)
#: the fields of the columns, in their order, by their names in a state
_OF_A_COLUMN = {
    "names": Text(),
    "kinds": Text(among=KINDS),
    "origins": Number(),
    "late": Flag(),
    "forms": Text(among=FORMS),
    "repeats": Flag(),
    "constants": Text(empty=True),
}


class Layout(Stateful):
    """Columns, their categories, and their features as pairs (column number, part)."""

    STATE: ClassVar[Fields] = {
        **{name: Listed(field, "columns") for name, field in _OF_A_COLUMN.items()},
        "hashes": Listed(Flag(), "columns"),
        "values": Listed(Listed(Text(), None), "columns"),
        "numbers": Named(Listed(Number(), None), int),
        "owners": Listed(Whole(), "features"),
        "parts": Listed(Whole(low=GAP, high=2**25), "features"),
        "gaps": Listed(Whole(), "columns"),
        "n_first": Whole(),
    }

    def __init__(
        self, columns: Iterable[Column], n_hash: int, max_categories: int, statistics: bool
    ) -> None:
        self.n_hash: int = n_hash
        self.max_categories: int = max_categories
        self.statistics: bool = statistics
        self.columns: tuple[Column, ...] = ()
        self.features: list[tuple[int, int]] = []
        #: of the text columns
        self.categories: dict[int, Categories] = {}
        #: of the text columns whose values share words, if there are statistics: one that begins
        #: with few values gets its own once it has more of them than room
        self.words: dict[int, Words] = {}
        #: codes of the number columns that are mostly one value, if there are statistics
        self.repeated: dict[int, Repeated] = {}
        #: rows so far in which each column was missing
        self.gaps: list[int] = []
        self._at: dict[tuple[int, int], int] = {}
        self._owners: set[int] = set()
        # how many features there were when they were listed, and those with codes
        self._codes: tuple[int, dict[int, int]] = (0, {})
        self.append(columns)
        #: initial features; those behind them came in mid-stream
        self.n_first: int = len(self.features)

    def __len__(self) -> int:
        return len(self.features)

    def append(self, columns: Iterable[Column]) -> None:
        """Add columns, with the features they have before any value."""
        columns, n_before = tuple(columns), len(self.columns)
        for column in columns:
            if column.kind not in KINDS:
                raise ValueError(f"column {column.name!r}: kind {column.kind!r} is none of {KINDS}")
        self.columns += columns
        for k in range(n_before, len(self.columns)):
            self.gaps.append(0)
            self._add_categories(k)
            for part in self._first_parts(k):
                self.add(k, part)

    def settle(self, k: int, column: Column) -> None:
        """Replace an empty column, which has no features yet, by what its first value shows."""
        self.columns = (*self.columns[:k], column, *self.columns[k + 1 :])
        self.categories.pop(k, None)
        self._add_categories(k)

    def _add_categories(self, k: int) -> None:
        column = self.columns[k]
        if column.kind == "text":
            room = 0 if column.form in ("many", "words") else self.max_categories
            n_hash = BUCKETS if self.statistics else self.n_hash
            self.categories[k] = Categories(column.name, room, n_hash)
            if column.form == "words" and self.statistics:
                self.words[k] = Words(column.name)
        elif column.kind == "number" and column.repeats and self.statistics:
            self.repeated[k] = Repeated()

    def _first_parts(self, k: int) -> Iterable[int]:
        if self.columns[k].constant is not None:
            return []
        if self.columns[k].kind == "text":
            return [CODE] if self.statistics else self.hashed_parts(k)
        if self.columns[k].kind == "time":
            return range(len(TIME_PARTS))
        return [VALUE, EXACT] if k in self.repeated else [VALUE]

    def hashed_parts(self, k: int) -> Iterable[int]:
        """Parts shared by hashed values, once there are such values."""
        own = self.categories[k]
        shared = own.hashes and not self.statistics
        return range(own.room + 1, own.room + 1 + own.n_hash) if shared else []

    def words_parts(self, k: int) -> Iterable[int]:
        """The parts for words, once a column has more values than room, if these share words."""
        own = self.categories[k]
        if not (self.statistics and own.room and share_words(own.values)):
            return ()
        self.words[k] = Words(own.name)
        # another tuple: the look-ups of single rows are made anew
        self.columns = (*self.columns[:k], self.columns[k], *self.columns[k + 1 :])
        return _OF_WORDS

    def add(self, column: int, part: int) -> None:
        """Add a feature for a part, unless it has one."""
        if self._at.setdefault((column, part), len(self.features)) == len(self.features):
            self.features.append((column, part))
            self._owners.add(column)

    def get(self, column: int, part: int) -> int:
        """The feature of a part; -1 if it has none."""
        return self._at.get((column, part), -1)

    def codes(self) -> dict[int, int]:
        """The features that hold codes, and how many a row has there: words follow each other."""
        known, found = self._codes
        if known != len(self.features):
            own = {self.get(k, CODE): 1 for k in self.categories}
            own |= {self.get(k, EXACT): 1 for k in self.repeated}
            own |= {self.get(k, WORDS): MOST_WORDS for k in self.words}
            found = {feature: width for feature, width in own.items() if feature >= 0}
            self._codes = len(self.features), found
        return found

    def waits(self, column: int) -> bool:
        """Whether all rows so far had the column's constant."""
        return self.columns[column].constant is not None and column not in self._owners

    def next_parts(self, column: int) -> Sequence[int]:
        """The parts that a column gets with its first value, or its first other value."""
        if column in self.words and self.get(column, WORDS) < 0:
            return _OF_WORDS
        if not self.waits(column):
            return ()
        return range(len(TIME_PARTS)) if self.columns[column].kind == "time" else (VALUE,)

    def is_first(self, feature: int) -> bool:
        """Whether this is the first feature of a column that came in mid-stream."""
        k, part = self.features[feature]
        return self.columns[k].late and part == VALUE

    def of(self, column: int) -> np.ndarray:
        """All features of a column."""
        return np.flatnonzero([owner == column for owner, _ in self.features])

    def name(self, feature: int) -> str:
        """Name of a feature."""
        k, part = self.features[feature]
        column = self.columns[k]
        if part == GAP:
            return f"{column.name} is missing"
        if column.kind == "number" and part == EXACT:
            return f"{column.name}: target"
        if column.kind != "text":
            return column.name + (TIME_PARTS[part] if column.kind == "time" else "")
        own = self.categories[k]
        if part == CODE:
            return f"{column.name}: target"
        if part >= WORDS and k in self.words:
            return f"{column.name}: words"
        if part > own.room:
            return f"{column.name}#{part - own.room - 1}"
        value = own.values[part - 1]
        return f"{column.name} is missing" if value == NOTHING else f"{column.name}={value}"

    def add_gaps(self, gaps: list[int], before: list[int] | None) -> None:
        """Add the gaps that another layout of the same columns has counted since ``before``."""
        more = zip(self.gaps, gaps, before or [0] * len(gaps), strict=True)
        self.gaps = [own + theirs - known for own, theirs, known in more]

    def held(self, name: str) -> Any:
        if name in _OF_A_COLUMN:
            at = fields(Column)[list(_OF_A_COLUMN).index(name)].name
            return [getattr(column, at) for column in self.columns]
        if name in ("owners", "parts"):
            return [feature[name == "parts"] for feature in self.features]
        own = [self.categories.get(k) for k in range(len(self.columns))]
        if name == "hashes":
            return [one is not None and one.hashes for one in own]
        if name == "values":
            return [[] if one is None else one.values for one in own]
        if name == "numbers":
            return {k: one.values for k, one in self.repeated.items()}
        return super().held(name)

    def check_state(self, state: State, sizes: Sizes) -> None:
        for kind, constant in zip(state["kinds"], state["constants"], strict=True):
            right = kind != "empty" or constant == ""
            require(right, "constants: that of an empty column must be an empty text")

    def set_fields(self, values: State) -> None:
        """Let a layout without columns take what :meth:`get_state` gives."""
        self.append(map(Column, *(values[name] for name in _OF_A_COLUMN)))
        for k, known in enumerate(values["values"]):
            own = self.categories.get(k)
            most = 0 if own is None else own.room
            fine = len(known) <= most and len(set(known)) == len(known)
            require(fine, f"values: column {k} must hold up to {most} different ones")
            if own is not None:
                own.take(known)
                own.hashes = values["hashes"][k]
        numbers = values["numbers"]
        require(numbers.keys() == self.repeated.keys(), "numbers: must be of columns that repeat")
        for k, repeats in self.repeated.items():
            repeats.add(map(float, numbers[k]))
            fine = repeats.values == numbers[k]
            require(fine, f"numbers: column {k} must hold up to {ROOM} different ones")
        self._take_features(values["owners"], values["parts"], values["n_first"])
        self.gaps = values["gaps"]

    def _take_features(self, owners: list[int], parts: list[int], n_first: int) -> None:
        base, self.features, self._at, self._owners = self.features, [], {}, set()
        for k in {k for k, part in zip(owners, parts, strict=True) if part == WORDS}:
            text = self.categories.get(k)
            if text is not None and text.hashes and self.statistics:
                self.words.setdefault(k, Words(text.name))
        for k, part in zip(owners, parts, strict=True):
            require(k < len(self.columns), f"owners: there is no column {k}")
            require(part in self._possible(k), f"parts: column {k} has no part {part}")
            self.add(k, part)
        require(len(self) == len(owners), "parts: holds one twice")
        self.n_first = n_first
        # the first parts of each column are there, and the parts of a time follow each other
        require(self._at.keys() >= set(base), "parts: lacks features of its columns")
        require(n_first <= len(self), "n_first: is more than all features")
        times = [k for k, column in enumerate(self.columns) if column.kind == "time"]
        whole = {k: range(len(TIME_PARTS)) for k in times if not self.waits(k)}
        whole |= {
            k: _OF_WORDS for k in self.words if any((k, part) in self._at for part in _OF_WORDS)
        }
        for k, own in whole.items():
            at = {self.get(k, part) - part for part in own}
            require(len(at) == 1, f"parts: those of column {k} do not follow each other")

    def _possible(self, k: int) -> Collection[int]:
        own = self.categories.get(k)
        if self.columns[k].kind == "empty":
            return range(0)
        if own is None:
            n = len(TIME_PARTS) if self.columns[k].kind == "time" else 1 + (k in self.repeated)
            return range(GAP, n)
        if k in self.words:
            return [*range(len(own.codes) + 1), *_OF_WORDS]
        if self.statistics:
            return range(len(own.codes) + 1)
        return range(1, own.room + 1 + own.n_hash)
