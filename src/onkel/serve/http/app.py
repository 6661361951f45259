"""The application: routes, and what is asked of every request before it is read."""

from __future__ import annotations

import asyncio
import base64
import hmac
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from onkel._version import __version__
from onkel.serve.http import adapters, openapi, page
from onkel.serve.http.bodies import JSON, RequestError, is_json, not_read
from onkel.serve.http.metrics import CONTENT_TYPE
from onkel.serve.http.requests import answered, body_of, key_of, kind_of, require_text
from onkel.serve.http.rows import RowsEndpoint, send_answer
from onkel.serve.http.service import VERBS, Service, only_predicts

Scope = Any
#: what anybody may ask without the token: it tells nothing of rows
_OPEN = ("/health", "/ready", "/ping", "/v2/health/live", "/v2/health/ready")
#: where a browser may give the token as a password
_PAGE = ("/", "/events")
#: paths of a key with a slash in it
_KEY_IN_PARTS = re.compile(rf"/models/.*/.*/(model|{'|'.join(VERBS)})$")


def make_app(service: Service, token: str | None) -> Any:
    """The ASGI application of a service.

    Parameters
    ----------
    service : Service
        It is started and stopped with the application.
    token : str, optional
        What requests must bear, except those for health.
    """

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        service.start()
        yield
        await asyncio.to_thread(service.stop)

    routes = []
    for prefix in ("/models/{key}",) if service.models.keyed else ("",):
        routes += [Route(f"{prefix}/model", _model(service))]
    routes += [
        Route("/health", _said(lambda: {"status": "ok", "version": __version__})),
        Route("/ready", _ready(service)),
        Route("/metrics", _metrics(service)),
        Route("/snapshot", _snapshot(service), methods=["POST"]),
        Route("/openapi.json", _said(lambda: openapi.document(service))),
        *adapters.routes(service),
        *page.routes(service),
    ]
    handlers: dict[Any, Any] = {
        RequestError: _refused, HTTPException: _not_found(service), Exception: _failed(service),
    }  # fmt: skip
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
    app.router.redirect_slashes = False
    return _Guard(app, service, token)


def _model(service: Service) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return answered(await asyncio.to_thread(service.about, key_of(request)))

    return endpoint


def _said(what: Callable[[], Any]) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return answered(what())

    return endpoint


def _ready(service: Service) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        if service.ending:
            return answered({"ready": False, "error": "the service is ending"}, 503)
        if not service.ready:
            why = "loops are being compiled for this machine; it takes up to some minutes once"
            return answered({"ready": False, "error": why}, 503)
        return answered({"ready": True, **service.age()})

    return endpoint


def _metrics(service: Service) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return Response(await asyncio.to_thread(service.metrics.text), 200, None, CONTENT_TYPE)

    return endpoint


def _snapshot(service: Service) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        if not service.models.learns:
            raise only_predicts("snapshot")
        # nothing need be said; what is said may not come from a page of another site
        if await body_of(request, service.limits) and not is_json(kind := kind_of(request)):
            raise not_read(kind, f"{JSON}, or no body")
        try:
            await service.snapshot()
        except (OSError, ValueError) as error:
            raise RequestError(503, f"the model could not be saved: {error}") from None
        return answered({"saved": True})

    return endpoint


async def _refused(request: Request, error: Any) -> Response:
    return answered({"error": str(error)}, error.status, **error.headers)


def _not_found(service: Service) -> Callable[[Request, Any], Awaitable[Response]]:
    async def handler(request: Request, error: Any) -> Response:
        path = request.scope["path"][:80]
        if error.status_code == 405:
            allowed = (error.headers or {}).get("Allow", "")
            why = f"{request.method[:20]} is not for {path}; use {allowed}"
            return answered({"error": why}, 405, allow=allowed)
        if error.status_code == 404:
            why = f"{path} is not here; /openapi.json lists what is"
            if service.models.keyed and _KEY_IN_PARTS.match(request.scope["path"]):
                why = f"{path}: a key cannot hold '/', nor %2F; write another character for it"
            return answered({"error": why}, 404)
        return answered({"error": str(error.detail)}, error.status_code)

    return handler


def _failed(service: Service) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def handler(request: Request, error: Exception) -> Response:
        return answered(service.failed(request.url.path, error), 500)

    return handler


class _Guard:
    """Asks for the token, and notes how long each request took."""

    def __init__(self, app: Any, service: Service, token: str | None) -> None:
        self._app, self._service = app, service
        self._rows = RowsEndpoint(service)
        self._token = None if token is None else f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status, name = time.perf_counter(), 499, None

        async def noting(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            if not self._may(scope):
                why = "this service needs its token: send 'Authorization: Bearer TOKEN'"
                asked = 'Basic realm="onkel"' if scope["path"] in _PAGE else "Bearer"
                response = answered({"error": why}, 401, **{"www-authenticate": asked})
                await response(scope, receive, noting)
                return
            require_text(scope)
            wanted = self._rows.verb_of(scope)
            if wanted is None:
                await self._app(scope, receive, noting)
            else:
                name = self._rows.names[wanted[0]]
                answer = await self._rows.answer(*wanted, scope, receive)
                status = answer[0]
                await send_answer(answer, send)
        except ClientDisconnect:
            pass
        except RequestError as error:
            response = answered({"error": str(error)}, error.status)
            await response(scope, receive, noting)
        finally:
            took = time.perf_counter() - began
            self._service.metrics.note(name or _endpoint(scope), status, took)

    def _may(self, scope: Scope) -> bool:
        if self._token is None or scope["path"] in _OPEN:
            return True
        given = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        if scope["path"] in _PAGE and given[:6].lower() == b"basic ":
            given = _password(given[6:])
        return hmac.compare_digest(given, self._token)


def _password(credentials: bytes) -> bytes:
    """A password as if it were borne: a browser asks a person for the token."""
    try:
        return b"Bearer " + base64.b64decode(credentials, validate=True).partition(b":")[2]
    except ValueError:
        return b""


def _endpoint(scope: Scope) -> str:
    """A name of few: no path of a request becomes a label."""
    route = scope.get("route")
    return "other" if route is None else str(route.path)
