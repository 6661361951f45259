"""Blocks do not depend on how the source is cut; shuffling; hashing; the saved encoder."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onkel.columns.categories import slots
from onkel.errors import DataError
from onkel.numerics.arrays import with_zero_columns
from onkel.streams import Column, Encoder, lines, open_stream

ROWS = 150


def make(holes):
    rng = np.random.default_rng(1)
    a = rng.standard_normal(ROWS)
    text = rng.choice(["red", "green", "blue"], ROWS)
    hole = rng.random(ROWS) < holes
    return pa.table(
        {
            "a": pa.array(a, mask=hole),
            "b": rng.integers(0, 50, ROWS),
            "c": pa.array(text, mask=rng.random(ROWS) < holes),
            "y": rng.integers(0, 2, ROWS),
        }
    )


def read(stream):
    blocks = list(stream)
    d = blocks[-1].X.shape[1]
    X = np.concatenate([with_zero_columns(b.X, d - b.X.shape[1]) for b in blocks])
    return X, np.concatenate([b.y for b in blocks]), [b.n_rows for b in blocks]


@pytest.mark.slow
@given(
    block_rows=st.integers(1, 160),
    batch=st.integers(1, 160),
    missing=st.sampled_from(["zero", "mean", "skip"]),
    shuffle=st.sampled_from([0, 1, 7, 60, 1000]),
    skip=st.integers(0, 160),
)
@settings(max_examples=120, deadline=None)
def test_cuts_do_not_matter(block_rows, batch, missing, shuffle, skip):
    table = make(0.1)
    options = {"target": "y", "missing": missing, "shuffle": shuffle, "random_state": 3}
    X, y, _ = read(open_stream(table, block_rows=10**6, **options))
    reader = pa.Table.from_batches(table.to_batches(max_chunksize=batch))
    stream = open_stream(reader, block_rows=block_rows, skip_rows=skip, **options)
    if skip >= len(X):
        assert list(stream) == []
        return
    Xs, ys, sizes = read(stream)
    np.testing.assert_array_equal(Xs, X[skip:])
    np.testing.assert_array_equal(ys, y[skip:])
    assert all(n == block_rows for n in sizes[:-1])
    assert all(0 < n <= block_rows for n in sizes)


@pytest.mark.parametrize("size", [50, 1000, 10**6])
def test_text_chunks_do_not_matter(tmp_path, monkeypatch, size):
    table = make(0)
    text = table.to_pandas().to_csv(index=False)
    (tmp_path / "a.csv").write_text(text.replace("red", '"red"'))
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, table.to_pylist())))
    monkeypatch.setattr(lines, "CHUNK_BYTES", size)
    X, y, _ = read(open_stream(table, target="y"))
    for name in ("a.csv", "a.jsonl"):
        Xs, ys, sizes = read(open_stream(tmp_path / name, target="y", block_rows=64))
        np.testing.assert_array_equal(Xs, X)
        np.testing.assert_array_equal(ys, y)
        assert sizes == [64, 64, 22]


def test_mean_against_an_oracle():
    table = make(0.3).select(["a", "b", "y"])
    X, _, _ = read(open_stream(table, target="y", missing="mean", dtype="float64"))
    a = table["a"].to_numpy()
    for t in range(ROWS):
        if np.isnan(a[t]):
            past = a[:t][~np.isnan(a[:t])]
            np.testing.assert_allclose(X[t, 0], past.mean() if len(past) else 0, atol=1e-12)
        else:
            assert X[t, 0] == a[t]


def test_means_are_saved_with_the_encoder():
    table = pa.table({"a": [1.0, 3.0], "y": [0, 1]})
    stream = open_stream(table, target="y", missing="mean")
    list(stream)
    encoder = Encoder.from_state(json.loads(json.dumps(stream.encoder.get_state())))
    new = pa.table({"a": pa.array([None, 5.0])})
    blocks = list(open_stream(new, encoder=encoder, missing="mean"))
    assert blocks[0].X[0, 0] == 2
    # Resumed: the skipped rows are not counted a second time.
    encoder = Encoder.from_state(stream.encoder.get_state())
    more = pa.table({"a": pa.array([1.0, 3.0, None]), "y": [0, 1, 0]})
    blocks = list(open_stream(more, encoder=encoder, missing="mean", skip_rows=2))
    assert (blocks[0].X[0, 0], blocks[0].start) == (2, 2)
    assert encoder.counts.tolist() == [2]


@given(n=st.integers(1, 120), size=st.integers(1, 130), seed=st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_shuffle_is_a_permutation(n, size, seed):
    X = np.arange(n, dtype=np.float64)[:, None]
    options = {"shuffle": size, "random_state": seed, "dtype": "float64"}
    out, y, _ = read(open_stream((X, np.arange(n)), **options))
    assert sorted(out[:, 0]) == list(range(n))
    np.testing.assert_array_equal(out[:, 0], y)
    # No row moves forward by more than `size`.
    assert (np.arange(n) >= out[:, 0] - size).all()
    again, _, _ = read(open_stream((X, np.arange(n)), block_rows=3, **options))
    np.testing.assert_array_equal(out, again)


def test_shuffle_keeps_the_rows_before_an_error():
    X = np.arange(100.0)[:, None]
    X[60] = np.nan
    blocks = iter(open_stream(X, shuffle=20, random_state=0, block_rows=16))
    rows = [x for _ in range(4) for x in next(blocks).X[:, 0].tolist()]
    with pytest.raises(DataError, match="row 60"):
        next(blocks)
    assert sorted(rows) == list(range(60))
    assert rows != sorted(rows)


def test_hash_is_stable():
    # Fixed values: a change breaks saved models.
    assert slots(["a", "b", "red", "Zürich", ""], "city", 32).tolist() == [28, 4, 15, 26, 1]
    assert slots(["a", "b"], "other", 1000).tolist() != slots(["a", "b"], "city", 1000).tolist()
    counts = np.bincount(slots([str(k) for k in range(32000)], "c", 32), minlength=32)
    assert counts.min() > 850
    assert counts.max() < 1150


def test_encoder_refuses():
    with pytest.raises(ValueError, match="kind 'blob'"):
        Encoder([Column("a", "blob")])
    with pytest.raises(ValueError, match="n_hash"):
        Encoder([], n_hash=0)
    encoder = Encoder([Column("a", "number"), Column("w", "time")], n_hash=2)
    with pytest.raises(DataError, match="column 'w': no such column"):
        encoder.encode(pa.RecordBatch.from_pydict({"a": [1]}))
    with pytest.raises(DataError, match="row 1, column 'a': 'x' stands where a number"):
        encoder.encode(pa.RecordBatch.from_pydict({"a": ["1", "x"], "w": [1, 2]}))
    with pytest.raises(DataError, match=r"column 'w'.*time or date is expected"):
        encoder.encode(pa.RecordBatch.from_pydict({"a": ["1", "2"], "w": [1, 2]}))
    assert encoder.column_of(1) == "w"
    assert "8 features" in repr(encoder)
