"""A real broker for each test that asks for one."""

from __future__ import annotations

import itertools

import pytest
from tests.serve.brokers.clients import CLIENTS
from tests.serve.brokers.servers import SERVERS, skip_without

_count = itertools.count()


@pytest.fixture(scope="module", params=list(SERVERS))
def server(request, tmp_path_factory):
    """A broker: its scheme and ``host:port``. One serves the tests of a file."""
    skip_without(request.param)
    with SERVERS[request.param](tmp_path_factory.mktemp(request.param)) as where:
        yield request.param, where


@pytest.fixture
def client(server):
    """A client of the broker."""
    scheme, where = server
    found = CLIENTS[scheme](where)
    yield found
    found.close()


@pytest.fixture
def names(client):
    """Topics of their own for a test: rows, answers, labels; they are empty."""
    n = next(_count)
    found = [f"{name}{n}" for name in ("rows", "answers", "labels")]
    client.make(*found)
    return found
