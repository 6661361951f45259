"""``onkel learn`` from the outside."""

from __future__ import annotations

import json
import os
import re
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from numba.core import event as numba_event
from typer.testing import CliRunner

import onkel
from onkel.algorithms import DEFAULT
from onkel.cli import app
from onkel.numerics.jit import jit


@pytest.fixture
def rows(tmp_path):
    """A CSV of 6 000 rows with numbers, text and two targets."""
    return written(tmp_path / "rows.csv", 6000)


def written(path, n):
    """Write n such rows."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, n))
    place = rng.choice(["north", "south"], size=n)
    label = np.where((a * b > 0) ^ (place == "north"), "late", "early")
    lines = [
        f"{x:.6f},{y:.6f},{p},{t},{x - y:.6f}"
        for x, y, p, t in zip(a, b, place, label, strict=True)
    ]
    path.write_text("a,b,place,label,gap\n" + "\n".join(lines) + "\n")
    return path


def run(*args):
    return CliRunner().invoke(app, [str(a) for a in args])


def learn_json(*args):
    result = run("learn", *args, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_a_classifier_is_learned_saved_and_reported(tmp_path):
    rows = written(tmp_path / "rows.csv", 1500)
    save, report = tmp_path / "m.onkel", tmp_path / "r.html"
    result = run(
        "learn", rows, "-t", "label", "--exclude", "gap", "--save", save, "--report", report
    )
    assert result.exit_code == 0, result.stderr
    assert f"{DEFAULT} (classification)" in result.stdout
    assert "1,500" in result.stdout
    assert "lower is better" in result.stdout
    assert "classification: the target holds text" in result.stderr
    assert "average loss" not in result.stderr  # silent where there is no terminal
    model = onkel.load(save)
    assert model.n_rows == 1500
    assert model.settings["target"] == "label"
    page = report.read_text("utf8")
    assert page.startswith("<!doctype html>")
    assert "<svg" in page
    assert "src=" not in page
    assert "http" not in page.replace("http://www.w3.org", "").replace(
        "http://purl.org", ""
    ).replace("http://creativecommons.org", "").replace("https://matplotlib.org", "")


def test_json_is_one_object_and_nothing_else(rows):
    found = learn_json(rows, "-t", "label", "--exclude", "gap", "-a", "fogd")
    assert found["task"] == "classification"
    assert found["n_rows"] == 6000
    assert found["metric"] == "mistakes"
    assert found["lower_is_better"] is True
    assert found["status"] == "complete"
    assert [row["n_rows"] for row in found["curve"]][-2:] == [4096, 6000]


def test_a_regression_is_told_apart(rows):
    result = run("learn", rows, "-t", "gap", "--exclude", "label", "-a", "pa")
    assert result.exit_code == 0, result.stderr
    assert "regression: the target is a number with decimals" in result.stderr
    assert "RMSE" in result.stdout
    found = learn_json(rows, "-t", "gap", "--exclude", "label", "-a", "pa")
    assert found["value"] < 0.2  # gap is linear in a and b


def test_the_table_of_progress_is_vowpal_wabbits(rows):
    result = run("learn", rows, "-t", "label", "-a", "pa", "--verbose", "--limit", 3000)
    lines = [line.split() for line in result.stderr.splitlines()]
    assert ["rows", "average", "loss", "since", "last", "rows/s"] in lines
    at = lines.index(["rows", "average", "loss", "since", "last", "rows/s"])
    *table, last = lines[at + 1 :]
    assert last[:4] == ["no", "model", "was", "saved;"]
    assert [line[0] for line in table] == [
        "2", "4", "8", "16", "32", "64", "128", "256", "512", "1,024", "2,048", "3,000",
    ]  # fmt: skip


def test_settings_reach_the_estimator(rows, tmp_path):
    save = tmp_path / "m.onkel"
    learn_json(
        rows, "-t", "label", "-a", "fogd", "--set", "n_components=7", "--set", "gamma=1/8",
        "--set", "loss=logistic", "--seed", 3, "--scaling", "none", "--dtype", "float64",
        "--save", save, "--limit", 100,
    )  # fmt: skip
    model = onkel.load(save)
    params = model.estimator.get_params()
    assert params["n_components"] == 7
    assert params["gamma"] == 0.125
    assert params["loss"] == "logistic"
    assert params["random_state"] == 3
    assert model.scaling == "none"
    assert model.n_rows == 100


@pytest.mark.slow
def test_same_seed_same_model(rows, tmp_path):
    few = tmp_path / "few.csv"
    few.write_text("".join(rows.read_text().splitlines(keepends=True)[:1101]))
    paths = [tmp_path / f"{i}.onkel" for i in range(3)]
    for path, seed in zip(paths, (1, 1, 2), strict=True):
        size = "n_components=100"
        shuffled = "--shuffle", 500, "--seed", seed
        learn_json(few, "-t", "label", "--set", size, *shuffled, "--save", path)
    one, same, other = (path.read_bytes() for path in paths)
    assert one == same
    assert one != other


def test_blocks_of_one_row_learn_what_a_loop_over_rows_does(tmp_path):
    """From a CSV file with gaps and new texts, after a model that knows the columns."""
    first, rest = written(tmp_path / "first.csv", 300), written(tmp_path / "rest.csv", 80)
    header, *lines = rest.read_text().splitlines()
    lines = [line.replace("north", "" if k % 3 else "west") for k, line in enumerate(lines)]
    rest.write_text("\n".join([header, *lines]) + "\n")
    base, save = tmp_path / "base.onkel", tmp_path / "m.onkel"
    learn_json(first, "-t", "label", "-a", "krls", "--save", base)
    learn_json(rest, "--from", base, "--block-rows", 1, "--save", save)
    loop = onkel.load(base)
    for line in lines:
        a, b, place, label, gap = line.split(",")
        loop.learn_one({"a": float(a), "b": float(b), "place": place, "gap": float(gap)}, label)
    loop.settings = onkel.load(save).settings
    assert loop.to_bytes() == onkel.load(save).to_bytes()


def test_stdin(rows):
    args = ["learn", "-", "--format", "csv", "-t", "label", "-a", "pa", "--json"]
    result = CliRunner().invoke(app, args, input=rows.read_text())
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["n_rows"] == 6000


def test_several_sources_are_read_in_turn(rows, tmp_path):
    header, *lines = rows.read_text().splitlines(keepends=True)
    parts = [tmp_path / f"part-{i}.csv" for i in range(3)]
    for i, part in enumerate(parts):
        part.write_text(header + "".join(lines[2000 * i : 2000 * (i + 1)]))
    save, of_parts = tmp_path / "m.onkel", tmp_path / "parts.onkel"
    report = learn_json(*parts, "-t", "label", "-a", "fogd", "--save", of_parts)
    whole = learn_json(rows, "-t", "label", "-a", "fogd", "--save", save)
    assert report["n_rows"] == whole["n_rows"] == 6000
    assert report["value"] == whole["value"]
    predicted = [run("predict", of_parts, *parts).stdout, run("predict", save, rows).stdout]
    assert predicted[0] == predicted[1]
    before = parts[1].read_bytes()
    result = run("learn", *parts, "-t", "label", "--save", parts[1])
    assert result.exit_code == 2
    assert "another use" in result.stderr
    assert parts[1].read_bytes() == before


def test_one_class_only_is_remarked(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("a,y\n" + "1.5,no\n" * 50)
    result = run("learn", path, "-t", "y", "-a", "pa")
    assert result.exit_code == 0
    assert "sorted by the target" in result.stderr
    path.write_text("a,y\n" + "1.5,5\n" * 50)
    result = run("learn", path, "-t", "y", "-a", "pa")
    assert "holds 1 distinct whole number (" in result.stderr


@pytest.mark.parametrize("shuffle", [0, 700])
def test_a_resumed_run_ends_as_an_unbroken_one(rows, tmp_path, shuffle):
    common = [rows, "-t", "label", "-a", "rrf", "--shuffle", shuffle]
    whole = learn_json(*common, "--save", tmp_path / "whole.onkel")
    checkpoint = ["--checkpoint", tmp_path / "c.onkel", "--checkpoint-every", 4096]
    learn_json(*common, *checkpoint, "--limit", 4096)
    rest = learn_json(*common, *checkpoint, "--resume", "--save", tmp_path / "two.onkel")
    assert (tmp_path / "two.onkel").read_bytes() == (tmp_path / "whole.onkel").read_bytes()
    assert rest["resumed_rows"] == 4096
    assert rest["value"] == whole["value"]
    assert [r["n_rows"] for r in rest["curve"]] == [r["n_rows"] for r in whole["curve"]]
    assert onkel.load(tmp_path / "c.onkel").n_rows == 6000


@pytest.mark.parametrize("missing", ["auto", "zero", "mean", "skip"])
def test_resuming_where_values_are_missing(rows, tmp_path, missing):
    lines = rows.read_text().splitlines()
    for i in range(5, 6000, 7):
        a, _, *rest = lines[i].split(",")
        lines[i] = ",".join([a, "", *rest])
    rows.write_text("\n".join(lines) + "\n")
    common = [rows, "-t", "label", "-a", "pa", "--missing", missing]
    learn_json(*common, "--save", tmp_path / "whole.onkel")
    checkpoint = ["--checkpoint", tmp_path / "c.onkel"]
    learn_json(*common, *checkpoint, "--limit", 4096)
    learn_json(*common, *checkpoint, "--resume", "--save", tmp_path / "two.onkel")
    assert (tmp_path / "two.onkel").read_bytes() == (tmp_path / "whole.onkel").read_bytes()


def test_a_bad_row_can_be_put_right_and_the_run_resumed(rows, tmp_path):
    good = rows.read_text()
    lines = good.splitlines()
    lines[5001] = "1.0,inf,north,late,0.5"
    rows.write_text("\n".join(lines) + "\n")
    args = [rows, "-t", "label", "-a", "pa", "--checkpoint", tmp_path / "c.onkel"]
    assert run("learn", *args).exit_code == 2
    rows.write_text(good)
    found = learn_json(*args, "--resume")
    assert found["resumed_rows"] == 5000
    assert found["n_rows"] == 6000
    assert onkel.load(tmp_path / "c.onkel").n_rows == 6000


def test_a_bad_first_row_leaves_older_files_alone(rows, tmp_path):
    save = tmp_path / "m.onkel"
    learn_json(rows, "-t", "label", "-a", "pa", "--save", save)
    before = save.read_bytes()
    rows.write_text("a,b,label\n1.5,inf,late\n2.5,0.5,early\n")
    result = run("learn", rows, "-t", "label", "-a", "pa", "--save", save)
    assert result.exit_code == 2
    assert "line 2, column 'b'" in result.stderr
    assert save.read_bytes() == before


def test_resuming_what_is_finished_changes_nothing(rows, tmp_path):
    args = [rows, "-t", "label", "-a", "pa", "--checkpoint", tmp_path / "c.onkel"]
    done = learn_json(*args)
    again = learn_json(*args, "--resume", "--save", tmp_path / "m.onkel")
    assert again["n_rows"] == done["n_rows"] == 6000
    assert again["value"] == done["value"]
    assert onkel.load(tmp_path / "m.onkel").n_rows == 6000


def test_resume_without_a_checkpoint_yet_begins(rows, tmp_path):
    result = run(
        "learn", rows, "-t", "label", "-a", "pa", "--resume", "--checkpoint", tmp_path / "c"
    )
    assert result.exit_code == 0
    assert "starting from the first row" in result.stderr


def test_resume_refuses_other_settings(rows, tmp_path):
    args = ["learn", rows, "-t", "label", "--checkpoint", tmp_path / "c.onkel"]
    assert run(*args, "-a", "pa").exit_code == 0
    result = run(*args, "-a", "fogd", "--resume")
    assert result.exit_code == 2
    assert "algorithm='pa'" in result.stderr
    assert "algorithm='fogd'" in result.stderr


def test_a_bad_row_in_mid_file_saves_what_was_learned(rows, tmp_path):
    lines = rows.read_text().splitlines()
    lines[5001] = "1.0,inf,north,late,0.5"  # line 5 002, with the header
    rows.write_text("\n".join(lines) + "\n")
    save = tmp_path / "m.onkel"
    result = run("learn", rows, "-t", "label", "-a", "pa", "--save", save)
    assert result.exit_code == 2
    assert "line 5002, column 'b'" in result.stderr
    assert "holds the model of the first 5,000 rows" in result.stderr
    assert "Traceback" not in result.stderr
    assert onkel.load(save).n_rows == 5000
    found = run("learn", rows, "-t", "label", "-a", "pa", "--json")
    assert found.exit_code == 2
    assert json.loads(found.stdout)["status"] == "bad input"
    assert "is lost" in found.stderr


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["none.csv", "-t", "y"], "none.csv"),
        (["{rows}", "-t", "nothing"], "'nothing'"),
        (["{rows}"], "--target"),
        (["{rows}", "-t", "label", "-a", "fogdd"], "did you mean 'fogd'"),
        (["{rows}", "-t", "label", "--set", "gama=1", "-a", "fogd"], "did you mean 'gamma'"),
        (["{rows}", "-t", "label", "--set", "gamma"], "name=value"),
        (["{rows}", "-t", "label", "--set", "gamma=-1", "-a", "fogd"], "gamma"),
        (["{rows}", "-t", "label", "--task", "regression"], "holds text"),
        (["{rows}", "-t", "label", "--save", "no/such/m.onkel"], "does not exist"),
        (["{rows}", "-t", "label", "--report", "."], "folder"),
        (["{rows}", "-t", "label", "--report", "r.pdf"], "an HTML page; name it r.html"),
        (["{rows}", "-t", "label", "--resume"], "--checkpoint"),
        (["{rows}", "-t", "label", "--format", "xml"], "xml"),
        (["-", "-t", "label"], "format"),
    ],
)
def test_what_a_user_can_put_right_is_one_line_and_status_2(rows, args, message):
    result = run("learn", *(arg.replace("{rows}", str(rows)) for arg in args))
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr
    errors = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1 or "Usage" in result.stderr


def test_a_truncated_parquet_file(tmp_path):
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1" + bytes(500))
    result = run("learn", path, "-t", "y")
    assert result.exit_code == 2
    assert "t.parquet" in result.stderr


def test_a_row_with_too_few_fields(rows, tmp_path):
    with rows.open("a") as file:
        file.write("1.0,2.0\n")
    result = run("learn", rows, "-t", "label", "-a", "pa")
    assert result.exit_code == 2
    assert "rows.csv" in result.stderr
    assert "Traceback" not in result.stderr


def test_no_rows(tmp_path):
    path = tmp_path / "none.csv"
    path.write_text("a,y\n")
    result = run("learn", path, "-t", "y")
    assert result.exit_code == 2
    assert "no rows" in result.stderr


def test_what_compiles_for_long_is_told_and_not_counted(rows, monkeypatch):
    """A loop that compiles slowly plays a cold machine."""
    from onkel.evaluation.run import PrequentialRun

    def compile_for(seconds):
        with numba_event.trigger_event("numba:compile", data={"dispatcher": jit(lambda: 0)}):
            time.sleep(seconds)

    of_one = PrequentialRun._step

    def slow(self, block):
        compile_for(1.4 if self.n_rows == 0 else 0.1)
        of_one(self, block)

    monkeypatch.setattr(PrequentialRun, "_step", slow)
    result = run("learn", rows, "-t", "label", "-a", "pa", "--json")
    assert result.stderr.count("compiling <lambda> for this machine (kept for the") == 1
    found = json.loads(result.stdout)
    assert found["n_rows"] == 6000
    assert found["startup_seconds"] > 1.4
    assert found["seconds"] < 1.4 * 2
    output = run("learn", rows, "-t", "label", "-a", "pa").stdout
    counted = re.search(r"in all +([\d.]+) s, reading included, ([\d.]+) s of it compiling", output)
    assert counted, output
    assert float(counted[1]) >= float(counted[2]) > 1.3


def test_a_search_is_told_with_its_rows(rows, monkeypatch):
    monkeypatch.setattr("onkel.evaluation.progress._LONG", 0.0)
    result = run("learn", rows, "-t", "label", "-v", "--limit", 1100, "--set", "speed=fast")
    assert re.search(r"searching landmarks and widths, .* to 512 rows took", result.stderr)


def test_a_model_that_diverges_ends_with_status_2_and_finite_weights(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 8))
    path, model = tmp_path / "a.csv", tmp_path / "m.onkel"
    lines = [",".join(f"{v:.4f}" for v in [*x, x[0] + x[1]]) for x in X]
    path.write_text("a,b,c,d,e,f,g,h,y\n" + "\n".join(lines) + "\n")
    result = run(
        "learn", path, "-t", "y", "-a", "fogd", "--set", "learning_rate=50", "--save", model
    )
    assert result.exit_code == 2
    assert "diverge" in result.stderr
    assert np.isfinite(onkel.load(model).estimator.coef_).all()


def test_no_file_is_written_over_by_a_slip(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,y\n1,0\n2,1\n")
    for option in ("--save", "--report", "--checkpoint"):
        result = run("learn", path, "-t", "y", "-a", "pa", option, path)
        assert result.exit_code == 2
        assert "another use" in result.stderr
    model = tmp_path / "m.onkel"
    assert run("learn", path, "-t", "y", "--save", model, "--report", model).exit_code == 2
    assert run("learn", path, "-t", "y", "-a", "pa", "--save", model).exit_code == 0
    assert run("predict", model, path, "-o", path).exit_code == 2
    assert path.read_text() == "a,y\n1,0\n2,1\n"


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_columns_that_only_a_later_file_has(tmp_path, suffix):
    """They are learned in a whole run, and in a run resumed before they appear."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((8000, 3)), columns=["a", "b", "late"])
    frame["y"] = frame["a"] + np.where(np.arange(8000) < 5000, 0.0, 3 * frame["late"]) > 0
    frame["y"] = frame["y"].map({True: "up", False: "down"})
    write = {
        "csv": lambda f, p: f.to_csv(p, index=False),
        "parquet": lambda f, p: f.to_parquet(p),
        "jsonl": lambda f, p: f.to_json(p, orient="records", lines=True),
    }[suffix]
    write(frame[:5000].drop(columns="late"), tmp_path / f"day1.{suffix}")
    write(frame[5000:], tmp_path / f"day2.{suffix}")
    args = ["learn", tmp_path / f"day*.{suffix}", "-t", "y", "-a", "fogd"]
    result = run(*args, "--save", tmp_path / "whole.onkel")
    assert result.exit_code == 0, result.stderr
    assert "came in mid-stream, and were learned from then on: late" in result.stderr
    whole = onkel.load(tmp_path / "whole.onkel")
    assert whole.encoder.feature_names == ["a", "b", "late"]
    checkpoint = ["--checkpoint", tmp_path / "c.onkel"]
    assert run(*args, *checkpoint, "--limit", 1000).exit_code == 0
    assert onkel.load(tmp_path / "c.onkel").estimator.n_features_in_ == 2
    found = learn_json(*args[1:], *checkpoint, "--resume")
    assert found["n_features"] == 3
    resumed = onkel.load(tmp_path / "c.onkel")
    np.testing.assert_allclose(resumed.estimator.coef_, whole.estimator.coef_, rtol=1e-5)
    seen = run("predict", tmp_path / "whole.onkel", tmp_path / f"day1.{suffix}")
    assert seen.exit_code == 0, seen.stderr


