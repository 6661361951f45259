"""Iterators of (x, y), arrays and CSR matrices."""

from __future__ import annotations

import datetime

import numpy as np
import pytest
from scipy import sparse

from onkel.errors import DataError
from onkel.streams import open_stream


def test_dicts(collect):
    rows = [({"a": k, "t": "uv"[k % 2]}, "np"[k % 2]) for k in range(10)]
    rows[3] = ({"t": "u"}, "p")
    stream = open_stream(iter(rows), block_rows=4)
    assert stream.encoder.feature_names == ["a", "t=u", "t=v"]
    X, y, error, sizes = collect(stream)
    assert (error, sizes, y[3]) == (None, [4, 4, 2], "p")
    assert X[:, 0].tolist() == [0, 1, 2, 0, 4, 5, 6, 7, 8, 9]
    assert X[:4, 1:].tolist() == [[1, 0], [0, 1], [1, 0], [1, 0]]
    with pytest.raises(DataError, match="only once"):
        next(iter(stream))
    assert len(collect(open_stream(rows, skip_rows=7))[0]) == 3


@pytest.mark.parametrize(
    ("bad", "column"),
    [
        (({"a": "x"}, 1), "a"),
        (({"a": None}, 1), "a"),
        (({"a": float("nan")}, 1), "a"),
        (({"a": float("inf")}, 1), "a"),
        (({"a": 1}, None), None),
        (({"a": 1}, float("nan")), None),
        (([1.0], 1), None),
        (({"a": 1},), None),
        (5, None),
    ],
)
def test_bad_rows(collect, bad, column):
    rows = [({"a": k}, k % 2) for k in range(300)]
    rows[290] = bad
    X, _, error, _ = collect(open_stream(iter(rows), block_rows=100))
    assert (error.row, error.column) == (290, column)
    assert X[:, 0].tolist() == list(range(290))


@pytest.mark.parametrize("block_rows", [7, 100, 1000])
def test_keys_that_come_later_are_columns_behind_the_first(block_rows):
    rows = [({"a": k}, k % 2) for k in range(400)]
    rows[300] = ({"a": 300, "b": 1.5, "never": None}, 1)
    rows[350] = ({"t": "u", "b": -1.0}, 0)
    stream = open_stream(rows, block_rows=block_rows)
    assert stream.encoder.feature_names == ["a"]
    blocks = list(stream)
    assert stream.encoder.feature_names == ["a", "b", "t=u"]
    assert [c.late for c in stream.encoder.columns] == [False, True, True]
    X = np.zeros((400, 3))
    for block in blocks:
        assert block.late == block.X.shape[1] - 1
        X[block.start :][: block.n_rows, : block.X.shape[1]] = block.X
    assert blocks[-1].late == 2
    expected = np.zeros((400, 3))
    expected[:, 0] = range(400)
    expected[300, 1], expected[350, :2] = 1.5, (0.0, -1.0)
    expected[350, 2] = 1.0
    np.testing.assert_array_equal(X, expected)
    again = open_stream(rows, encoder=type(stream.encoder).from_state(stream.encoder.get_state()))
    np.testing.assert_array_equal(next(iter(again)).X, expected)


@pytest.mark.parametrize("how", [{"shuffle": 30}, {"missing": "mean"}, {"missing": "skip"}])
def test_late_keys_with_shuffling_and_filling(how):
    rows = [
        ({"a": k, "b": k if k >= 300 else None} if k >= 300 else {"a": k}, 0) for k in range(400)
    ]
    rows[310][0]["b"] = None
    how |= {"random_state": 0} if "shuffle" in how else {}
    rows[310][0]["b"] = 5.0 if "shuffle" in how else None
    blocks = list(open_stream(rows, block_rows=64, **how))
    pairs = {(x[0], x[1] if len(x) > 1 else 0.0) for block in blocks for x in block.X.tolist()}
    expected = {(float(k), float(k) if k >= 300 else 0.0) for k in range(400) if k != 310}
    assert expected <= pairs
    assert len(pairs) == 400


