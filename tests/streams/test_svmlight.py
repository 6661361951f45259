"""svmlight text, by byte ranges."""

from __future__ import annotations

import io
import re
import sys

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from onkel.errors import DataError
from onkel.streams import Encoder, lines, open_stream
from onkel.streams.svmlight import LARGEST


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(lines, "CHUNK_BYTES", 300)


@pytest.fixture
def matrix():
    X = sparse.random(200, 30, 0.2, format="csr", random_state=0, dtype=np.float32)
    return X, np.arange(200) % 3 - 1


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("zero_based", [True, False])
def test_same_as_the_matrix(tmp_path, matrix, collect, zero_based):
    X, y = matrix
    f = str(tmp_path / "a.svm")
    dump_svmlight_file(X, y, f, zero_based=zero_based, comment="a: b")
    stream = open_stream(f, block_rows=37)
    Xs, ys, error, _ = collect(stream)
    assert error is None
    np.testing.assert_allclose(Xs, X.toarray()[:, : Xs.shape[1]], rtol=1e-6)
    assert ys.dtype == np.int64
    assert ys.tolist() == y.tolist()
    assert stream.encoder.zero_based == zero_based
    assert stream.progress() == 1
    encoder = Encoder.from_state(stream.encoder.get_state())
    again = open_stream([f, f], encoder=encoder, skip_rows=150)
    np.testing.assert_array_equal(collect(again)[0], np.vstack([Xs, Xs])[150:])
    assert again.progress() == 1


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("bad", ["1 3:x", "abc", "1 31:1", "1 0:5", "nan 1:1", "1 5:1 6", "1 -2:3"])
def test_bad_row(tmp_path, collect, bad):
    rows = ["1 1:1 30:2.5", "-1 2:1.5"] * 60
    rows[77] = bad
    f = tmp_path / "a.svm"
    f.write_text("\n".join(rows))
    encoder = Encoder(n_vector=30, zero_based=False)
    X, y, error, _ = collect(open_stream(f, block_rows=16, encoder=encoder))
    assert (error.source, error.row) == (str(f), 77)
    assert "line 78" in str(error)
    assert len(X) == len(y) == 77


def test_missing_values(tmp_path, collect):
    f = tmp_path / "a.svm"
    f.write_text("1 1:4 2:1\n1.5 2:nan\n0 1:nan 2:3\n")
    X, _, error, _ = collect(open_stream(f))
    assert (error.row, error.column, len(X)) == (1, 2, 1)
    assert collect(open_stream(f, missing="zero"))[0].tolist() == [[4, 1], [0, 0], [0, 3]]
    X, y, _, _ = collect(open_stream(f, missing="skip"))
    assert (X.tolist(), y.tolist()) == ([[4, 1]], [1])
    for rows in (1, 5):
        X = collect(open_stream(f, missing="mean", block_rows=rows))[0]
        assert X.tolist() == [[4, 1], [0, 1], [2, 3]]


def test_pipe_and_width(tmp_path, collect, monkeypatch):
    text = b"1 1:4 2:1\n0 3:1\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text), encoding="utf8"))
    assert collect(open_stream("-", format="svmlight"))[0].shape == (2, 3)
    f = tmp_path / "a.svm"
    f.write_bytes(text)
    assert collect(open_stream(f, features=7))[0].shape == (2, 7)
    with pytest.raises(DataError, match="index 3 where 2 features"):
        open_stream(f, features=2)
    f.write_bytes(b"")
    with pytest.raises(DataError, match="no rows"):
        open_stream(f)


@given(st.text("0123456789:. -e#qid\n", max_size=60))
@example("1 99999999:1")
@settings(max_examples=150, deadline=None)
def test_garbage(tmp_path_factory, garbage):
    f = tmp_path_factory.mktemp("g") / "a.svm"
    f.write_text("1 1:1 2:2\n" * 20 + garbage + "\n" + "1 1:1 2:2\n" * 5)
    rows, error = 0, None
    try:
        for block in open_stream(f, block_rows=8):
            rows += block.n_rows
    except DataError as refused:
        error = refused
    if rows == 0:
        # the number of features must be known before the first row: an index that makes too many
        # is refused when the file is opened
        found = re.search(r"line (\d+): index (\d+) would make", str(error))
        assert found is not None
        assert int(found[1]) > 20
        assert error.value == int(found[2]) > LARGEST
    else:
        assert rows >= 20
        assert error is None or error.row == rows


def test_a_file_system_that_hands_out_one_open_file(matrix, collect):
    """fsspec's memory:// does so; the scan for the largest index must not move the reader."""
    fsspec = pytest.importorskip("fsspec")
    X, y = matrix
    X = sparse.vstack([X] * 60, format="csr")
    y = np.tile(y, 60)
    text = io.BytesIO()
    dump_svmlight_file(X, y, text, zero_based=False)
    assert len(text.getvalue()) > lines.CHUNK_BYTES / 2
    with fsspec.open("memory://onkel-test/a.svm", "wb") as file:
        file.write(text.getvalue() * 3)
    stream = open_stream("memory://onkel-test/a.svm")
    for _ in range(2):
        assert len(collect(stream)[0]) == 3 * len(y)


def test_errors_count_the_columns_as_the_file_does(tmp_path, collect):
    for start, lines_ in ((1, "1 1:2 2:3\n0 2:nan\n"), (0, "1 0:2 1:3\n0 1:nan\n")):
        path = tmp_path / "a.svm"
        path.write_text(lines_)
        error = collect(open_stream(str(path)))[2]
        assert (error.row, error.column) == (1, 1 + start)
