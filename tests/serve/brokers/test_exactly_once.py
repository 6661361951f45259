"""A live model at a broker that is killed: each row is answered once, as if nothing had been."""

from __future__ import annotations

import pytest
from tests.serve.brokers import kills
from tests.serve.brokers.servers import SERVERS

pytestmark = [pytest.mark.slow, pytest.mark.compiled]


@pytest.mark.parametrize("scheme", SERVERS)
def test_killed_and_started_again(tmp_path, scheme):
    assert kills.run(scheme, tmp_path, times=3, seed=1).startswith("3 kills")
