"""Tables of components by name: making one from its name, and adding a class of one's own."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TypeVar

Component = TypeVar("Component")


def make(
    what: str, value: str | Component, table: dict[str, type[Component]], base: type[Component]
) -> Component:
    """``value`` itself where it is a ``base``, or the class of that name with its defaults."""
    if isinstance(value, base):
        return value
    if not isinstance(value, str) or value not in table:
        close = difflib.get_close_matches(str(value), table, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"{what}={value!r} is not one of {', '.join(map(repr, table))}{hint}")
    return table[value]()


def add(
    cls: type[Component], table: dict[str, type[Component]], base: type[Component]
) -> type[Component]:
    """Enter a class under its ``name``; one defined anew, as in a notebook, replaces itself."""
    if not (isinstance(cls, type) and issubclass(cls, base)):
        raise TypeError(f"{cls!r} is not a subclass of {base.__name__}")
    name = vars(cls).get("name")
    if not isinstance(name, str) or not name:
        raise ValueError(f"{cls.__name__} needs a class attribute `name`, a string")
    for known, other in table.items():
        same = (other.__module__, other.__qualname__) == (cls.__module__, cls.__qualname__)
        if not same and (known == name or other.__name__ == cls.__name__):
            raise ValueError(
                f"{cls.__name__} with name={name!r} clashes with {other.__name__} with "
                f"name={known!r}, which is there already: names and classes must differ"
            )
    table[name] = cls
    return cls


def listed(names: Iterable[str]) -> str:
    """The names in a sentence."""
    *first, last = [f'"{name}"' for name in names]
    return f"{', '.join(first)} or {last}"
