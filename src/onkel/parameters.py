"""Checks of parameters: most return the value of ``owner.name``, all raise a ValueError."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from enum import IntEnum
from typing import Any, TypeGuard

import numpy as np


def positive(owner: object, name: str, below: float = np.inf) -> float:
    """A number above 0, and below ``below``."""
    value = getattr(owner, name)
    if not is_number(value) or not 0.0 < value < below:
        right = "a positive number" if below == np.inf else f"above 0 and below {below:g}"
        raise ValueError(f"{name}={value!r} must be {right}")
    return float(value)


def non_negative(owner: object, name: str) -> float:
    """A number of at least 0."""
    value = getattr(owner, name)
    if not is_number(value) or not 0.0 <= value < np.inf:
        raise ValueError(f"{name}={value!r} must be a number of at least 0")
    return float(value)


def whole(owner: object, name: str, least: int = 1, most: int | None = None) -> int:
    """A whole number of at least ``least``, and at most ``most``."""
    value = getattr(owner, name)
    right = f"of at least {least}" if most is None else f"from {least} to {most}"
    if not is_whole(value) or value < least or (most is not None and value > most):
        raise ValueError(f"{name}={value!r} must be a whole number {right}")
    return int(value)


def flags(owner: object) -> None:
    """Check that every declared field of type ``bool`` is True or False."""
    for field in fields(owner) if is_dataclass(owner) else ():
        value = getattr(owner, field.name)
        # the annotation is a text or the type itself, as the module has it
        if field.type in ("bool", bool) and not isinstance(value, (bool, np.bool_)):
            raise ValueError(f"{field.name}={value!r} must be True or False")


def one_of(owner: object, name: str, words: Iterable[str]) -> str:
    """One of the words."""
    value, words = getattr(owner, name), tuple(words)
    if not isinstance(value, str) or value not in words:
        raise ValueError(f"{name}={value!r} is not one of {', '.join(map(repr, words))}")
    return value


def member(owner: object, name: str, words: type[IntEnum]) -> IntEnum:
    """The member of ``words`` that the value names."""
    allowed = {word.name.lower().replace("_", "-"): word for word in words}
    return allowed[one_of(owner, name, allowed)]


def is_whole(value: object) -> TypeGuard[int | np.integer]:
    """Whether a value is one whole number; True and False are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is one real number."""
    return np.ndim(value) == 0 and hasattr(value, "__float__") and bool(np.isreal(value))
