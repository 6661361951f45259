"""``onkel learn --from``: continue a saved model with a new file."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import onkel
from onkel.cli import app
from onkel.cli.learn.job import LearnJob
from onkel.cli.predict import PredictJob
from onkel.evaluation.run import PrequentialRun


def run(*args):
    return CliRunner().invoke(app, [str(a) for a in args])


def table(n, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"id": range(n), "a": rng.normal(size=n), "b": rng.normal(size=n)})
    frame["place"] = rng.choice(["north", "south"], size=n)
    frame["y"] = np.where((frame["a"] * frame["b"] > 0) ^ (frame["place"] == "north"), "u", "d")
    return frame.round(4)


@pytest.fixture
def days(tmp_path):
    """Monday, Tuesday with its columns in another order, and both in one file."""
    monday, tuesday = table(3000, 0), table(2000, 1)
    monday.to_csv(tmp_path / "monday.csv", index=False)
    tuesday[["y", "place", "b", "a", "id"]].to_csv(tmp_path / "tuesday.csv", index=False)
    pd.concat([monday, tuesday]).to_csv(tmp_path / "both.csv", index=False)
    result = run("learn", tmp_path / "monday.csv", "-t", "y", "-a", "fogd", "--set", "gamma=0.5",
                 "--exclude", "id", "--save", tmp_path / "m.onkel")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    return tmp_path


def test_tomorrows_file_gives_the_model_of_both(days):
    whole = run("learn", days / "both.csv", "-t", "y", "-a", "fogd", "--set", "gamma=0.5",
                "--exclude", "id", "--save", days / "both.onkel", "--json")  # fmt: skip
    result = run("learn", days / "tuesday.csv", "--from", days / "m.onkel",
                 "--save", days / "m.onkel", "--json")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "after 3,000 rows" in result.stderr
    found, expected = json.loads(result.stdout), json.loads(whole.stdout)
    assert found["n_rows"] == expected["n_rows"] == 5000
    assert found["value"] == pytest.approx(expected["value"], abs=0.3)
    assert [r["n_rows"] for r in found["curve"]][-2:] == [4096, 5000]
    one, other = onkel.load(days / "m.onkel"), onkel.load(days / "both.onkel")
    assert one.n_rows == 5000
    assert one.settings["source"].endswith("tuesday.csv")
    new = table(500, 2)
    assert np.mean(one.predict(new) == other.predict(new)) > 0.99


def test_the_score_of_the_new_file_stands_beside_that_of_all(days):
    first = onkel.persistence.load_with_info(days / "m.onkel")[1]["run"]["totals"]
    learn = "learn", days / "tuesday.csv", "--from", days / "m.onkel", "--save", days / "n.onkel"
    found = json.loads(run(*learn, "--json").stdout)
    part = found["part"]
    assert (part["n_rows"], part["n_scored"]) == (2000, 2000)  # Monday's labels are known
    mistakes = 2000 * part["value"] + 100 * first["sums"][0]
    assert found["value"] * found["n_scored"] == pytest.approx(mistakes)
    y = pd.read_csv(days / "tuesday.csv")["y"]
    last = pd.read_csv(days / "monday.csv")["y"].iloc[-1]
    changed = np.mean(y.to_numpy() != np.array([last, *y[:-1]]))
    assert part["details"]["baselines"]["last class"] == pytest.approx(changed)
    assert [row["n_rows"] for row in part["curve"]][:3] == [1, 2, 4]
    shown = run(*learn, "--report", days / "r.html").stdout
    assert "this source" in shown
    assert f"{part['value']:.2f} %" in shown
    report = (days / "r.html").read_text("utf8")
    assert "Learning curve of this source" in report
    assert f"{part['value']:.2f} %" in report


def test_a_resumed_run_knows_the_score_of_its_own_file(days):
    learn = ["learn", days / "tuesday.csv", "--from", days / "m.onkel", "--json",
             "--checkpoint", days / "c.onkel"]  # fmt: skip
    whole = json.loads(run(*learn).stdout)["part"]
    run(*learn, "--overwrite", "--limit", 700)
    rest = json.loads(run(*learn, "--resume").stdout)["part"]
    assert rest["n_rows"] == 2000
    for name in ("value", "details"):
        assert rest[name] == whole[name]


def test_new_columns_and_categories_widen_the_model(days):
    wednesday = table(2000, 3).assign(wind=1.5)
    wednesday["place"] = np.where(wednesday["b"] > 1, "west", wednesday["place"])
    wednesday.loc[:9, "y"] = "unknown"
    wednesday.to_csv(days / "wednesday.csv", index=False)
    result = run("learn", days / "wednesday.csv", "--from", days / "m.onkel",
                 "--save", days / "w.onkel")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    model = onkel.load(days / "w.onkel")
    assert list(model.encoder.kinds) == ["a", "b", "place", "wind"]
    assert model.classes_.tolist() == ["d", "u", "unknown"]
    assert model.n_rows == 5000
    assert onkel.load(days / "m.onkel").n_rows == 3000


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-a", "pa"], "--algorithm: the model"),
        (["-t", "a"], "--target"),
        (["--task", "regression"], "--task"),
        (["--set", "gamma=2"], "--set gamma"),
        # the model has what was not set, too
        (["--set", "orthogonal=no"], "has False, this command has 'no'"),
        (["--exclude", "b"], "--exclude b"),
        (["--scaling", "minmax"], "--scaling"),
        (["--report", "m.onkel"], "another use"),
        (["--checkpoint", "m.onkel"], "another use"),
    ],
)
def test_what_contradicts_the_model_is_refused(days, monkeypatch, options, said):
    monkeypatch.chdir(days)
    before = (days / "m.onkel").read_bytes()
    result = run("learn", "tuesday.csv", "--from", "m.onkel", "--save", "m.onkel", *options)
    assert result.exit_code == 2
    assert said in result.stderr
    assert (days / "m.onkel").read_bytes() == before


def test_a_file_without_the_target_or_a_column_changes_nothing(days):
    before = (days / "m.onkel").read_bytes()
    for gone in ("y", "b"):
        table(50, 4).drop(columns=gone).to_csv(days / "bad.csv", index=False)
        result = run("learn", days / "bad.csv", "--from", days / "m.onkel",
                     "--save", days / "m.onkel")  # fmt: skip
        assert result.exit_code == 2
        assert f"column '{gone}'" in result.stderr
        assert (days / "m.onkel").read_bytes() == before
    result = run("learn", days / "tuesday.csv", "--from", days / "none.onkel")
    assert result.exit_code == 2
    assert "no such file" in result.stderr


def test_a_killed_run_that_went_on_is_resumed(days):
    args = ["learn", days / "tuesday.csv", "--from", days / "m.onkel", "--checkpoint",
            days / "c.onkel", "--json"]  # fmt: skip
    assert run(*args, "--limit", 700).exit_code == 0
    assert onkel.load(days / "c.onkel").n_rows == 3700
    resumed = run(*args, "--resume", "--save", days / "r.onkel")
    assert resumed.exit_code == 0, resumed.stderr
    found = json.loads(resumed.stdout)
    assert (found["n_rows"], found["resumed_rows"]) == (5000, 700)
    table(2000, 9).to_csv(days / "tuesday.csv", index=False)
    (days / "c.onkel").unlink()
    assert run(*args, "--limit", 700).exit_code == 0
    table(2000, 10).to_csv(days / "tuesday.csv", index=False)
    result = run(*args, "--resume")
    assert result.exit_code == 2
    assert "are not those read before" in result.stderr


def test_a_model_that_nobody_saved_is_said_to_be_lost(days):
    result = run("learn", days / "tuesday.csv", "-t", "y", "-a", "pa")
    assert result.exit_code == 0
    assert "no model was saved; add --save FILE" in result.stderr
    saved = run("learn", days / "tuesday.csv", "-t", "y", "-a", "pa", "--save", days / "s.onkel")
    assert "no model was saved" not in saved.stderr


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="pipes as POSIX has them")
def test_a_pipe_that_pauses_is_learned_as_its_rows_arrive():
    process = subprocess.Popen(
        [sys.executable, "-m", "onkel", "learn", "-", "--format", "csv", "-t", "y", "-a", "pa",
         "-v"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write(table(130, 0).to_csv(index=False).encode())
    process.stdin.flush()
    said = b""
    while b" 128 " not in said:
        ready = select.select([process.stderr.fileno()], [], [], 60)[0]
        assert ready, "nothing was said before the pipe was closed"
        said += os.read(process.stderr.fileno(), 1000)
    process.stdin.close()
    process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 0


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="pipes as POSIX has them")
def test_a_slow_pipe_says_what_is_waited_for():
    process = subprocess.Popen(
        [sys.executable, "-m", "onkel", "learn", "-", "--format", "csv", "-t", "y", "-a", "pa"],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write(table(3, 0).to_csv(index=False).encode())
    process.stdin.flush()
    assert select.select([process.stderr.fileno()], [], [], 60)[0], "nothing was said"
    said = os.read(process.stderr.fileno(), 1000).decode()
    assert "waiting for the first 100 lines" in said
    assert "4 so far" in said
    process.stdin.close()
    process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 0


def test_a_rate_counts_the_rows_that_were_timed(days):
    first = json.loads(run("learn", days / "tuesday.csv", "--from", days / "m.onkel",
                           "--json").stdout)  # fmt: skip
    assert first["n_rows"] == 5000
    assert first["untimed_rows"] == 3000
    assert first["rows_per_second"] == pytest.approx(2000 / first["learn_seconds"])
    assert first["curve"][0]["rows_per_second"] is None


def test_a_new_word_for_no_value(days):
    frame = pd.read_csv(days / "tuesday.csv")
    frame["a"] = frame["a"].astype(object)
    frame.loc[5::9, "a"] = "broken"
    frame.to_csv(days / "words.csv", index=False)
    more = "learn", days / "words.csv", "--from", days / "m.onkel"
    assert "(--na-values 'broken')" in run(*more).stderr
    assert run(*more, "--na-values", "broken", "--save", days / "n.onkel").exit_code == 0
    assert onkel.load(days / "n.onkel").encoder.na_values == ("broken",)
    assert run("predict", days / "n.onkel", days / "words.csv").exit_code == 0


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--decimal", ",", "has '.'"),
        ("--thousands", ",", "has None"),
        ("--categorical", "a", "did not learn it as categories"),
        ("--keep-columns", "count", "was learned without it"),
    ],
)
def test_options_that_would_do_nothing_are_refused(days, option, value, message):
    frame = pd.read_csv(days / "monday.csv")
    frame["count"] = range(len(frame))
    frame.to_csv(days / "counted.csv", index=False)
    model = days / "c.onkel"
    run("learn", days / "counted.csv", "-t", "y", "-a", "fogd", "--save", model)
    result = run("learn", days / "counted.csv", "--from", model, option, value)
    assert result.exit_code == 2
    assert f"{option}" in result.stderr
    assert message in result.stderr


def test_a_file_is_written_as_those_before(tmp_path):
    frame = table(300, 2)
    frame["place"] = frame["place"].replace("north", "Köln")
    path, model = tmp_path / "a.csv", tmp_path / "m.onkel"
    frame.to_csv(path, index=False, sep="#", encoding="cp1252")
    written = "--sep", "#", "--encoding", "cp1252"
    run("learn", path, "-t", "y", "-a", "fogd", "--save", model, *written)
    for rows in (600, 900):
        result = run("learn", path, "--from", model, "--save", model, "--json")
        assert json.loads(result.stdout)["n_rows"] == rows


def test_what_another_process_saved_meanwhile_stays(days, monkeypatch):
    saved, other = days / "m.onkel", days / "other.onkel"
    more = ["learn", days / "tuesday.csv", "-t", "y", "--from", saved, "--save"]
    assert run(*more, other, "--limit", 100).exit_code == 0
    theirs, learn = other.read_bytes(), LearnJob._learn

    def meanwhile(job, *args):
        status = learn(job, *args)
        other.replace(saved)
        return status

    with monkeypatch.context() as patch:
        patch.setattr(LearnJob, "_learn", meanwhile)
        result = run(*more, saved)
    assert result.exit_code == 1
    said = " ".join(result.stderr.split())
    assert f"{saved} was written by another process since this run began" in said
    assert f"the model of this run is in {days / 'm.2.onkel'}" in said
    assert saved.read_bytes() == theirs
    assert onkel.load(days / "m.2.onkel").n_rows == 5000
    # alone, a run replaces the file
    assert run(*more, saved).exit_code == 0
    assert onkel.load(saved).n_rows == 5100


def _is_told(result, path, own):
    said = " ".join(result.stderr.split())
    assert result.exit_code == 1
    assert said.count(f"{path} was written by another process since this run began") == 1
    assert f"the model of this run is in {own}" in said


def test_predict_that_learns_leaves_what_another_process_saved(days, monkeypatch):
    saved, other, work = days / "m.onkel", days / "other.onkel", PredictJob._predict_and_write
    more = ["predict", saved, days / "tuesday.csv", "--learn", "--out", days / "p.csv", "--save"]
    assert run(*more, other).exit_code == 0
    theirs = other.read_bytes()

    def meanwhile(job, *args):
        work(job, *args)
        other.replace(saved)

    with monkeypatch.context() as patch:
        patch.setattr(PredictJob, "_predict_and_write", meanwhile)
        result = run(*more, saved)
    _is_told(result, saved, days / "m.2.onkel")
    assert saved.read_bytes() == theirs == (days / "m.2.onkel").read_bytes()
    assert run(*more, saved).exit_code == 0
    assert onkel.load(saved).n_rows == 7000


def test_a_checkpoint_of_another_process_stays(days, monkeypatch):
    """All later ones of this run go to one file beside it."""
    kept, step = days / "c.onkel", PrequentialRun.step
    more = ["learn", days / "monday.csv", "-t", "y", "-a", "fogd", "--checkpoint-every", 500]

    def meanwhile(own, block):
        step(own, block)
        if own.n_rows == 1000:
            kept.write_bytes(b"theirs")

    with monkeypatch.context() as patch:
        patch.setattr(PrequentialRun, "step", meanwhile)
        result = run(*more, "--checkpoint", kept)
    _is_told(result, kept, days / "c.2.onkel")
    assert kept.read_bytes() == b"theirs"
    assert not (days / "c.3.onkel").exists()
    assert onkel.load(days / "c.2.onkel").n_rows == 3000
    assert run(*more, "--checkpoint", days / "c.2.onkel", "--resume").exit_code == 0


def test_a_resumed_run_fills_gaps_as_the_run_that_was_cut_off(days):
    """By the means of Monday's rows, too."""
    for name in ("monday", "tuesday"):
        frame = pd.read_csv(days / f"{name}.csv")
        frame["a"] = (frame["a"] + 3.0).where(np.arange(len(frame)) % 5 > 0)
        frame.to_csv(days / f"{name}.csv", index=False)
    learn = "learn", days / "monday.csv", "-t", "y", "-a", "fogd", "--exclude", "id"
    assert run(*learn, "--save", days / "m.onkel").exit_code == 0
    learn = "learn", days / "tuesday.csv", "--from", days / "m.onkel"
    assert run(*learn, "--save", days / "whole.onkel").exit_code == 0
    part = *learn, "--checkpoint", days / "c.onkel", "--checkpoint-every", "300"
    assert run(*part, "--limit", "600").exit_code == 0
    result = run(*part, "--resume", "--save", days / "resumed.onkel")
    assert result.exit_code == 0, result.stderr
    whole, resumed = (onkel.load(days / f"{name}.onkel") for name in ("whole", "resumed"))
    assert resumed.n_rows == 5000
    assert np.array_equal(resumed.encoder.means, whole.encoder.means)
    assert np.array_equal(resumed.encoder.counts, whole.encoder.counts)
    assert resumed.describe_columns() == whole.describe_columns()
    new = pd.read_csv(days / "monday.csv").drop(columns="y")
    assert (resumed.predict(new) == whole.predict(new)).all()
