"""A service, or a pipe, that is killed: the campaigns with a few kills."""

from __future__ import annotations

import os

import pytest

if os.name != "posix":
    pytest.skip("signals as POSIX has them", allow_module_level=True)

from tests.serve import killing, piping

pytestmark = pytest.mark.slow


def test_a_service_that_is_killed_answers_and_learns_once():
    rows, counts = killing.play(2, "krls", seed=3)
    assert counts["labels"] == rows > 0


def test_a_pipe_that_is_killed_answers_and_learns_once():
    rows, counts = piping.play(4, "krls", seed=2)
    assert counts["labels"] == rows > 0
