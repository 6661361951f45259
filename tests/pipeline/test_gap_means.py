"""The means that fill gaps know the rows that a model has learned, and no others."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

import onkel
from onkel import StreamModel, make
from onkel.cli import app
from onkel.errors import DataError
from onkel.evaluation import PrequentialRun
from onkel.streams import open_stream

N, BAD = 3300, 1800


def _table(seed=0):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(3.0, 1.0, N), rng.normal(size=N)
    y = a + b
    a[rng.random(N) < 0.2] = np.nan
    town = rng.choice(["Ulm", "Bonn", None], N)
    return pa.table(
        {"a": pa.array(a, from_pandas=True), "b": b, "town": pa.array(town.tolist()), "y": y}
    )


def _with_bad_row(table, row=BAD):
    """A target that reading takes and a learner refuses."""
    y = table["y"].to_numpy().copy()
    y[row] = 1e200
    return table.set_column(table.schema.get_field_index("y"), "y", pa.array(y))


def _model():
    return StreamModel(make("fogd", "regression", n_components=10, random_state=0))


def _alike(one, other):
    """Whether two encoders fill gaps of a and b by the same means, of the same number of values."""
    same = np.array_equal(one.means[:2], other.means[:2])
    return same and np.array_equal(one.counts[:2], other.counts[:2])


def _learn(model, stream):
    for block in stream:
        model.adopt(stream)
        model.learn(block)
        assert model.encoder.counts.max() == model.n_rows


@pytest.mark.parametrize("block_rows", [64, 256, 4096])
def test_after_a_bad_row_the_means_are_those_of_the_rows_learned(block_rows):
    table = _table()
    part = _model().partial_fit(table[:BAD], target="y")
    model = _model()
    with pytest.raises(DataError, match=f"row {BAD}"):
        _learn(model, model.open(_with_bad_row(table), target="y", block_rows=block_rows))
    assert (model.n_rows, model.encoder.counts.max()) == (BAD, BAD)
    assert _alike(model.encoder, part.encoder)


def test_the_rest_given_again_is_as_one_pass():
    table = _table()
    whole, model = _model().partial_fit(table, target="y"), _model()
    with pytest.raises(DataError, match=f"row {BAD}"):
        model.partial_fit(_with_bad_row(table), target="y")
    assert model.encoder.counts.max() == BAD
    model.partial_fit(table[BAD:])
    assert _alike(model.encoder, whole.encoder)
    gap = {"a": None, "b": 0.0, "town": "Ulm"}
    assert model.predict_one(gap) == whole.predict_one(gap)


def test_a_block_that_is_not_learned_does_not_count():
    model, part = _model(), _model().partial_fit(_table()[:512], target="y")
    stream = model.open(_table(), target="y", block_rows=512)
    for block in stream:
        model.adopt(stream)
        if block.start == 512:
            break
        model.learn(block)
    assert model.encoder.counts.max() == model.n_rows == 512
    assert _alike(model.encoder, part.encoder)


@pytest.mark.parametrize("shuffle", [0, 500])
def test_rows_in_parts_of_blocks_and_skipped_ones_count_once(shuffle):
    table = _table()
    how = {"target": "y", "missing": "auto", "shuffle": shuffle, "random_state": 0}
    stream = open_stream(table, block_rows=1000, **how)
    whole = open_stream(table, **how)
    blocks = list(whole)
    every = np.concatenate([block.X for block in blocks])
    assert whole.encoder.counts[0] == 3300 - np.isnan(table["a"].to_numpy()).sum()
    model = StreamModel(make("pa", "regression"), encoder=stream.encoder)
    run = PrequentialRun(model)  # which cuts blocks where its curve has points
    for block in stream:
        run.step(block)
        assert stream.encoder.counts[1] == run.n_rows
    assert _alike(stream.encoder, whole.encoder)
    # blocks that are learned later, by copies too, do not count again
    for block in blocks:
        StreamModel(make("pa", "regression"), encoder=whole.encoder).learn(block)
    assert _alike(stream.encoder, whole.encoder)
    again = open_stream(table, encoder=stream.encoder, extend=True, skip_rows=2500, **how)
    for block in again:
        assert stream.encoder.counts[1] == block.start
        assert np.array_equal(block.X, every[block.start :][: block.n_rows])
    assert _alike(stream.encoder, whole.encoder)


def test_sparse_rows():
    rng = np.random.default_rng(0)
    X = sp.random(3000, 8, density=0.4, format="csr", rng=rng)
    X.data[rng.random(X.nnz) < 0.2] = np.nan
    y = rng.normal(size=3000)
    whole = open_stream((X, y), missing="mean")
    every = sp.vstack([block.X for block in whole])
    stream, known = open_stream((X, y), missing="mean", block_rows=700), 0
    for block in stream:
        found = stream.encoder.counts
        assert found is None or found.max() <= known
        known += block.n_rows
        assert (every[block.start : known] != block.X).nnz == 0
    assert _alike(stream.encoder, whole.encoder)


def test_rows_that_are_not_learned_do_not_count(tmp_path):
    rows = [{"a": float(k), "b": k % 3, "y": None if k % 2 else k % 5} for k in range(40)]
    table = pa.Table.from_pylist(rows)
    stream = open_stream(table, target="y", missing="auto", encoder=None)
    list(stream)
    assert stream.encoder.counts.tolist() == [20.0] * stream.n_features
    model = _model().partial_fit(pa.Table.from_pylist(rows[:20:2]), target="y")
    model.save(tmp_path / "a.onkel")
    pq.write_table(table.slice(20), tmp_path / "b.parquet")
    paths = [str(tmp_path / name) for name in ("a.onkel", "b.parquet", "c.onkel", "p.csv")]
    args = ["predict", *paths[:2], "--learn", "--save", paths[2], "--out", paths[3]]
    result = CliRunner().invoke(app, args)
    assert result.exit_code == 0, result.output
    learned = onkel.load(paths[2])
    assert (learned.n_rows, learned.encoder.counts.max()) == (20, 20)


@pytest.mark.parametrize("ends", ["--limit 1800", "--limit 1800 --delay 50", ""])
def test_a_run_that_learns_the_first_rows(tmp_path, ends):
    path, saved = tmp_path / "a.parquet", str(tmp_path / "a.onkel")
    pq.write_table(_table() if ends else _with_bad_row(_table()), path)
    args = ["learn", str(path), "--target", "y", "--algorithm", "fogd", "--save", saved]
    assert CliRunner().invoke(app, args + ends.split()).exit_code == (0 if ends else 2)
    found = onkel.load(saved)
    assert (found.n_rows, found.encoder.counts.max()) == (BAD, BAD)
