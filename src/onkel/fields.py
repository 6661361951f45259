"""Fields of a state: the type, shape and range of each, and how a state that differs is refused.

A model file may come from anywhere, and its arrays go to compiled loops that check nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from onkel.annotations import DTypeLike
from onkel.errors import ModelFileError
from onkel.parameters import is_whole

#: named arrays and plain values, and groups of them
State = dict[str, Any]
Sizes = dict[str, int]
#: types of the plain values, which JSON has, too
PLAIN = frozenset((str, bool, int, float, type(None)))
Fields = Mapping[str, "Field"]


def require(condition: object, message: str) -> None:
    """Raise a ModelFileError with the message unless the condition holds."""
    if not condition:
        raise ModelFileError(message)


@dataclass(frozen=True, kw_only=True)
class Field:
    """A field of a state; ``optional``: it may be left out; ``empty``: it may be None.

    ``where``: an attribute of the owner; where it is false, the field is left out of a state.
    ``beside``: a field before it; a state has both or neither. A state without such a field leaves
    the attribute as it is.
    """

    optional: bool = False
    empty: bool = False
    where: str = ""
    beside: str = ""

    def may_lack(self, state: State) -> bool:
        """Whether a state may be without the field."""
        beside = bool(self.beside) and self.beside not in state
        return self.optional or bool(self.where) or beside

    def check(self, value: object, sizes: Sizes) -> str | None:
        """What is wrong with the value and what would be right; None if the value is good."""
        return None

    def nothing(self) -> Any:
        """What stands for a value that a file of before does not have."""
        return None

    def saved(self, value: Any) -> Any:
        """What a state holds of an attribute; never shared with it."""
        return deepcopy(value)

    def nbytes(self, value: Any) -> int:
        """Bytes of the arrays that a state holds of an attribute."""
        return nbytes(self.saved(value))

    def loaded(self, value: Any) -> Any:
        """The attribute, from a checked state; never shared with it."""
        return deepcopy(value)


@dataclass(frozen=True)
class Array(Field):
    """An array: its dtype, its shape in numbers and named sizes, and the range of its values.

    A named size not yet known is taken from the first array that has it. ``finite=False``
    allows infinities, never NaN. ``each``: there may be an array for each of this size. ``in_use``:
    how many entries along a size are saved.
    """

    dtype: DTypeLike = np.float64
    shape: tuple[int | str, ...] = ()
    low: float = -math.inf
    high: float = math.inf
    finite: bool = True
    each: str = ""
    in_use: Mapping[str, int] | None = None

    def check(self, value: object, sizes: Sizes) -> str | None:
        if not isinstance(value, np.ndarray):
            return f"is {_kind(value)}, not an array"
        dtype = np.dtype(self.dtype)
        if value.dtype != dtype:
            return f"has dtype {value.dtype}, not {dtype}"
        several = self.each and value.ndim > len(self.shape)
        shape = (self.each, *self.shape) if several else self.shape
        if not _fits(value.shape, shape, sizes):
            wanted = ", ".join(str(sizes.get(str(n), n)) for n in shape)
            return f"has shape {value.shape}, not ({wanted})"
        if value.size == 0 or dtype.kind == "b":
            return None
        least, most = value.min(), value.max()
        if self.finite and not (np.isfinite(least) and np.isfinite(most)):
            return "holds NaN or infinity; all numbers must be finite"
        if not (self.low <= least and most <= self.high):
            return f"holds numbers from {least} to {most}; they must be {_range(self)}"
        return None

    def nothing(self) -> np.ndarray:
        return np.zeros(tuple(map(int, self.shape)), self.dtype)

    def saved(self, value: Any) -> Any:
        return np.array(self._cut(value), order="C" if self.in_use else "K")

    def nbytes(self, value: Any) -> int:
        return int(self._cut(value).nbytes)

    def _cut(self, value: Any) -> Any:
        used = self.in_use or {}
        return value[tuple(slice(used.get(str(n))) for n in self.shape)] if used else value

    def loaded(self, value: Any) -> np.ndarray:
        return np.array(value)


@dataclass(frozen=True)
class Column(Array):
    """A list of numbers, saved as an array."""

    def saved(self, value: list[Any]) -> np.ndarray:
        return np.array(value, self.dtype)

    def loaded(self, value: np.ndarray) -> Any:
        return value.tolist()


@dataclass(frozen=True)
class Whole(Field):
    """A whole number; ``size``: the named size that it is."""

    low: float = 0
    high: float = 2**62
    size: str = ""

    def check(self, value: object, sizes: Sizes) -> str | None:
        if not is_whole(value):
            return f"is {_kind(value)}, not a whole number"
        if not self.low <= value <= self.high:
            return f"is {value}; it must be {_range(self)}"
        if self.size and sizes.setdefault(self.size, int(value)) != value:
            return f"is {value}, not {sizes[self.size]}"
        return None

    def loaded(self, value: Any) -> int:
        return int(value)


@dataclass(frozen=True)
class Number(Field):
    """A number; ``finite=False`` allows infinities, never NaN."""

    low: float = -math.inf
    high: float = math.inf
    finite: bool = True

    def check(self, value: object, sizes: Sizes) -> str | None:
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            return f"is {_kind(value)}, not a number"
        if (self.finite and not math.isfinite(value)) or not self.low <= value <= self.high:
            return f"is {value}; it must be {'finite and ' * self.finite}{_range(self)}"
        return None

    def saved(self, value: Any) -> float:
        return float(value)

    def loaded(self, value: Any) -> float:
        return float(value)


@dataclass(frozen=True)
class Flag(Field):
    """True or False."""

    def check(self, value: object, sizes: Sizes) -> str | None:
        ok = isinstance(value, bool | np.bool_)
        return None if ok else f"is {_kind(value)}, not true or false"

    def loaded(self, value: Any) -> bool:
        return bool(value)


@dataclass(frozen=True)
class Text(Field):
    """A string; ``among``: one of these."""

    among: tuple[str, ...] = ()

    def check(self, value: object, sizes: Sizes) -> str | None:
        if not isinstance(value, str):
            return f"is {_kind(value)}, not a string"
        if self.among and value not in self.among:
            return f"is {value!r}; it must be one of {', '.join(map(repr, self.among))}"
        return None


@dataclass(frozen=True)
class Listed(Field):
    """A list of ``length`` values of one kind; the first list sets a length not yet known.

    No length: any. ``into``: what makes the attribute of the list.
    """

    of: Field
    length: int | str | None = "length"
    into: Callable[[list[Any]], Any] = list

    def check(self, value: object, sizes: Sizes) -> str | None:
        if not isinstance(value, list):
            return f"is {_kind(value)}, not a list"
        if self.length is not None and not _fits((len(value),), (self.length,), sizes):
            return f"has {len(value)} entries, not {sizes.get(str(self.length), self.length)}"
        given = (item for item in value if not (self.of.empty and item is None))
        wrong = (self.of.check(item, sizes) for item in given)
        return next((f"holds an entry that {text}" for text in wrong if text), None)

    def saved(self, value: Any) -> list[Any]:
        return deepcopy(list(value))

    def loaded(self, value: Any) -> Any:
        return self.into(deepcopy(value))


@dataclass(frozen=True)
class Named(Field):
    """A dict of values of one kind, each with sizes of its own; ``key`` makes a key of its name."""

    of: Field
    key: Callable[[str], Any] = str

    def check(self, value: object, sizes: Sizes) -> str | None:
        if not isinstance(value, dict):
            return f"is {_kind(value)}, not a group of fields"
        wrong = ((name, self.of.check(item, dict(sizes))) for name, item in value.items())
        return next((f"holds {name!r}, which {text}" for name, text in wrong if text), None)

    def saved(self, value: Any) -> State:
        return {str(key): self.of.saved(item) for key, item in value.items()}

    def loaded(self, value: Any) -> Any:
        return {self.key(name): self.of.loaded(item) for name, item in value.items()}


@dataclass(frozen=True)
class Like(Field):
    """An array, or a named tuple or dict of them, of the types and shapes that are held now.

    ``indices``: the range of the arrays of whole numbers, by name, where it is not 0 to 2⁶².
    ``later``: arrays that files of before do not have; there they begin at 0.
    """

    indices: Mapping[str, tuple[int, int]] | None = None
    later: tuple[str, ...] = ()

    def as_now(self, name: str, now: Any) -> Field:
        """The field of an attribute whose value is ``now``."""
        if isinstance(now, tuple | dict):
            held = now if isinstance(now, dict) else now._asdict()  # type: ignore[attr-defined]
            parts = {part: self.as_now(part, array) for part, array in held.items()}
            return Group(type(now), parts, optional=self.optional)
        low, high = (0, 2**62) if now.dtype.kind == "i" else (-math.inf, math.inf)
        low, high = (self.indices or {}).get(name, (low, high))
        optional = self.optional or name in self.later
        return Array(now.dtype, now.shape, low, high, optional=optional)


@dataclass(frozen=True)
class Group(Field):
    """A dict or named tuple, saved as a group of fields; ``of`` makes it of them by name."""

    of: Callable[..., Any]
    parts: Fields

    def saved(self, value: Any) -> State:
        held = value if isinstance(value, dict) else value._asdict()
        return {name: field.saved(held[name]) for name, field in self.parts.items()}

    def nbytes(self, value: Any) -> int:
        held = value if isinstance(value, dict) else value._asdict()
        return sum(field.nbytes(held[name]) for name, field in self.parts.items())

    def loaded(self, value: Any) -> Any:
        held = {}
        for name, field in self.parts.items():
            held[name] = field.loaded(value[name] if name in value else field.nothing())
        return self.of(**held)


def check(state: Any, fields: Mapping[str, Field], **sizes: int) -> Sizes:
    """Refuse a state that differs from its declaration; returns all named sizes.

    A ModelFileError names the field, what is wrong with it and what would be right.
    """
    require(isinstance(state, dict), f"is {_kind(state)}, not a group of fields")
    found: Sizes = dict(sizes)
    for name, field in fields.items():
        if name not in state:
            require(field.may_lack(state), f"{name}: is missing")
            continue
        require(not field.beside or field.beside in state, f"{field.beside}: is missing")
        wrong = None
        if isinstance(field, Group):
            with inside(state, name) as parts:
                check(parts, field.parts, **found)
        elif not (field.empty and state[name] is None):
            wrong = field.check(state[name], found)
        require(wrong is None, f"{name}: {wrong}")
    return found


def nbytes(state: object) -> int:
    """Bytes of the arrays of a state."""
    if isinstance(state, dict):
        return sum(map(nbytes, state.values()))
    return int(state.nbytes) if isinstance(state, np.ndarray) else 0


@contextmanager
def inside(state: State, name: str) -> Iterator[Any]:
    """The part ``state[name]``; errors raised inside are prefixed with its name."""
    require(isinstance(state, dict), f"is {_kind(state)}, not a group of fields")
    require(name in state, f"{name}: is missing")
    try:
        yield state[name]
    except ModelFileError as error:
        separator = " " if str(error).startswith(("is ", "has ", "holds ")) else "/"
        raise ModelFileError(f"{name}{separator}{error}") from None


def _fits(shape: tuple[int, ...], wanted: tuple[int | str, ...], sizes: Sizes) -> bool:
    if len(shape) != len(wanted):
        return False
    for n, size in zip(shape, wanted, strict=True):
        if n != (sizes.setdefault(size, n) if isinstance(size, str) else size):
            return False
    return True


def _range(field: Array | Whole | Number) -> str:
    if field.low == field.high:
        return f"{field.low}"
    if field.low == -math.inf:
        return f"at most {field.high}"
    return f"at least {field.low}" if field.high == math.inf else f"{field.low} to {field.high}"


def _kind(value: object) -> str:
    kinds = {dict: "a group of fields", list: "a list", str: "a string", type(None): "nothing"}
    return kinds.get(type(value), type(value).__name__)
