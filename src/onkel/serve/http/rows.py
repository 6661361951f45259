"""Requests with rows, which most are: answered without what a framework does for any request.

The learner takes some microseconds for a row; a request's way through a framework takes ten times
as many.
"""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.requests import ClientDisconnect

from onkel.serve.http.bodies import JSON, RequestError, encoded, parsed, written
from onkel.serve.http.requests import key_checked, read_body
from onkel.serve.http.service import VERBS, Service, only_predicts

Scope = Any
_KEYED = "models"


class RowsEndpoint:
    """The paths ``/predict`` and the like; with keys ``/models/KEY/predict``."""

    def __init__(self, service: Service) -> None:
        self._service = service
        prefix = f"/{_KEYED}/{{key}}" if service.models.keyed else ""
        #: by verb, the name of its path in metrics
        self.names: dict[str, str] = {verb: f"{prefix}/{verb}" for verb in VERBS}

    def verb_of(self, scope: Scope) -> tuple[str, str | None] | None:
        """What a request asks for, and the key of the model; None if it is not for here."""
        parts = scope["path"].split("/")
        if self._service.models.keyed:
            named = len(parts) == 4 and parts[1] == _KEYED and parts[2] and parts[3] in VERBS
            return (parts[3], parts[2]) if named else None
        return (parts[1], None) if len(parts) == 2 and parts[1] in VERBS else None

    async def answer(self, verb: str, key: str | None, scope: Scope, receive: Any) -> Answer:
        """Status, content and content type of the answer to a request."""
        service = self._service
        try:
            if scope["method"] != "POST":
                why = f"{scope['method'][:20]} is not for {scope['path'][:80]}; use POST"
                raise RequestError(405, why, allow="POST")
            if verb not in service.verbs:
                raise only_predicts(verb)
            headers = dict(scope["headers"])
            body = await read_body(headers.get(b"content-length"), receive, service.limits)
            kind = headers.get(b"content-type", b"").decode("latin-1")
            rows, form = parsed(kind, body, service.limits)
            answers = await service.answer(verb, key_checked(key), rows)
            return _status(answers), *written(answers, form), {}
        except RequestError as error:
            return error.status, encoded({"error": str(error)}), JSON, error.headers
        except (ClientDisconnect, asyncio.CancelledError):
            raise
        except Exception as error:
            return 500, encoded(service.failed(scope["path"], error)), JSON, {}


Answer = tuple[int, bytes, str, dict[str, str]]


async def send_answer(answer: Answer, send: Any) -> None:
    """Send an answer in two messages."""
    status, content, kind, more = answer
    headers = [
        (b"content-type", kind.encode()), (b"content-length", b"%d" % len(content)),
        *((name.encode(), value.encode()) for name, value in more.items()),
    ]  # fmt: skip
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})


def _status(answers: list[dict[str, Any]]) -> int:
    """200 if anything was done."""
    if not all("error" in answer for answer in answers):
        return 200
    unknown = all(answer.get("reason") in ("unknown", "late") for answer in answers)
    return 404 if unknown else 422
