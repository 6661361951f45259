"""Parquet, Arrow, JSON Lines, in-memory tables: the same rows, the same errors."""

from __future__ import annotations

import io
import json
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onkel.errors import DataError
from onkel.streams import open_stream


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "a": rng.standard_normal(500),
            "b": pa.array(rng.integers(0, 9, 500), pa.int16()),
            "c": pa.array(rng.choice(["u", "v", "w"], 500)).dictionary_encode(),
            "t": pa.array(rng.integers(0, 10**9, 500), pa.timestamp("s")),
            "f": pa.array(rng.random(500) < 0.5),
            "y": rng.integers(0, 3, 500),
        }
    )


def as_jsonl(table):
    rows = table.to_pylist()
    for row in rows:
        row["t"] = row["t"].isoformat(sep=" ")
    return "\n".join(map(json.dumps, rows)).encode()


def sources(table, folder):
    """The same table in every form; files named by format."""
    pq.write_table(table, folder / "a.parquet", row_group_size=77)
    with pa.ipc.new_file(folder / "a.arrow", table.schema) as f:
        f.write_table(table, max_chunksize=33)
    with pa.ipc.new_stream(folder / "a.arrows", table.schema) as f:
        f.write_table(table, max_chunksize=91)
    (folder / "a.jsonl").write_bytes(as_jsonl(table))
    pacsv.write_csv(table.set_column(2, "c", table["c"].cast(pa.string())), folder / "a.csv")
    for name in ("a.parquet", "a.arrow", "a.arrows", "a.jsonl", "a.csv"):
        yield name, str(folder / name)
    yield "table", table
    yield "batch", table.combine_chunks().to_batches()[0]
    yield "reader", table.to_reader(max_chunksize=13)
    yield "pandas", table.to_pandas()
    yield "polars", pl.from_arrow(table)


def test_all_sources_agree(table, tmp_path, collect):
    expected = None
    for name, source in sources(table, tmp_path):
        stream = open_stream(source, target="y", block_rows=64, n_hash=8, dtype="float64")
        X, y, error, sizes = collect(stream)
        assert error is None, name
        assert sum(sizes) == 500
        if expected is None:
            expected = X, y, stream.encoder.feature_names
        np.testing.assert_array_equal(X, expected[0], err_msg=name)
        np.testing.assert_array_equal(y, expected[1], err_msg=name)
        assert stream.encoder.feature_names == expected[2]
        assert stream.progress() == pytest.approx(1) or stream.progress() is None
        if name != "reader":
            again = open_stream(source, encoder=stream.encoder, dtype="float64", skip_rows=130)
            assert again.target == "y"
            for _ in range(2):
                np.testing.assert_array_equal(collect(again)[0], X[130:], err_msg=name)
        else:
            with pytest.raises(DataError, match="only once"):
                next(iter(stream))


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.arrows"])
def test_standard_input(table, tmp_path, collect, monkeypatch, name):
    data = open_stream(dict(sources(table, tmp_path))[name], target="y")
    raw = (tmp_path / name).read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw), encoding="utf8"))
    kind = {"a.arrows": "arrow"}.get(name, name[2:])
    stream = open_stream("-", format=kind, target="y")
    assert stream.source == "standard input"
    np.testing.assert_array_equal(collect(stream)[0], collect(data)[0])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw), encoding="utf8"))
    with pytest.raises(DataError, match="name does not tell the format"):
        open_stream("-")
    with pytest.raises(DataError, match="pipe"):
        open_stream("-", format="parquet")


def test_url(table, tmp_path, collect):
    fsspec = pytest.importorskip("fsspec")
    path = dict(sources(table, tmp_path))["a.parquet"]
    with open(path, "rb") as f, fsspec.open("memory://in/a.parquet", "wb") as g:
        g.write(f.read())
    X = collect(open_stream("memory://in/*.parquet", target="y"))[0]
    np.testing.assert_array_equal(X, collect(open_stream(path, target="y"))[0])
    with pytest.raises(DataError, match="nothing"):
        open_stream("memory://nothing.parquet")


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.arrows"])
@pytest.mark.parametrize("keep", [0, 3, 0.5, 0.99])
def test_truncated(table, tmp_path, name, keep):
    dict(sources(table, tmp_path))
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[: int(keep * len(whole)) if keep < 1 else keep])
    with pytest.raises(DataError, match=name):
        list(open_stream(tmp_path / name, target="y"))


