"""A service's models, where there is one: what a service asks of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from onkel.serve.batches import Parts
from onkel.serve.durable import DurableModel
from onkel.serve.live import LiveModel
from onkel.serve.saving import SaveClock


class Models(Protocol):
    """Live models by key; that of the key None stands alone."""

    #: whether each has a key
    keyed: bool
    #: whether events are taken; else there are predictions only
    learns: bool
    #: what an error of `tend` means
    duty: str

    @property
    def moved(self) -> str | None:
        """Where the model is, if another process wrote its file."""

    def take(self, parts: Parts) -> list[Any]:
        """Journal, then learn the events of several requests; the answers to each."""

    def reading(self, key: str | None) -> Any:
        """A context that gives the live model of a key, which nobody changes meanwhile."""

    def names(self, key: str | None) -> LiveModel:
        """A live model that tells names of columns only, without waiting."""

    def snapshot(self) -> None:
        """Write to disk what was learned."""

    def tend(self) -> None:
        """What is to be done from time to time: write what was learned, if it is due."""

    def close(self) -> None:
        """Write, and close the journal."""

    def report(self) -> dict[str, Any]:
        """Numbers about all models, JSON-able."""


class OneModel:
    """A `DurableModel` as a service takes it.

    Parameters
    ----------
    durable : DurableModel
        After its recovery.
    save_every, save_seconds : int, float
        Its file is written after so many events, or seconds if there are any.
    """

    keyed = False
    learns = True
    duty = "the model could not be saved"

    def __init__(
        self, durable: DurableModel, save_every: int = 100_000, save_seconds: float = 60.0
    ) -> None:
        self.durable = durable
        self._clock = SaveClock(save_every, save_seconds)
        self._closed = False

    @property
    def moved(self) -> str | None:
        """Where the model is, if another process wrote its file."""
        return self.durable.moved

    def take(self, parts: Parts) -> list[Any]:
        """Take the events of several requests as one cut; the answers to each."""
        events = [event for _, own in parts for event in own]
        answers = iter(self.durable.take(events))
        self._clock.add(len(events))
        return [[next(answers) for _ in own] for _, own in parts]

    @contextmanager
    def reading(self, key: str | None) -> Iterator[LiveModel]:
        """The live model, which nobody changes meanwhile."""
        with self.durable.lock:
            yield self.durable.live

    def names(self, key: str | None) -> LiveModel:
        """The live model, while somebody may change it."""
        return self.durable.live

    def snapshot(self) -> None:
        """Write the model's file."""
        self._clock.restart()
        self.durable.snapshot()

    def tend(self) -> None:
        """Write the model's file, if much or long ago was learned since."""
        if self._clock.is_due:
            self.snapshot()

    def close(self) -> None:
        """Write the model's file, and close the journal."""
        if self._closed:
            return
        self._closed = True
        try:
            self.snapshot()
        finally:
            self.durable.journal.close()

    def report(self) -> dict[str, Any]:
        """Counts, score and alarms, and the size of the journal."""
        with self.durable.lock:
            live = self.durable.live
            found = live.report() | {"forgotten": live.late.n_forgotten}
        found["rings"] = len(found["alarms"])
        return found | {"journal_bytes": self.durable.journal.nbytes}
