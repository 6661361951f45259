"""Which columns move the predictions, against permutation importance."""

from __future__ import annotations

import copy
import json
import time

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from scipy.stats import spearmanr
from sklearn.inspection import permutation_importance
from typer.testing import CliRunner

import onkel
from onkel.algorithms import make
from onkel.cli import app
from onkel.pipeline import StreamModel
from onkel.pipeline.sample import SampledRows
from onkel.streams import Block

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1500, 6)).astype(np.float32)
# columns in order of their weight; the last two are useless
WEIGHTS = np.array([1.0, 0.7, 0.45, 0.2, 0.0, 0.0])
SIGNAL = np.sin(X) @ WEIGHTS
SMALL = {"n_components": 80, "budget": 60, "n_candidates": 100, "random_state": 0}


def small(name, task):
    model = make(name, task)
    known = model.get_params()
    return model.set_params(**{k: v for k, v in SMALL.items() if k in known})


@pytest.mark.parametrize(
    ("name", "task"),
    [("fogd", "regression"), ("krls", "regression"), ("pa", "classification"),
     ("projectron", "classification"), ("bogd", "classification"), ("bsgd-m", "classification"),
     ("rrf", "classification"), ("okl", "regression")],
)  # fmt: skip
def test_it_ranks_columns_as_permutation_importance_does(name, task):
    y = SIGNAL if task == "regression" else SIGNAL > 0
    model = small(name, task).fit(X, y)
    found = model.feature_importances(X[-200:])
    assert found.sum() == pytest.approx(1.0)
    assert found[:2].min() > found[4:].max()
    permuted = permutation_importance(model, X, y, n_repeats=3, random_state=0).importances_mean
    assert spearmanr(found, permuted).statistic > 0.75


def test_it_is_that_of_the_gradient_where_f_is_linear():
    y = X @ WEIGHTS
    model = make("pa", "regression").fit(X, y)
    scale = np.square(model.coef_[0, :6]) * X[-100:].var(axis=0)
    np.testing.assert_allclose(model.feature_importances(X[-100:]), scale / scale.sum(), rtol=1e-2)
    # units do not matter
    stretched = X * np.array([1, 100, 1, 1, 1, 1], dtype=np.float32)
    found = StreamModel(make("krls", "regression")).partial_fit(stretched, y).feature_importances_
    same = StreamModel(make("krls", "regression")).partial_fit(X, y).feature_importances_
    np.testing.assert_allclose(found, same, atol=1e-3)


def test_a_model_keeps_rows_of_the_whole_stream_whatever_the_blocks(tmp_path):
    y = SIGNAL > 0
    found = []
    for size in (1, 50, 1500):
        # stored rows give the same bits in any blocks; BLAS would round features by block size
        model = StreamModel(make("rbp", random_state=0, gamma=0.1))
        for i in range(0, 1500, size):
            model.learn(Block(X[i : i + size], y[i : i + size], i))
        found.append(model.feature_importances_)
        kept = model.get_state()["sample"]
        assert kept["count"] == 1500
        np.testing.assert_array_equal(kept["X"], X[kept["at"]])
        assert np.histogram(kept["at"], 5, (0, 1500))[0].min() > 12
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    model.save(tmp_path / "m.onkel")
    np.testing.assert_array_equal(
        onkel.load(tmp_path / "m.onkel").feature_importances_, model.feature_importances_
    )


def test_columns_that_stand_still_at_the_end_of_a_sorted_file_have_importance():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"station": np.repeat([f"s{k}" for k in range(5)], 400)})
    frame["sun"] = (frame["station"] < "s3") * rng.normal(size=2000)
    y = 3 * (frame["station"] == "s1") + frame["sun"]
    model = StreamModel(make("krls", "regression")).fit(frame, y)
    assert (frame[-128:].nunique() == 1).all()
    assert model.feature_importances_.min() > 0.1


def test_each_row_is_kept_as_often_as_any_other():
    times, kept = np.zeros(1000), SampledRows()
    # of many streams, each continuing where the last one ended in the order of its numbers
    for k in range(300):
        kept = SampledRows()
        kept.count = 1000 * k
        kept.add(np.zeros((1000, 1), np.float32))
        times[kept.at - 1000 * k] += 1
    assert times.sum() == 300 * 128
    low, high = times[:500].sum(), times[500:].sum()
    assert abs(low - high) < 4 * np.sqrt(300 * 128)
    assert times.max() < 75


