"""Before the last fit the rows kept get target means of all other rows, not of those before."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import onkel
from onkel import StreamModel, make
from onkel.default import early_trees
from onkel.errors import DataError
from onkel.pipeline.inputs import Inputs

N, LEARNED = 1800, 1400


def table(seed=0, n=N, values=150):
    """A text of many values, each with an effect of its own, and a number."""
    rng = np.random.default_rng(seed)
    code, x = rng.integers(0, values, n), rng.normal(size=n)
    y = rng.normal(size=values)[code] + 0.3 * x + 0.3 * rng.normal(size=n)
    return {"name": [f"v{k}" for k in code], "x": x}, y


def rows(X, a, b):
    return {name: column[a:b] for name, column in X.items()}


def learned(X, y, n=LEARNED, cuts=(), task="regression", **params):
    model = StreamModel(make("okl", task, n_components=64, **params))
    for a, b in zip([0, *cuts], [*cuts, n], strict=True):
        model.partial_fit(rows(X, a, b), y[a:b])
    return model


def rmse(model, X, y):
    return float(np.sqrt(np.mean((model.predict(rows(X, LEARNED, N)) - y[LEARNED:]) ** 2)))


@pytest.fixture(scope="module")
def known():
    X, y = table()
    return X, y, learned(X, y)


def test_a_frozen_model_gains(known, monkeypatch):
    X, y, model = known
    now, as_before = copy.deepcopy(model).consolidate(), copy.deepcopy(model)
    monkeypatch.setattr(Inputs, "means_anew", lambda *_: None)
    as_before.consolidate()
    assert rmse(now, X, y) < 0.95 * rmse(as_before, X, y)


def test_the_rows_kept_have_the_means_of_the_other_folds(known):
    model = copy.deepcopy(known[2])
    kept = model.estimator.model_.current.warmup
    given, before = kept.rows()[0], kept.X.copy()
    at, means = model._inputs.means_anew(model.estimator.rows_kept())
    assert np.abs(means[:, 0]).min() > 0.0
    model.consolidate()
    np.testing.assert_array_equal(kept.X[:, at], means.astype(kept.X.dtype))
    # the rest stays, and so does what was given out
    others = np.setdiff1d(np.arange(kept.X.shape[1]), at)
    np.testing.assert_array_equal(kept.X[:, others], before[:, others])
    np.testing.assert_array_equal(given, before)
    # what the frozen model gives to new rows is nearly the same
    now = model._inputs.now(model._sample.X)[:, at]
    assert np.corrcoef(now[:, 0], means[model._sample.at, 0])[0, 1] > 0.95


def test_blocks_and_files_change_nothing(known):
    X, y, model = known
    cut = learned(X, y, cuts=[200, 201, 500, 1300])
    loaded = onkel.from_bytes(model.to_bytes())
    halfway = onkel.from_bytes(learned(X, y, 700).to_bytes())
    halfway.partial_fit(rows(X, 700, LEARNED), y[700:LEARNED])
    expected = copy.deepcopy(model).consolidate()
    for other in (cut, loaded, halfway):
        assert other._inputs.kept.get_state().keys() == model._inputs.kept.get_state().keys()
        for name, value in model._inputs.kept.get_state().items():
            np.testing.assert_array_equal(other._inputs.kept.get_state()[name], value)
        other.consolidate()
        np.testing.assert_allclose(
            other.predict(rows(X, LEARNED, N)), expected.predict(rows(X, LEARNED, N)), atol=1e-5
        )


def test_the_model_goes_on_after_it(known):
    X, y, model = known
    model = copy.deepcopy(model).consolidate()
    model.partial_fit(rows(X, LEARNED, N), y[LEARNED:])
    again = onkel.from_bytes(model.to_bytes()).consolidate()
    assert again._inputs.kept.n_rows == again.n_rows == N
    assert rmse(again, X, y) < 0.4


def test_a_refused_row_is_not_kept(known):
    X, y, model = known
    model, wrong = copy.deepcopy(model), y[LEARNED:].copy()
    wrong[7] = np.nan
    with pytest.raises(DataError):
        model.partial_fit(rows(X, LEARNED, N), wrong)
    assert model._inputs.kept.n_rows == model.n_rows == LEARNED + 7
    right = learned(X, y, LEARNED + 7)
    for name, value in right._inputs.kept.get_state().items():
        np.testing.assert_array_equal(model._inputs.kept.get_state()[name], value)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_classes(n_classes):
    mistakes = []
    # of 400 rows, a few mistakes are chance
    for seed in range(2):
        X, y = table(seed)
        codes = np.digitize(y, np.linspace(-1, 1, n_classes + 1)[1:-1])
        labels = np.array([f"c{k}" for k in codes])
        model = learned(X, labels, task="classification")
        at, means = model._inputs.means_anew(model.estimator.rows_kept())
        assert means.shape[1] == len(at) == n_classes - 1
        before = model.predict(rows(X, LEARNED, N)) != labels[LEARNED:]
        after = model.consolidate().predict(rows(X, LEARNED, N)) != labels[LEARNED:]
        mistakes.append((np.mean(before), np.mean(after)))
    before, after = np.mean(mistakes, axis=0)
    assert after < before + 0.01


def test_a_text_that_comes_late():
    X, y = table()
    X = {**X, "name": [None] * 300 + X["name"][300:]}
    X["other"] = ["a", "b"] * (N // 2)
    model = learned(X, y, cuts=[100])
    at, _ = model._inputs.means_anew(model.estimator.rows_kept())
    assert len(at) == 2
    assert rmse(model.consolidate(), X, y) < 0.6


def test_rows_from_before_a_change_are_the_right_ones():
    X, y = table(n=6000)
    y[3000:] *= -1.0
    model = StreamModel(make("okl", "regression", n_components=64)).partial_fit(X, y)
    before = model.estimator.model_.before
    assert model.changes_
    assert before is not None
    ago = model.estimator.rows_kept()
    _, targets, born = model._inputs.kept.find(ago)
    np.testing.assert_array_equal(targets, y[born])
    kept = np.concatenate([before.y, *(m.warmup.y for m in model.estimator.model_.models())])
    np.testing.assert_array_equal(targets, kept[: len(targets)])
    at, means = model._inputs.means_anew(ago)
    model.consolidate()
    np.testing.assert_allclose(before.X[:, at], means[: before.count], rtol=1e-6)


def test_where_no_rows_are_kept_neither_are_codes():
    X, y = table()
    model = StreamModel(make("pa", "regression")).partial_fit(X, y)
    assert len(model.get_state()["widening"]["kept"]["born"]) == 0
    model.consolidate()
    assert model._inputs.kept.n_rows == model.n_rows


def test_a_model_of_an_earlier_version_fits_as_it_did(known, monkeypatch):
    X, y, model = known
    state = model.get_state()
    del state["widening"]["kept"]
    old = StreamModel.from_state(state)
    old.partial_fit(rows(X, LEARNED, N), y[LEARNED:])
    assert old._inputs.kept is None
    kept = old.estimator.model_.current.warmup.X.copy()
    old.consolidate()
    np.testing.assert_array_equal(old.estimator.model_.current.warmup.X, kept)


def test_parts_of_a_stream_keep_none(known):
    model = copy.deepcopy(known[2]).fix_map()
    assert model._inputs.kept is None
    assert "kept" not in model.get_state()["widening"]


# ---- in mid-stream: rows that grow trees again ---------------------------------------------------

AGAIN = 1024


@pytest.fixture
def _early(monkeypatch):
    """Few rows grow trees, the first time and the second."""
    monkeypatch.setattr(early_trees, "GROWTHS", ((512, 576), (AGAIN, 1152)))
    monkeypatch.setattr(early_trees, "_HELPFUL", 2.0)


@pytest.mark.usefixtures("_early")
def test_rows_that_grow_trees_again_have_the_means_of_the_others():
    X, y = table()
    model = learned(X, y, n=AGAIN)
    kept = model.estimator.model_.current.warmup
    before = kept.X.copy()
    at, means = copy.deepcopy(model)._inputs.means_anew(model.estimator.rows_kept())
    assert model.estimator.rows_before_anew() == 0
    model.partial_fit(rows(X, AGAIN, AGAIN + 1), y[AGAIN : AGAIN + 1])
    np.testing.assert_array_equal(kept.X[:AGAIN, at], means.astype(kept.X.dtype))
    assert (kept.X[:AGAIN, at] != before[:, at]).any()


@pytest.mark.usefixtures("_early")
@pytest.mark.parametrize("speed", ["fast", "balanced"])
@pytest.mark.parametrize("late", [False, True])
def test_blocks_do_not_matter_to_rows_in_mid_stream(speed, late):
    X, y = table()
    if late:
        X["other"] = ["" if t < AGAIN - 3 else f"w{t % 7}" for t in range(N)]
    cuts = [AGAIN - 1, AGAIN, AGAIN + 1, 1100]
    found = [
        learned(X, y, cuts=own, speed=speed, memory=False).predict(rows(X, LEARNED, N))
        for own in ([], cuts, [AGAIN - 5, AGAIN + 5])
    ]
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-6, atol=1e-6)


@pytest.mark.usefixtures("_early")
def test_a_saved_model_takes_means_anew():
    X, y = table()
    model = learned(X, y, n=AGAIN)
    other = onkel.from_bytes(model.to_bytes())
    for one in (model, other):
        one.partial_fit(rows(X, AGAIN, LEARNED), y[AGAIN:LEARNED])
    assert rmse(other, X, y) == rmse(model, X, y)


@pytest.mark.usefixtures("_early")
def test_a_bad_row_after_rows_in_mid_stream_is_named():
    X, y = table()
    bad = y.copy()
    bad[AGAIN + 40] = np.inf
    model = learned(X, y, n=AGAIN - 30)
    part = AGAIN - 30, LEARNED
    with pytest.raises(DataError) as found:
        model.partial_fit(rows(X, *part), bad[slice(*part)])
    assert found.value.row == 70
    assert model.n_rows == AGAIN + 40
    expected = learned(X, y, n=AGAIN + 40, cuts=[AGAIN - 30])
    new = rows(X, LEARNED, N)
    np.testing.assert_allclose(model.predict(new), expected.predict(new), rtol=1e-6, atol=1e-6)
