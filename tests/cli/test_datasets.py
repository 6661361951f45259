"""``onkel datasets`` from the outside, without a network."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from onkel.cli import app


def run(*args):
    return CliRunner().invoke(app, ["datasets", *args])


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder that holds one data set, and an empty cache."""
    monkeypatch.setenv("ONKEL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("onkel.datasets.registry._MORE", [])
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "german.parquet").write_bytes(b"PAR1")
    return tmp_path / "data"


def test_list_says_what_is_here(here):
    result = run("list")
    assert result.exit_code == 0, result.stderr
    lines = {line.split()[0]: line for line in result.stdout.splitlines() if line.split()}
    assert "yes" in lines["german"]
    assert "yes" not in lines["letter"]
    found = {entry["name"]: entry for entry in json.loads(run("list", "--json").stdout)["datasets"]}
    assert found["german"]["n_rows"] == 1000


def test_path(here):
    result = run("path", "german")
    assert result.exit_code == 0
    assert result.stdout.strip() == str(here / "german.parquet")


@pytest.mark.parametrize("name", ["letter", "nothing-of-the-kind"])
def test_what_is_not_here_is_told(here, name):
    result = run("path", name)
    assert result.exit_code == 2
    assert name in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("verb", ["fetch", "path"])
def test_a_clone_brings_the_small_sets(tmp_path, monkeypatch, verb):
    """Without a network, and without a file of the user's own."""
    monkeypatch.setenv("ONKEL_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    result = run(verb, "german")
    assert result.exit_code == 0, result.stderr
    shipped = Path(__file__).parents[2] / "papers" / "data" / "german.parquet"
    assert result.stdout.strip() == str(shipped)
