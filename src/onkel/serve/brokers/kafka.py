"""Kafka: topics of rows, labels and answers; the model's file has the offsets."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from onkel.serve.brokers.door import Answer, Message

try:
    import confluent_kafka
except ImportError as _missing:
    raise ImportError(
        f"Kafka needs the package confluent-kafka ({_missing}): pip install 'onkel[kafka]'"
    ) from _missing
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Producer, TopicPartition

SOURCE = "onkel-source"
"""The header of an answer with the topic, partition and offset of the message it answers."""

# Seconds until a broker must have answered a question.
_PATIENCE = 5.0
# What a killed process had sent is at the broker after so long.
_ON_THE_WIRE = 0.2


class KafkaDoor:
    """Reads all partitions of a topic, and of one of labels; writes answers, keyed by id.

    Partitions are assigned, not shared out to a group: one process reads them all, and keeps the
    offsets itself. The producer is idempotent, so that what librdkafka sends twice stands once.
    """

    def __init__(
        self,
        servers: str,
        topic: str,
        out: str,
        labels: str | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.name: str = f"kafka://{servers}/{topic}"
        self._out = out
        self._failed: KafkaError | None = None
        self._how: dict[str, object] = {
            "bootstrap.servers": servers,
            "log_level": 2,
            "error_cb": lambda error: None,
            **(settings or {}),
        }
        self._rows = self._consumer()
        partitions = self._partitions([topic, out] + ([labels] if labels else []))
        self._row_places = [TopicPartition(topic, p) for p in partitions[topic]]
        self._out_places = [TopicPartition(out, p) for p in partitions[out]]
        self._labels = self._consumer() if labels else None
        self._label_places = (
            [TopicPartition(labels, p) for p in partitions[labels]] if labels else []
        )
        # the next offset of each place of rows
        self._next: dict[str, int] = {}
        self._producer = Producer(
            self._how | {"enable.idempotence": True, "linger.ms": 1, "acks": "all"}
        )

    def _consumer(self) -> Consumer:
        return Consumer(
            self._how
            | {
                "group.id": "onkel",  # the client wants one; nothing is committed
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "auto.offset.reset": "error",
                "isolation.level": "read_committed",
                "enable.partition.eof": True,
                "fetch.wait.max.ms": 50,
                "queued.max.messages.kbytes": 4096,
            }
        )

    def _partitions(self, topics: list[str]) -> dict[str, list[int]]:
        """The partitions of topics; a ValueError names a topic that is not there."""
        try:
            found = self._rows.list_topics(timeout=_PATIENCE).topics
        except confluent_kafka.KafkaException as error:
            raise ConnectionError(f"{self.name}: no Kafka broker answers: {_why(error)}") from None
        for topic in topics:
            if topic not in found or not found[topic].partitions:
                has = ", ".join(sorted(t for t in found if not t.startswith("__"))) or "none"
                raise ValueError(f"{self.name}: there is no topic {topic!r}; there are: {has}")
        return {topic: sorted(found[topic].partitions) for topic in topics}

    def begin(self, read: dict[str, Any], began: object) -> None:
        """See `Door.begin`."""
        labels = [] if self._labels is None else [(self._labels, self._label_places)]
        for consumer, places in [(self._rows, self._row_places), *labels]:
            begin = []
            for place in places:
                name = _name(place)
                low, high = self._ends(place)
                offset = OFFSET_BEGINNING
                if name in read:
                    offset = int(read[name]) + 1
                    self._next[name] = offset
                    _check_kept(self.name, name, offset, low, high)
                begin.append(TopicPartition(place.topic, place.partition, offset))
            consumer.assign(begin)

    def rows(self, most: int, seconds: float) -> list[Message]:
        """See `Door.rows`."""
        found = self._consume(self._rows, most, seconds)
        self._next |= {message.place: int(message.at) + 1 for message in found}
        self._producer.poll(0)
        return found

    def labels(self, most: int) -> list[Message]:
        """See `Door.labels`."""
        return [] if self._labels is None else self._consume(self._labels, most, 0.0)

    def _consume(self, consumer: Consumer, most: int, seconds: float) -> list[Message]:
        # what waits here is taken at once; only for the first message it is waited
        found = consumer.consume(1, seconds)
        if found and most > 1:
            found += consumer.consume(most - 1, 0)
        messages = []
        for record in found:
            if record.error() is not None:
                self._hear(record)
                continue
            place = f"{record.topic()}/{record.partition()}"
            payload = record.value()
            at: Any = record.offset()
            messages.append(Message(place, at, record.timestamp()[1], payload or b""))
        return messages

    def _hear(self, record: Any) -> None:
        """An error in place of a message: the client retries what can be retried."""
        error = record.error()
        if error.code() == KafkaError._PARTITION_EOF:
            # what a transaction leaves behind its messages counts, too
            place = f"{record.topic()}/{record.partition()}"
            self._next[place] = max(record.offset(), self._next.get(place, 0))
            return
        if error.code() == KafkaError._AUTO_OFFSET_RESET:
            raise ValueError(
                f"{self.name}: messages of partition {record.partition()} were deleted before "
                "they were read; keep them longer (retention.ms)"
            )
        if error.fatal() or not (error.retriable() or error.code() in _PASSING):
            raise ConnectionError(f"{self.name}: {error.str()}")

    def behind(self) -> set[str]:
        """See `Door.behind`."""
        return {
            name
            for place in self._row_places
            if self._ends(place)[1] > self._next.get(name := _name(place), 0)
        }

    def _ends(self, place: TopicPartition) -> tuple[int, int]:
        """The first offset of a partition, and the one after its last."""
        try:
            low, high = self._rows.get_watermark_offsets(place, timeout=_PATIENCE)
        except confluent_kafka.KafkaException as error:
            raise ConnectionError(f"{self.name}: {_why(error)}") from None
        return low, high

    def end(self) -> dict[str, int]:
        """See `Door.end`."""
        return {str(place.partition): self._ends(place)[1] for place in self._out_places}

    def sent(self, after: dict[str, int]) -> set[str]:
        """See `Door.sent`."""
        time.sleep(_ON_THE_WIRE)
        sent: set[str] = set()
        consumer, begin = self._consumer(), []
        for place in self._out_places:
            low, high = self._ends(place)
            first = max(low, after.get(str(place.partition), 0))
            if first < high:
                begin.append(TopicPartition(self._out, place.partition, first))
        consumer.assign(begin)
        left = {place.partition for place in begin}
        while left:
            for record in consumer.consume(1000, 0.1):
                error = record.error()
                if error is None:
                    headers: Any = record.headers() or ()
                    sent |= {value.decode() for name, value in headers if name == SOURCE}
                elif error.code() == KafkaError._PARTITION_EOF:
                    left.discard(record.partition())
                else:
                    self._hear(record)
        consumer.close()
        return sent

    def send(self, answers: list[Answer]) -> None:
        """See `Door.send`."""
        for source, id, payload in answers:
            key = None if id is None else str(id).encode()
            headers: list[tuple[str, Any]] = [(SOURCE, source.encode())]
            while True:
                try:
                    self._producer.produce(
                        self._out, payload, key, headers=headers, on_delivery=self._delivered
                    )
                    break
                except BufferError:
                    # the broker is slower than the model
                    self._producer.poll(0.1)
                    self._check()
        self._producer.poll(0)
        self._check()

    def _delivered(self, error: KafkaError | None, record: Any) -> None:
        self._failed = self._failed or error

    def _check(self) -> None:
        if self._failed is not None:
            raise ConnectionError(f"{self.name}: answers could not be written: {self._failed}")

    def settle(self, seconds: float) -> None:
        """See `Door.settle`."""
        left = self._producer.flush(seconds)
        self._check()
        if left:
            raise ConnectionError(f"{self.name}: the broker does not take {left:,} answers")

    def close(self) -> None:
        """See `Door.close`."""
        self._producer.purge()
        for consumer in (self._rows, self._labels):
            if consumer is not None:
                consumer.close()


_PASSING = (
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._TRANSPORT,
    KafkaError._RESOLVE,
    KafkaError._TIMED_OUT,
)


def _name(place: TopicPartition) -> str:
    return f"{place.topic}/{place.partition}"


def _check_kept(door: str, place: str, offset: int, low: int, high: int) -> None:
    """Refuse a partition that does not go on where the model stands."""
    if offset > high:
        raise ValueError(
            f"{door}: the model has read {place} up to offset {offset - 1:,}, but it ends at "
            f"{high:,}: it is another topic, or was made anew; begin with a new model and journal"
        )
    if offset < low:
        raise ValueError(
            f"{door}: the model has read {place} up to offset {offset - 1:,}, but it begins at "
            f"{low:,}: messages between were deleted before they were read"
        )


def _why(error: Exception) -> str:
    found = error.args[0] if error.args else error
    return str(found.str() if isinstance(found, KafkaError) else found)