def test_a_run_that_failed_does_not_read_as_success(tmp_path):
    path = tmp_path / "rows.csv"
    rows = [f"{i % 7},{'up' if i % 3 else 'down'}" for i in range(40)]
    path.write_text("\n".join(["a,y", *rows[:16], "x,up", *rows[17:]]) + "\n")
    result = run("learn", path, "-t", "y", "-a", "pa")
    assert result.exit_code == 2
    assert result.stdout.startswith("status ")
    assert "bad input: what follows is of the rows before" in result.stdout
    assert "line 18" in result.stderr
    assert "counted in the first 16 rows" in result.stderr


def test_the_table_of_columns_says_in_how_many_rows_gaps_were_counted(tmp_path):
    path = tmp_path / "rows.csv"
    rows = [f"{'' if i % 10 else i},{i % 5},{i % 2 if i % 50 else ''}" for i in range(3000)]
    path.write_text("\n".join(["a,b,y", *rows]) + "\n")
    more = ["--checkpoint", tmp_path / "c.onkel", "--checkpoint-every", 500]
    result = run("learn", path, "-t", "y", "-a", "pa", *more)
    line = next(line for line in result.stderr.splitlines() if line.split()[:2] == ["a", "number"])
    assert line.split()[2] == "2,700"
    assert "counted in the first 3,000 rows" in result.stderr  # blocks of 500 rows are cut later