def test_damaged_parquet(table, tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, row_group_size=100, write_page_checksum=True)
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 40] = b"\xff" * 40
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"a\.parquet.*damaged"):
        list(open_stream(path, target="y"))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("nothing.csv", "No such file"),
        ("*.csv", "no file matches"),
        (".", "no data file"),
        (3.5, "not a source of rows"),
        (iter([]), "no rows"),
        (np.zeros((0, 3)), "no rows"),
        (np.zeros(3), "shape"),
        ((np.zeros((3, 2)), [1, 2]), "shape"),
        (np.array([["a", "b"]]), "numbers"),
    ],
)
def test_no_such_source(source, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=words):
        open_stream(source)


def test_unknown_columns_and_formats(table, tmp_path):
    (tmp_path / "a.xyz").write_text("a\n1\n")
    with pytest.raises(DataError, match="name does not tell"):
        open_stream(tmp_path / "a.xyz")
    with pytest.raises(DataError, match="unknown format 'xls'"):
        open_stream(tmp_path / "a.xyz", format="xls")
    for option in ("target", "features", "exclude", "categorical"):
        value = "aa" if option == "target" else ["aa"]
        with pytest.raises(DataError, match="column 'aa': no such column; did you mean 'a'"):
            open_stream(table, **{option: value})
    with pytest.raises(DataError, match="no feature columns"):
        open_stream(table, features=["y"], target="y")
    with pytest.raises(DataError, match=r"column 'l'.*cannot be a feature"):
        open_stream(pa.table({"l": [[1], [2]]}))
    for bad in ({"missing": "drop"}, {"block_rows": 0}, {"n_hash": 0}, {"dtype": "int8"}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            open_stream(table, **bad)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([b"u"] * 5 + [b"\xff"], r"row 5, column 'a': b'\\xff' cannot be read as text"),
        (pd.cut(np.arange(6.0), [-1, 2, 9]), "column 'a': .*exclude, or make it text or numbers"),
    ],
)
def test_values_of_a_frame_that_cannot_be_read_are_named(values, words):
    frame = pd.DataFrame({"b": np.arange(6.0), "a": values})
    with pytest.raises(DataError, match=words):
        list(open_stream(frame))


@pytest.mark.parametrize("make", [pd.Series, pl.Series, pa.array, lambda x: pa.chunked_array([x])])
def test_one_column_is_no_table(make):
    with pytest.raises(DataError, match="is one column without a table; give a frame"):
        open_stream(make(np.arange(5.0)))


def test_what_a_mask_hides_is_missing(collect):
    hidden = np.arange(20) % 4 == 1
    values = np.where(hidden, -9999.0, np.arange(20.0))
    masked = np.ma.masked_array(np.column_stack([values, values]), np.column_stack([hidden] * 2))
    plain = np.where(hidden, np.nan, values)
    expected = collect(open_stream(np.column_stack([plain, plain]), missing="mean"))[0]
    np.testing.assert_array_equal(collect(open_stream(masked, missing="mean"))[0], expected)
    for y in (values, values.astype(int), values.astype(str)):
        labels = np.ma.masked_array(y, hidden)
        _, _, error, _ = collect(open_stream((values[:, None], labels)))
        assert (error.row, error.value is None) == (1, y.dtype.kind == "U")


def test_features_and_exclude(table, collect):
    stream = open_stream(table, target="y", features=["b", "a"])
    assert stream.encoder.feature_names == ["b", "a"]
    np.testing.assert_array_equal(collect(stream)[0][:, 0], table["b"].to_numpy())
    stream = open_stream(table, target="y", exclude=["c", "t"])
    assert stream.encoder.feature_names == ["a", "b", "f"]
    stream = open_stream(
        table, target="y", features=["b"], categorical=["b"], n_hash=4, max_categories=0
    )
    assert stream.encoder.n_features == 4
    assert (collect(stream)[0].sum(axis=1) == 1).all()


