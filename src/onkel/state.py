"""Checks of a loaded state: each model declares its fields, and one function checks them.

A model file may come from anywhere, and its arrays go to compiled loops that check nothing. So
every ``set_state`` begins with :func:`check`, and refuses what its own ``get_state`` could not have
returned.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from onkel.errors import ModelFileError
from onkel.parameters import is_whole

Sizes = dict[str, int]


def require(condition: Any, message: str) -> None:
    """Raise a ModelFileError with the message unless the condition holds."""
    if not condition:
        raise ModelFileError(message)


@dataclass(frozen=True, kw_only=True)
class Field:
    """A field of a state; ``optional``: it may be left out; ``empty``: it may be None."""

    optional: bool = False
    empty: bool = False

    def check(self, value: Any, sizes: Sizes) -> str | None:
        """What is wrong with the value and what would be right; None if the value is good."""
        raise NotImplementedError


@dataclass(frozen=True)
class Array(Field):
    """An array: its dtype, its shape in numbers and named sizes, and the range of its values.

    A named size not yet known is taken from the first array that has it. ``finite=False``
    allows infinities, never NaN.
    """

    dtype: Any = np.float64
    shape: tuple[int | str, ...] = ()
    low: float = -math.inf
    high: float = math.inf
    finite: bool = True

    def check(self, value: Any, sizes: Sizes) -> str | None:
        if not isinstance(value, np.ndarray):
            return f"is {_kind(value)}, not an array"
        dtype = np.dtype(self.dtype)
        if value.dtype != dtype:
            return f"has dtype {value.dtype}, not {dtype}"
        if not _fits(value.shape, self.shape, sizes):
            wanted = ", ".join(str(sizes.get(str(n), n)) for n in self.shape)
            return f"has shape {value.shape}, not ({wanted})"
        if value.size == 0 or dtype.kind == "b":
            return None
        least, most = value.min(), value.max()
        if self.finite and not (np.isfinite(least) and np.isfinite(most)):
            return "holds NaN or infinity; all numbers must be finite"
        if not (self.low <= least and most <= self.high):
            return f"holds numbers from {least} to {most}; they must be {_range(self)}"
        return None


@dataclass(frozen=True)
class Whole(Field):
    """A whole number."""

    low: float = 0
    high: float = 2**62

    def check(self, value: Any, sizes: Sizes) -> str | None:
        if not is_whole(value):
            return f"is {_kind(value)}, not a whole number"
        if not self.low <= value <= self.high:
            return f"is {value}; it must be {_range(self)}"
        return None


@dataclass(frozen=True)
class Number(Field):
    """A finite number."""

    low: float = -math.inf
    high: float = math.inf

    def check(self, value: Any, sizes: Sizes) -> str | None:
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            return f"is {_kind(value)}, not a number"
        if not math.isfinite(value) or not self.low <= value <= self.high:
            return f"is {value}; it must be finite and {_range(self)}"
        return None


@dataclass(frozen=True)
class Flag(Field):
    """True or False."""

    def check(self, value: Any, sizes: Sizes) -> str | None:
        ok = isinstance(value, bool | np.bool_)
        return None if ok else f"is {_kind(value)}, not true or false"


@dataclass(frozen=True)
class Text(Field):
    """A string; ``among``: one of these."""

    among: tuple[str, ...] = ()

    def check(self, value: Any, sizes: Sizes) -> str | None:
        if not isinstance(value, str):
            return f"is {_kind(value)}, not a string"
        if self.among and value not in self.among:
            return f"is {value!r}; it must be one of {', '.join(map(repr, self.among))}"
        return None


@dataclass(frozen=True)
class Listed(Field):
    """A list of ``length`` values of one kind; the first list sets a length not yet known."""

    of: Field
    length: int | str = "length"

    def check(self, value: Any, sizes: Sizes) -> str | None:
        if not isinstance(value, list):
            return f"is {_kind(value)}, not a list"
        if not _fits((len(value),), (self.length,), sizes):
            return f"has {len(value)} entries, not {sizes.get(str(self.length), self.length)}"
        given = (item for item in value if not (self.of.empty and item is None))
        wrong = (self.of.check(item, sizes) for item in given)
        return next((f"holds an entry that {text}" for text in wrong if text), None)


def check(state: Any, fields: Mapping[str, Field], **sizes: int) -> Sizes:
    """Refuse a state that differs from its declaration; returns all named sizes.

    Raises
    ------
    ModelFileError
        Names the field, what is wrong with it and what would be right.
    """
    require(isinstance(state, dict), f"is {_kind(state)}, not a group of fields")
    found: Sizes = dict(sizes)
    for name, field in fields.items():
        if name not in state:
            require(field.optional, f"{name}: is missing")
            continue
        wrong = None
        if not (field.empty and state[name] is None):
            wrong = field.check(state[name], found)
        require(wrong is None, f"{name}: {wrong}")
    return found


@contextmanager
def inside(state: dict[str, Any], name: str) -> Iterator[Any]:
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


def _range(field: Any) -> str:
    if field.low == -math.inf:
        return f"at most {field.high}"
    return f"at least {field.low}" if field.high == math.inf else f"{field.low} to {field.high}"


def _kind(value: Any) -> str:
    kinds = {dict: "a group of fields", list: "a list", str: "a string", type(None): "nothing"}
    return kinds.get(type(value), type(value).__name__)
