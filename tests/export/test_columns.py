"""Saved models of tables as graphs: text, times, gaps, scaling and the target's own units."""

from __future__ import annotations

import json

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from onnx.reference import ReferenceEvaluator

import onkel
from onkel import StreamModel, make, open_stream

pytestmark = pytest.mark.compiled

N = 600
LEARNERS = {
    "okl": {"n_components": 20, "speed": "fast"},
    "fogd": {"n_components": 30, "random_state": 0},
}


def table(n=N, seed=0):
    """Numbers with gaps, text with gaps, times, heavy tails, flags, a constant and mostly 0."""
    rng = np.random.default_rng(seed)
    x = rng.normal(1e6, 2.0, n)
    place = np.array(["Oslo", "Rome", "Bonn", "Ürgüp", None], dtype=object)[rng.integers(0, 5, n)]
    when = pd.Timestamp("2023-03-01") + pd.to_timedelta(rng.integers(0, 500 * 86_400, n), unit="s")
    frame = pd.DataFrame({
        "x": np.where(rng.random(n) < 0.1, np.nan, x),
        "place": place,
        "when": when,
        "amount": np.exp(3.0 * rng.standard_normal(n)),
        "flag": rng.random(n) < 0.5,
        "same": np.ones(n),
        "fee": np.where(rng.random(n) < 0.9, 0.0, rng.choice([0.1, 2.5, 7.0, 99.0], n)),
        "price in €": np.array(["1,200", "17", "3,500"])[rng.integers(0, 3, n)],
    })  # fmt: skip
    frame["y"] = x - 1e6 + 2.0 * (place == "Rome") + np.log(frame["amount"]) + frame["flag"]
    return frame


def given(model, frame):
    """The inputs of the model's graph from a frame."""
    inputs = {}
    for column in model.encoder.columns:
        values = frame[column.name] if column.name in frame else pd.Series([None] * len(frame))
        if column.kind == "text":
            values = values.fillna("").astype(object)
        elif column.kind == "time":
            values = values.astype("datetime64[ns]").astype("int64") / 1e9
        elif column.form:
            values = values.str.replace(",", "").astype(float)
        dtype = object if column.kind == "text" else np.float64
        inputs[column.name] = values.to_numpy(dtype)[:, None]
    return inputs


@pytest.fixture
def same(alike):
    """``same(model, run, frame)``: graph and model agree on a table's rows."""

    def compare(model, run, frame, share=2e-6):
        found, rows = run(**given(model, frame)), frame.drop(columns="y")
        expected = {"prediction": model.predict(rows)}
        if model.task == "classification":
            expected["decision"] = model.decision_function(rows)
            if model.estimator.probability_link is not None:
                expected["probabilities"] = model.predict_proba(rows)
        alike(found, expected, share)

    return compare


def targets(frame, task):
    if task == "regression":
        return frame
    cuts = {"binary": [0.5], "multiclass": [0.3, 0.6]}[task]
    codes = np.searchsorted(frame["y"].quantile(cuts).to_numpy(), frame["y"])
    return frame.assign(y=np.array(["low", "mid", "top"])[codes])


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
@pytest.mark.parametrize("name", LEARNERS)
def test_a_table_with_text_times_and_gaps(name, task, graph_of, same):
    model = StreamModel(make(name, task, **LEARNERS[name]))
    model.partial_fit(targets(table(), task), target="y")
    kinds = {"x": "number", "place": "text", "when": "time", "flag": "flag"}
    assert kinds.items() <= model.encoder.kinds.items()
    new = table(seed=1)
    # an unseen place, and a gap in a column that had none
    new.loc[0, "place"], new.loc[1, "amount"] = "Paris", np.nan
    run = graph_of(model)
    same(model, run, new)
    same(model, run, new[:1])


def test_another_runtime_gives_the_same(tmp_path):
    model = StreamModel(make("okl", "regression", **LEARNERS["okl"]))
    model.partial_fit(table(), target="y").export_onnx(tmp_path / "m.onnx")
    new = table(20, seed=1)
    found = ReferenceEvaluator(onnx.load(tmp_path / "m.onnx")).run(None, given(model, new))[0]
    np.testing.assert_allclose(found, model.predict(new.drop(columns="y")), rtol=1e-9)


