"""Text as categories: exact in order of appearance, then hashed; gaps and targets."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from onkel import load
from onkel.columns.target_means import TargetMeans
from onkel.errors import ModelFileError
from onkel.learners import FOGDClassifier, KernelRLSRegressor, OnlineKernelRegressor
from onkel.pipeline import StreamModel
from onkel.streams import Column, Encoder, open_stream

MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]


def months(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    k = rng.integers(0, 12, n)
    return pa.table({"month": np.array(MONTHS)[k], "y": np.array(["no", "yes"])[k * 5 % 12 % 2]})


def test_each_value_has_a_feature_of_its_own_in_order_of_appearance(collect):
    values = ["b", "a", " b", None, "c", "a", ""]
    table = pa.table({"x": range(7), "v": values})
    stream = open_stream(table, missing="zero")
    X = collect(stream)[0]
    names = stream.encoder.feature_names
    assert names == ["x", "v=b", "v=a", "v=c"]
    rows = [{n for n, x in zip(names, row, strict=True) if x and n != "x"} for row in X]
    assert rows == [{"v=b"}, {"v=a"}, {"v=b"}, set(), {"v=c"}, {"v=a"}, set()]


def test_values_beyond_the_room_share_features_and_it_is_known(collect):
    values = [f"v{k}" for k in range(40) for _ in range(3)]
    stream = open_stream(pa.table({"v": values}), max_categories=10, n_hash=4)
    X = collect(stream)[0]
    assert X.shape[1] == 14
    assert (X.sum(axis=1) == 1).all()
    assert X[:30].argmax(axis=1).tolist() == [k for k in range(10) for _ in range(3)]
    assert stream.encoder.layout.categories[0].hashes


@pytest.mark.parametrize("statistics", [False, True])
@pytest.mark.parametrize("cut", [1, 2, 5])
def test_the_room_may_be_full_before_a_value_comes_that_finds_none(cut, statistics):
    table = pa.table({"v": ["a", "b", "a", "b", "c", "d", "a", "c"]})
    kind = {"n_hash": 4, "max_categories": 2, "statistics": statistics}
    whole, parts = (Encoder([Column("v", "text")], **kind) for _ in range(2))
    (batch,) = table.to_batches()
    expected = whole.encode(batch)
    found = [parts.encode(batch.slice(start, cut)) for start in range(0, 8, cut)]
    assert parts.feature_names == whole.feature_names
    wide = [np.pad(X, ((0, 0), (0, expected.shape[1] - X.shape[1]))) for X in found]
    np.testing.assert_array_equal(np.concatenate(wide), expected)
    # no value is lost
    assert (expected != 0.0).any(axis=1).all()


@pytest.mark.parametrize("cut", [1, 7, 100])
def test_new_values_come_in_mid_stream_whatever_the_blocks(cut):
    table = pa.table({"u": ["a"] * 150 + ["b", "c"] * 50, "v": ["x"] * 140 + ["y", "z"] * 55})
    names = []
    for size in (cut, 1000):
        parts = pa.Table.from_batches(table.to_batches(max_chunksize=size))
        stream = open_stream(parts, block_rows=cut)
        blocks = list(stream)
        assert blocks[-1].X.shape[1] - blocks[-1].late == 2
        names.append(stream.encoder.feature_names)
    assert names[0] == names[1] == ["u=a", "v=x", "v=y", "v=z", "u=b", "u=c"]


def test_ten_thousand_values_stay_cheap(collect):
    rng = np.random.default_rng(0)
    values = pa.array([f"id{k}" for k in rng.integers(0, 10_000, 20_000)])
    table = pa.table({"v": values, "y": rng.standard_normal(20_000)})
    assert collect(open_stream(table, target="y"))[0].shape[1] == 32
    assert collect(open_stream(table, target="y", statistics=True))[0].shape[1] == 1


def test_the_statistic_is_the_smoothed_mean_over_the_rows_before():
    rng = np.random.default_rng(0)
    codes, y = rng.integers(1, 4, 200).astype(float), rng.standard_normal(200)
    means = TargetMeans(classes=False)
    parts = [means.learn({0: codes[a:b]}, y[a:b])[0] for a, b in ((0, 3), (3, 90), (90, 200))]
    expected = []
    for t in range(200):
        same = y[:t][codes[:t] == codes[t]]
        prior = y[:t].mean() if t else 0.0
        expected.append((same.sum() - len(same) * prior) / (len(same) + 10.0))
    np.testing.assert_allclose(np.concatenate(parts)[:, 0], expected, atol=1e-12)
    twin = TargetMeans.from_state(means.get_state())
    now = {0: np.array([1.0, 2.0, 3.0, 0.0, 9.0])}
    np.testing.assert_array_equal(twin.now(now)[0], means.now(now)[0])
    assert twin.now(now)[0][3:].tolist() == [[0.0], [0.0]]


def learned(table, sizes, **options):
    model = StreamModel(KernelRLSRegressor(n_components=60, **options))
    at, predicted = 0, []
    for size in sizes:
        predicted.append(model.predict_then_learn(table.slice(at, size), target="y"))
        at += size
    return model, np.concatenate(predicted)


def wide(n=600):
    """Text columns with few and many values and a late one, and numbers with gaps."""
    rng = np.random.default_rng(1)
    few = np.array(["p", "q", "r"])[np.minimum(rng.integers(0, 3, n), np.arange(n) // 100)]
    many = rng.integers(0, 40, n)
    a = rng.standard_normal(n)
    y = a + (few == "q") - 2.0 * (many % 2) + 0.1 * rng.standard_normal(n)
    gaps = (rng.random(n) < 0.2) & (np.arange(n) > 50)
    return pa.table(
        {
            "few": pa.array(few, mask=rng.random(n) < 0.1),
            "many": [f"m{k}" for k in many],
            "a": pa.array(a, mask=gaps),
            "y": y,
        }
    )


def test_blocks_do_not_matter_to_statistics_slots_and_gaps():
    table = wide()
    model, predicted = learned(table, [600])
    for sizes in ([1] * 20 + [580], [7] * 85 + [5], [150, 450]):
        other, again = learned(table, sizes)
        np.testing.assert_allclose(again, predicted, rtol=1e-9, atol=1e-9)
        assert other.encoder.feature_names == model.encoder.feature_names
    names = model.encoder.feature_names
    assert {"few=q", "few is missing", "a is missing", "many: target"} <= set(names)


def test_a_saved_model_goes_on_and_predicts_unknown_values(tmp_path):
    table = wide()
    _, predicted = learned(table, [600])
    model, first = learned(table.slice(0, 250), [250])
    model.save(tmp_path / "m.onkel")
    again = load(tmp_path / "m.onkel")
    rest = again.predict_then_learn(table.slice(250), target="y")
    np.testing.assert_allclose(np.concatenate([first, rest]), predicted, rtol=1e-9, atol=1e-9)
    row = {"few": "q", "many": "m3", "a": 0.5}
    known = again.predict(row)
    for other in ({"many": "new"}, {"few": "new"}, {"few": None}, {"a": None}):
        assert np.isfinite(again.predict(row | other)).all()
    assert again.predict(row) == known
    assert again.predict(row | {"few": "p"}) != known


def test_predicting_is_a_function_of_each_row(tmp_path):
    model, _ = learned(wide(), [600])
    rows = wide().slice(0, 30).drop_columns("y")
    together = model.predict(rows)
    alone = np.concatenate([model.predict(rows.slice(k, 1)) for k in range(30)])
    np.testing.assert_allclose(alone, together, rtol=1e-9, atol=1e-9)


def test_a_month_tells_the_class_exactly():
    model = StreamModel(FOGDClassifier(n_components=100, gamma=0.5, random_state=0))
    table = months()
    predicted = model.predict_then_learn(table, target="y")
    y = np.array(table["y"].to_pylist())
    assert np.mean(predicted[500:] != y[500:]) < 0.01


def test_classes_that_come_late_have_statistics_of_their_own():
    rng = np.random.default_rng(0)
    k = rng.integers(0, 60, 1500)
    label = np.where(np.arange(1500) < 500, k % 2, k % 3)
    y = np.array(["a", "b", "c"])[label]
    table = pa.table({"v": [f"v{i}" for i in k], "y": y})
    whole = StreamModel(FOGDClassifier(n_components=100, gamma=0.5, random_state=0))
    predicted = whole.predict_then_learn(table, target="y")
    parts = StreamModel(FOGDClassifier(n_components=100, gamma=0.5, random_state=0))
    again = [parts.predict_then_learn(table.slice(a, 300), target="y") for a in range(0, 1500, 300)]
    assert np.array_equal(np.concatenate(again), predicted)
    assert np.mean(predicted[1200:] != y[1200:]) < 0.2
    assert len(whole.feature_names) == whole.estimator.n_features_in_
    assert "v: target 2" in whole.feature_names


def test_a_damaged_encoder_is_refused():
    stream = open_stream(wide(), target="y", missing="auto", statistics=True)
    list(stream)
    good = stream.encoder.get_state()
    assert Encoder.from_state(json.loads(json.dumps(good))).get_state() == good
    for name, value in {
        "owners": [0] * len(good["layout"]["owners"]),
        "parts": [99] * len(good["layout"]["parts"]),
        "values": [["p", "p"], [], []],
        "n_first": 10**6,
        "forms": ["many", "", "x"],
    }.items():
        bad = json.loads(json.dumps(good))
        bad["layout"][name] = value
        with pytest.raises(ModelFileError):
            Encoder.from_state(bad)


@pytest.mark.slow
def test_the_default_goes_on_as_it_is_when_values_come_late():
    rng = np.random.default_rng(1)
    n = 3000
    k = np.minimum(rng.integers(0, 12, n), np.arange(n) // 250)
    # without noise rows of one value hardly differ, and cuts of the rows move more than last digits
    y = k % 3 + 0.1 * rng.standard_normal(n)
    table = pa.table({"v": [f"v{i}" for i in k], "a": rng.standard_normal(n), "y": y})
    predicted = []
    for size in (250, 3000):
        model = StreamModel(OnlineKernelRegressor(n_components=40, speed="fast"))
        parts = [model.predict_then_learn(table.slice(at, size), target="y")
                 for at in range(0, n, size)]  # fmt: skip
        predicted.append(np.concatenate(parts))
        assert not _challenged(model)
        assert not model.estimator.changes_
        assert model.estimator.n_features_in_ == 14
    np.testing.assert_allclose(predicted[0], predicted[1], atol=1e-5)
    more = table.slice(0, 50).append_column("new", pa.array(rng.standard_normal(50)))
    model.partial_fit(more, target="y")
    assert _challenged(model)


def _challenged(model):
    """Whether a challenger has begun, or waits until there is work to spare for it."""
    both = model.estimator.model_
    return both.challenger is not None or both.column_waits
