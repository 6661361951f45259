"""What the type of a column says: that it holds categories, or text."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onkel import StreamModel, make
from onkel.errors import DataError
from onkel.streams import open_stream

N = 120
CODES = np.arange(N) % 4
DAYS = pd.Timestamp("2024-05-01") + pd.to_timedelta(CODES, unit="D")
VALUES = {
    "whole": (CODES, "3"),
    "parts": (CODES + 0.5, "3.5"),
    "flags": (CODES > 1, "true"),
    "digits": (np.array(list("0123"))[CODES], "3"),
    "days": (DAYS, "2024-05-04 00:00:00.000000"),
}


def _forms(values, folder):
    """A table with categories, as users hold it."""
    frame = pd.DataFrame({"a": pd.Categorical(values), "b": np.arange(N) % 7, "y": CODES * 1.0})
    table = pa.Table.from_pandas(frame, preserve_index=False)
    with pa.ipc.new_file(folder / "a.arrow", table.schema) as file:
        file.write_table(table)
    yield from (frame, table, str(folder / "a.arrow"))
    if isinstance(values[0], str):
        # Parquet keeps no other categories
        pq.write_table(table, folder / "a.parquet")
        yield str(folder / "a.parquet")


@pytest.mark.parametrize("kind", VALUES)
def test_a_category_is_a_category_whatever_its_values(tmp_path, kind):
    values, last = VALUES[kind]
    for table in _forms(values, tmp_path):
        stream = open_stream(table, target="y", missing="auto")
        X = np.concatenate([block.X for block in stream])
        assert stream.encoder.kinds == {"a": "text", "b": "number"}
        names = stream.encoder.feature_names
        assert (len(names), set(X[:, names.index(f"a={last}")])) == (1 + len(set(values)), {0, 1})


def test_categories_of_polars():
    texts = pl.Series("a", list("0123"))[CODES.tolist()]
    for a in (texts.cast(pl.Categorical), texts.cast(pl.Enum(list("0123")))):
        stream = open_stream(pl.DataFrame({"a": a, "y": CODES}), target="y")
        assert stream.encoder.kinds == {"a": "text"}
    # text alone is looked at
    assert open_stream(pl.DataFrame({"a": texts, "y": CODES}), target="y").encoder.kinds["a"] == (
        "number"
    )


def test_rows_of_other_types_have_the_same_categories():
    frame = pd.DataFrame(
        {"a": pd.Categorical(CODES), "b": np.arange(N) % 7, "y": 5.0 * (CODES == 2)}
    )
    model = StreamModel(make("krls", "regression")).fit(frame, target="y")
    expected = model.predict(frame)
    assert abs(expected - frame["y"]).max() < 1.0
    plain = frame.astype({"a": int}).drop(columns="y")
    for rows in (plain, plain.astype({"a": float}), plain.astype({"a": str}), plain.to_dict("list"),
                 plain.to_dict("records")):  # fmt: skip
        np.testing.assert_array_equal(model.predict(rows), expected)
    # a column that comes in mid-stream, and one that had no value so far
    late = frame.assign(c=pd.Categorical(CODES), d=pd.Categorical(CODES))
    model = StreamModel(make("krls", "regression"))
    model.partial_fit(frame.assign(d=None), target="y").partial_fit(late)
    kinds = {"a": "text", "b": "number", "c": "text", "d": "text"}
    assert model.encoder.kinds == kinds


def test_text_without_values_is_text():
    """Its type says so; a column without a type waits for its first value, as in a CSV file."""
    texts = [None] * N + [f"{1000 + k % 9:,}" for k in range(N)]
    x = np.arange(2.0 * N) % 11
    table = pa.table({"x": x, "a": pa.array(texts, pa.string()), "y": x})
    for rows in (table, pl.from_arrow(table), table.to_pandas().astype({"a": "string"})):
        model = StreamModel(make("pa", "regression"))
        model.partial_fit(rows[:N], target="y").partial_fit(rows[N:])
        assert model.encoder.kinds == {"x": "number", "a": "text"}
    columns = {"x": x, "a": texts, "y": x}
    for rows in (columns, pd.DataFrame(columns).to_dict("records")):
        model = StreamModel(make("pa", "regression"))
        parts = (
            [rows[:N], rows[N:]]
            if isinstance(rows, list)
            else [{k: v[part] for k, v in rows.items()} for part in (slice(N), slice(N, None))]
        )
        model.partial_fit(parts[0], target="y").partial_fit(parts[1])
        assert model.encoder.kinds == {"x": "number", "a": "number"}


def _files(frame, folder):
    """The same rows in files, as frames and as dicts."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    frame.to_csv(folder / "a.csv", index=False)
    frame.to_json(folder / "a.jsonl", orient="records", lines=True)
    pq.write_table(table, folder / "a.parquet")
    with pa.ipc.new_file(folder / "a.arrow", table.schema) as file:
        file.write_table(table)
    yield from (str(path) for path in sorted(folder.iterdir()))
    yield from (frame, pl.from_arrow(table), frame.to_dict("list"), frame.to_dict("records"))


