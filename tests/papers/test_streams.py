"""``python -m papers streams`` on small generated streams."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from onkel import OnlineKernelRegressor
from papers import streams
from papers.__main__ import app
from papers.streams import LEARNERS, Published, with_lags

N = 120


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    walk = 20.0 + np.cumsum(rng.normal(size=N))
    targets = {"walk": walk, "turns": (walk > np.median(walk)) * 1}
    for name, y in targets.items():
        table = pa.table({"a": rng.normal(size=N), "b": rng.normal(size=N), "y": y})
        pq.write_table(table, tmp_path / f"{name}.parquet")
    monkeypatch.setitem(streams.PUBLISHED, "walk", Published(0.01, "nobody"))
    return tmp_path


def _reproduce(folder, *options):
    kept = ["--cache", str(folder / "kept")]
    return CliRunner().invoke(app, ["streams", *map(str, [folder, *options]), *kept])


@pytest.mark.slow
def test_all_learners_on_all_streams(folder, monkeypatch):
    result = _reproduce(folder, "--runs", 2, "--report", folder / "out", "--markdown")
    assert result.exit_code == 0, result.stderr
    head, _, *rows = [line for line in result.stdout.splitlines() if line.startswith("|")]
    assert head.split(" | ")[3:] == [*list(LEARNERS)[:-1], "amf-lags |"]
    assert [row.split(" | ")[0] for row in rows] == ["| turns", "| walk"]
    # a published number that nobody reaches
    assert "0.01" in rows[1]
    assert "default: no worse than the better of the last value and what is" in result.stdout
    report = json.loads((folder / "out" / "results.json").read_text())["results"]["streams"]
    runs = {r["algorithm"]: r for r in report if r["panel"] == "walk"}
    assert set(runs) == set(LEARNERS)
    assert len(runs["default"]["values"]) == len(runs["arf"]["values"]) == 2
    assert len(runs["last"]["values"]) == 1
    # the measure is the learner's own pass, without the first row
    table = pq.read_table(folder / "walk.parquet")
    y = table["y"].to_numpy()
    X = np.column_stack([table["a"], table["b"]]).astype(np.float32)
    report = OnlineKernelRegressor(speed="fast").predict_then_learn(X, y)
    expected = np.sqrt(np.mean((report - y)[1:] ** 2))
    assert runs["fast"]["values"][0] == pytest.approx(expected)
    assert runs["last"]["values"][0] == pytest.approx(np.sqrt(np.mean(np.diff(y) ** 2)))
    # nothing is run again
    monkeypatch.setattr("papers.runner.measure", lambda *_: pytest.fail("again"))
    again = _reproduce(folder, "--runs", 2, "--markdown")
    assert again.stdout == result.stdout


def test_fewer_rows_and_learners(folder):
    result = _reproduce(folder, "--rows", 40, "--learners", "fast,last", "--data", "walk")
    assert result.exit_code == 0
    assert "40" in result.stdout
    assert "turns" not in result.stdout
    # published numbers are for the whole stream; for 40 rows only the last value remains
    assert "of 1," in " ".join(result.stdout.split())


def test_lags_are_known_before_the_row():
    y = np.arange(1.0, 7.0)
    lagged = with_lags(np.zeros((6, 1)), y)
    np.testing.assert_array_equal(lagged[:, 1], [0, 1, 2, 3, 4, 5])
    np.testing.assert_array_equal(lagged[:, 3], [0, 0, 0, 1, 2, 3])
    np.testing.assert_allclose(lagged[:3, 4], [0.0, 0.2, 0.56])


def test_a_file_that_is_no_stream_is_named(folder):
    (folder / "torn.parquet").write_text("no Parquet")
    result = _reproduce(folder)
    assert result.exit_code == 2
    assert "torn.parquet: not a readable Parquet file" in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--learners", "fast,slow"], "--learners slow: must be among default, fast"),
        (["--data", "nothing"], "has no stream 'nothing'; there are turns, walk"),
    ],
)
def test_what_is_not_there_is_said(folder, options, message):
    result = _reproduce(folder, *options)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
