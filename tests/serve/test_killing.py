"""A service that is killed: `tests.serve.killing` with a few kills."""

from __future__ import annotations

import pytest
from tests.serve.killing import play


@pytest.mark.slow
def test_a_service_that_is_killed_answers_and_learns_once():
    rows, counts = play(2, "krls", seed=3)
    assert counts["labels"] == rows > 0
