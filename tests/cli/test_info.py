"""``onkel info``, and how models and results show themselves."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import onkel
from onkel.cli import app


def run(*args):
    return CliRunner().invoke(app, [str(a) for a in args])


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A classifier of two of four columns."""
    folder = tmp_path_factory.mktemp("info")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2)).round(4)
    lines = [f"{i},{a},p{i % 3},{b},{'up' if a > b else '<b>'}" for i, (a, b) in enumerate(X)]
    (folder / "rows.csv").write_text("id,a,place,b,y\n" + "\n".join(lines) + "\n")
    result = run("learn", folder / "rows.csv", "-t", "y", "-a", "pa", "--exclude", "id", "--save",
                 folder / "m.onkel", "--json")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    return folder / "m.onkel", json.loads(result.stdout)


def test_what_a_model_file_holds(saved):
    path, learned = saved
    result = run("info", path)
    assert result.exit_code == 0, result.stderr
    output = " ".join(result.stdout.split())
    for text in ("PAClassifier (pa)", "classification of y", "<b>, up", "2,000", "place", "text",
                 "left out id", f"onkel {onkel.__version__}", f"mistakes {learned['value']:.2f} %",
                 "rows.csv"):  # fmt: skip
        assert text in output


def test_the_same_for_machines(saved):
    path, learned = saved
    result = run("info", path, "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert [(c["name"], c["kind"]) for c in found["columns"]] == [
        ("a", "number"), ("place", "text"), ("b", "number")
    ]  # fmt: skip
    assert found["classes"] == ["<b>", "up"]
    assert found["n_rows"] == 2000
    assert found["left_out"] == ["id"]
    assert found["score"]["mistakes"] == learned["value"]
    assert found["version"] == onkel.__version__
    assert found["file_bytes"] == path.stat().st_size
    assert found["settings"]["target"] == "y"


def test_a_bare_learner_and_a_file_that_is_none(tmp_path):
    onkel.PAClassifier().partial_fit([[0.0], [1.0]], [0, 1]).save(tmp_path / "bare.onkel")
    result = run("info", tmp_path / "bare.onkel")
    assert result.exit_code == 0, result.stderr
    assert "PAClassifier" in result.stdout
    for name, said in (("none.onkel", "no such file"), ("text.onkel", "not a model file")):
        (tmp_path / "text.onkel").write_text("a,b\n")
        result = run("info", tmp_path / name)
        assert result.exit_code == 2
        assert said in result.stderr


def test_models_and_results_show_themselves(saved):
    model = onkel.load(saved[0])
    assert repr(model).startswith("StreamModel(PAClassifier(")
    assert len(repr(model)) < 100
    page = model._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;, up" in page
    assert "a, place, b" in page
    X = np.random.default_rng(0).normal(size=(100, 2))
    result = onkel.prequential(onkel.PAClassifier(), (X, X[:, 0] > 0))
    assert repr(result).startswith("<PrequentialResult of PAClassifier: mistakes ")
    assert len(repr(result)) < 100
    assert "rows/s" in result._repr_html_()