def test_a_source_of_one_class_says_so(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n" + "".join(f"{i % 7},up\n" for i in range(40)))
    result = run("learn", path, "-t", "y", "-a", "pa")
    assert "only one class came, 'up': there was nothing to tell apart" in result.stderr
    # the first row is not scored, and has a class of its own
    path.write_text("a,y\n7,down\n" + "".join(f"{i % 7},up\n" for i in range(40)))
    assert "only one class" not in run("learn", path, "-t", "y", "-a", "pa").stderr


def test_a_target_that_is_missing_throughout_is_named(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n" + "".join(f"{i % 7},\n" for i in range(40)))
    result = run("learn", path, "-t", "y", "-a", "pa")
    assert result.exit_code == 2
    assert "column 'y': the target is missing in all of its 40 rows" in result.stderr


@pytest.mark.skipif(os.name != "posix", reason="devices and permissions as POSIX has them")
def test_what_cannot_be_written_is_refused_before_a_row_is_learned(rows, tmp_path):
    os.mkfifo(tmp_path / "pipe.onkel")
    kept = tmp_path / "kept.onkel"
    kept.write_bytes(b"precious")
    kept.chmod(0o444)
    for path, why in ((tmp_path / "pipe.onkel", "a device, pipe or socket"), (kept, "protected")):
        result = run("learn", rows, "-t", "label", "-a", "pa", "--save", path)
        assert result.exit_code == 2
        assert why in result.stderr
        assert "counted in" not in result.stderr
    assert kept.read_bytes() == b"precious"


def test_no_warning_of_another_package_is_a_message(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("\U0001f642,y\n" + "".join(f"{i % 7},{i % 2}\n" for i in range(40)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = run("learn", path, "-t", "y", "-a", "pa", "--report", tmp_path / "r.html")
        assert result.exit_code == 0, result.stderr
        path.write_text("a,y\n" + "".join(f"{(-1) ** i * 1e308},{i % 2}\n" for i in range(40)))
        result = run("learn", path, "-t", "y", "-a", "pa")
    assert result.exit_code == 2
    why = "the value is infinite, or too large for float32 (3.4e+38)"
    assert f"line 2, column 'a': {why}" in result.stderr


def test_what_a_limit_reads_beyond_it_is_no_row_of_the_run(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{a:.4f},{'' if k % 7 == 3 else a:.4}" for k, a in enumerate(rng.normal(size=3000))]
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n" + "\n".join(lines) + "\n")
    said = run("learn", path, "-t", "y", "-a", "pa", "--limit", 50).stderr
    assert "as the target is missing: 429 rows among the 3,000 rows read" in " ".join(said.split())
    said = run("learn", path, "-t", "y", "-a", "pa").stderr
    assert "as the target is missing: 429 rows\n" in said


def test_features_are_those_of_the_model(tmp_path):
    """A text has a statistic for each class but one, which come one by one."""
    rng = np.random.default_rng(0)
    k, b = rng.integers(0, 5, 400), rng.choice(list("xyz"), 400)
    lines = [
        f"{i + a:.3f},{t},class {i}" for i, a, t in zip(k, rng.normal(size=400), b, strict=True)
    ]
    path, model = tmp_path / "rows.csv", tmp_path / "m.onkel"
    path.write_text("a,b,y\n" + "\n".join(lines) + "\n")
    shown = run("learn", path, "-t", "y", "-a", "pa", "--save", model).stdout
    n = onkel.load(model).estimator.n_features_in_
    assert f"400 × {n} features" in shown
    assert f"400 × {n} features" in run("info", model).stdout
