"""What a broker is to a live model: messages in, answers out, each with its place."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple, Protocol


class Message(NamedTuple):
    """What was read from a broker."""

    place: str
    """Where it stands: the topic and its partition, the stream, or the subject."""
    at: int | str
    """Its offset, id or sequence number there."""
    time: int
    """When the broker got it, in milliseconds."""
    payload: bytes

    @property
    def source(self) -> str:
        """Names the message; the answer to it bears this name."""
        return f"{self.place}/{self.at}"


class Answer(NamedTuple):
    """The answer to a message."""

    source: str
    id: Hashable
    payload: bytes


class Door(Protocol):
    """A broker's side of a live model.

    A door knows no model. It reads messages in the order of each place, and sends answers so that
    it can say later which were sent: each bears the source of its message.
    """

    name: str
    """What is read, for messages: its URL."""

    def begin(self, read: dict[str, Any], began: object) -> None:
        """Go on after the messages ``{place: at}``; at the first message where a place is new.

        ``began`` is where the output ended when the model began: answers of an earlier model to
        the same messages are none of this one's.

        ValueError if messages that were not read are gone, or if what stands there is not what was
        read.
        """

    def rows(self, most: int, seconds: float) -> list[Message]:
        """The next rows, at most so many; if there is none, wait for one for so long."""

    def labels(self, most: int) -> list[Message]:
        """The next labels that are there, from the topic of labels."""

    def behind(self) -> set[str]:
        """Places of rows that have more than was read, as of now."""

    def end(self) -> object:
        """Where the output ends, JSON-able: answers to come stand after it."""

    def sent(self, after: object) -> set[str]:
        """The sources of the answers that stand in the output after this end of it."""

    def send(self, answers: list[Answer]) -> None:
        """Send answers; they may be on their way when this returns."""

    def settle(self, seconds: float) -> None:
        """Wait until all answers are in the output; ConnectionError if they are not by then."""

    def close(self) -> None:
        """Leave the broker; answers on their way may be lost."""
