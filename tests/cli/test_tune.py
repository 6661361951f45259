"""``onkel tune``: the papers' search on a user's own rows."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from onkel.cli.app import app
from onkel.evaluation.search import PENALTIES, RRF_STEPS, part_for_search, tune


@pytest.fixture
def circle(tmp_path):
    """1200 rows in two classes divided by a circle, and an uninformative text column."""
    X = np.random.default_rng(0).standard_normal((1200, 2))
    inside = np.where((X**2).sum(axis=1) < 1.4, "in", "out")
    lines = [f"{a:.4f},{b:.4f},{c},{y}" for (a, b), c, y in zip(X, "xy" * 600, inside, strict=True)]
    file = tmp_path / "circle.csv"
    file.write_text("\n".join(["a,b,c,where", *lines]) + "\n")
    return file


def call(*arguments):
    return CliRunner().invoke(app, ["tune", *map(str, arguments)])


def test_it_finds_a_width_and_says_how_to_learn_with_it(circle):
    shown = call(circle, "--target", "where", "--set", "n_components=30", "--json")
    assert shown.exit_code == 0, shown.stderr
    report = json.loads(shown.stdout)
    assert report["settings"] == 50
    assert (report["n_searched"], report["n_others"]) == (600, 600)
    assert report["value"] < 0.25
    text = call(circle, "--target", "where", "--set", "n_components=30").stdout.splitlines()
    assert text[0].startswith(f"mistakes on the other 600 rows: {100 * report['value']:.2f} %")
    told_again = CliRunner().invoke(app, [*text[1].split()[1:], "--json"])
    assert told_again.exit_code == 0, told_again.stderr
    assert f"--set gamma={report['point']['gamma']}" in text[1]


def test_own_values(circle):
    shown = call(circle, "--target", "where", "--grid", "gamma=0.5,1", "--set",
                 "learning_rate=0.5", "--json")  # fmt: skip
    report = json.loads(shown.stdout)
    assert report["settings"] == 3
    assert set(report["point"]) == {"gamma"}


def test_what_is_reported_was_not_searched():
    X = np.arange(3000.0)[:, None]
    models = []

    class Model:
        def __init__(self, point):
            self.rows, self.error = set(), -1.0 if point.get("trial") == 2 else 0.0
            models.append(self)

        def learn(self, block):
            self.rows.update(block.X[:, 0].tolist())
            return np.full(len(block.y), self.error)

    found = tune(X, np.ones(3000), Model, [{"trial": 1}, {"trial": 2}], classes=False)
    part = set(X[part_for_search(3000, 0.1), 0].tolist())
    tried, left, best, default = models
    assert tried.rows == part
    assert left.rows < part  # it was worse, so the search dropped it
    assert best.rows == default.rows == set(X[:, 0]) - part
    assert (found.n_searched, found.n_others, found.value) == (1000, 2000, 1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--grid", "width=1,2"], "--grid width: fogd has no such parameter; it has"),
        (["--algorithm", "fog"], "algorithm 'fog' is not one of"),
        (["--set", "gamma=1", "--set", "learning_rate=1"], "no width, step or penalty to search"),
    ],
)
def test_bad_input_is_told(circle, options, message):
    shown = call(circle, "--target", "where", *options)
    assert shown.exit_code == 2
    assert message in " ".join(shown.stderr.split())


def test_the_command_reads_the_file_as_the_search_did(tmp_path):
    lines = [f"{k % 7},5;{k};{k % 2}" for k in range(120)]
    (tmp_path / "a.csv").write_text("\n".join(["a;count;y", *lines, ""]))
    shown = call(tmp_path / "a.csv", "--target", "y", "--decimal", ",", "--no-statistics",
                 "--exclude", "count", "--grid", "learning_rate=1,2")  # fmt: skip
    assert shown.exit_code == 0, shown.stderr
    command = next(line for line in shown.stdout.splitlines() if line.startswith("onkel learn"))
    for option in ("--decimal ,", "--exclude count", "--no-statistics", "--target y"):
        assert option in command


def test_penalties_that_are_too_large_for_a_step_are_left_out(circle):
    """On 150 rows the papers' largest penalty times their largest step is above 1."""
    shown = call(circle, "--target", "where", "-a", "rrf", "--set", "n_components=20", "--set",
                 "gamma=1.0", "--limit", 300, "--json")  # fmt: skip
    assert shown.exit_code == 0, shown.stderr
    report = json.loads(shown.stdout)
    assert 2 < report["settings"] < 1 + len(RRF_STEPS) * len(PENALTIES)
