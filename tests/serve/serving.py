"""A service in this process, and requests to it."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
from contextlib import contextmanager

import uvicorn

from onkel.serve.http.app import make_app
from onkel.serve.http.service import Service


class Client:
    """Requests over one connection."""

    def __init__(self, port, token=None):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.headers = {} if token is None else {"authorization": f"Bearer {token}"}

    def raw(self, method, path, body=None, kind="application/json", **headers):
        """Status, content type and content."""
        headers = {**self.headers, **({"content-type": kind} if kind else {}), **headers}
        self.connection.request(method, path, body, headers)
        response = self.connection.getresponse()
        return response.status, response.getheader("content-type"), response.read()

    def get(self, path):
        status, _, content = self.raw("GET", path, kind=None)
        return status, json.loads(content)

    def post(self, path, value=None):
        status, _, content = self.raw("POST", path, json.dumps(value))
        return status, json.loads(content)

    def close(self):
        self.connection.close()


@contextmanager
def serving(models, token=None, **how):
    """A service of models, and a client; models are saved at the end."""
    said = []
    service = Service(models, "m", say=said.append, **how)
    service.ready, service.said = True, said
    config = uvicorn.Config(make_app(service, token), "127.0.0.1", 0, log_level="critical",
                            timeout_graceful_shutdown=5, ws="none")  # fmt: skip
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server._serve()))
    thread.start()
    while not server.started and thread.is_alive():
        thread.join(0.01)
    service.port = server.servers[0].sockets[0].getsockname()[1]
    client = Client(service.port, token)
    try:
        yield service, client
    finally:
        client.close()
        service.ending = server.should_exit = True
        thread.join()
    assert said == []
