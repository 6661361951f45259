"""A live model that stands between topics: each event is answered once, even after a crash.

What is read together is one cut. It goes to the journal with the place of each message, then the
model takes it, and the answers are sent. The position of a cut says what was read, and where the
output ended at the last snapshot. So after a crash it is known what to read next, which cuts to
take again, and where to look for the answers that were sent: those are not sent twice. A snapshot
waits until all answers are in the output; the one of a run that ends while the broker is away keeps
them.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from onkel.errors import JournalError
from onkel.serve import notation
from onkel.serve.brokers.door import Answer, Door, Message
from onkel.serve.brokers.order import Reader
from onkel.serve.durable import Begun, DurableModel

# Rows, and labels, of one cut. What is there is taken at once, so a cut is this large only while
# the model is behind.
_MOST = 512
# The answers in the position of a model's file that may not have reached the output.
_UNSENT = "unsent"


class _Reading(NamedTuple):
    """A cut that is on its way to the journal."""

    begun: Begun
    #: the messages that are rows, which follow so many labels
    sources: list[str]
    n_older: int


class Loop:
    """Drives a `DurableModel` with a door.

    Parameters
    ----------
    model : DurableModel
        Its journal may have cuts that the model's file does not know: call `recover` first.
    door : Door
        A fresh one.
    has_labels : bool
        Whether labels come on a topic of their own.
    """

    def __init__(self, model: DurableModel, door: Door, has_labels: bool) -> None:
        self._model, self._door, self._has_labels = model, door, has_labels
        self._reader = Reader(door, has_labels)
        self._read: dict[str, Any] = {}
        # the answers since the last snapshot, which may not have reached the output
        self._answers: list[Answer] = []
        self._began: object = None
        self._end: object = None
        # the cut that was read and is learned next
        self._begun: _Reading | None = None

    def recover(self) -> tuple[int, int]:
        """Take the cuts after the snapshot again, and go on reading after them.

        How many events they have, and how many answers were still to be sent.
        """
        model, door = self._model, self._door
        sent: set[str] | None = None
        n_events = 0
        if model.position is not None:
            _check_place(model.position, door)
            self._answers = [
                Answer(source, id, payload.encode())
                for source, id, payload in model.position.pop(_UNSENT, ())
            ]
            if self._answers:
                self._end = model.position["end"]
                sent = door.sent(self._end)
        for _, position, answers in model.recover():
            _check_place(position, door)
            if sent is None:
                # if a snapshot could not be written, later cuts have a later end
                self._end = position["end"]
                sent = door.sent(self._end)
            self._answers += _answers(position["rows"], answers[position["older"] :])
            n_events += len(answers)
        if model.position is None:
            self._began = self._end = door.end()
        else:
            self._read, self._began = dict(model.position["read"]), model.position["began"]
            self._end = model.position["end"] if sent is None else self._end
        return n_events, self._begin(sent or set())

    def go_on(self, door: Door) -> int:
        """Go on at another door to the same broker; how many answers were still to be sent.

        The model stays as it is: the file that it began with may be another's by now.
        """
        self._door, self._reader = door, Reader(door, self._has_labels)
        learning, self._begun = self._begun, None
        self._take(learning)
        return self._begin(door.sent(self._end) if self._answers else set())

    def _begin(self, sent: set[str]) -> int:
        """Go on reading, and send the answers that were not sent; how many."""
        pending = [answer for answer in self._answers if answer.source not in sent]
        self._door.begin(self._read, self._began)
        self._door.send(pending)
        return len(pending)

    def round(self, seconds: float) -> int:
        """Answer and learn what was read before, and read on; how many events were learned.

        While one cut is learned the next is on its way to the disk. Only where there is nothing to
        learn, messages are waited for.
        """
        learning = self._begun
        self._begun = self._read_on(0.0 if learning else seconds)
        return self._finish(learning)

    def _read_on(self, seconds: float) -> _Reading | None:
        """What has come next, begun to be taken."""
        older, rows, younger = self._reader.read(_MOST, seconds)
        messages = [*older, *rows, *younger]
        if not messages:
            return None
        self._read |= {message.place: message.at for message in messages}
        sources = [row.source for row in rows]
        position = {
            "door": self._door.name, "read": dict(self._read), "began": self._began,
            "end": self._end, "older": len(older), "rows": sources,
        }  # fmt: skip
        events = [*map(self._label, older), *map(_event, rows), *map(self._label, younger)]
        return _Reading(self._model.begin(events, position), sources, len(older))

    def _finish(self, reading: _Reading | None) -> int:
        """Take a cut and send its answers; how many events it has."""
        n, answers = self._take(reading)
        if n:
            self._door.send(answers)
        return n

    def _take(self, reading: _Reading | None) -> tuple[int, list[Answer]]:
        """Take a cut; how many events it has, and their answers, which are still to be sent."""
        if reading is None:
            return 0, []
        found = self._model.finish(reading.begun)
        answers = _answers(reading.sources, found[reading.n_older :])
        self._answers += answers
        return len(found), answers

    def save(self, seconds: float) -> None:
        """Wait until all answers are in the output, and write the model's file.

        ConnectionError if the broker does not take them in time. Nothing is written then; the
        journal has all that is needed.
        """
        learning, self._begun = self._begun, None
        self._finish(learning)
        self._door.settle(seconds)
        self._end = self._door.end()
        self._answers.clear()
        self._model.snapshot()

    def keep(self) -> int:
        """Write the model's file though the broker is away; how many answers it keeps for later.

        The journal would do, if the file that it follows were not another's by now.
        """
        model = self._model
        learning, self._begun = self._begun, None
        # what could not be written to the journal is not taken
        with suppress(JournalError):
            self._take(learning)
        if model.position is not None:
            unsent = [[own.source, own.id, own.payload.decode()] for own in self._answers]
            model.live.position = model.position | {"end": self._end, _UNSENT: unsent}
        model.snapshot()
        return len(self._answers)

    def _label(self, message: Message) -> dict[str, object] | str:
        """A label; keys other than the id and the label are of no interest."""
        event = _event(message)
        if isinstance(event, str):
            return event
        live = self._model.live
        names = [name for name in live.label_names() if name in event]
        if live.id not in event or len(names) != 1:
            return (
                f"{message.source}: a label must have the keys {live.id!r} and {live.target!r}, "
                f"and has {', '.join(map(repr, event)) or 'none'}"
            )
        return {live.id: event[live.id], names[0]: event[names[0]]}


def _event(message: Message) -> dict[str, object] | str:
    """The event of a message; text that says why if it has none."""
    try:
        event = notation.decoded(message.payload)
        if not isinstance(event, dict):
            return f'{message.source}: must be an object, such as {{"id": 1, "x": 2.5}}'
        notation.require_flat(event)
    except (ValueError, RecursionError) as error:
        return f"{message.source}: {error}"
    return event


def _answers(sources: list[str], answers: Iterable[dict[str, object] | None]) -> list[Answer]:
    """The answers to send: a label among the rows has none."""
    return [
        Answer(source, answer.get("id"), notation.encoded(answer))
        for source, answer in zip(sources, answers, strict=False)
        if answer is not None
    ]


def _check_place(position: object, door: Door) -> None:
    """Refuse a model that stands in another stream."""
    stands = position.get("door") if isinstance(position, dict) else None
    if stands is None:
        raise ValueError(
            f"{door.name}: the model and its journal stand in another source, not in a broker; "
            "give a new model and journal"
        )
    if _topic(stands) != _topic(door.name):
        raise ValueError(
            f"{door.name}: the model stands in {stands}; give that, or a new model and journal"
        )


def _topic(url: str) -> tuple[str, str]:
    """Kind of broker and topic of a URL; a broker may move to another host."""
    return url.partition(":")[0], url.rpartition("/")[2]
