"""Values by id, in the order in which they came, of which a copy takes next to no time."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

Value = TypeVar("Value")

# Values of a page. A page that has few left is packed, as a dict keeps its room.
_SIZE = 1024
_PACKED = (_SIZE // 8, _SIZE // 64, 1)


class Frozen(Generic[Value]):
    """Ids and values as they were at one time; another thread may read them."""

    def __init__(self, pages: list[dict[Hashable, Value]]) -> None:
        #: whoever reads a page at a time lets other threads go on in between
        self.pages = pages

    def ids(self) -> list[Hashable]:
        """All ids, in their order."""
        found: list[Hashable] = []
        for page in self.pages:
            found += page
        return found

    def values(self) -> list[Value]:
        """All values, in their order."""
        found: list[Value] = []
        for page in self.pages:
            found += page.values()
        return found


class Pages(Generic[Value]):
    """A dict in the order of its entries, in pages: ids that came one after another.

    `frozen` shares the pages, and each is copied once it changes. Whoever saves many rows that wait
    holds nobody up.
    """

    def __init__(self) -> None:
        self._last = 0
        self._pages: dict[int, dict[Hashable, Value]] = {0: {}}
        #: the page of each id
        self._where: dict[Hashable, int] = {}
        #: the pages that something frozen has, too
        self._shared: set[int] = set()

    def __len__(self) -> int:
        return len(self._where)

    def __contains__(self, id: Hashable) -> bool:
        return id in self._where

    def __iter__(self) -> Iterator[Hashable]:
        for page in self._pages.values():
            yield from page

    def get(self, id: Hashable, default: Value | None = None) -> Value | None:
        """The value of an id."""
        number = self._where.get(id)
        return default if number is None else self._pages[number][id]

    def __getitem__(self, id: Hashable) -> Value:
        return self._pages[self._where[id]][id]

    def __setitem__(self, id: Hashable, value: Value) -> None:
        """Set a value, which is the last from now on."""
        if id in self._where:
            self.pop(id)
        if len(self._pages[self._last]) >= _SIZE:
            self._last += 1
            self._pages[self._last] = {}
        self._own(self._last)[id] = value
        self._where[id] = self._last

    def pop(self, id: Hashable) -> Value:
        """Remove an id; its value."""
        number = self._where.pop(id)
        page = self._own(number)
        value = page.pop(id)
        if not page and number != self._last:
            del self._pages[number]
        elif len(page) in _PACKED:
            self._pages[number] = page.copy()
        return value

    def first(self) -> Hashable:
        """The id that came first; None if there is none."""
        return next(iter(self), None)

    def frozen(self) -> Frozen[Value]:
        """All that there is now."""
        self._shared = set(self._pages)
        return Frozen(list(self._pages.values()))

    def _own(self, number: int) -> dict[Hashable, Value]:
        """A page that nothing frozen has."""
        if number in self._shared:
            self._shared.discard(number)
            self._pages[number] = self._pages[number].copy()
        return self._pages[number]
