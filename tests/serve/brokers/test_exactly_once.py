"""A live model at a broker that is killed: each row is answered once, as if nothing had been."""

from __future__ import annotations

import json
import time

import pytest
from tests.serve.brokers import kills
from tests.serve.brokers.clients import CLIENTS
from tests.serve.brokers.servers import SERVERS, skip_without

pytestmark = [pytest.mark.slow, pytest.mark.compiled]


@pytest.mark.parametrize("scheme", SERVERS)
def test_killed_and_started_again(tmp_path, scheme):
    skip_without(scheme)
    assert kills.run(scheme, tmp_path, times=3, seed=1).startswith("3 kills")


def test_a_connection_that_breaks_is_made_again(tmp_path):
    skip_without("redis")
    with SERVERS["redis"](tmp_path / "broker") as where:
        client = CLIENTS["redis"](where)
        client.make(kills.ROWS, kills.ANSWERS, kills.LABELS)
        options = kills.options_of(tmp_path, f"redis://{where}")
        live = kills.start(options)
        try:
            for n in (20, 40, 60):
                rows = [{"id": id, "a": id / 7, "b": 1.0, "y": 2.0} for id in range(n - 20, n)]
                client.send(kills.ROWS, [json.dumps(row).encode() for row in rows])
                until = time.monotonic() + 120
                while client.count(kills.ANSWERS) < n and time.monotonic() < until:
                    time.sleep(0.05)
                found = [json.loads(answer)["id"] for _, answer in client.read(kills.ANSWERS)]
                assert found == list(range(n))
                client.break_others()
            live.terminate()
            live.join(60)
            assert live.exitcode == 143
        finally:
            live.kill()
            client.close()
    assert (tmp_path / "said").read_text().count("nothing is lost, trying again") >= 2
