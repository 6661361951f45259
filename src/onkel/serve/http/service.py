"""What stands between requests and models: rows are checked, batched, journaled and answered."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onkel.errors import JournalError
from onkel.pipeline.summary import describe
from onkel.serve.batches import Batches, FullError, Parts
from onkel.serve.http.bodies import Limits, RequestError
from onkel.serve.http.events import (
    Event,
    MakeEvent,
    RowError,
    checked,
    only_learned,
    to_label,
    to_learn,
    to_predict,
)
from onkel.serve.http.metrics import Metrics
from onkel.serve.one_model import Models
from onkel.serve.reading import peek
from onkel.serve.replica import Replica
from onkel.serve.saving import MovedNotice

if TYPE_CHECKING:
    from onkel.serve.live import LiveModel

#: what may be done with rows: the event of each, and the answer of each
VERBS: dict[str, tuple[MakeEvent, Callable[[Event], Event] | None]] = {
    "predict": (to_predict, None),
    "learn": (to_learn, only_learned),
    "predict-then-learn": (to_learn, None),
    "label": (to_label, None),
}


class Service:
    """Models, a thread that writes and one that reads, and what is known of both.

    Parameters
    ----------
    models : Models
        After their recovery.
    name : str
        The model's name for KServe and the page.
    limits : Limits
        What a request may have.
    say : callable
        Takes one line about what failed in the background.
    """

    models: Models
    name: str

    def __init__(
        self,
        models: Models,
        name: str,
        limits: Limits | None = None,
        say: Callable[[str], object] = print,
    ) -> None:
        self.models, self.name = models, name
        self.say: Callable[[str], object] = say
        self.limits: Limits = limits or Limits()
        self.metrics: Metrics = Metrics(self.report)
        self.ready = False
        self.ending: bool = False
        #: the last answers, for the page
        self.last: deque[Event] = deque(maxlen=20)
        self._failed: str | None = None
        self._notice = MovedNotice(say)

    @property
    def verbs(self) -> list[str]:
        """What may be done with rows here."""
        return list(VERBS) if self.models.learns else ["predict"]

    def start(self) -> None:
        """Start the threads; their answers go to the loop that runs now."""
        loop = asyncio.get_running_loop()

        def deliver(pairs: list[tuple[asyncio.Future[Any], object]]) -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(_resolve, pairs)

        self.writer: Batches = Batches(self._write, deliver, idle=self._tend)
        self.reader: Batches = Batches(self._read, deliver, most=64)

    def stop(self) -> None:
        """Work on what waits, write the models, and end."""
        self.ending = True
        self.writer.end()
        self.reader.end()
        self.models.close()
        self._notice.check(self.models.moved)

    async def answer(self, verb: str, key: str | None, rows: Sequence[object]) -> list[Event]:
        """The answers to rows, in their order.

        RequestError if nothing of the request could be taken.
        """
        make, shown = VERBS[verb]
        answers: list[Any] = [None] * len(rows)
        writes: list[tuple[int, Event]] = []
        reads: list[tuple[int, Event]] = []
        ids: dict[int, Hashable] = {}
        new: list[list[str]] = []
        live = self.models.names(key)
        for k, row in enumerate(rows):
            try:
                event = make(live, checked(row, self.limits))
                if verb == "predict" and (event.get(live.id) is None or not self.models.learns):
                    ids[k] = event.pop(live.id, None)
                    reads.append((k, event))
                    continue
                new.append([] if verb == "label" else self._offered(live, event))
                writes.append((k, event))
            except RowError as error:
                id = row.get(live.id) if isinstance(row, dict) else None
                id = None if isinstance(id, dict | list) else id
                answers[k] = {"id": id, "error": str(error)}
        for batches, chosen in ((self.writer, writes), (self.reader, reads)):
            if not chosen:
                continue
            try:
                found = await self._put(batches, key, [event for _, event in chosen])
            except Exception:
                if chosen is writes:
                    _take_back(live, new)
                raise
            if any(new) and chosen is writes:
                self._settle(live, key, new, found)
            for (k, _), own in zip(chosen, found, strict=True):
                answers[k] = own if shown is None else shown(own)
        for k, id in ids.items():
            answers[k]["id"] = id
        of = {} if key is None else {"key": key}
        self.last.extend({**of, **own} for own in answers[-20:] if "prediction" in own)
        return answers

    def age(self) -> Event:
        """How old the model is that a replica predicts with."""
        return self.models.age() if isinstance(self.models, Replica) else {}

    async def snapshot(self) -> None:
        """Write the models, after all requests so far."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()

        def task() -> None:
            error: Exception | None = None
            try:
                self.models.snapshot()
            except Exception as found:
                error = found
            loop.call_soon_threadsafe(_resolve, [(done, error)])

        self.writer.between(task)
        await done

    def about(self, key: str | None) -> dict[str, Any]:
        """What a model is: its columns and classes, and how well it does."""
        with self.models.reading(key) as live:
            found = describe(live.model)
            return {
                "name": self.name if key is None else key,
                "id": live.id,
                "target": live.target,
                "task": found["task"],
                "algorithm": live.model.settings.get("algorithm"),
                "classes": found["classes"],
                "columns": found["columns"],
                "rows": live.model.n_rows,
                "bytes": live.model.nbytes,
                **{name: value for name, value in live.report().items() if name != "rows"},
            }

    def report(self) -> dict[str, Any]:
        """Numbers about models, requests and the process."""
        lag, memory = self.writer.oldest(), _bytes_in_memory()
        return self.models.report() | {"lag_seconds": lag, "rss_bytes": memory}

    def failed(self, path: str, error: Exception) -> dict[str, str]:
        """Log what went wrong; returns what the client gets."""
        self.say(f"error: {path[:80]}: {type(error).__name__}: {error}")
        return {"error": "the service failed; its log says why"}

    def _offered(self, live: LiveModel, event: Event) -> list[str]:
        """The new columns of a row, which count from now on; RowError if they are too many."""
        encoder, offered = live.model.encoder, live.offered
        kinds = {} if encoder is None else encoder.kinds
        own = (live.id, live.target)
        new = [name for name in event if not (name in kinds or name in own)]
        if not new:
            return new
        for name in [name for name in offered if name in kinds]:
            del offered[name]
        first = [name for name in new if name not in offered]
        if first and len(kinds) + len(offered) + len(first) > self.limits.columns:
            raise RowError(
                f"{first[0]!r} would be one column more than the {self.limits.columns:,} that may "
                "be (--max-columns)"
            )
        for name in new:
            offered[name] = offered.get(name, 0) + 1
        return new

    def _settle(
        self, live: LiveModel, key: str | None, new: list[list[str]], answers: list[Event]
    ) -> None:
        """Let the new columns of those rows count that the model has kept."""
        now, template = self.models.names(key), self.models.names(None)
        _take_back(live, new)
        # the first rows of a key were seen by the template, which learns none
        if now is live or now is not template:
            kept = [names for names, own in zip(new, answers, strict=True) if "error" not in own]
            for name in chain.from_iterable(kept):
                now.offered[name] = now.offered.get(name, 0) + 1

    async def _put(self, batches: Batches, key: str | None, events: list[Event]) -> list[Event]:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        try:
            batches.put(key, events, future)
        except FullError as error:
            raise RequestError(503, str(error), retry_after=1) from None
        try:
            found: list[Event] = await future
        except JournalError as error:
            raise RequestError(503, str(error), retry_after=5) from None
        return found

    def _write(self, parts: Parts) -> list[Any]:
        return self.models.take(parts)

    def _read(self, parts: Parts) -> list[Any]:
        """The answers to rows that are only predicted, those of one model together."""
        by_key: dict[str | None, list[int]] = {}
        for k, (key, _) in enumerate(parts):
            by_key.setdefault(key, []).append(k)
        found: list[Any] = [None] * len(parts)
        for key, places in by_key.items():
            rows = [row for k in places for row in parts[k][1]]
            try:
                with self.models.reading(key) as live:
                    answers = iter(peek(live, rows))
                    for k in places:
                        found[k] = [next(answers) for _ in parts[k][1]]
            except Exception as error:
                for k in places:
                    found[k] = error
        return found

    def _tend(self) -> None:
        try:
            self.models.tend()
        except (OSError, ValueError) as error:
            if str(error) != self._failed:
                self.say(f"error: {self.models.duty}: {error}")
            self._failed = str(error)
        else:
            self._failed = None
        self._notice.check(self.models.moved)


def _take_back(live: LiveModel, new: list[list[str]]) -> None:
    """Let columns no longer count that no other row has brought."""
    for name in chain.from_iterable(new):
        if live.offered.get(name, 0) > 1:
            live.offered[name] -= 1
        else:
            live.offered.pop(name, None)


def only_predicts(what: str) -> RequestError:
    """The error for what only a service that learns can do."""
    return RequestError(
        405,
        f"this service only predicts: it follows the file of another, which learns; send /{what} "
        "there",
        allow="",
    )


def _resolve(pairs: Sequence[tuple[asyncio.Future[Any], object]]) -> None:
    """Give each future its answers; a client that went away has cancelled its own."""
    for future, answers in pairs:
        if future.done():
            continue
        if isinstance(answers, Exception):
            future.set_exception(answers)
        else:
            future.set_result(answers)


def _bytes_in_memory() -> int:
    """Memory that the process takes, else the most it has taken, else 0: as the system tells."""
    with suppress(OSError, IndexError, ValueError):
        pages = int(Path("/proc/self/statm").read_text("utf8").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    try:
        import resource
    except ModuleNotFoundError:  # not on POSIX
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
