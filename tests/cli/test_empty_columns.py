"""``onkel learn`` where a column of the file is empty for many rows."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import onkel
from onkel.cli import app
from onkel.streams import lines


def run(*args):
    result = CliRunner().invoke(app, [str(a) for a in args])
    assert result.exit_code == 0, result.stderr
    return result


@pytest.fixture
def stops(tmp_path, monkeypatch):
    """A number, a column whose first value comes in row 600, and a class."""
    monkeypatch.setattr(lines, "CHUNK_BYTES", 1 << 12)
    rng = np.random.default_rng(0)
    rows = [f"{v:.3f},{('NO', 'YES')[k % 2] if k >= 600 else ''},{'up' if v > 0 else 'down'}"
            for k, v in enumerate(rng.normal(size=1200))]  # fmt: skip
    (tmp_path / "stops.csv").write_text("\n".join(["a,cited,y", *rows]) + "\n")
    for name, part in (("1", rows[:500]), ("2", rows[500:])):
        (tmp_path / f"{name}.part").write_text("\n".join(["a,cited,y", *part]) + "\n")
    return tmp_path


def test_whole_resumed_and_continued_are_alike(stops):
    whole, resumed, more = (stops / f"{name}.onkel" for name in ("whole", "resumed", "more"))
    path, how = stops / "stops.csv", ["-t", "y", "-a", "fogd"]
    run("learn", path, *how, "-o", whole)
    for limit in (300, 550, 700):
        checkpoint = stops / f"{limit}.onkel"
        args = ["learn", path, *how, "--checkpoint", checkpoint]
        run(*args, "--limit", limit)
        run(*args, "--resume", "-o", resumed)
        models = [onkel.load(one) for one in (whole, resumed)]
        predictions = [model.predict(str(path)) for model in models]
        assert np.array_equal(*predictions)
        assert models[0].describe_columns() == models[1].describe_columns()
    run("learn", stops / "1.part", "--format", "csv", *how, "-o", more)
    assert onkel.load(more).encoder.kinds["cited"] == "empty"
    run("predict", more, path)
    run("learn", stops / "2.part", "--format", "csv", "--from", more, "-o", more)
    model = onkel.load(more)
    assert model.encoder.kinds["cited"] == "text"
    assert np.array_equal(model.predict(str(path)), predictions[0])
    shown = json.loads(run("info", more, "--json").stdout)["columns"]
    assert shown[1]["kind"] == "text"


def test_bad_values_are_gaps_where_that_is_asked_for(tmp_path):
    lines = [f"{k % 13},{'NO' if k in (700, 820) else k % 7},{'ud'[k % 7 > 3]}" for k in range(900)]
    (tmp_path / "r.csv").write_text("\n".join(["a,b,y", *lines]) + "\n")
    learn = "learn", tmp_path / "r.csv", "-t", "y", "-a", "pa", "-o", tmp_path / "m.onkel"
    failed = CliRunner().invoke(app, [str(a) for a in learn])
    assert failed.exit_code == 2
    assert "'NO' stands where a number is expected" in failed.stderr
    result = run(*learn, "--bad-values", "missing", "--json")
    assert json.loads(result.stdout)["n_rows"] == 900
    assert "taken for missing, as no number or time: 2 values (b 2)" in result.stderr
    # the model reads new rows as it has learned
    result = run("predict", tmp_path / "m.onkel", tmp_path / "r.csv")
    assert "2 values (b 2)" in result.stderr
