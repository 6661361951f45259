"""``onkel export`` from the outside."""

from __future__ import annotations

import builtins

import numpy as np
import onnxruntime
import pytest
from typer.testing import CliRunner

import onkel
from onkel import OnlineScaler, make
from onkel.cli import app


def run(*args):
    return CliRunner().invoke(app, [str(a) for a in args])


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    X = np.random.default_rng(0).normal(size=(500, 2)).round(4)
    lines = [f"{a},p{i % 3},{b},{'up' if a > b else 'down'}" for i, (a, b) in enumerate(X)]
    (folder / "rows.csv").write_text("a,place,b,y\n" + "\n".join(lines) + "\n")
    result = run(
        "learn", folder / "rows.csv", "-t", "y", "-a", "fogd", "--save", folder / "m.onkel"
    )
    assert result.exit_code == 0, result.stderr
    return folder / "m.onkel"


def test_a_saved_model_becomes_a_graph(saved, tmp_path):
    out = tmp_path / "m.onnx"
    result = run("export", saved, out)
    assert result.exit_code == 0, result.stderr
    assert "takes the columns a, place, b" in " ".join(result.stderr.split())
    row = {"a": 0.5, "place": "p1", "b": -0.5}
    inputs = {
        name: np.array([[value]], None if name != "place" else object)
        for name, value in row.items()
    }
    found = onnxruntime.InferenceSession(out).run(["prediction", "decision"], inputs)
    model = onkel.load(saved)
    assert found[0].tolist() == model.predict(row).tolist() == ["up"]
    np.testing.assert_allclose(found[1], model.decision_function(row), rtol=1e-5)


def test_a_bare_learner(tmp_path):
    make("pa").fit(np.eye(3), [0, 1, 1]).save(tmp_path / "pa.onkel")
    result = run("export", tmp_path / "pa.onkel", tmp_path / "pa.onnx")
    assert result.exit_code == 0, result.stderr
    assert "takes X (n, 3)" in result.stderr


def test_texts_that_share_a_hash_are_read_from_a_source(tmp_path):
    names = [f"k{i % 90}" for i in range(900)]
    lines = [f"{name},{i % 7},{i % 90}.5" for i, name in enumerate(names)]
    (tmp_path / "rows.csv").write_text("who,x,y\n" + "\n".join(lines) + "\n")
    rows, saved, out = (tmp_path / name for name in ("rows.csv", "m.onkel", "m.onnx"))
    result = run("learn", rows, "-t", "y", "-a", "pa", "--max-categories", 9, "--save", saved)
    assert result.exit_code == 0, result.stderr
    result = run("export", saved, out)
    assert (result.exit_code, "--values SOURCE" in result.stderr) == (2, True)
    result = run("export", saved, out, "--values", rows)
    assert result.exit_code == 0, result.stderr
    inputs = {"who": np.array([["k3"], ["k80"]], object), "x": np.array([[1.0], [2.0]])}
    found = onnxruntime.InferenceSession(out).run(None, inputs)[0]
    expected = onkel.load(saved).predict({"who": ["k3", "k80"], "x": [1, 2]})
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_what_cannot_be_exported_is_told_in_a_line(saved, tmp_path, monkeypatch):
    onkel.save(OnlineScaler(), tmp_path / "scaler.onkel")
    for words, message in (
        ((tmp_path / "scaler.onkel", tmp_path / "m.onnx"), "OnlineScaler, which predicts nothing"),
        ((saved, tmp_path / "none" / "m.onnx"), "does not exist"),
        ((saved, saved), "another use for that file"),
        ((tmp_path / "gone.onkel", tmp_path / "m.onnx"), "no such file"),
    ):
        result = run("export", *words)
        assert (result.exit_code, message in " ".join(result.stderr.split())) == (2, True), (
            result.stderr
        )
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "onnx":
            raise ModuleNotFoundError("No module named 'onnx'", name="onnx")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    result = run("export", saved, tmp_path / "m.onnx")
    assert (result.exit_code, "pip install 'onkel[onnx]'" in result.stderr) == (2, True)
