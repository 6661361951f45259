"""What memories share: the past of each group, where it is stored, and its period.

Each group has a slot; when there are too many groups, the least recently seen is forgotten.

The period comes from the autocorrelation of the differences of a series: a narrow peak there, but a
broad one in that of levels. It is searched for at row numbers that double, then at every
:data:`WINDOW`-th row, in the last ``WINDOW`` rows.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from onkel.fields import Array, Field, Fields, Like, Listed, Sizes, State, Whole, inside, require
from onkel.memory.experts import LATER, Mixture, new_mixture
from onkel.memory.regressions import begin
from onkel.numerics.arrays import end_of_counted
from onkel.state import Part, Stateful

#: rows of a group that are remembered
GROUP_WINDOW = 32
#: slot 0 stands for every group that has no rows
_FIRST_SLOT = 1


@dataclass(frozen=True)
class _Key(Field):
    """What names a group."""

    def check(self, value: object, sizes: Sizes) -> str | None:
        return None if isinstance(value, str | int | float) else "is neither a text nor a number"


class Groups(Stateful):
    """The slots of the last ``most`` keys seen; rows without keys are one group."""

    STATE: ClassVar[Fields] = {
        "keys": Listed(_Key()),
        "_slots": Array(np.int64, ("length",)),
        "n_forgotten": Whole(),
    }

    def __init__(self, most: int) -> None:
        self.most = most
        #: the least recently seen first
        self.slots: OrderedDict[Hashable, int] = OrderedDict()
        self.n_forgotten: int = 0

    @property
    def n_slots(self) -> int:
        """Slots in use, that of groups without rows included."""
        return _FIRST_SLOT + max(len(self.slots), 1)

    def learn(
        self, keys: list[Hashable] | None, counts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Slots of rows in order, and where one begins anew; rows of no weight change nothing."""
        slots = np.full(len(counts), _FIRST_SLOT, np.int64)
        fresh = np.zeros(len(counts), np.bool_)
        for t, key in enumerate(keys or ()):
            slot = self.slots.get(key)
            if not counts[t]:
                slots[t] = slot or 0
                continue
            if slot is not None:
                self.slots.move_to_end(key)
            elif len(self.slots) < self.most:
                slot = _FIRST_SLOT + len(self.slots)
            else:
                slot = self.slots.popitem(last=False)[1]
                fresh[t] = True
                self.n_forgotten += 1
            self.slots[key] = slots[t] = slot
        return slots, fresh

    def find(self, keys: list[Hashable] | None, n: int) -> np.ndarray:
        """Slots of n rows; changes nothing."""
        if keys is None:
            return np.full(n, _FIRST_SLOT, np.int64)
        return np.array([self.slots.get(key, 0) for key in keys], np.int64)

    @property
    def keys(self) -> list[Hashable]:
        """From the least recently seen on."""
        return list(self.slots)

    @property
    def _slots(self) -> np.ndarray:
        return np.array(list(self.slots.values()), np.int64)

    def check_state(self, state: State, sizes: Sizes) -> None:
        keys, n = state["keys"], sizes["length"]
        require(len(set(keys)) == n, "keys: holds one twice")
        require(n <= self.most, f"keys: are {n}, more than the {self.most} that are kept")
        each = np.array_equal(np.sort(state["slots"]), np.arange(_FIRST_SLOT, _FIRST_SLOT + n))
        require(each, f"slots: must be {_FIRST_SLOT} to {n}, each once")

    def set_fields(self, values: State) -> None:
        self.slots = OrderedDict(zip(values["keys"], values["_slots"].tolist(), strict=True))
        self.n_forgotten = values["n_forgotten"]


_P = TypeVar("_P", bound=NamedTuple)


def grown(past: _P, names: tuple[str, ...], n: int) -> _P:
    """A past whose arrays ``names`` have room for n slots; growing, they double at least."""
    held = getattr(past, names[0]).shape[0]
    if n <= held:
        return past
    more = max(n, 2 * held) - held
    arrays = ((name, getattr(past, name)) for name in names)
    wide = {a: np.concatenate([v, np.zeros((more, *v.shape[1:]), v.dtype)]) for a, v in arrays}
    return past._replace(**wide)


def in_use(past: _P, names: tuple[str, ...], n: int) -> _P:
    """The arrays of a past, views; of ``names`` only the slots in use, below n."""
    return past._replace(**{name: getattr(past, name)[_FIRST_SLOT:n] for name in names})


def put_back(past: _P, names: tuple[str, ...], known: _P) -> None:
    """The inverse of :func:`in_use`, into a past just begun."""
    for name, array in past._asdict().items():
        (array[_FIRST_SLOT:] if name in names else array)[:] = getattr(known, name)


