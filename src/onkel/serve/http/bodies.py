"""Bodies of requests as events, and answers as bodies: JSON, lines of JSON, Arrow streams."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Literal

import msgspec

JSON = "application/json"
LINES = "application/x-ndjson"
ARROW = "application/vnd.apache.arrow.stream"

Form = Literal["one", "many", "lines", "arrow"]

_LINES = (LINES, "application/jsonl", "application/jsonlines", "application/ndjson")
_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder(enc_hook=str).encode


class RequestError(Exception):
    """A request that cannot be used: its HTTP status, what is wrong, and what would be right."""

    more: dict[str, Any]
    status: int
    headers: dict[str, str]

    def __init__(self, status: int, message: str, **more: Any) -> None:
        super().__init__(message)
        self.status = status
        #: headers of the answer
        self.headers = {name.replace("_", "-"): str(value) for name, value in more.items()}


@dataclass(frozen=True)
class Limits:
    """What a request may have."""

    body: int = 16 << 20
    rows: int = 10_000
    columns: int = 1_000
    seconds: float = 30.0


def parsed(kind: str, body: bytes, limits: Limits) -> tuple[list[Any], Form]:
    """The rows of a body of a content type, and in what form they came.

    RequestError says what is wrong with the body as a whole; rows are looked at later.
    """
    kind = plain_kind(kind)
    if is_json(kind):
        rows, form = _json(body)
    elif kind in _LINES:
        rows, form = _lines(body, limits), "lines"
    elif kind == ARROW:
        rows, form = _arrow(body, limits), "arrow"
    else:
        raise not_read(kind, f"{JSON}, {LINES} or {ARROW}")
    if not rows:
        raise RequestError(400, "the body has no row")
    if len(rows) > limits.rows:
        raise _too_many(len(rows), limits)
    return rows, form


def plain_kind(kind: str) -> str:
    """A content type without its parameters."""
    return kind.partition(";")[0].strip().lower()


def is_json(kind: str) -> bool:
    """Whether a content type is that of JSON."""
    return kind in (JSON, "text/json") or kind.endswith("+json")


def not_read(kind: str, wanted: str) -> RequestError:
    """The error for a content type that is not read."""
    return RequestError(415, f"content type {kind[:80]!r} is not read; send {wanted}")


def decoded(body: bytes) -> Any:
    """A body of JSON."""
    try:
        return _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        what = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise RequestError(400, f"the body is no JSON: {what}") from None


def encoded(value: object) -> bytes:
    """A value as JSON; what is not finite becomes null."""
    return _encode(value)


def written(answers: list[Any], form: Form) -> tuple[bytes, str]:
    """Answers in the form in which the rows came, and the content type."""
    if form == "one":
        return _encode(answers[0]), JSON
    if form == "many":
        return _encode(answers), JSON
    if form == "lines":
        return b"".join(_encode(answer) + b"\n" for answer in answers), LINES
    return _arrow_of(answers), ARROW


def _json(body: bytes) -> tuple[list[Any], Form]:
    found = decoded(body)
    if isinstance(found, dict):
        return [found], "one"
    if isinstance(found, list):
        return found, "many"
    raise RequestError(400, 'the body must be an object such as {"size": 2.5}, or a list of them')


def _lines(body: bytes, limits: Limits) -> list[Any]:
    lines = [line for line in body.split(b"\n") if line.strip()]
    if len(lines) > limits.rows:
        raise _too_many(len(lines), limits)
    rows = []
    for k, line in enumerate(lines, 1):
        try:
            rows.append(_decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise RequestError(400, f"line {k:,} is no JSON: {error}") from None
    return rows


def _arrow(body: bytes, limits: Limits) -> list[Any]:
    import pyarrow as pa

    rows: list[Any] = []
    try:
        with pa.ipc.open_stream(pa.py_buffer(body)) as stream:
            names = stream.schema.names
            if len(set(names)) < len(names):
                raise RequestError(400, "the Arrow stream has a column name twice")
            if len(names) > limits.columns:
                raise too_wide(len(names), limits)
            for batch in stream:
                if len(rows) + batch.num_rows > limits.rows:
                    raise _too_many(len(rows) + batch.num_rows, limits)
                batch.validate(full=True)
                rows += batch.to_pylist()
    except (pa.ArrowException, ValueError, OSError, NotImplementedError) as error:
        raise RequestError(400, f"the body is no Arrow IPC stream: {error}") from None
    # a gap is a column that the row lacks
    return [
        {name: _plain(value) for name, value in row.items() if value is not None} for row in rows
    ]


def _plain(value: object) -> Any:
    """A value as JSON has it."""
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return value


def _arrow_of(answers: list[Any]) -> bytes:
    """Answers as an Arrow stream: an id is text, an interval and probabilities are columns."""
    import pyarrow as pa

    flat = [_flat(answer) for answer in answers]
    names = list(dict.fromkeys(name for answer in flat for name in answer))
    columns = {name: [answer.get(name) for answer in flat] for name in names}
    table = pa.table({name: _column(values) for name, values in columns.items()})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _column(values: list[Any]) -> Any:
    """Values of one type, or as text."""
    import pyarrow as pa

    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError, ValueError):
        return pa.array([None if value is None else str(value) for value in values])


def _flat(answer: dict[str, Any]) -> dict[str, Any]:
    found = dict(answer)
    if (interval := found.pop("interval", None)) is not None:
        found["low"], found["high"] = interval
    for label, share in found.pop("probabilities", {}).items():
        found[f"probability {label}"] = share
    return found


def too_wide(n: int, limits: Limits) -> RequestError:
    """The error for more columns than may be."""
    return RequestError(
        413, f"{n:,} columns are more than the {limits.columns:,} that may be (--max-columns)"
    )


def _too_many(n: int, limits: Limits) -> RequestError:
    return RequestError(
        413, f"{n:,} rows are more than the {limits.rows:,} of a request (--max-rows); send fewer"
    )
