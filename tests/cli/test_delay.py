"""``onkel learn --delay``."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from typer.testing import CliRunner

import onkel
from onkel.cli.app import app
from onkel.errors import ModelFileError
from onkel.evaluation.delayed import Delayed
from onkel.evaluation.learner import as_learner
from onkel.learners import FOGDRegressor
from onkel.persistence.contents import flatten, unflatten
from onkel.pipeline.label_queue import LabelQueue, Waiting

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
    """Three independent random walks with a row every quarter of an hour."""
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


BY_TIME = ["--delay", "5h", "--time", "when", "--group", "site", "--exclude", "when,site"]


@pytest.mark.slow
@pytest.mark.parametrize("more", [["--delay", "20"], BY_TIME], ids=["rows", "time"])
def test_a_run_with_a_delay_that_was_cut_off_goes_on(walk, sites, tmp_path, more):
    source = sites if "--time" in more else walk
    whole = tmp_path / "whole.onkel"
    report = json.loads(_learn(source, *more, "--save", str(whole)).stdout)
    kept, resumed = tmp_path / "kept.onkel", tmp_path / "resumed.onkel"
    first = json.loads(_learn(source, *more, "--checkpoint", str(kept), "--limit", "130").stdout)
    assert first["n_rows"] == 130
    # the labels of the last rows had not arrived
    assert 105 < onkel.load(kept).n_rows < 112
    args = [*more, "--checkpoint", str(kept), "--resume", "--save", str(resumed)]
    last = json.loads(_learn(source, *args).stdout)
    assert last["resumed_rows"] == 130
    # the sums are split differently, so the last digits may differ
    assert last["metrics"] == pytest.approx(report["metrics"], rel=1e-12)
    for name, value in report["details"]["baselines"].items():
        assert last["details"]["baselines"][name] == pytest.approx(value, rel=1e-12)
    rows = [{"a": value} for value in (-1.0, 0.0, 1.5)]
    np.testing.assert_array_equal(
        onkel.load(resumed).predict(rows), onkel.load(whole).predict(rows)
    )


def test_a_run_does_not_go_on_with_another_delay(walk, tmp_path):
    kept = ["--checkpoint", str(tmp_path / "kept.onkel")]
    assert _learn(walk, "--delay", "3", *kept, "--limit", "50").exit_code == 0
    result = _learn(walk, "--delay", "4", *kept, "--resume")
    assert result.exit_code == 2
    assert "was begun with delay='3', this command has delay='4'" in result.stderr


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize(
    "labels", [["up", "down", "up"], [1.5, -2.0, 0.1], [1, 2, 1], [True, False, True]]
)
def test_waiting_rows_come_back_from_json(kind, labels):
    rng = np.random.default_rng(0)
    queue, rows = LabelQueue(), []
    for i, label in enumerate(labels):
        X = rng.normal(size=(1, 2 + i)).astype(np.float32)
        X = X if kind == "dense" else csr_matrix(X)
        y = np.array([label])[0]
        rows.append(Waiting(X, "b", None, y, 3.5 - i, np.float64(0.1), 7 + i, i))
        queue.add(i, rows[i])
    tree, arrays = flatten(queue.get_state())
    back = LabelQueue.from_state(unflatten(json.loads(json.dumps(tree)), arrays))
    assert [back.ahead("b"), len(back)] == [3, 3]
    for old in sorted(rows, key=lambda one: one.due):
        row = back.take_due(3.5)
        dense = [one.x.toarray() if kind == "sparse" else one.x for one in (row, old)]
        np.testing.assert_array_equal(*dense)
        assert row.x.dtype == np.float32
        assert (row.y, np.array([row.y]).dtype.kind) == (old.y, old.y.dtype.kind)
        assert row[1:] == old[1:]
    assert back.take_due(3.5) is None


@pytest.mark.parametrize(
    "change",
    [
        {"ids": [0]},
        {"X": np.zeros((2, 2), dtype=object)},
        {"due": [float("nan")] * 2},
        {"y": None},
        {"y": [None, 1.0]},
        {"widths": [1, 3]},
    ],
)
def test_broken_waiting_rows_are_refused(change):
    late = Delayed(FOGDRegressor(), as_learner(FOGDRegressor()), 5)
    for i in range(2):
        late.waiting.add(i, Waiting(np.zeros((1, 2)), y=0.0, due=1.0))
    state = late.get_state()
    late.set_state(state)
    with pytest.raises(ModelFileError):
        late.set_state({"waiting": state["waiting"] | change, "n_rows": 7, "now": 7.0})
    np.testing.assert_equal(late.get_state(), state)  # nothing was taken


def test_a_delay_by_time_is_that_of_as_many_rows(sites):
    left_out = ["--exclude", "when", "--exclude", "site"]
    by_time = json.loads(_learn(sites, *left_out, "--delay", "1h", "--time", "when").stdout)
    by_rows = json.loads(_learn(sites, *left_out, "--delay", "3").stdout)
    # the label of the row an hour ago has just arrived, so only three are missing
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
    report = json.loads(_learn(sites, *resumed, "--resume").stdout)
    assert report["metrics"] == pytest.approx(whole["metrics"])
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
