"""``onkel learn --delay``."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from onkel.cli.app import app

ROWS = 200


@pytest.fixture
def walk(tmp_path):
    rng = np.random.default_rng(0)
    y = np.cumsum(rng.normal(size=ROWS))
    path = tmp_path / "walk.csv"
    np.savetxt(path, np.column_stack([rng.normal(size=ROWS), y]), delimiter=",", header="a,y",
               comments="")  # fmt: skip
    return str(path)


def _learn(walk, *options):
    result = CliRunner().invoke(
        app, ["learn", walk, "--target", "y", "--json", "--set", "speed=fast", *options]
    )
    return result


def test_a_delay_is_run_and_told(walk):
    at_once = json.loads(_learn(walk).stdout)
    late = json.loads(_learn(walk, "--delay", "3").stdout)
    assert late["n_rows"] == at_once["n_rows"] == ROWS
    assert late["settings"]["delay"] == 3
    assert "delay" not in at_once["settings"]


def test_a_delay_with_a_checkpoint_is_refused(walk, tmp_path):
    result = _learn(walk, "--delay", "3", "--checkpoint", str(tmp_path / "kept.onkel"))
    assert result.exit_code == 2
    assert "leave out --checkpoint" in result.stderr
