"""Long work as a generator: it stops after every step, so that a caller may do something else."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

T = TypeVar("T")


def finished(work: Generator[Any, None, T]) -> T:
    """What the work returns at its end."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


def in_shares(work: Generator[Any, None, T], most: int) -> Generator[float, None, T]:
    """The same work of about ``most`` steps; each gives the share that is done, at most 1."""
    done = 0
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        done += 1
        yield min(done / most, 1.0)
