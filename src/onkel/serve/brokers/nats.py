"""NATS JetStream: subjects of rows, labels and answers; the model's file has their numbers."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from onkel.serve.brokers.door import Answer, Message

try:
    import nats
except ImportError as _missing:
    raise ImportError(
        f"NATS needs the package nats-py ({_missing}): pip install 'onkel[nats]'"
    ) from _missing
import nats.errors
import nats.js.errors
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

SOURCE = "Onkel-Source"
"""The header of an answer with the stream and sequence number of the message it answers."""

_PATIENCE = 5
# Messages that may be on their way.
_AHEAD = 4000
# What a killed process had sent is at the broker after so long.
_ON_THE_WIRE = 0.2
T = TypeVar("T")


class NatsDoor:
    """Reads a subject of a stream, and one of labels; publishes answers under another.

    Each answer has an id (``Nats-Msg-Id``), so that the stream takes it once within its window for
    duplicates.
    """

    def __init__(
        self,
        server: str,
        subject: str,
        out: str,
        labels: str | None = None,
        settings: Mapping[str, object] | None = None,
    ) -> None:
        self.name: str = f"nats://{server}/{subject}"
        self._loop = asyncio.new_event_loop()
        self._on_their_way: list[asyncio.Future[Any]] = []
        self._began: object = None
        self._client = nats.NATS()
        try:
            # a connection that is lost is no matter of waiting: what was sent must be looked up
            self._run(
                self._client.connect(
                    f"nats://{server}", allow_reconnect=False,
                    max_reconnect_attempts=1,
                    reconnect_time_wait=0, connect_timeout=_PATIENCE,
                    error_cb=_nothing, **dict[str, Any](settings or {}),
                )
            )  # fmt: skip
            self._js = self._client.jetstream(publish_async_max_pending=2 * _AHEAD)
            self._out = _Subject(out, self._stream(out))
            inlets = [subject] + ([labels] if labels else [])
            self._inlets = [_Subject(name, self._stream(name)) for name in inlets]
        except BaseException:
            self.close()
            raise

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        """What NATS answers; ConnectionError if it does not."""
        try:
            return self._loop.run_until_complete(work)
        except (TimeoutError, nats.errors.Error, OSError) as error:
            if isinstance(error, nats.js.errors.NotFoundError):
                raise
            raise ConnectionError(
                f"{self.name}: no NATS JetStream answers: {str(error) or type(error).__name__}"
            ) from None

    def _stream(self, subject: str) -> str:
        """The name of the stream that keeps a subject."""
        try:
            return str(self._run(self._js.find_stream_name_by_subject(subject)))
        except nats.js.errors.NotFoundError:
            raise ValueError(
                f"{self.name}: no stream of JetStream keeps the subject {subject!r}; "
                f"make one: nats stream add --subjects {subject}"
            ) from None

    def begin(self, read: dict[str, Any], began: object) -> None:
        """See `Door.begin`."""
        self._began = began
        for subject in self._inlets:
            at = int(read.get(subject.place, 0))
            last = self._run(self._js.stream_info(subject.stream)).state.last_seq
            if at > last:
                raise ValueError(
                    f"{self.name}: the model has read {subject.place} up to number {at:,}, but "
                    f"its stream ends at {last:,}: it was made anew; begin with a new model and "
                    "journal"
                )
            self._run(subject.open(self._client, self._js, at))

    def rows(self, most: int, seconds: float) -> list[Message]:
        """See `Door.rows`."""
        return self._next(self._inlets[0], most, seconds)

    def labels(self, most: int) -> list[Message]:
        """See `Door.labels`."""
        return [m for subject in self._inlets[1:] for m in self._next(subject, most, 0.0)]

    def _next(self, subject: _Subject, most: int, seconds: float) -> list[Message]:
        messages = []
        for record in self._run(subject.next(most, seconds)):
            about = record.metadata
            time = int(about.timestamp.timestamp() * 1e3)
            messages.append(Message(subject.place, about.sequence.stream, time, record.data))
        return messages

    def behind(self) -> set[str]:
        """See `Door.behind`."""
        rows = self._inlets[0]
        return {rows.place} if self._run(rows.has_more(self._js)) else set()

    def end(self) -> int:
        """See `Door.end`."""
        return int(self._run(self._js.stream_info(self._out.stream)).state.last_seq)

    def sent(self, after: int) -> set[str]:
        """See `Door.sent`."""
        self._run(asyncio.sleep(_ON_THE_WIRE))
        sent: set[str] = set()
        out = _Subject(self._out.subject, self._out.stream)
        left = self._run(out.open(self._client, self._js, after))
        while left > 0:
            found = self._run(out.next(1000, _PATIENCE))
            if not found:
                raise ConnectionError(f"{self.name}: the answers sent so far cannot be read")
            sent |= {record.headers[SOURCE] for record in found if SOURCE in (record.headers or {})}
            left -= len(found)
        self._run(out.leave())
        return sent

    def send(self, answers: list[Answer]) -> None:
        """See `Door.send`."""
        if len(self._on_their_way) + len(answers) > _AHEAD:
            self.settle(_PATIENCE)
        self._on_their_way += self._run(self._publish(answers))

    async def _publish(self, answers: list[Answer]) -> list[asyncio.Future[Any]]:
        return [
            await self._js.publish_async(
                self._out.subject,
                payload,
                headers={"Nats-Msg-Id": f"{source}@{self._began}", SOURCE: source},
            )
            for source, _, payload in answers
        ]

    def settle(self, seconds: float) -> None:
        """See `Door.settle`."""
        sent, self._on_their_way = self._on_their_way, []
        if sent:
            self._run(_all_of(sent, seconds))

    def close(self) -> None:
        """See `Door.close`."""
        if self._loop.is_closed():
            return
        if self._client.is_connected:
            with suppress(ConnectionError):
                self._run(self._client.close())
        self._loop.close()


class _Subject:
    """A subject, the stream that keeps it, and the messages that have come of it.

    So many messages are asked for ahead, and no more: the stream waits for the model.
    """

    def __init__(self, subject: str, stream: str) -> None:
        self.subject, self.stream = subject, stream
        self.place = f"{stream}/{subject}"
        self._consumer = ""
        self._came: deque[Any] = deque()
        self._something = asyncio.Event()
        self._taken = self._asked = 0
        #: the number in the stream of the last one taken
        self._read = 0
        self._ended: str | None = None
        self._inbox: Any = None

    async def open(self, client: Any, js: Any, read: int) -> int:
        """Read after a number; how many messages are there."""
        config = ConsumerConfig(
            deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=read + 1,
            ack_policy=AckPolicy.NONE,
            filter_subject=self.subject,
            inactive_threshold=_PATIENCE * 30,
            mem_storage=True,
        )
        about = await js.add_consumer(self.stream, config)
        self._consumer, self._client, self._read = about.name, client, read
        self._inbox = await client.subscribe(client.new_inbox(), cb=self._take)
        await self._ask(_AHEAD)
        return int(about.num_pending)

    async def _ask(self, n: int) -> None:
        where = f"$JS.API.CONSUMER.MSG.NEXT.{self.stream}.{self._consumer}"
        await self._client.publish(where, b'{"batch":%d}' % n, reply=self._inbox.subject)
        self._asked += n

    async def _take(self, message: Any) -> None:
        if message.headers and "Status" in message.headers and not message.data:
            # the consumer is gone, or the server is
            self._ended = f"{message.headers['Status']} {message.headers.get('Description', '')}"
        else:
            self._came.append(message)
        self._something.set()

    async def next(self, most: int, seconds: float) -> list[Any]:
        """The next messages that have come; if there is none, wait for one."""
        if not self._came and seconds > 0:
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._something.wait(), seconds)
        elif len(self._came) < most:
            await asyncio.sleep(0)
        self._something.clear()
        if self._ended is not None:
            raise nats.errors.Error(self._ended)
        found = [self._came.popleft() for _ in range(min(most, len(self._came)))]
        for message in found:
            self._taken += 1
            if message.metadata.sequence.consumer != self._taken:
                raise nats.errors.Error("a message was lost on its way")
            self._read = message.metadata.sequence.stream
        if self._asked - self._taken <= _AHEAD // 2:
            await self._ask(_AHEAD // 2)
        return found

    async def has_more(self, js: Any) -> bool:
        """Whether messages are there that were not taken.

        The stream says so, as a consumer counts a message some time after it has been stored.
        """
        try:
            last = await js.get_last_msg(self.stream, self.subject)
        except nats.js.errors.NotFoundError:
            return False
        return int(last.seq) > self._read

    async def leave(self) -> None:
        """Read no more."""
        await self._inbox.unsubscribe()


async def _all_of(sent: list[asyncio.Future[Any]], seconds: float) -> None:
    await asyncio.wait_for(asyncio.gather(*sent), seconds)


async def _nothing(error: Exception) -> None:
    """Errors reach the one who asked."""
