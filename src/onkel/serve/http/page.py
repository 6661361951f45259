"""The page at ``/`` and its stream of events."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from importlib import resources
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from onkel.serve.http.bodies import RequestError, encoded
from onkel.serve.http.service import Service

_SECONDS = 1.0
_POINTS = 600
_READERS = 50


def routes(service: Service) -> list[Route]:
    """The page, and what it shows."""
    watch = Watch(service)

    async def page(request: Request) -> Response:
        text = resources.files("onkel.serve.http").joinpath("page.html").read_text("utf-8")
        policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; " \
                 "connect-src 'self'; img-src data:"  # fmt: skip
        return HTMLResponse(text, headers={"content-security-policy": policy})

    async def events(request: Request) -> Response:
        if watch.readers >= _READERS:
            raise RequestError(503, f"{_READERS} pages watch already", retry_after=10)
        return StreamingResponse(
            watch.events(), media_type="text/event-stream", headers={"cache-control": "no-store"}
        )

    return [Route("/", page), Route("/events", events)]


class Watch:
    """What pages show: taken once a second for all of them, while one is open."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self.readers: int = 0
        self._curve: deque[list[Any]] = deque(maxlen=_POINTS)
        self._taken = 0.0
        self._now: dict[str, Any] = {}

    async def events(self) -> AsyncIterator[bytes]:
        """Server-sent events: all that the page shows, then each second what is new."""
        self.readers += 1
        try:
            while not self._service.ending:
                yield b"data: " + encoded(await self._state()) + b"\n\n"
                await asyncio.sleep(_SECONDS)
        finally:
            self.readers -= 1

    async def _state(self) -> dict[str, Any]:
        if time.monotonic() - self._taken >= 0.9 * _SECONDS:
            self._taken = time.monotonic()
            self._now = await asyncio.to_thread(self._take)
        return self._now

    def _take(self) -> dict[str, Any]:
        service = self._service
        found = service.report()
        found.pop("recent", None)
        about = {} if service.models.keyed else service.about(None)
        labels = found.get("labels", 0)
        score = next(iter(found.get("score", {}).items()), None)
        if score is not None and (not self._curve or self._curve[-1][0] < labels):
            self._curve.append([labels, score[1]])
        return {
            "name": service.name,
            "ready": service.ready,
            "keyed": service.models.keyed,
            "report": found,
            "metric": None if score is None else score[0],
            "curve": list(self._curve),
            "last": list(service.last),
            "about": about,
        }
