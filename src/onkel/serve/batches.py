"""A thread that works on all that waits at once: many small requests cost as much as one."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

Parts = list[tuple[str | None, list[Any]]]


class FullError(RuntimeError):
    """More waits than may; nothing of this request was taken."""


class _Request(NamedTuple):
    key: str | None
    events: list[Any]
    token: Any
    came: float


class Batches:
    """Requests from any thread, worked on together and in order by one.

    Parameters
    ----------
    work : callable
        Takes ``(key, events)`` of each request; returns a list of answers for each of them.
    deliver : callable
        Takes the pairs (token, answers or error) of a batch; called in the working thread.
    most : int
        Events of a batch; what more waits comes with the next. A request is never divided.
    most_waiting : int
        Events that may wait.
    idle : callable, optional
        Called in the working thread after each batch, and each second without one.
    """

    def __init__(
        self,
        work: Callable[[Parts], list[Any]],
        deliver: Callable[[list[tuple[Any, Any]]], None],
        *,
        most: int = 512,
        most_waiting: int = 100_000,
        idle: Callable[[], None] = lambda: None,
    ) -> None:
        self._work, self._deliver, self._idle = work, deliver, idle
        self._most, self._most_waiting = most, most_waiting
        self._waiting: deque[_Request | Callable[[], None]] = deque()
        self.n_waiting: int = 0
        self._wake = threading.Condition()
        self._ends = False
        self._thread = threading.Thread(target=self._run, name=f"onkel {work.__name__}")
        self._thread.start()

    def put(self, key: str | None, events: list[Any], token: Any) -> None:
        """Let a request wait; FullError if too much waits already."""
        with self._wake:
            if self._ends:
                raise FullError("the service is ending")
            if self.n_waiting and self.n_waiting + len(events) > self._most_waiting:
                raise FullError(f"events that wait already: {self.n_waiting:,}; come again later")
            self.n_waiting += len(events)
            self._waiting.append(_Request(key, events, token, time.monotonic()))
            self._wake.notify()

    def between(self, task: Callable[[], None]) -> None:
        """Run something in the thread, after the requests so far."""
        with self._wake:
            self._waiting.append(task)
            self._wake.notify()

    def end(self) -> None:
        """Work on what waits, and end the thread."""
        with self._wake:
            self._ends = True
            self._wake.notify()
        self._thread.join()

    def oldest(self) -> float:
        """Seconds that the oldest request has waited."""
        with self._wake:
            first = next((own for own in self._waiting if isinstance(own, _Request)), None)
            return 0.0 if first is None else time.monotonic() - first.came

    def _run(self) -> None:
        while True:
            with self._wake:
                if not self._waiting and not self._ends:
                    self._wake.wait(1.0)
                if not self._waiting and self._ends:
                    return
                batch, tasks = self._next()
            if batch:
                self._answer(batch)
            for task in tasks:
                task()
            self._idle()

    def _next(self) -> tuple[list[_Request], list[Callable[[], None]]]:
        """The requests that are worked on together, and a task after them."""
        batch: list[_Request] = []
        size = 0
        while self._waiting:
            own = self._waiting[0]
            if not isinstance(own, _Request):
                self._waiting.popleft()
                return batch, [own]
            if batch and size + len(own.events) > self._most:
                break
            size += len(own.events)
            self.n_waiting -= len(own.events)
            batch.append(own)
            self._waiting.popleft()
        return batch, []

    def _answer(self, batch: list[_Request]) -> None:
        found: list[Any]
        try:
            found = self._work([(own.key, own.events) for own in batch])
        except Exception as error:
            found = [error] * len(batch)
        self._deliver([(own.token, answers) for own, answers in zip(batch, found, strict=True)])
