"""A saved pipeline accepts rows in the forms that users have, with columns found by name."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import onkel
from onkel.cli import app
from onkel.errors import DataError
from onkel.learners import FOGDClassifier, FOGDRegressor
from onkel.pipeline import StreamModel


def table(n, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "id": np.arange(n),
            "small": rng.normal(size=n).round(3),
            "place": rng.choice(["north", "south"], size=n),
            "large": (1000 * rng.normal(size=n)).round(3),
        }
    )
    side = np.where(frame["place"] == "north", 1.0, -1.0)
    frame["y"] = np.where(side * frame["small"] * frame["large"] > 0, "up", "down")
    return frame


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A model that the command line saved; it left out the column id."""
    folder = tmp_path_factory.mktemp("by_name")
    table(3000).to_csv(folder / "rows.csv", index=False)
    result = CliRunner().invoke(
        app, ["learn", str(folder / "rows.csv"), "-t", "y", "--exclude", "id", "-a", "fogd",
              "--set", "gamma=0.5", "--set", "loss=logistic", "--save", str(folder / "m.onkel")],
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    return folder / "m.onkel"


NAMES = ["small", "place", "large"]
NEW = table(200, seed=1)
FORMS = {
    "pandas": lambda f: f,
    "polars": lambda f: pl.from_pandas(f),
    "lazy": lambda f: pl.from_pandas(f).lazy(),
    "arrow": lambda f: pa.Table.from_pandas(f, preserve_index=False),
    "reader": lambda f: pa.Table.from_pandas(f, preserve_index=False).to_reader(),
    "columns": lambda f: {name: f[name].to_numpy() for name in f},
    "rows": lambda f: f.to_dict("records"),
    "series": lambda f: dict(f.items()),
    "polars series": lambda f: {name: pl.from_pandas(f)[name] for name in f},
    "arrow columns": lambda f: {name: pa.chunked_array([pa.array(f[name])]) for name in f},
    "bytes": lambda f: f.assign(place=f["place"].str.encode("utf8")).to_dict("records"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("order", [NAMES, NAMES[::-1], ["y", "large", "id", "small", "place"]])
def test_columns_are_found_by_name_in_any_order(saved, form, order):
    model = onkel.load(saved)
    expected = model.predict(NEW[NAMES])
    assert np.mean(expected == NEW["y"]) > 0.85
    assert np.array_equal(model.predict(FORMS[form](NEW[order])), expected)
    np.testing.assert_array_equal(
        model.predict_proba(FORMS[form](NEW[order]))[:, 1] > 0.5, expected == model.classes_[1]
    )
    np.testing.assert_array_equal(
        model.decision_function(FORMS[form](NEW[order])) > 0, expected == model.classes_[1]
    )


def test_one_dict_is_one_row_and_a_path_is_a_source(saved, tmp_path):
    model = onkel.load(saved)
    expected = model.predict(NEW)
    row = {"large": NEW["large"][0], "place": NEW["place"][0], "small": NEW["small"][0]}
    assert model.predict(row).tolist() == [expected[0]]
    assert model.predict(NEW[NAMES].iloc[0]).tolist() == [expected[0]]
    NEW[["y", *NAMES[::-1]]].to_csv(tmp_path / "new.csv", index=False)
    assert np.array_equal(model.predict(tmp_path / "new.csv"), expected)
    assert np.array_equal(model.predict(str(tmp_path / "new.csv")), expected)


def test_values_of_one_row_in_other_types_are_the_same_values(saved):
    model = onkel.load(saved)
    row = {"small": 1.5, "place": "north", "large": 250.0}
    expected = model.decision_function(row)
    for other in (
        {**row, "place": b"north"},
        {name: np.asarray(value) for name, value in row.items()},
        {**row, "large": Decimal("250")},
    ):
        assert model.decision_function(other) == expected
    with pytest.raises(DataError, match=r"column 'place': b'\\xff' cannot be read as text"):
        model.predict({**row, "place": b"\xff"})


@pytest.mark.parametrize("name", ["place", "small"])
def test_every_mark_of_a_gap_is_one(name):
    model = StreamModel(FOGDClassifier(gamma=0.5, random_state=0), settings={"missing": "mean"})
    frame = table(300).drop(columns="id")
    model.partial_fit(frame, target="y")
    row = frame.drop(columns="y").to_dict("records")[0]
    expected = model.decision_function({**row, name: None})
    for gap in (pd.NA, pd.NaT, float("nan"), np.nan):
        assert model.decision_function({**row, name: gap}) == expected


def test_bytes_of_pairs_are_text():
    texts = [({"place": "north" if t % 3 else "south"}, t % 2) for t in range(300)]
    rows = [({"place": x["place"].encode()}, y) for x, y in texts]
    (block,), (expected,) = onkel.open_stream(rows), onkel.open_stream(texts)
    assert (block.X == expected.X).all()


def test_times_that_a_frame_holds_as_text_are_those_of_the_file(tmp_path):
    when = pd.date_range("2024-01-01", periods=400, freq="97min")
    frame = pd.DataFrame({"when": when, "y": np.sin(when.hour / 4) + 0.01 * np.arange(400)})
    path, model = tmp_path / "t.csv", tmp_path / "t.onkel"
    frame.to_csv(path, index=False)
    result = CliRunner().invoke(
        app, ["learn", str(path), "-t", "y", "-a", "krls", "--save", str(model)]
    )
    assert result.exit_code == 0, result.stderr
    model = onkel.load(model)
    expected = model.predict(frame)
    assert np.array_equal(model.predict(pd.read_csv(path)), expected)
    assert np.array_equal(
        model.predict(frame.assign(when=when.strftime("%Y/%m/%d %H:%M"))), expected
    )
    with pytest.raises(DataError, match="row 0, column 'when': 'noon' stands where a time"):
        model.predict(frame.assign(when="noon"))


def test_texts_of_a_dict_are_read_as_those_of_the_file(tmp_path):
    rows = [
        {"at": f"{k % 24:02d}:{k % 60:02d}", "day": f"2024-05-{k % 28 + 1:02d}",
         "open": str(k % 3 == 0).lower(), "y": k % 7}
        for k in range(300)
    ]  # fmt: skip
    rows[50]["day"] = rows[51]["at"] = "unknown"
    path, saved = tmp_path / "t.csv", tmp_path / "t.onkel"
    pd.DataFrame(rows).to_csv(path, index=False)
    options = ["--na-values", "unknown", "--task", "regression", "--save", str(saved)]
    result = CliRunner().invoke(app, ["learn", str(path), "-t", "y", "-a", "pa", *options])
    assert result.exit_code == 0, result.stderr
    model = onkel.load(saved)
    kinds = {"at": "time", "day": "time", "open": "flag"}
    assert {column.name: column.kind for column in model.encoder.columns} == kinds
    expected = model.predict(str(path))
    assert np.array_equal(model.predict(rows), expected)
    assert [model.predict_one(row) for row in rows] == pytest.approx(expected, abs=1e-5)
    assert np.array_equal(model.predict(pd.DataFrame(rows)), expected)
    with pytest.raises(DataError, match="row 0, column 'at': '24:30' stands where a time"):
        model.predict([rows[0] | {"at": "24:30"}])
    with pytest.raises(DataError, match="row 0, column 'open': 'no' stands where"):
        model.predict([rows[0] | {"open": "no"}])


def test_what_a_mask_hides_is_a_gap():
    hidden = np.arange(120) % 4 == 1
    values, y = np.where(hidden, -9999, np.arange(120)), np.arange(120.0)
    times = np.datetime64("2024-01-01") + values
    learned = []
    for numbers, days in [
        (np.ma.masked_array(values, hidden), np.ma.masked_array(times, hidden)),
        (np.where(hidden, np.nan, values), np.where(hidden, np.datetime64("NaT"), times)),
    ]:
        model = StreamModel(onkel.make("pa", task="regression"))
        before = model.predict_then_learn({"a": numbers, "day": days}, y)
        learned.append((model.encoder.feature_names, before.tolist()))
        model = StreamModel(onkel.make("pa", task="regression"))
        rows = np.ma.column_stack([np.ma.masked_invalid(numbers), y])
        rows = rows if isinstance(numbers, np.ma.MaskedArray) else rows.filled(np.nan)
        learned[-1] += (model.predict_then_learn(rows, y).tolist(), model.predict(rows).tolist())
    assert learned[0] == learned[1]
    assert "a is missing" in learned[0][0]


def test_an_array_goes_by_position_and_has_the_right_width(saved):
    model = onkel.load(saved)
    raw = NEW[NAMES].to_numpy(dtype=object)
    assert np.array_equal(model.predict(raw), model.predict(NEW))
    assert np.array_equal(model.predict(raw.tolist()), model.predict(NEW))
    with pytest.raises(DataError, match=r"\(n, 3\).*\(200, 2\).*small, place, large"):
        model.predict(raw[:, :2])
    with pytest.raises(DataError, match=r"\(n, 3\)"):
        model.predict(raw[0])


def test_missing_and_extra_columns_are_named(saved):
    model = onkel.load(saved)
    with pytest.raises(DataError, match=r"'large'.*no such column"):
        model.predict(NEW[["small", "place"]])
    with pytest.raises(DataError, match="never had the columns 'colour', 'size'"):
        model.predict(NEW.assign(colour="red", size=1))
    with pytest.raises(DataError, match="column 'small': 'tall' stands where a number"):
        model.predict(NEW.assign(small="tall"))
    with pytest.raises(DataError, match=r"row 1, column 'small'"):
        model.predict([{"small": 1, "large": 2, "place": "n"}, {"small": "x", "large": 2}])
    with pytest.raises(DataError, match=r"row 1.*a dict is expected"):
        model.predict([{"small": 1, "large": 2, "place": "n"}, 7])
    with pytest.raises(DataError, match="mixes"):
        model.predict({"small": [1, 2], "large": 2, "place": "n"})
    with pytest.raises(DataError, match=r"row 1, column 'large': 'x' stands where a number"):
        model.predict({"small": [1, 2], "large": [2, "x"], "place": ["n", "s"]})


def test_predicting_leaves_the_model_as_it_is(saved, tmp_path):
    model = onkel.load(saved)
    model.save(tmp_path / "before.onkel")
    model.settings["missing"] = "mean"
    model.predict(NEW.assign(small=np.nan))
    model.settings["missing"] = "auto"
    model.save(tmp_path / "again.onkel")
    assert (tmp_path / "again.onkel").read_bytes() == (tmp_path / "before.onkel").read_bytes()


@pytest.mark.parametrize("form", FORMS)
def test_learning_goes_by_name_too(saved, form):
    model, expected = onkel.load(saved), onkel.load(saved)
    before = expected.predict_then_learn(NEW)
    assert expected.n_rows == 3200
    shuffled = NEW[["large", "y", "place", "small", "id"]]
    assert np.array_equal(model.predict_then_learn(FORMS[form](shuffled)), before)
    assert model.n_rows == 3200
    beside = onkel.load(saved)
    features = NEW[["large", "place", "small"]]
    if form != "lazy" and form != "reader":  # their length is unknown
        assert np.array_equal(beside.predict_then_learn(FORMS[form](features), NEW["y"]), before)
    other = table(200, seed=2)
    assert np.array_equal(model.predict(other), expected.predict(other))


def test_new_columns_widen_the_model_and_excluded_ones_stay_out(saved):
    model = onkel.load(saved)
    model.partial_fit(NEW.assign(colour=np.where(NEW["y"] == "up", 1.0, 0.0)))
    assert [column.name for column in model.encoder.columns] == [*NAMES, "colour"]
    assert len(model.predict(NEW)) == 200
    assert len(model.predict(NEW.assign(colour=1.0))) == 200


def test_a_refused_table_changes_nothing(saved, tmp_path):
    model = onkel.load(saved)
    model.save(tmp_path / "before.onkel")
    for bad in (
        NEW.drop(columns="large"),
        NEW.drop(columns="y"),
        NEW.assign(colour=1.0, small="tall"),
    ):
        with pytest.raises((DataError, ValueError)):
            model.partial_fit(bad)
    with pytest.raises(ValueError, match="y and target="):
        model.partial_fit(NEW, NEW["y"], target="y")
    model.save(tmp_path / "again.onkel")
    assert (tmp_path / "again.onkel").read_bytes() == (tmp_path / "before.onkel").read_bytes()


def test_a_model_begun_in_python_reads_by_name(tmp_path):
    model = StreamModel(FOGDClassifier(n_components=100, gamma=0.5, random_state=0))
    with pytest.raises(DataError, match="no rows yet"):
        model.predict(NEW)
    frame = table(2000)
    model.partial_fit(frame.drop(columns=["id"]), target="y")
    model.save(tmp_path / "m.onkel")
    loaded = onkel.load(tmp_path / "m.onkel")
    swapped = NEW[["place", "large", "small", "y"]]
    assert np.array_equal(loaded.predict(swapped), model.predict(NEW[NAMES]))


def test_the_name_of_a_series_of_targets_is_the_target():
    frame = table(500).drop(columns=["id"])
    model = StreamModel(FOGDClassifier(n_components=50, random_state=0))
    model.partial_fit(frame, frame["y"])
    assert list(model.encoder.kinds) == NAMES
    assert len(model.predict(frame)) == 500
    other = StreamModel(FOGDClassifier(n_components=50, random_state=0))
    other.partial_fit(frame[NAMES], frame["y"])
    assert np.array_equal(other.predict(frame), model.predict(frame))


def test_unnamed_features_stay_unnamed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = X[:, 0] + X[:, 1]
    model = StreamModel(FOGDRegressor(n_components=20, random_state=0)).partial_fit(X, y)
    direct = StreamModel(FOGDRegressor(n_components=20, random_state=0))
    for block in onkel.open_stream((X, y), dtype="float64"):
        direct.learn(block)
    assert np.array_equal(model.predict(X), direct.predict(X))
    np.testing.assert_allclose(model.predict(X.tolist()), direct.predict(X), rtol=1e-6)
    with pytest.raises(DataError, match="2 columns where the model has 3"):
        model.predict(X[:, :2])
    for one in (model, direct):
        with pytest.raises(DataError, match=r"unnamed features|without names"):
            one.predict(NEW)


def test_prequential_reads_by_name(saved):
    expected, model = onkel.load(saved), onkel.load(saved)
    first = onkel.prequential(expected, NEW, warm_up=False)
    second = onkel.prequential(model, NEW[NEW.columns[::-1]], warm_up=False)
    assert second.value == first.value < 20


def test_a_list_among_the_values_of_a_row_is_named():
    model = StreamModel(onkel.make("pa", "regression")).partial_fit(pd.DataFrame({"a": [1.0]}), [1])
    with pytest.raises(DataError, match="mixes values and lists, such as that of 'tags'"):
        model.learn_one({"a": 1.0, "tags": ["x", "y"]}, 2.0)