@pytest.mark.parametrize(("true", "false"), [("True", "False"), ("TRUE", "FALSE"), ("true", "0")])
def test_texts_of_flags_are_flags_in_each_format(tmp_path, true, false):
    flags = np.where(CODES > 1, true, false).astype(object)
    flags[::10] = None
    frame = pd.DataFrame({"a": flags, "b": np.arange(N) % 7 + 0.5, "y": 2.0 * CODES})
    scores = []
    for rows in _files(frame, tmp_path):
        model = StreamModel(make("krls", "regression")).partial_fit(rows, target="y")
        assert model.encoder.kinds == {"a": "flag", "b": "number"}
        one = [{"a": value, "b": 1.5} for value in (true, false, True, False, None)]
        scores.append([float(model.predict(row)[0]) for row in one])
        assert scores[-1] == scores[0]
    assert scores[0][:2] == scores[0][2:4]
    assert scores[0][0] - scores[0][1] > 2.0


def test_what_is_no_flag_is_refused_or_a_gap_in_each_format(tmp_path):
    flags = np.where(CODES > 1, "True", "False").astype(object)
    first = pd.DataFrame({"a": flags, "b": np.arange(N) % 7 + 0.5, "y": 2.0 * CODES})
    odd = first.assign(a=["maybe", *flags[1:]])
    for rows in _files(odd, tmp_path):
        model = StreamModel(make("krls", "regression")).partial_fit(first, target="y")
        expected = "'maybe' stands where true or false is expected; .* learn with categorical"
        with pytest.raises(DataError, match=expected) as caught:
            model.partial_fit(rows)
        assert (caught.value.row, caught.value.column) == (0, "a")
        model.settings["bad_values"] = "missing"
        assert model.partial_fit(rows).n_rows == 2 * N
        assert model.encoder.layout.gaps == [1, 0]


def test_sparse_columns_of_pandas_are_read():
    counts = np.where(CODES == 2, 3, 0)
    for dtype in ("int64", "float64"):
        plain = pd.DataFrame({"a": counts.astype(dtype), "b": CODES * 1.0, "y": CODES})
        sparse = plain.assign(a=pd.arrays.SparseArray(plain["a"]), y=pd.arrays.SparseArray(CODES))
        found = [list(open_stream(rows, target="y")) for rows in (plain, sparse)]
        for one, other in zip(*found, strict=True):
            np.testing.assert_array_equal(one.X, other.X)
            np.testing.assert_array_equal(one.y, other.y)


def test_whole_numbers_of_128_bits_are_refused_with_a_remedy():
    frame = pl.DataFrame({"a": pl.Series(CODES.tolist(), dtype=pl.Int128), "y": CODES})
    for rows in (frame, frame.lazy()):
        with pytest.raises(DataError, match=r"column 'a': is of type Int128.*polars.Int64"):
            open_stream(rows, target="y")
        assert open_stream(rows.cast({"a": pl.Int64}), target="y").encoder.kinds == {"a": "number"}