def test_nulls_by_row(table, collect):
    holes = table.set_column(0, "a", pa.array([None if k == 70 else 1.0 for k in range(500)]))
    X, _, error, sizes = collect(open_stream(holes, target="y", block_rows=32))
    assert (error.row, error.column, sizes) == (70, "a", [32, 32, 6])
    for missing, value in (("zero", 0), ("mean", 1)):
        X, _, error, _ = collect(open_stream(holes, target="y", missing=missing))
        assert (X[70, 0], error) == (value, None)
    X, y, _, _ = collect(open_stream(holes, target="y", missing="skip"))
    assert len(X) == len(y) == 499


def test_frame_and_labels(table, collect):
    frame = table.select(["a", "b"]).to_pandas()
    labels = table["y"].to_numpy()
    X, y, _, _ = collect(open_stream((frame, labels), block_rows=99, skip_rows=5))
    np.testing.assert_array_equal(y, labels[5:])
    np.testing.assert_array_equal(X[:, 1], frame["b"].to_numpy()[5:])
    with pytest.raises(DataError, match="500 rows and y has 3"):
        open_stream((frame, [1, 2, 3]))


def test_pandas_traps(collect):
    frame = pd.DataFrame({"a": [1.0, np.nan], 3: ["u", None], "y": ["p", "q"]})
    stream = open_stream(frame, target="y", missing="zero", n_hash=2)
    assert stream.encoder.feature_names == ["a", "3=u"]
    assert collect(stream)[0][1].tolist() == [0, 0]
    with pytest.raises(DataError, match="cannot be read"):
        open_stream(pd.DataFrame({"a": [1, "x", object()]}))


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float16", "bool", "decimal", "duration"])
def test_arrow_types(dtype, collect):
    types = {"decimal": pa.decimal128(21, 2), "duration": pa.duration("ms"), "bool": pa.bool_()}
    t = types.get(dtype) or getattr(pa, dtype)()
    values = pa.array([1, 0, None], pa.int64()).cast(t)
    X = collect(open_stream(pa.table({"a": values}), missing="zero"))[0]
    expected = [0.001, 0, 0] if dtype == "duration" else [1, 0, 0]
    np.testing.assert_allclose(X[:, 0], expected, rtol=1e-6)


def test_jsonl_errors(tmp_path, collect):
    good = [json.dumps({"a": k, "s": "t", "y": 1}) for k in range(50)]
    bads = {
        '{"a": "x", "s": "t", "y": 1}': "a",
        '{"a": 1, "s": [5], "y": 1}': "s",
        '{"a": 1, ': None,
        "[1, 2]": None,
        '{"s": "t", "y": 1}': "a",
        '{"a": [1], "s": "t", "y": 1}': "a",
    }
    for bad, column in bads.items():
        (tmp_path / "a.jsonl").write_text("\n".join([*good, bad, *good]))
        X, _, error, _ = collect(open_stream(tmp_path / "a.jsonl", target="y", block_rows=20))
        assert (error.row, error.column) == (50, column), bad
        np.testing.assert_array_equal(X[:, 0], np.arange(50))
    (tmp_path / "a.jsonl").write_text("\n\n")
    with pytest.raises(DataError, match="no rows"):
        open_stream(tmp_path / "a.jsonl")


@given(st.binary(max_size=60), st.integers(0, 30))
@settings(max_examples=150, deadline=None)
def test_jsonl_garbage(tmp_path_factory, garbage, at):
    good = [json.dumps({"a": k + 0.5, "y": k % 3}).encode() for k in range(30)]
    f = tmp_path_factory.mktemp("g") / "a.jsonl"
    f.write_bytes(b"\n".join([*good[:at], garbage, *good[at:]]))
    values, refused = [], None
    try:
        for block in open_stream(f, target="y", block_rows=7):
            values += block.X[:, 0].tolist()
    except DataError as error:
        refused = error.row
    assert refused is None or refused == len(values) >= at
    k = min(at, len(values))
    assert values[:k] == [v + 0.5 for v in range(k)]


