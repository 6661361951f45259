"""Large arrays are written in a smaller form, and come back to the last bit."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import onkel
from onkel import ModelFileError, StreamModel
from onkel.cli import app
from onkel.evaluation.formatting import bytes_text
from onkel.persistence import files, packing
from onkel.pipeline.summary import waiting_rows

RNG = np.random.default_rng(0)
ARRAYS = {
    "single": RNG.normal(size=(9000, 3)).astype(np.float32).astype(np.float64),
    "double": np.abs(RNG.normal(size=(9000, 3))),
    "ones": np.ones(20_000),
    "signs": np.where(RNG.random(20_000) > 0.5, 1.0, -1.0),
    "whole": np.arange(30_000),
    "flags": RNG.random(80_000) > 0.9,
    "odd": np.array([np.nan, -0.0, np.inf, -np.inf, 5e-324, 1e300, 2.0] * 3000),
    "nans": np.full(10_000, np.nan),
    "small": np.arange(5.0),
    "noise": RNG.integers(0, 2**63, 10_000),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_come_back_bit_for_bit(name):
    array = ARRAYS[name]
    written, notes = packing.packed({name: array})
    again = packing.unpacked(written, json.loads(json.dumps(notes)))[name]
    assert again.dtype == array.dtype
    assert again.shape == array.shape
    assert again.tobytes() == array.tobytes()
    smaller = {"single": 0.47, "double": 0.95, "ones": 0.01, "signs": 0.05, "whole": 0.3}
    if name in smaller:
        assert written[name].nbytes < smaller[name] * array.nbytes
    assert (name in notes) == (name not in ("small", "noise"))


def waiting():
    """A model of the default learner that keeps rows for its search."""
    rng = np.random.default_rng(1)
    X = {f"c{j}": rng.normal(size=1500).astype(np.float32) for j in range(12)}
    model = StreamModel(onkel.OnlineKernelRegressor(n_components=30))
    return model.partial_fit(X, X["c0"] * X["c1"]), X


@pytest.mark.slow
def test_a_model_whose_rows_wait_goes_on_bit_for_bit_and_says_what_they_take(tmp_path, monkeypatch):
    model, X = waiting()
    path = tmp_path / "m.onkel"
    model.save(path)
    kept = waiting_rows(model)
    assert kept["rows"] == 1500
    assert kept["until"] == 131_072
    # also where another part of the model began later: rows that have not come
    fast = StreamModel(onkel.OnlineKernelRegressor(n_components=30, speed="fast"))
    fast.partial_fit(X, np.cumsum(X["c0"]))
    found = waiting_rows(fast)
    assert found is None or found["until"] > 1500
    assert kept["bytes"] > 1500 * 12 * 8
    small = path.stat().st_size
    with monkeypatch.context() as patch:
        patch.setattr(packing, "_LEAST", 1 << 60)
        assert small < len(model.to_bytes()) - 0.3 * kept["bytes"]
    again = onkel.load(path)
    for one in (model, again):
        one.partial_fit(X, X["c0"])
    assert again.to_bytes() == model.to_bytes()
    shown = CliRunner().invoke(app, ["info", str(path)])
    assert "1,500, for fits up to row 131,072" in " ".join(shown.stdout.split())
    as_json = CliRunner().invoke(app, ["info", str(path), "--json"])
    assert json.loads(as_json.stdout)["waiting_rows"] == kept


@pytest.mark.slow
def test_onkel_learn_says_how_large_its_file_is(tmp_path):
    """The file has the waiting rows in float32 and compressed: it is smaller than the model."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(1500, 12)).astype(np.float32)
    lines = [",".join(f"{v:.5f}" for v in [*x, x[0] * x[1]]) for x in rows.tolist()]
    path, saved = tmp_path / "rows.csv", tmp_path / "m.onkel"
    path.write_text("\n".join([",".join([*(f"c{j}" for j in range(12)), "y"]), *lines, ""]))
    command = ["learn", str(path), "-t", "y", "--set", "n_components=30", "--save", str(saved)]
    output = " ".join(CliRunner().invoke(app, command).stdout.split())
    size = bytes_text(saved.stat().st_size)
    assert f"{saved.name}, {size}" in output.replace("- ", "-")
    assert "kept rows 1,500, for fits up to row" in output
    model = onkel.load(saved)
    assert saved.stat().st_size < model.nbytes - 0.3 * waiting_rows(model)["bytes"]


def test_notes_that_do_not_fit_are_refused(monkeypatch):
    content = waiting()[0].to_bytes()
    assert isinstance(onkel.from_bytes(content), StreamModel)
    whole = packing.packed

    def wrong(arrays):
        written, notes = whole(arrays)
        name = next(iter(notes))
        notes[name] = [notes[name][0], "<f2", [10**9]]
        return written, notes

    monkeypatch.setattr(files, "packed", wrong)
    with pytest.raises(ModelFileError, match="the bytes: its packed arrays cannot be read"):
        onkel.from_bytes(waiting()[0].to_bytes())
