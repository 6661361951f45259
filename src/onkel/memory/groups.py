"""Where each group's past is stored: keys to slots; the least recently seen is forgotten."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple, TypeVar

import numpy as np

from onkel.state import Array, Whole, check, require

#: rows of a group that are remembered
GROUP_WINDOW = 32
_KEYS = (str, int, float)
#: slot 0 stands for every group that has no rows
_FIRST = 1


class Groups:
    """The slots of the last ``most`` keys seen; rows without keys are one group."""

    def __init__(self, most: int) -> None:
        self.most = most
        #: the least recently seen first
        self.slots: OrderedDict[Any, int] = OrderedDict()
        self.n_forgotten = 0

    @property
    def n_slots(self) -> int:
        """Slots in use, that of groups without rows included."""
        return _FIRST + max(len(self.slots), 1)

    def learn(self, keys: list[Any] | None, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Slots of rows in order, and where one begins anew; rows of no weight change nothing."""
        slots = np.full(len(counts), _FIRST, np.int64)
        fresh = np.zeros(len(counts), np.bool_)
        for t, key in enumerate(keys or ()):
            slot = self.slots.get(key)
            if not counts[t]:
                slots[t] = slot or 0
                continue
            if slot is not None:
                self.slots.move_to_end(key)
            elif len(self.slots) < self.most:
                slot = _FIRST + len(self.slots)
            else:
                slot = self.slots.popitem(last=False)[1]
                fresh[t] = True
                self.n_forgotten += 1
            self.slots[key] = slots[t] = slot
        return slots, fresh

    def find(self, keys: list[Any] | None, n: int) -> np.ndarray:
        """Slots of n rows; changes nothing."""
        if keys is None:
            return np.full(n, _FIRST, np.int64)
        return np.array([self.slots.get(key, 0) for key in keys], np.int64)

    def get_state(self) -> dict[str, Any]:
        """Keys from the least recently seen on, and their slots."""
        slots = np.array(list(self.slots.values()), np.int64)
        return {"keys": list(self.slots), "slots": slots, "n_forgotten": self.n_forgotten}

    def set_state(self, state: dict[str, Any]) -> None:
        """The inverse of :meth:`get_state`."""
        keys = state.get("keys")
        require(isinstance(keys, list), "keys: must be a list")
        assert keys is not None
        n = len(keys)
        check(state, {"slots": Array(dtype=np.int64, shape=(n,)), "n_forgotten": Whole()})
        plain = all(isinstance(key, _KEYS) for key in keys) and len(set(keys)) == n
        require(plain, "keys: must be texts and numbers, each once")
        require(n <= self.most, f"keys: are {n}, more than the {self.most} that are kept")
        each = np.array_equal(np.sort(state["slots"]), np.arange(_FIRST, _FIRST + n))
        require(each, f"slots: must be {_FIRST} to {n}, each once")
        self.slots = OrderedDict(zip(keys, state["slots"].tolist(), strict=True))
        self.n_forgotten = int(state["n_forgotten"])


Past = TypeVar("Past", bound=NamedTuple)


def grown(past: Past, names: tuple[str, ...], n: int) -> Past:
    """A past whose arrays ``names`` have room for n slots; growing, they double at least."""
    held = getattr(past, names[0]).shape[0]
    if n <= held:
        return past
    more = max(n, 2 * held) - held
    arrays = ((name, getattr(past, name)) for name in names)
    wide = {a: np.concatenate([v, np.zeros((more, *v.shape[1:]), v.dtype)]) for a, v in arrays}
    return past._replace(**wide)


def cut(past: Past, names: tuple[str, ...], n: int) -> dict[str, np.ndarray]:
    """Copies of a past's arrays; of ``names`` only the slots in use, below n."""
    held = past._asdict()
    return {name: (v[_FIRST:n] if name in names else v).copy() for name, v in held.items()}


def put_back(past: Past, names: tuple[str, ...], state: dict[str, np.ndarray]) -> None:
    """The inverse of :func:`cut`, into a past just begun."""
    for name, array in past._asdict().items():
        (array[_FIRST:] if name in names else array)[:] = state[name]
