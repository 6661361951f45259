"""The fingerprint of what was read: a resumed run notices that its source has changed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from onkel.errors import DataError
from onkel.streams import Encoder, open_stream

AT = 333


def frame(n=900):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "a": rng.standard_normal(n).round(6),
            "b": rng.integers(0, 9, n),
            "c": rng.choice(["u", "v"], n),
            "y": rng.integers(0, 3, n),
        }
    )


def write(table, path):
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        table.to_parquet(path)
    else:
        table.to_json(path, orient="records", lines=True)


def read_until(path, rows, **options):
    """Encoder and fingerprint of a run that stopped after ``rows`` rows."""
    stream = open_stream(path, target="y", block_rows=50, fingerprint=True, **options)
    for block in stream:
        if block.start + block.n_rows >= rows:
            return Encoder.from_state(stream.encoder.get_state()), stream.fingerprint(rows)
    raise AssertionError


def resume(path, encoder, mark, **options):
    stream = open_stream(
        path, target="y", encoder=encoder, skip_rows=AT, fingerprint=mark, block_rows=64, **options
    )
    return stream, list(stream)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
@pytest.mark.parametrize("options", [{}, {"shuffle": 100, "random_state": 0}, {"missing": "mean"}])
def test_the_same_rows_go_on(tmp_path, suffix, options):
    path = tmp_path / f"a{suffix}"
    write(frame(), path)
    encoder, mark = read_until(path, AT, **options)
    stream, blocks = resume(path, encoder, mark, **options)
    assert (blocks[0].start, sum(b.n_rows for b in blocks)) == (AT, 900 - AT)
    whole = open_stream(path, target="y", fingerprint=True, **options)
    list(whole)
    assert stream.fingerprint() == whole.fingerprint()
    # appended rows are not a change
    write(pd.concat([frame(), frame(20)], ignore_index=True), path)
    if not options.get("shuffle"):
        assert sum(b.n_rows for b in resume(path, encoder, mark, **options)[1]) == 920 - AT


CHANGES = {
    "reversed": lambda t: t[::-1].reset_index(drop=True),
    "columns swapped": lambda t: t[["b", "a", "c", "y"]],
    "names swapped": lambda t: t.rename(columns={"a": "b", "b": "a"}),
    "shortened": lambda t: t[: AT - 1],
    "first row edited": lambda t: t.assign(a=np.where(t.index == 0, 9.0, t["a"])),
    "last row edited": lambda t: t.assign(b=np.where(t.index == AT - 1, 99, t["b"])),
    "target edited": lambda t: t.assign(y=np.where(t.index == 100, 7, t["y"])),
    "two rows swapped": lambda t: t.iloc[[1, 0, *range(2, len(t))]].reset_index(drop=True),
}


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
@pytest.mark.parametrize("change", CHANGES)
def test_changed_rows_are_refused_before_any_is_handed_out(tmp_path, suffix, change):
    path = tmp_path / f"a{suffix}"
    write(frame(), path)
    encoder, mark = read_until(path, AT)
    write(CHANGES[change](frame()), path)
    with pytest.raises(DataError, match="begin anew") as caught:
        resume(path, encoder, mark)
    assert caught.value.source == str(path)


def test_late_columns_and_cuts():
    """A key that comes later changes nothing in the fingerprint of the rows before it."""
    rows = [({"a": k} | ({"late": k} if k > 400 else {}), k % 2) for k in range(800)]
    marks = []
    for options in ({"block_rows": 7}, {"block_rows": 1000}):
        stream = open_stream(rows, fingerprint=True, **options)
        list(stream)
        marks.append(stream.fingerprint())
    assert marks[0] == marks[1]
    found = []
    for source in (rows, rows[:390]):
        stream = open_stream(source, fingerprint=True)
        next(iter(stream))
        found.append(stream.fingerprint(AT))
    assert found[0] == found[1]


def test_sparse_rows(tmp_path):
    X = sparse.random(500, 30, 0.2, format="csr", random_state=0)
    X[499, 29] = 1.0
    path = tmp_path / "a.svm"
    dump_svmlight_file(X, np.arange(500) % 2, str(path))
    stream = open_stream(path, fingerprint=True, block_rows=AT)
    next(iter(stream))
    mark, encoder = stream.fingerprint(), stream.encoder
    options = {"encoder": encoder, "skip_rows": AT, "fingerprint": mark}
    assert sum(b.n_rows for b in open_stream(path, **options)) == 500 - AT
    dump_svmlight_file(X[::-1], np.arange(500) % 2, str(path))
    with pytest.raises(DataError, match="not those read before"):
        list(open_stream(path, **options))


def test_a_fingerprint_has_to_be_asked_for():
    stream = open_stream(np.ones((3, 2)))
    with pytest.raises(ValueError, match="fingerprint=True"):
        stream.fingerprint()
    stream = open_stream(np.ones((3, 2)), fingerprint=True)
    list(stream)
    with pytest.raises(ValueError, match="between 0 and 3"):
        stream.fingerprint(4)
