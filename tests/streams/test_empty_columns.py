"""Columns that are empty at first take the type of their first value, however late it comes."""

from __future__ import annotations

import datetime
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onkel import StreamModel, make
from onkel.errors import DataError, ModelFileError
from onkel.streams import Encoder, lines, open_stream

N, FIRST = 700, 500
FORMATS = ["csv", "jsonl", "parquet", "arrow", "rows"]
TIME = datetime.datetime(2024, 5, 17, 12, 30)
VALUES = {
    "text": lambda k: "NO" if k % 3 else "YES",
    "number": lambda k: 1.5 + k % 7,
    "far": lambda k: 1.7e9 + k,
    "time": lambda k: TIME + datetime.timedelta(hours=k),
    "flag": lambda k: k % 2 == 0,
}


def rows(value, n=N, first=FIRST, gaps=True):
    """A number, an empty column until row ``first``, one that stays empty, and a target."""
    late = [value(k) if k >= first and (k == first or not gaps or k % 5) else None
            for k in range(n)]  # fmt: skip
    return [{"a": k % 11 + 0.5, "late": late[k], "none": None, "y": k % 2} for k in range(n)]


def written(value):
    return value.isoformat(sep=" ") if isinstance(value, datetime.datetime) else value


def write(folder, form, found):
    """The rows in files, or as pairs."""
    if form == "rows":
        return [({k: v for k, v in row.items() if k != "y"}, row["y"]) for row in found]
    folder.mkdir(exist_ok=True)
    plain = [{k: written(v) for k, v in row.items()} for row in found]
    if form == "csv":
        text = [",".join("" if v is None else str(v) for v in row.values()) for row in plain]
        (folder / "a.csv").write_text("\n".join(["a,late,none,y", *text]) + "\n")
    elif form == "jsonl":
        (folder / "a.jsonl").write_text("\n".join(map(json.dumps, plain)) + "\n")
    else:
        # one type in a file; the first file has no type for the column
        for at in (0, FIRST // 2, FIRST - 3):
            end = {0: FIRST // 2, FIRST // 2: FIRST - 3}.get(at, len(found))
            table = pa.Table.from_pylist(found[at:end])
            path = folder / f"{at:06}.{form}"
            if form == "parquet":
                pq.write_table(table, path, row_group_size=50)
            else:
                with pa.ipc.new_file(path, table.schema) as file:
                    file.write_table(table, max_chunksize=50)
    return folder


def wide(blocks, n):
    blocks = list(blocks)
    X = np.zeros((n, blocks[-1].X.shape[1]))
    for block in blocks:
        X[block.start : block.start + block.n_rows, : block.X.shape[1]] = block.X
    return X


def opened(source, **options):
    target = {} if isinstance(source, list) else {"target": "y"}
    return open_stream(source, missing="auto", dtype="float64", **target, **options)


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("form", FORMATS)
def test_the_first_value_tells_what_a_column_is(tmp_path, monkeypatch, form, kind):
    found = []
    for size in (1 << 20, 1 << 11, 200):
        monkeypatch.setattr(lines, "CHUNK_BYTES", size)
        for block_rows in (64, 4096):
            source = write(tmp_path / "x", form, rows(VALUES[kind]))
            stream = opened(source, block_rows=block_rows)
            X = wide(stream, N)
            columns = {c.name: c for c in stream.encoder.columns}
            names = stream.encoder.feature_names
            found.append((X.tolist(), names))
            if size == 1 << 20 and form in ("csv", "jsonl"):
                continue  # the value is among the first rows
            expected = {"far": "number"}.get(kind, kind)
            expected = "number" if (form, kind) == ("rows", "flag") else expected
            assert columns["late"].kind == expected
            assert X[:FIRST, 1:].tolist() == np.zeros((FIRST, X.shape[1] - 1)).tolist()
            assert (X[FIRST:, 1:] != 0.0).any()
            assert "none" not in columns or columns["none"].kind == "empty"
            assert not any(name.startswith("none") for name in names)
    cut = found[2:] if form in ("csv", "jsonl") else found
    assert all(one == cut[0] for one in cut)


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_other_values_do_not_tell(tmp_path, monkeypatch, form):
    """A number comes first, then text: an error, in the same chunk as in a later one."""
    for first, then in ((2.5, "text"), (written(TIME), "text"), ("text", None)):
        for size in (1 << 16, 1 << 12):
            monkeypatch.setattr(lines, "CHUNK_BYTES", size)
            found = rows(lambda k, a=first: a, n=N + 20_000, gaps=False, first=20_000)
            for row in found[20_100:]:
                row["late"] = then
            source = write(tmp_path / "x", form, found)
            if then is None:
                list(opened(source))
                continue
            with pytest.raises(DataError) as caught:
                list(opened(source))
            error = caught.value
            assert (error.row, error.column, error.value) == (20_100, "late", "text")


def test_a_bad_row_before_the_first_value(tmp_path, monkeypatch, collect):
    monkeypatch.setattr(lines, "CHUNK_BYTES", 1 << 11)
    found = rows(VALUES["text"])
    found[FIRST - 2]["a"] = "bad"
    stream = opened(write(tmp_path / "x", "csv", found))
    X, _, error, _ = collect(stream)
    assert (error.row, error.column, len(X)) == (FIRST - 2, "a", FIRST - 2)
    table = pa.table({"a": [1.0, 2.0], "b": pa.nulls(2), "y": [0, 1]})
    bad = pa.table({"a": ["3", "x", "4"], "b": [None, None, "u"], "y": [0, 1, 0]})
    encoder = open_stream(table, target="y").encoder
    with pytest.raises(DataError, match="row 1, column 'a'"):
        list(open_stream(bad, target="y", encoder=encoder, extend=True))
    assert encoder.kinds == {"a": "number", "b": "empty"}


def test_thousands_and_commas_in_the_first_value(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "CHUNK_BYTES", 1 << 11)
    for value, options in (("$1;500.25", {}), ("1.500;25", {"decimal": ",", "thousands": "."})):
        found = rows(lambda k, v=value: f'"{v}"'.replace(";", ","))
        stream = opened(write(tmp_path / "x", "csv", found), **options)
        X = wide(stream, N)
        assert X[FIRST, stream.encoder.feature_names.index("late")] == 1500.25
        assert stream.encoder.kinds["late"] == "number"


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "arrow"])
def test_rows_to_predict_do_not_settle_a_column(tmp_path, form):
    source = write(tmp_path / "x", form, rows(VALUES["text"], first=N))
    encoder = opened(source).encoder
    assert encoder.kinds["late"] == "empty"
    encoder = Encoder.from_state(json.loads(json.dumps(encoder.get_state())))
    later = write(tmp_path / "y", form, rows(VALUES["text"], first=0))
    X = wide(opened(later, encoder=encoder), N)
    assert (X.shape[1], encoder.kinds["late"]) == (1, "empty")
    # rows to learn from do
    X = wide(opened(later, encoder=encoder, extend=True), N)
    assert encoder.kinds["late"] == "text"
    assert encoder.feature_names[1:3] == ["late=YES", "late=NO"]


