"""Redis streams: an answer has the id of its row, so that Redis itself refuses a second."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from onkel.serve.brokers.door import Answer, Message

try:
    import redis
except ImportError as _missing:
    raise ImportError(
        f"Redis needs the package redis ({_missing}): pip install 'onkel[redis]'"
    ) from _missing
from redis.backoff import NoBackoff
from redis.retry import Retry

EVENT, ANSWER = b"event", b"answer"
"""The field of an entry with a row or a label, and the one with an answer; both as JSON."""

_PATIENCE = 5.0
_PIECE = 1000


class RedisDoor:
    """Reads a stream, and one of labels; adds answers to another, under the ids of their rows."""

    def __init__(
        self,
        server: str,
        stream: str,
        out: str,
        labels: str | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.name: str = f"redis://{server}/{stream}"
        host, _, port = server.rpartition(":")
        self._stream, self._out, self._label_stream = stream, out, labels
        self._read: dict[str, str] = {}
        # an addition must not be sent again by itself: it may have come through
        how: dict[str, Any] = {"socket_timeout": _PATIENCE, "retry": Retry(NoBackoff(), 0)}
        how |= settings or {}
        how |= {name: int(how[name]) for name in ("db", "protocol") if name in how}
        self._client = redis.Redis(host=host, port=int(port), **how)
        for name in (stream, out, labels):
            kind = "none" if name is None else self._ask(self._client.type, name).decode()
            if kind not in ("none", "stream"):
                raise ValueError(f"{self.name}: {name!r} is no stream: it is of type {kind}")
        if self._ask(self._client.exists, stream) == 0:
            raise ValueError(
                f"{self.name}: there is no stream {stream!r}; XGROUP CREATE {stream} none $ "
                "MKSTREAM makes an empty one"
            )

    def _ask(self, command: Any, *args: Any, **more: Any) -> Any:
        """What Redis answers; ConnectionError if it does not."""
        try:
            return command(*args, **more)
        except (redis.ConnectionError, redis.TimeoutError) as error:
            raise ConnectionError(f"{self.name}: no Redis answers: {error}") from None
        except redis.ResponseError as error:
            raise ValueError(f"{self.name}: {error}") from None

    def begin(self, read: dict[str, Any], began: object) -> None:
        """See `Door.begin`."""
        self._read = dict(read)
        for stream, at in read.items():
            last = self._last(stream)
            if _parts(at) > _parts(last):
                raise ValueError(
                    f"{self.name}: the model has read {stream} up to {at}, but its last id is "
                    f"{last}: it was made anew; begin with a new model and journal"
                )

    def _last(self, stream: str) -> str:
        """The largest id that a stream ever had."""
        if self._ask(self._client.exists, stream) == 0:
            return "0-0"
        return str(self._ask(self._client.xinfo_stream, stream)["last-generated-id"].decode())

    def rows(self, most: int, seconds: float) -> list[Message]:
        """See `Door.rows`."""
        return self._next(self._stream, most, seconds)

    def labels(self, most: int) -> list[Message]:
        """See `Door.labels`."""
        return [] if self._label_stream is None else self._next(self._label_stream, most, 0.0)

    def _next(self, stream: str, most: int, seconds: float) -> list[Message]:
        at = self._read.get(stream, "0-0")
        block = max(1, int(seconds * 1e3)) if seconds > 0 else None
        found = self._ask(self._client.xread, {stream: at}, count=most, block=block)
        messages = [
            Message(stream, id.decode(), int(id.partition(b"-")[0]), fields.get(EVENT, b""))
            for _, entries in found
            for id, fields in entries
        ]
        if messages:
            self._read[stream] = str(messages[-1].at)
        return messages

    def behind(self) -> set[str]:
        """See `Door.behind`."""
        read = self._read.get(self._stream, "0-0")
        return {self._stream} if _parts(self._last(self._stream)) > _parts(read) else set()

    def end(self) -> str:
        """See `Door.end`."""
        return self._last(self._out)

    def sent(self, after: str) -> set[str]:
        """See `Door.sent`."""
        sent: set[str] = set()
        while True:
            found = self._ask(self._client.xrange, self._out, min=f"({after}", count=_PIECE)
            sent |= {f"{self._stream}/{id.decode()}" for id, _ in found}
            if len(found) < _PIECE:
                return sent
            after = found[-1][0].decode()

    def send(self, answers: list[Answer]) -> None:
        """See `Door.send`. Answers are in the output when this returns.

        ValueError if the output has younger entries: somebody else writes there.
        """
        for start in range(0, len(answers), _PIECE):
            piece = answers[start : start + _PIECE]
            pipeline = self._client.pipeline(transaction=False)
            for source, _, payload in piece:
                pipeline.execute_command(
                    "XADD", self._out, source.rpartition("/")[2], ANSWER, payload
                )
            for answer, result in zip(
                piece, self._ask(pipeline.execute, raise_on_error=False), strict=True
            ):
                if isinstance(result, redis.ResponseError):
                    raise ValueError(
                        f"{self.name}: the answer to {answer.source} cannot be added to "
                        f"{self._out!r}: {result}; give each model a stream of its own"
                    )

    def settle(self, seconds: float) -> None:
        """See `Door.settle`: nothing is on its way."""

    def close(self) -> None:
        """See `Door.close`."""
        self._client.close()


def _parts(id: str) -> tuple[int, int]:
    """An id as a pair of numbers, which can be compared."""
    time, _, number = id.partition("-")
    return int(time), int(number or 0)