ENDINGS = ["csv", "tsv", "jsonl", "svm", "parquet", "arrow", "arrows", "csv.gz", "jsonl.bz2"]
HEADS = [
    b"",
    b"PAR1",
    b"ARROW1",
    b"\xff\xff\xff\xff",
    b"\x1f\x8b",
    b"a,y\n1,2\n",
    b'{"a": 1}\n',
    b"1 1:2\n",
]


@given(st.sampled_from(HEADS), st.binary(max_size=60), st.sampled_from(ENDINGS))
@settings(max_examples=300, deadline=None)
def test_any_bytes_as_any_format(tmp_path_factory, head, tail, ending):
    """A foreign file is a DataError that names it, or rows."""
    f = tmp_path_factory.mktemp("g") / f"a.{ending}"
    f.write_bytes(head + tail)
    try:
        rows = sum(block.n_rows for block in open_stream(f))
    except DataError as error:
        named = str(f) in str(error)
    else:
        named = rows > 0
    assert named


def test_awkward_tables(collect):
    with pytest.raises(DataError, match="same name"):
        open_stream(pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]))
    with pytest.raises(DataError, match="cannot be read"):
        open_stream(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    table = pa.table({"b": pa.array([b"ok", b"\xff"]), "u": pa.array([1, 2**64 - 1], pa.uint64())})
    error = collect(open_stream(table, features=["b"]))[2]
    assert (error.column, "text" in str(error)) == ("b", True)
    assert collect(open_stream(table, features=["b"], target="u", missing="zero"))[2] is not None
    with_null = pa.table({"x": [1, 2], "y": pa.array([True, None])})
    assert collect(open_stream(with_null, target="y"))[1].tolist() == [True]


def test_a_query_of_polars_is_read_in_parts_and_again(table, collect):
    stream = open_stream(pl.from_arrow(table).lazy(), target="y")
    expected = collect(open_stream(table, target="y"))[0]
    for _ in range(2):
        assert np.array_equal(collect(stream)[0], expected)


@pytest.mark.parametrize("end", ["", ".000", ".123456", "Z", ".5Z", "+01:00", ".123456789"])
def test_times_in_json_are_times_whatever_their_fraction(end, tmp_path, collect):
    path = tmp_path / "a.jsonl"
    times = [f"2024-01-01T00:00:{k:02d}{end}" for k in range(9)]
    lines = [json.dumps({"t": t, "y": k % 2}) for k, t in enumerate(times)]
    path.write_text("\n".join(lines))
    X, _, error, _ = collect(open_stream(str(path), target="y"))
    assert error is None
    assert np.allclose(86400.0 * np.sinh(X[:, 0]), np.arange(9.0))
    # a bad row does not turn times into text, and only that row is blamed
    path.write_text("\n".join([*lines, '{"t": 3, "y": 0}']))
    X, _, error, _ = collect(open_stream(str(path), target="y"))
    assert (error.row, error.column) == (9, "t")
    assert np.allclose(86400.0 * np.sinh(X[:, 0]), np.arange(9.0))


def test_a_query_that_fails_midway_is_an_error_with_its_row(collect):
    def batches():
        yield pa.record_batch({"a": [1.0, 2.0], "y": [0, 1]})
        raise OSError("the connection was lost")

    schema = pa.schema([("a", pa.float64()), ("y", pa.int64())])
    reader = pa.RecordBatchReader.from_batches(schema, batches())
    X, _, error, _ = collect(open_stream(reader, target="y"))
    assert (len(X), error.row) == (2, 2)
    assert "connection was lost" in str(error)


def test_a_frame_of_odd_objects_is_refused_without_a_row():
    with pytest.raises(DataError, match="column a") as caught:
        open_stream(pd.DataFrame({"a": [1, {2}, 3], "y": [0, 1, 0]}), target="y")
    assert caught.value.row is None


def test_numbers_among_text_are_text(collect):
    frame = pd.DataFrame({"a": [1, "x", None, 1], "y": [0, 1, 0, 1]})
    stream = open_stream(frame, target="y", missing="zero")
    assert collect(stream)[0].shape == (4, 2)
    assert stream.encoder.feature_names[:2] == ["a=1", "a=x"]


def test_an_arrow_file_in_a_pipe_is_refused_with_what_to_do(table, tmp_path, monkeypatch):
    with pa.ipc.new_file(tmp_path / "a.arrow", table.schema) as file:
        file.write_table(table)
    text = io.TextIOWrapper(
        io.BufferedReader(io.BytesIO((tmp_path / "a.arrow").read_bytes())), encoding="utf8"
    )
    monkeypatch.setattr(sys, "stdin", text)
    with pytest.raises(DataError, match="from a pipe"):
        open_stream("-", format="arrow", target="y")


def test_a_late_key_of_lists_is_refused_as_one_of_the_first_row_is(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1, "y": 2}\n{"a": 2, "y": 3, "tags": ["x"]}\n')
    with pytest.raises(DataError, match="column 'tags': is of type object or list"):
        open_stream(path, target="y")
    (block,) = open_stream(path, target="y", exclude=["tags"])
    np.testing.assert_array_equal(block.X, [[1.0], [2.0]])


@pytest.mark.parametrize("before", [{}, {"tags": None}])
@pytest.mark.parametrize("target", [2, 2**70])
def test_a_key_of_lists_in_a_later_chunk_is_refused_too(before, target, tmp_path, collect):
    path = tmp_path / "rows.jsonl"
    rows = [{"a": k % 7, "y": k % 3, "text": "x" * 999} | before for k in range(1500)]
    rows[1200] |= {"tags": ["x"], "y": target}
    path.write_text("\n".join(map(json.dumps, rows)))
    X, _, error, _ = collect(open_stream(path, target="y"))
    assert (len(X), error.row, error.column) == (1200, 1200, "tags")
    assert "is of type object or list" in error.message
    for how in ({"exclude": ["tags"]}, {"features": ["a"]}):
        assert len(collect(open_stream(path, target="y", **how))[0]) == 1500


def test_a_column_of_lists_in_a_later_file_is_refused_as_in_the_first(tmp_path, collect):
    table = pa.table({"a": [1.0, 2.0], "y": [0.5, 1.5]})
    tagged = table.append_column("tags", pa.array([["x"], ["y"]]))
    pq.write_table(table, tmp_path / "1.parquet")
    pq.write_table(tagged, tmp_path / "2.parquet")
    X, _, error, _ = collect(open_stream(tmp_path, target="y"))
    assert (len(X), error.column) == (2, "tags")
    X, _, error, _ = collect(open_stream(tmp_path, target="y", exclude=["tags"]))
    assert (len(X), error) == (4, None)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(
    ("row", "twice"),
    [
        ('{"a": {"b": 1}, "a.b": 3, "y": 1}', "a.b"),
        ('{"a": {"b": 1, "b": 3}, "y": 1}', "a.b"),
        ('{"a": {"b": 1}, "y": 1, "y": 2}', "y"),
    ],
)
def test_a_key_that_stands_twice_in_a_row_of_objects_is_refused(
    row, twice, late, tmp_path, collect
):
    path = tmp_path / "rows.jsonl"
    first = [json.dumps({"a": {"b": k % 3}, "y": k % 2, "text": "x" * 999}) for k in range(1500)]
    before = first if late else first[:3]
    path.write_text("\n".join([*before, row]))
    X, _, error, _ = collect(open_stream(path, target="y", exclude=["text"]))
    assert (len(X), error.row) == (len(before), len(before))
    assert f"Column(/{twice}) was specified twice" in error.message


@pytest.mark.parametrize("name", ["a", "y", "new"])
def test_columns_of_one_name_in_a_later_file_are_refused(name, tmp_path, collect):
    table = pa.table({"a": [1.0, 2.0], "y": [0.5, 1.5]})
    pq.write_table(table, tmp_path / "1.parquet")
    twice = table if name != "new" else table.append_column(name, pa.array([1.0, 2.0]))
    pq.write_table(twice.append_column(name, pa.array([3.0, 4.0])), tmp_path / "2.parquet")
    X, _, error, _ = collect(open_stream(tmp_path, target="y"))
    assert (len(X), error.source) == (2, str(tmp_path / "2.parquet"))
    assert f"several columns of the same name: ['{name}']" in error.message