@pytest.mark.parametrize("scaling", ["auto", "standard", "minmax", "none"])
@pytest.mark.parametrize("missing", ["auto", "zero", "mean"])
@pytest.mark.parametrize("statistics", [True, False])
def test_every_way_to_encode_and_to_scale(statistics, missing, scaling, graph_of, same):
    frame = table(300)
    # unscaled amounts are in the thousands, and float32 rounds large angles
    dtype = "float64" if scaling == "none" else "float32"
    stream = open_stream(frame, target="y", statistics=statistics, missing=missing, dtype=dtype)
    model = StreamModel(
        make("fogd", "regression", gamma=0.01, dtype=dtype, **LEARNERS["fogd"]),
        scaling=scaling,
        encoder=stream.encoder,
        settings={"missing": missing, "dtype": dtype},
    )
    for block in stream:
        model.learn(block)
    same(model, graph_of(model), table(200, seed=1), share=5e-6)


@pytest.mark.parametrize("name", LEARNERS)
def test_columns_and_values_that_came_late(name, graph_of, same):
    frame = table()
    model = StreamModel(make(name, "regression", **LEARNERS[name]))
    early, late = frame[:300].drop(columns=["amount", "place", "when"]), frame[300:]
    model.partial_fit(early[early["flag"]], target="y").partial_fit(early, target="y")
    model.partial_fit(late, target="y")
    run = graph_of(model)
    same(model, run, table(seed=1))
    # rows without the late columns
    lacking = given(model, table(seed=1))
    lacking |= {"amount": np.full((N, 1), np.nan), "place": np.full((N, 1), "", dtype=object)}
    lacking["when"] = np.full((N, 1), np.nan)
    short = table(seed=1).drop(columns=["amount", "place", "when", "y"])
    expected = model.predict(short)
    np.testing.assert_allclose(run(**lacking)["prediction"], expected, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("statistics", [True, False])
def test_columns_that_are_constant_for_long_or_for_good(statistics, graph_of, same):
    frame = table()
    frame.loc[:299, "place"], frame.loc[:299, "fee"] = "Oslo", 2.5
    pieces = pa.concat_tables(
        [pa.Table.from_pandas(frame[:300]), pa.Table.from_pandas(frame[300:])]
    )
    stream = open_stream(pieces, target="y", tidy=True, missing="auto", statistics=statistics)
    model = StreamModel(
        make("okl", "regression", **LEARNERS["okl"]), encoder=stream.encoder,
        settings={"missing": "auto"},
    )  # fmt: skip
    for block in stream:
        model.learn(block)
    waits = [c.name for k, c in enumerate(model.encoder.columns) if model.encoder.layout.waits(k)]
    assert waits == ["same"]
    same(model, graph_of(model), table(seed=1))


@pytest.mark.parametrize("statistics", [True, False])
@pytest.mark.parametrize("max_categories", [0, 5])
def test_texts_that_share_a_hash_are_told(max_categories, statistics, tmp_path):
    rng = np.random.default_rng(0)
    who = rng.integers(0, 40, N)
    frame = pd.DataFrame({"who": [f"name {i} " if i else None for i in who], "y": 1.0 * who})
    stream = open_stream(
        frame, target="y", missing="auto", statistics=statistics,
        max_categories=max_categories, n_hash=7,
    )  # fmt: skip
    model = StreamModel(
        make("krls", "regression", n_components=20, gamma=0.1), encoder=stream.encoder
    )
    for block in stream:
        model.learn(block)
    model.export_onnx(tmp_path / "m.onnx", values={"who": [f"name {i}" for i in range(1, 50)]})
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    asked = [f"name {i}" for i in range(1, 50)] + [""]
    found = session.run(None, {"who": np.array(asked, dtype=object)[:, None]})[0]
    np.testing.assert_allclose(found, model.predict({"who": asked}), rtol=1e-6)


@pytest.mark.parametrize("missing", ["auto", "zero"])
def test_words_of_texts_that_are_told(missing, tmp_path):
    rng = np.random.default_rng(0)
    words = np.array(["oil", "ink", "chalk", "on", "wood", "paper", "canvas", "gold", "and"])
    made = [" ".join(words[rng.integers(0, 9, rng.integers(1, 9))]) for _ in range(N)]
    frame = pd.DataFrame({"made": made, "y": [len(text) + 5.0 * ("gold" in text) for text in made]})
    frame.loc[::50, "made"] = None
    stream = open_stream(frame, target="y", missing=missing, statistics=True)
    model = StreamModel(
        make("krls", "regression", n_components=20, gamma=0.1), encoder=stream.encoder,
        settings={"missing": missing},
    )  # fmt: skip
    for block in stream:
        model.learn(block)
    assert "made: words" in model._inputs.names
    asked = [*made[:80], "gold on Gold", "nothing known", "?!"]
    with pytest.raises(onkel.errors.ExportError, match="'made' holds texts that nearly all differ"):
        model.export_onnx(tmp_path / "m.onnx")
    model.export_onnx(tmp_path / "m.onnx", values={"made": [f" {text} " for text in asked]})
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    found = session.run(None, {"made": np.array([*asked, ""], dtype=object)[:, None]})[0]
    np.testing.assert_allclose(found, model.predict({"made": [*asked, None]}), rtol=1e-6)


def test_words_of_a_column_that_comes_late(tmp_path):
    rng = np.random.default_rng(0)
    words = np.array(["oil", "ink", "chalk", "on", "wood", "paper", "canvas", "gold", "and"])
    made = [" ".join(words[rng.integers(0, 9, rng.integers(1, 9))]) for _ in range(N)]
    x, y = rng.normal(size=N), np.array([len(text) + 5.0 * ("gold" in text) for text in made])
    model = StreamModel(make("krls", "regression", n_components=20, gamma=0.1))
    model.partial_fit({"x": x[:30]}, y[:30])
    model.partial_fit({"x": x, "made": made}, y)
    assert "made: words" in model._inputs.names
    model.export_onnx(tmp_path / "m.onnx", values={"made": made[:80]})
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    asked = {"x": x[:80, None], "made": np.array(made[:80], dtype=object)[:, None]}
    wanted = model.predict({"x": x[:80], "made": made[:80]})
    np.testing.assert_allclose(session.run(None, asked)[0], wanted, rtol=1e-6)


def test_the_file_that_was_loaded_gives_the_same_graph(graph_of, same, tmp_path):
    model = StreamModel(make("okl", "classification", **LEARNERS["okl"]))
    model.partial_fit(targets(table(), "binary"), target="y")
    model.save(tmp_path / "m.onkel")
    loaded = onkel.load(tmp_path / "m.onkel")
    same(loaded, graph_of(loaded), table(seed=1))
    model.export_onnx(tmp_path / "again.onnx")
    assert (tmp_path / "again.onnx").read_bytes() == (tmp_path / "model.onnx").read_bytes()


def test_the_file_says_what_it_is(graph_of, tmp_path):
    model = StreamModel(make("fogd", "classification", **LEARNERS["fogd"]))
    model.partial_fit(targets(table(), "binary"), target="y")
    graph_of(model)
    proto = onnx.load(tmp_path / "model.onnx")
    assert (proto.producer_name, proto.producer_version) == ("onkel", onkel.__version__)
    metadata = {entry.key: entry.value for entry in proto.metadata_props}
    assert (metadata["learner"], metadata["target"]) == ("FOGDClassifier", "y")
    assert json.loads(metadata["classes"]) == ["low", "mid"]
    assert json.loads(metadata["columns"])["when"] == "time"


def test_columns_with_the_names_of_outputs_and_nodes_keep_them(graph_of):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((50, 3)), columns=["prediction", "constant_0", "y"])
    model = StreamModel(make("pa", "regression")).partial_fit(frame, target="y")
    run = graph_of(model)
    assert [one.name for one in run.session.get_inputs()] == ["prediction", "constant_0"]
    found = run(**given(model, frame))
    expected = model.predict(frame.drop(columns="y"))
    np.testing.assert_allclose(found["prediction_"], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_without_names(dtype, graph_of):
    rng = np.random.default_rng(0)
    X = rng.normal(5.0, 2.0, (300, 3)).astype(dtype)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nansum(X, axis=1)
    model = StreamModel(make("krls", "regression", n_components=30, gamma=0.5))
    model.partial_fit(X, y)
    given = X.astype(np.float64)
    expected = model.predict(given)
    np.testing.assert_allclose(graph_of(model)(X=given)["prediction"], expected, rtol=1e-7)


def test_rows_that_were_sparse_are_given_dense(graph_of):
    X = sp.random(300, 8, 0.3, "csr", random_state=0)
    y = np.asarray(X.sum(axis=1)).ravel() > 1.0
    model = StreamModel(make("fogd", "classification", **LEARNERS["fogd"])).partial_fit(X, y)
    found = graph_of(model)(X=X.toarray())
    np.testing.assert_allclose(found["decision"], model.decision_function(X), rtol=0, atol=1e-5)