#: rows that are remembered
WINDOW = 2048
#: the shortest strong period and the strongest
N_PERIODS = 2
_SHORTEST = 3
# A peak counts above this autocorrelation and above so many standard errors.
_LEAST, _STANDARD_ERRORS = 0.1, 4.0
# A period is strong if its peak has at least this share of the highest peak's height.
_NEARLY = 0.9


def find_periods(values: np.ndarray) -> np.ndarray:
    """(2,): the shortest strong period of values (n, K) and the strongest; 0 where none shows."""
    found = np.zeros(N_PERIODS, np.int64)
    steps = np.diff(values, axis=0)
    steps = steps - steps.mean(axis=0)
    n = len(steps)
    transformed = np.fft.rfft(steps, 2 * n, axis=0)
    products = np.fft.irfft(np.sum(np.abs(transformed) ** 2, axis=1))[: n // 2]
    if not products[0] > 0.0 or not np.isfinite(products[0]):
        return found
    correlation = products / products[0] * n / (n - np.arange(n // 2))
    inner = correlation[1:-1]
    peak = (inner > correlation[:-2]) & (inner >= correlation[2:])
    peak &= inner > max(_LEAST, _STANDARD_ERRORS / np.sqrt(n))
    peaks = np.flatnonzero(peak) + 1
    peaks = peaks[peaks >= _SHORTEST]
    if peaks.size:
        heights = correlation[peaks]
        found[:] = peaks[np.argmax(heights >= _NEARLY * heights.max())], peaks[heights.argmax()]
    return found


class Memory(Stateful):
    """Groups, the past of each, and regressions over it that all groups share."""

    #: the fields of the past that each group has for itself
    _own: tuple[str, ...]
    #: the row of the first look at the past as a whole
    _first_look = 128
    past: Any

    def __init__(self, most: int) -> None:
        self.groups: Groups = Groups(most)

    def _reset(self) -> None:
        """Begin anew, with as many slots as there are."""
        raise NotImplementedError

    def _begin_experts(self, n_experts: int, shape: tuple[int, int], ridge: float) -> None:
        """Begin without rows; ``shape``: how many regressions there are, and their features."""
        self.mixture: Mixture = new_mixture(n_experts)
        self.P, self.W = np.zeros((*shape, shape[1])), np.zeros(shape)
        for P in self.P:
            begin(P, ridge)

    @property
    def n_rows(self) -> int:
        """Rows so far."""
        return int(self.past.total[0])

    def _rows_until_look(self, n: int) -> int:
        """Rows from n to the next look at the past as a whole: at 128, ..., 2048, 4096, 6144."""
        due = self._first_look
        if n >= WINDOW:
            return WINDOW - n % WINDOW
        while due <= n:
            due *= 2
        return due - n

    def _parts(self, counts: np.ndarray) -> list[tuple[slice, bool]]:
        """Parts of rows (n,) between two looks, and whether one is due after each."""
        parts, done, n = [], 0, self.n_rows
        while done < len(counts):
            due = n + self._rows_until_look(n)
            part = slice(done, end_of_counted(counts, done, due - n))
            n += int(np.count_nonzero(counts[part]))
            parts.append((part, n == due))
            done = part.stop
        return parts

    def _arranged(
        self, keys: list[Hashable] | None, counts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, list[tuple[slice, bool]]]:
        """Slots of rows, with room for them, where one begins anew, and the :meth:`_parts`."""
        before = bool(self.groups.slots)
        slots, fresh = self.groups.learn(keys, counts)
        if keys is not None:
            if not before and self.groups.slots:
                self._reset()
            self._make_room()
        return slots, fresh, self._parts(counts)

    def _make_room(self) -> None:
        self.past = grown(self.past, self._own, self.groups.n_slots)

    @property
    def lasting(self) -> float:
        """In [0, 1]: how much of what is known now still holds a row later.

        It is the correlation of f's residuals, one row with the next.
        """
        agreed, size = self.past.fading
        return min(max(float(agreed / size), 0.0), 1.0) if size > 0.0 else 0.0

    @property
    def known(self) -> Any:
        """The past of the groups there are."""
        return in_use(self.past, self._own, self.groups.n_slots)

    @known.setter
    def known(self, known: Any) -> None:
        put_back(self.past, self._own, known)

    def state_fields(self) -> Fields:
        shared = dict.fromkeys(("P", "W", "mixture"), Like(later=LATER))
        return {"groups": Part(), **shared, "known": Like(self._indices())}

    def _indices(self) -> dict[str, tuple[int, int]]:
        """The ranges of the past's arrays that are used as indices."""
        return {"periods": (0, WINDOW)}

    def before_state(self, state: State) -> None:
        with inside(state, "groups") as groups:
            self.groups.set_state(groups)
        # with as many slots as there are groups
        self._reset()