def test_vectors(collect):
    rows = [(np.array([k, 2.0]), k / 2) for k in range(5)]
    X, y, error, _ = collect(open_stream(rows))
    assert (X[:, 0].tolist(), y.tolist(), error) == ([0, 1, 2, 3, 4], [0, 0.5, 1, 1.5, 2], None)
    rows.append(([1, 2, 3], 0))
    error = collect(open_stream(rows))[2]
    assert (error.row, "vector of 2" in str(error)) == (5, True)
    rows = [([1, 2], None)] * 3
    assert collect(open_stream(rows))[1] is None


MISSING_TARGET = "the target is missing; every row needs one"


def test_arrays(collect):
    X = np.random.default_rng(0).standard_normal((100, 4)).astype(np.float32)
    stream = open_stream(X, block_rows=30)
    block = next(iter(stream))
    assert np.shares_memory(block.X, X)
    assert block.y is None
    np.testing.assert_array_equal(collect(open_stream((X, X[:, 0])))[0], X)
    F = np.asfortranarray(X)
    F.flags.writeable = False
    np.testing.assert_array_equal(collect(open_stream(F, block_rows=7))[0], X)
    y = np.array([None if k == 5 else "a" for k in range(100)], dtype=object)
    error, rows = collect(open_stream((X, y)))[2], collect(open_stream((X, y)))[0]
    assert (error.row, error.message, len(rows)) == (5, MISSING_TARGET, 5)
    X[42, 1] = np.nan
    Xs, _, error, _ = collect(open_stream(X, block_rows=30))
    assert (error.row, error.column, len(Xs)) == (42, 1, 42)
    y = np.ones(100)
    y[3] = np.inf
    assert collect(open_stream((X, y)))[2].row == 3
    with pytest.raises(DataError, match="name columns"):
        open_stream(X, target="y")
    big = np.full((2, 1), 1e300)
    assert "too large" in str(collect(open_stream(big))[2])
    assert collect(open_stream(big, dtype="float64"))[2] is None


def test_csr(collect):
    X = sparse.random(50, 6, 0.3, format="csc", random_state=0)
    stream = open_stream((X, np.arange(50)), block_rows=8, dtype="float64")
    block = next(iter(stream))
    assert block.X.format == "csr"
    np.testing.assert_array_equal(collect(stream)[0], X.toarray())
    with pytest.raises(DataError, match="6 columns where the model has 5"):
        open_stream(X, encoder=open_stream(np.ones((1, 5))).encoder)


def test_times_in_dicts_are_seconds(collect):
    moment = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=1)))
    first = {
        "zoned": moment,
        "plain": datetime.datetime(2024, 1, 1),
        "day": datetime.date(2024, 1, 1),
        "clock": datetime.time(0, 0),
        "span": datetime.timedelta(0),
        "numpy": np.datetime64("2024-01-01", "D"),
    }
    later = {
        "zoned": moment.astimezone(datetime.UTC) + datetime.timedelta(seconds=90),
        "plain": datetime.datetime(2024, 1, 1, 0, 1, 30),
        "day": datetime.date(2024, 1, 2),
        "clock": datetime.time(0, 1, 30),
        "span": datetime.timedelta(seconds=90),
        "numpy": np.datetime64("2024-01-02T00:00:00.5", "ns"),
    }
    X, _, error, _ = collect(open_stream([(first, 0), (later, 1), ({"day": "soon"}, 0)]))
    expected = [[0.0] * 5, [90.0, 90.0, 86400.0, 90.0, 86400.5]]
    trends = [0, 7, 14, 21, 29]
    np.testing.assert_allclose(86400.0 * np.sinh(X[:, trends]), expected, rtol=1e-5)
    assert X[:, 28].tolist() == [0.0, 90.0]  # a duration is a number of seconds
    assert (error.row, error.column) == (2, "day")
    assert "a time is expected" in str(error)
