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


@pytest.fixture
def sites(tmp_path):
    """Three walks of their own, a row every quarter of an hour."""
    rng = np.random.default_rng(0)
    site, n = rng.integers(0, 3, ROWS), np.arange(ROWS)
    level, y = 5.0 * rng.normal(size=3), np.empty(ROWS)
    for t, s in enumerate(site):
        level[s] += 0.3 * rng.normal()
        y[t] = level[s]
    when = np.datetime64("2024-03-01T00:00") + 15 * n.astype("timedelta64[m]")
    path = tmp_path / "sites.csv"
    lines = [f"{w},{'abc'[s]},{a:.3f},{v:.6f}" for w, s, a, v in
             zip(when, site, rng.normal(size=ROWS), y, strict=True)]  # fmt: skip
    path.write_text("\n".join(["when,site,a,y", *lines]))
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


def test_a_delay_by_time_is_that_of_as_many_rows(sites):
    left_out = ["--exclude", "when", "--exclude", "site"]
    by_time = json.loads(_learn(sites, *left_out, "--delay", "1h", "--time", "when").stdout)
    by_rows = json.loads(_learn(sites, *left_out, "--delay", "3").stdout)
    # the label of the row an hour ago has just come
    assert by_time["metrics"] == by_rows["metrics"]
    assert by_time["settings"]["delay"] == "1:00:00"


def test_groups_have_memories_of_their_own(sites):
    left_out = ["--exclude", "when", "--exclude", "site"]
    without = json.loads(_learn(sites, *left_out).stdout)
    grouped = json.loads(_learn(sites, *left_out, "--group", "site").stdout)
    assert grouped["metrics"]["rmse"] < 0.75 * without["metrics"]["rmse"]
    assert grouped["settings"]["group"] == "site"
    late = json.loads(_learn(sites, *left_out, "--group", "site", "--delay", "4").stdout)
    assert grouped["metrics"]["rmse"] < late["metrics"]["rmse"] < without["metrics"]["rmse"]


def test_a_run_by_group_is_resumed_and_gone_on_with(sites, tmp_path):
    kept, saved = str(tmp_path / "kept.onkel"), str(tmp_path / "saved.onkel")
    whole = json.loads(_learn(sites, "--group", "site", "--save", saved).stdout)
    resumed = ["--group", "site", "--checkpoint", kept]
    _learn(sites, *resumed, "--limit", "90")
    told = json.loads(_learn(sites, *resumed, "--resume").stdout)
    assert told["metrics"] == pytest.approx(whole["metrics"])
    further = CliRunner().invoke(app, ["learn", sites, "--from", saved, "--json"])
    assert json.loads(further.stdout)["settings"]["group"] == "site"
    other = CliRunner().invoke(app, ["learn", sites, "--from", saved, "--group", "a"])
    assert other.exit_code == 2
    assert "--group" in other.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--delay", "1h"], "name its column with --time"),
        (["--delay", "soon"], "must be a number of rows, or a time such as"),
        (["--delay", "-1"], "must be a number of rows, or a time such as"),
        (["--delay", "1h", "--time", "site"], "is no time; a time, a date or a number of seconds"),
        (["--group", "place"], "place"),
    ],
)
def test_what_cannot_be_is_refused(sites, options, message):
    result = _learn(sites, *options)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_a_row_without_a_group_is_refused_with_its_row(tmp_path):
    path = tmp_path / "gap.csv"
    path.write_text("site,a,y\n" + "x,1,2\n" * 30 + ",1,2\n" + "x,1,2\n" * 9)
    result = _learn(str(path), "--group", "site", "--exclude", "site")
    assert result.exit_code == 2
    assert "the group is missing" in result.stderr
    assert "line 32" in result.stderr
