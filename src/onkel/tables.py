"""Tables of components by name: make one from its name, or add your own class."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")


class Table(dict[str, type[T]]):
    """Subclasses of ``base`` by their ``name``; ``what`` is the parameter that takes them.

    At first those of a module's ``names`` that have a name of their own.
    """

    def __init__(self, what: str, base: type[T], names: Mapping[str, Any]) -> None:
        types = (value for value in names.values() if isinstance(value, type))
        named = (cls for cls in types if issubclass(cls, base) and "name" in vars(cls))
        super().__init__(sorted((vars(cls)["name"], cls) for cls in named))
        self.what: str = what
        self.base = base

    def make(self, value: str | T) -> T:
        """``value`` itself if it is an object, else the named class with its defaults."""
        if isinstance(value, self.base):
            return value
        if not isinstance(value, str) or value not in self:
            close = difflib.get_close_matches(str(value), self, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            names = ", ".join(map(repr, self))
            raise ValueError(f"{self.what}={value!r} is not one of {names}{hint}")
        return self[value]()

    def register(self, cls: type[T]) -> type[T]:
        """Add a class of your own under its ``name``; may be used as a decorator.

        Its name then works wherever one of the table does, and models that use it can be saved and
        loaded; register it before loading. A class defined again, as in a notebook, replaces its
        old definition. See docs/extending.md.
        """
        if not (isinstance(cls, type) and issubclass(cls, self.base)):
            raise TypeError(f"{cls!r} is not a subclass of {self.base.__name__}")
        name = vars(cls).get("name")
        if not isinstance(name, str) or not name:
            raise ValueError(f"{cls.__name__} needs a class attribute `name`, a string")
        for known, other in self.items():
            same = (other.__module__, other.__qualname__) == (cls.__module__, cls.__qualname__)
            if not same and (known == name or other.__name__ == cls.__name__):
                raise ValueError(
                    f"{cls.__name__} with name={name!r} clashes with {other.__name__} with "
                    f"name={known!r}, which is there already: names and classes must differ"
                )
        self[name] = cls
        return cls


def listed(names: Iterable[str]) -> str:
    """The quoted names in a sentence, with "or" before the last."""
    *first, last = [f'"{name}"' for name in names]
    return f"{', '.join(first)} or {last}"