@pytest.mark.parametrize("kind", VALUES)
def test_saved_settled_or_not(kind):
    empty = pa.table({"a": np.arange(9.0), "b": pa.nulls(9), "y": np.arange(9) % 2})
    values = [None, *map(VALUES[kind], range(8))]
    full = pa.table({"a": np.arange(9.0), "b": values, "y": np.arange(9) % 2})
    for statistics in (False, True):
        encoder = opened(empty, statistics=statistics).encoder
        again = Encoder.from_state(json.loads(json.dumps(encoder.get_state())))
        X = [wide(opened(full, encoder=one, extend=True), 9) for one in (encoder, again)]
        assert np.array_equal(*X)
        third = Encoder.from_state(json.loads(json.dumps(encoder.get_state())))
        assert third.get_state() == encoder.get_state() == again.get_state()
        assert np.array_equal(wide(opened(full, encoder=third), 9), X[0])


def test_a_damaged_state_is_refused():
    empty = pa.table({"a": np.arange(9.0), "b": pa.nulls(9), "y": np.arange(9) % 2})
    state = opened(empty).encoder.get_state()
    for constant in (None, "7"):
        state["layout"]["constants"][1] = constant
        with pytest.raises(ModelFileError, match="constants"):
            Encoder.from_state(state)
    state["layout"]["constants"][1] = ""
    state["layout"]["owners"].append(1)
    state["layout"]["parts"].append(0)
    with pytest.raises(ModelFileError, match="column 1 has no part 0"):
        Encoder.from_state(state)


def test_where_all_are_empty_they_are_numbers():
    table = pa.table({"a": pa.nulls(9), "y": np.arange(9) % 2})
    assert opened(table).encoder.kinds == {"a": "number"}


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("hold", [pd.DataFrame, dict])
def test_nan_alone_in_pandas_and_numpy_has_no_type(kind, hold):
    """None is NaN there, too; a column of another library that has a type keeps it."""
    x = np.arange(60) % 11 + 0.5
    known = {"x": x, "a": np.full(60, np.nan), "y": x}
    late = np.array([VALUES[kind](k) for k in range(60)])
    models = []
    for first in (known, known | {"a": [None] * 60}):
        model = StreamModel(make("pa", "regression")).partial_fit(hold(first), target="y")
        assert model.encoder.kinds["a"] == "empty"
        models.append(model.partial_fit(hold(known | {"a": late})))
        model.partial_fit(hold(known))
    assert models[0].encoder.kinds["a"] == {"far": "number"}.get(kind, kind)
    assert models[0].to_bytes() == models[1].to_bytes()
    table = pa.table(known | {"a": pa.array([None] * 60, pa.float64())})
    typed = StreamModel(make("pa", "regression")).partial_fit(table, target="y")
    assert typed.encoder.kinds["a"] == "number"


def test_nan_alone_to_predict_is_a_gap():
    x = np.arange(60) % 11 + 0.5
    frame = pd.DataFrame({"x": x, "a": x % 3, "y": x})
    frame.loc[::7, "a"] = np.nan
    model = StreamModel(make("krls", "regression")).partial_fit(frame, target="y")
    gone = frame.assign(a=np.nan)
    expected = [model.predict({"x": value, "a": None})[0] for value in x.tolist()]
    np.testing.assert_allclose(model.predict(gone), expected, rtol=1e-12)
