"""What stands outside: topics are made, messages sent, answers read, as others would do it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import Any

# Seconds until a broker must have answered.
_PATIENCE = 10.0


class Kafka:
    """A client of Kafka."""

    scheme = "kafka"

    def __init__(self, server: str) -> None:
        from confluent_kafka import Producer
        from confluent_kafka.admin import AdminClient

        self._how: dict[str, Any] = {"bootstrap.servers": server, "log_level": 0}
        self._admin = AdminClient(self._how)
        self._producer = Producer(self._how | {"enable.idempotence": True, "linger.ms": 0})
        self._asking: Any = None

    def make(self, *topics: str, partitions: int = 3) -> None:
        """Make topics."""
        from confluent_kafka.admin import NewTopic

        new = [NewTopic(topic, partitions, 1) for topic in topics]
        for made in self._admin.create_topics(new).values():
            made.result(_PATIENCE)

    def remove(self, topic: str) -> None:
        """Remove a topic."""
        for done in self._admin.delete_topics([topic]).values():
            done.result(_PATIENCE)

    def send(self, topic: str, payloads: Iterable[bytes]) -> None:
        """Send messages, and wait until they are there."""
        for k, payload in enumerate(payloads):
            self._producer.produce(topic, payload, key=str(k).encode())
            if k % 1000 == 999:
                self._producer.flush(_PATIENCE)
        assert self._producer.flush(_PATIENCE) == 0

    def read(self, topic: str) -> list[tuple[str, bytes]]:
        """All messages: the source of each, and what it says."""
        from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, TopicPartition

        consumer = Consumer(
            self._how | {"group.id": "test", "enable.partition.eof": True,
                         "enable.auto.commit": False}
        )  # fmt: skip
        partitions = consumer.list_topics(topic, timeout=_PATIENCE).topics[topic].partitions
        consumer.assign([TopicPartition(topic, p, OFFSET_BEGINNING) for p in partitions])
        found, left = [], set(partitions)
        while left:
            for record in consumer.consume(1000, 1.0):
                error = record.error()
                if error is None:
                    headers = dict(record.headers() or ())
                    source = headers.get("onkel-source", b"").decode()
                    found.append((source, record.value()))
                elif error.code() == KafkaError._PARTITION_EOF:
                    left.discard(record.partition())
        consumer.close()
        return found

    def count(self, topic: str) -> int:
        """How many messages there are."""
        return sum(high for _, high in self._ends(topic).values())

    def _ends(self, topic: str) -> dict[int, tuple[int, int]]:
        from confluent_kafka import Consumer, TopicPartition

        if self._asking is None:
            self._asking = Consumer(self._how | {"group.id": "test"})
        asking = self._asking
        found = asking.list_topics(topic, timeout=_PATIENCE).topics[topic].partitions
        return {p: asking.get_watermark_offsets(TopicPartition(topic, p), _PATIENCE) for p in found}

    def follow(self, topic: str, after: int) -> Iterator[bytes]:
        """Messages as they come, after so many; first b"", when it reads."""
        from confluent_kafka import Consumer, TopicPartition

        ends = self._ends(topic)
        assert sum(high for _, high in ends.values()) == after
        consumer = Consumer(self._how | {"group.id": "test", "enable.auto.commit": False})
        consumer.assign([TopicPartition(topic, p, high) for p, (_, high) in ends.items()])
        yield b""
        while True:
            for record in [*consumer.consume(1, 0.5), *consumer.consume(1000, 0)]:
                if record.error() is None:
                    yield record.value()

    def close(self) -> None:
        """Leave."""
        if self._asking is not None:
            self._asking.close()


class Redis:
    """A client of Redis."""

    scheme = "redis"

    def __init__(self, server: str) -> None:
        import redis

        host, _, port = server.partition(":")
        self._client = redis.Redis(host, int(port), socket_timeout=_PATIENCE)

    def make(self, *topics: str) -> None:
        """Make streams."""
        for topic in topics:
            self._client.xgroup_create(topic, "none", mkstream=True)

    def remove(self, topic: str) -> None:
        """Remove a stream."""
        self._client.delete(topic)

    def send(self, topic: str, payloads: Iterable[bytes]) -> None:
        """Add entries."""
        pipeline = self._client.pipeline(transaction=False)
        for payload in payloads:
            pipeline.execute_command("XADD", topic, "*", "event", payload)
        pipeline.execute()

    def read(self, topic: str) -> list[tuple[str, bytes]]:
        """All entries of answers."""
        return [(f"rows/{id.decode()}", fields.get(b"answer", fields.get(b"event")))
                for id, fields in self._client.xrange(topic)]  # fmt: skip

    def count(self, topic: str) -> int:
        """How many entries there are."""
        return int(self._client.xlen(topic))

    def follow(self, topic: str, after: int) -> Iterator[bytes]:
        """Answers as they come, after so many; first b"", when it reads."""
        at = self._client.xinfo_stream(topic)["last-generated-id"]
        assert self.count(topic) == after
        yield b""
        while True:
            for _, entries in self._client.xread({topic: at}, count=1000, block=500):
                yield from (fields[b"answer"] for _, fields in entries)
                at = entries[-1][0]

    def close(self) -> None:
        """Leave."""
        self._client.close()

    def break_others(self) -> None:
        """End all connections but this one."""
        self._client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")


class Nats:
    """A client of NATS JetStream; each subject has a stream of its own, in capitals."""

    scheme = "nats"

    def __init__(self, server: str) -> None:
        import nats

        self._loop = asyncio.new_event_loop()
        self._client = self._run(nats.connect(f"nats://{server}", connect_timeout=_PATIENCE))
        self._js = self._client.jetstream(publish_async_max_pending=100_000)

    def _run(self, work: Any) -> Any:
        return self._loop.run_until_complete(work)

    def make(self, *topics: str) -> None:
        """Make streams."""
        for topic in topics:
            self._run(self._js.add_stream(name=topic.upper(), subjects=[topic]))

    def remove(self, topic: str) -> None:
        """Remove a stream."""
        self._run(self._js.delete_stream(topic.upper()))

    def send(self, topic: str, payloads: Iterable[bytes]) -> None:
        """Publish messages, and wait until they are there."""

        async def publish() -> None:
            sent = [await self._js.publish_async(topic, payload) for payload in payloads]
            await asyncio.gather(*sent)

        self._run(publish())

    def read(self, topic: str) -> list[tuple[str, bytes]]:
        """All messages: the source of each, and what it says."""

        async def read() -> list[tuple[str, bytes]]:
            state = (await self._js.stream_info(topic.upper())).state
            inbox = await self._js.subscribe(topic, ordered_consumer=True)
            found = [await inbox.next_msg(_PATIENCE) for _ in range(state.messages)]
            await inbox.unsubscribe()
            return [((m.headers or {}).get("Onkel-Source", ""), m.data) for m in found]

        return list(self._run(read()))

    def count(self, topic: str) -> int:
        """How many messages there are."""
        return int(self._run(self._js.stream_info(topic.upper())).state.messages)

    def follow(self, topic: str, after: int) -> Iterator[bytes]:
        """Messages as they come, after so many; first b"", when it reads."""
        from nats.js.api import ConsumerConfig, DeliverPolicy

        config = ConsumerConfig(
            deliver_policy=DeliverPolicy.BY_START_SEQUENCE, opt_start_seq=after + 1
        )
        inbox = self._run(self._js.subscribe(topic, ordered_consumer=True, config=config))
        yield b""
        while True:
            yield self._run(inbox.next_msg(_PATIENCE)).data

    def close(self) -> None:
        """Leave."""
        self._run(self._client.close())
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        self._run(_ended(left))
        self._loop.close()


async def _ended(tasks: Iterable[asyncio.Task[Any]]) -> None:
    await asyncio.gather(*tasks, return_exceptions=True)


CLIENTS = {"kafka": Kafka, "redis": Redis, "nats": Nats}