@pytest.mark.parametrize("cut", [1, 7, 400])
def test_the_sample_does_not_depend_on_blocks_or_on_when_rows_got_wider(cut):
    whole, parts = SampledRows(), SampledRows()
    narrow = X[:400, :4].copy()
    whole.add(narrow)
    for a in range(0, 400, cut):
        parts.add(narrow[a : a + cut])
    wide = np.ones((300, 2048), np.float32)
    whole.add(wide)
    for a in range(0, 300, cut):
        parts.add(csr_matrix(wide[a : a + cut]))
    assert len(whole.X) == 64
    for name, value in whole.get_state().items():
        np.testing.assert_array_equal(parts.get_state()[name], value)
    other = SampledRows()
    other.set_state(whole.get_state())
    other.add(wide)
    whole.add(wide)
    np.testing.assert_array_equal(other.at, whole.at)


def test_a_merged_sample_is_of_the_rows_of_both():
    def sample(n, value, begun=None):
        made = copy.deepcopy(begun) if begun else SampledRows()
        made.add(np.full((n, 1), value, np.float32))
        return made

    since = sample(1000, 0.0)
    one, two = sample(1000, 1.0, since), sample(2000, 2.0, since)
    one.take_in(two, since)
    assert one.count == 4000
    assert len(one.X) == 128
    counts = [int((value == one.X).sum()) for value in (0.0, 1.0, 2.0)]
    assert 15 < counts[0] < 55
    assert 15 < counts[1] < 55
    assert 40 < counts[2] < 90


def test_rows_that_are_sparse_or_wide():
    wide = csr_matrix(([1.0, 2.0, 1.0], ([0, 1, 2], [0, 5, 9_000])), shape=(3, 10_000))
    model = StreamModel(make("pa"), scaling="none")
    model.partial_fit(wide.astype(np.float32), np.array([0, 1, 0]))
    found = model.feature_importances_
    assert found.shape == (10_000,)
    assert set(np.flatnonzero(found)) <= {0, 5, 9_000}
    vast = csr_matrix(([1.0, 2.0], ([0, 1], [0, 199_999])), shape=(2, 200_000))
    model = StreamModel(make("pa"), scaling="none")
    model.partial_fit(vast.astype(np.float32), np.array([0, 1]))
    assert model.get_state()["sample"]["X"].size == 0
    assert not model.feature_importances_.any()


def test_it_takes_a_fraction_of_the_learning_time():
    y = SIGNAL > 0
    model = StreamModel(make("krls"))
    model.partial_fit(X[:500], y[:500])
    _ = model.feature_importances_  # compiles
    began = time.process_time()
    for i in range(0, 1500, 500):
        for _ in range(8):
            model.learn(Block(X[i : i + 500], y[i : i + 500], 0))
    learning = time.process_time() - began
    began = time.process_time()
    _ = model.feature_importances_
    assert time.process_time() - began < 0.05 * learning


def test_info_shows_it_by_column(tmp_path):
    frame = pd.DataFrame(X[:, [0, 4]], columns=["strong", "idle"])
    frame["place"] = np.where(X[:, 1] > 0, "north", "south")
    frame["y"] = np.sin(X[:, 0]) + (X[:, 1] > 0)
    source, saved = tmp_path / "rows.csv", tmp_path / "m.onkel"
    frame.to_csv(source, index=False)
    args = ["learn", source, "-t", "y", "-a", "krls", "--save", saved]
    assert CliRunner().invoke(app, [str(a) for a in args]).exit_code == 0
    shown = CliRunner().invoke(app, ["info", str(saved)])
    assert "importance" in shown.stdout
    assert "█" in shown.stdout
    report = json.loads(CliRunner().invoke(app, ["info", str(saved), "--json"]).stdout)
    share = {column["name"]: column["importance"] for column in report["columns"]}
    assert sum(share.values()) == pytest.approx(1.0)
    assert share["idle"] < 0.05 < min(share["strong"], share["place"])
    # Python gives them in the same order
    np.testing.assert_allclose(onkel.load(saved).feature_importances_, list(share.values()))


def test_a_text_counts_by_its_values(tmp_path):
    """No rows lie between the values of a text, and f may be anything there."""
    rng = np.random.default_rng(1)
    place = rng.choice(["north", "south", "east"], 1500)
    y = 2 * X[:, 0] + 0.5 * (place == "north")
    model = StreamModel(make("krls", "regression"))
    model.partial_fit(pd.DataFrame({"place": place, "wind": X[:, 0]}), y)
    text, number = model.feature_importances_
    assert text == pytest.approx(0.25 * 2 / 9 / 4, rel=0.5)
    assert number > 0.9
