"""Long work as a generator: it stops after every step, so that a caller may do something else."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from functools import partial
from typing import Any, TypeVar

from onkel.numerics.threads import n_threads, side_by_side

T = TypeVar("T")


def finished(work: Generator[Any, None, T], each: Callable[[Any], object] | None = None) -> T:
    """Do all of the work; returns its result. ``each`` is called with what each step yields."""
    while True:
        try:
            step = next(work)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        if each is not None:
            each(step)


def in_shares(work: Generator[bool, None, T], most: int) -> Generator[float, None, T]:
    """The same work, of about ``most`` steps; each yields the share done so far, at most 1.

    A step of the work yields whether ``most`` counts it.
    """
    done = 0
    while True:
        try:
            foreseen = next(work)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        done, most = done + 1, most + (not foreseen)
        yield min(done / most, 1.0)


def together(works: list[Generator[bool, None, T]]) -> Generator[bool, None, list[T]]:
    """What each of the works gives; one after the other, or a step of two of them side by side.

    They must not write to the same place.
    """
    found: dict[int, T] = {}
    while len(found) < len(works):
        going = [i for i in range(len(works)) if i not in found][: min(n_threads(), 2)]
        steps = side_by_side([partial(_stepped, works[i], i, found) for i in going])
        foreseen = [step for of_work in steps for step in of_work]
        if foreseen:
            yield all(foreseen)
    return [found[i] for i in range(len(works))]


def _stepped(work: Generator[bool, None, T], i: int, found: dict[int, T]) -> list[bool]:
    """What the next step yields; at the end nothing, and the result goes to ``found``."""
    try:
        return [next(work)]
    except StopIteration as end:
        found[i] = end.value
        return []


class _Abandoned(BaseException):
    """Raised inside of work that nobody waits for any more."""


def paused(work: Callable[[Callable[[], None]], T]) -> Generator[bool, None, T]:
    """``work(pause)`` as a generator: a step ends wherever the work calls ``pause``.

    For work inside of a library's function, which cannot be a generator itself. It has a thread of
    its own, which runs only while the generator is asked for its next step: never beside it.
    """
    go, stopped = threading.Semaphore(0), threading.Semaphore(0)
    found: list[T] = []
    failed: list[BaseException] = []
    abandoned = False

    def pause() -> None:
        stopped.release()
        go.acquire()
        if abandoned:
            raise _Abandoned

    def run() -> None:
        go.acquire()
        try:
            if not abandoned:
                found.append(work(pause))
        except BaseException as error:
            failed.append(error)
        finally:
            stopped.release()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        while True:
            go.release()
            stopped.acquire()
            if failed:
                raise failed[0]
            if found:
                return found[0]
            yield True
    finally:
        abandoned = True
        go.release()
        thread.join()
