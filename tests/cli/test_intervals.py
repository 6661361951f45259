"""Bounds around predictions: from the command line, and in Python."""

from __future__ import annotations

import json

import numpy as np
import pyarrow.csv as pc
import pytest
from typer.testing import CliRunner

import onkel
from onkel.cli import app


def run(*args):
    return CliRunner().invoke(app, [str(a) for a in args])


def table(path, n, seed, classes=False):
    """A target in thousands, with noise of 300."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, n))
    y = 5000.0 + 1000.0 * np.sin(2.0 * x) + 300.0 * rng.normal(size=n)
    shown = np.where(y > 5000.0, "high", "low") if classes else y.round(3)
    lines = [f"{a:.6f},{b:.6f},{c}" for a, b, c in zip(x, z, shown, strict=True)]
    path.write_text("\n".join(["x,z,y", *lines]) + "\n")
    return path, y


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("intervals")
    source, _ = table(folder / "train.csv", 4000, 0)
    for name, args in (
        ("okl", ["--set", "speed=fast"]),
        ("krls", ["-a", "krls"]),
        ("pa", ["-a", "pa"]),
    ):
        result = run("learn", source, "-t", "y", *args, "-o", folder / f"{name}.onkel")
        assert result.exit_code == 0, result.stderr
    classes, _ = table(folder / "classes.csv", 500, 0, classes=True)
    result = run("learn", classes, "-t", "y", "--set", "speed=fast", "-o", folder / "classes.onkel")
    assert result.exit_code == 0, result.stderr
    result = run("learn", classes, "-t", "y", "-a", "pa", "-o", folder / "plain.onkel")
    assert result.exit_code == 0, result.stderr
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", ["okl", "krls", "pa"])
@pytest.mark.parametrize("level", [0.5, 0.9])
def test_they_hold_the_share_of_targets_that_was_asked_for(name, level, learned, tmp_path):
    source, y = table(tmp_path / "new.csv", 3000, 1)
    out = tmp_path / "p.csv"
    result = run("predict", learned / f"{name}.onkel", source, "--intervals", level, "-o", out)
    assert result.exit_code == 0, result.stderr
    found = pc.read_csv(out).to_pydict()
    low, high = np.array(found["prediction_low"]), np.array(found["prediction_high"])
    # without error bars, the bounds are those of a model that was still learning
    near = 0.08 if name == "pa" else 0.04
    assert np.mean((low <= y) & (y <= high)) == pytest.approx(level, abs=near)
    model = onkel.load(learned / f"{name}.onkel")
    bounds = model.predict_interval(source, level)
    np.testing.assert_allclose(bounds, np.stack([low, high], axis=1), rtol=1e-6)
    # bounds end at 0, as no target was below it
    free = low > 0.0
    assert free.mean() > 0.9
    np.testing.assert_allclose(bounds.mean(axis=1)[free], model.predict(source)[free], rtol=1e-6)


@pytest.mark.parametrize(("args", "message"), [
    (("okl", "--intervals", "1.5"), "between 0 and 1"),
    (("classes", "--intervals", "0"), "between 0 and 1"),
    (("plain", "--intervals", "0.9"), "no thresholds for sets"),
    (("okl", "--intervals", "0.9", "--keep", "prediction_low"), "--keep prediction_low"),
])  # fmt: skip
def test_what_a_user_can_put_right(args, message, learned):
    name, *options = args
    result = run("predict", learned / f"{name}.onkel", learned / "train.csv", *options)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


@pytest.mark.parametrize("how", ["alone", "next", "learn"])
def test_what_is_measured_is_what_is_written(how, learned, tmp_path):
    """Not bounds of a run of its own, which learn from the labels of the file."""
    more = [] if how == "alone" else [f"--{how}"]
    for name, classes in (("okl", False), ("classes", True)):
        source, y = table(tmp_path / f"{name}.csv", 400, 2, classes=classes)
        out = tmp_path / f"{name}-out.csv"
        args = ("predict", learned / f"{name}.onkel", source, "--intervals", 80, "-o", out, *more)
        result = run(*args, "--json")
        assert result.exit_code == 0, result.stderr
        found, details = pc.read_csv(out).to_pydict(), json.loads(result.stdout)["details"]
        if classes:
            sets = np.column_stack([found["set_high"], found["set_low"]])
            inside = np.where(y > 5000.0, sets[:, 0], sets[:, 1])
            assert details["sets"]["size"] == pytest.approx(sets.sum() / 400)
        else:
            y = y.round(3)
            inside = (found["prediction_low"] <= y) & (y <= np.array(found["prediction_high"]))
        measured = details["sets" if classes else "intervals"]
        assert measured["coverage"] == pytest.approx(inside.mean())
        assert 0.6 < inside.mean() < 0.95
        model = onkel.load(learned / f"{name}.onkel")
        if classes and how == "alone":
            np.testing.assert_array_equal(sets, model.predict_set(source, 0.8))
    # without --intervals none are printed
    result = run("predict", learned / "okl.onkel", learned / "train.csv", "-o", out, "--json")
    assert "intervals" not in json.loads(result.stdout).get("details", {})


def test_in_python_too(learned):
    row = {"x": 0.0, "z": 0.0}
    with pytest.raises(ValueError, match="level=0"):
        onkel.load(learned / "okl.onkel").predict_interval(row, 0)
    low, high = onkel.load(learned / "pa.onkel").predict_interval(row)[0]
    assert low < onkel.load(learned / "pa.onkel").predict(row)[0] < high


def test_learn_measures_bounds(learned):
    result = run(
        "learn",
        learned / "train.csv",
        "-t",
        "y",
        "--set",
        "speed=fast",
        "--intervals",
        90,
        "--json",
    )
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    bounds = found["details"]["intervals"]
    assert bounds["level"] == 0.9
    assert abs(bounds["coverage"] - 0.9) < 0.02
    assert bounds["worst_window"] > 0.85
    assert bounds["winkler"] > bounds["width"] > 0
    assert found["alarms"] == []


def test_learn_measures_sets(learned):
    args = ("learn", learned / "classes.csv", "-t", "y", "--set", "speed=fast", "--intervals", 95)
    found = json.loads(run(*args, "--json").stdout)["details"]["sets"]
    assert abs(found["coverage"] - 0.95) < 0.03
    assert 0.9 < found["size"] < 2.0
    assert "95 % sets" in run(*args).stdout
    refused = run("learn", learned / "classes.csv", "-t", "y", "-a", "pa", "--intervals", 90)
    assert refused.exit_code == 2
    assert "probabilities" in refused.stderr


@pytest.mark.slow
def test_the_report_has_a_picture_of_the_last_rows(learned, tmp_path):
    page = tmp_path / "report.html"
    args = ("learn", learned / "train.csv", "-t", "y", "--set", "speed=fast", "--report", page)
    assert run(*args, "--intervals", 90).exit_code == 0
    assert "The last rows and their bounds" in page.read_text("utf8")
    assert run(*args).exit_code == 0
    assert "The last rows and their bounds" not in page.read_text("utf8")
