"""What endpoints ask of a request, and give back."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import unquote_to_bytes

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from onkel.serve.http.bodies import (
    JSON,
    Limits,
    RequestError,
    decoded,
    encoded,
    is_json,
    not_read,
    plain_kind,
)

_LONGEST_KEY = 200


def answered(value: object, status: int = 200, **headers: str) -> Response:
    """A response of JSON."""
    return Response(encoded(value), status, headers or None, JSON)


async def body_of(request: Request, limits: Limits) -> bytes:
    """The body of a request."""
    return await read_body(request.headers.get("content-length"), request.receive, limits)


def kind_of(request: Request) -> str:
    """The content type of a request."""
    return plain_kind(request.headers.get("content-type", ""))


async def json_of(request: Request, limits: Limits, wanted: str = JSON) -> Any:
    """What a request says, whose body must be JSON; errors name the content types ``wanted``."""
    kind = kind_of(request)
    if not is_json(kind):
        raise not_read(kind, wanted)
    return decoded(await body_of(request, limits))


async def read_body(length: str | bytes | None, receive: Any, limits: Limits) -> bytes:
    """The messages of a body, if it is not too large and comes in time."""
    most = limits.body
    too_large = RequestError(
        413, f"the body is larger than the {most:,} bytes that may be (--max-body); send fewer rows"
    )
    if int(length or 0) > most:
        raise too_large
    pieces, size, more = [], 0, True
    try:
        async with asyncio.timeout(limits.seconds):
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                pieces.append(message.get("body", b""))
                size += len(pieces[-1])
                if size > most:
                    raise too_large
                more = message.get("more_body", False)
    except TimeoutError:
        raise RequestError(
            408, f"the body has not come within {limits.seconds:g} seconds (--timeout)"
        ) from None
    return b"".join(pieces)


def require_text(scope: Any) -> None:
    """RequestError for a path that is not UTF-8: other keys would look the same."""
    raw: bytes = scope.get("raw_path") or b""
    if "\ufffd" not in scope["path"]:
        return
    try:
        unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        raise RequestError(400, "the path is not UTF-8; quote the UTF-8 of a key") from None


def key_of(request: Request) -> str | None:
    """The key of the model that is asked."""
    return key_checked(request.path_params.get("key"))


def key_checked(key: str | None) -> str | None:
    """A key that is not too long."""
    if key is not None and len(key) > _LONGEST_KEY:
        raise RequestError(404, f"a key has at most {_LONGEST_KEY} characters")
    return key
