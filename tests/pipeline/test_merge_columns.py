"""Models with columns, learned in parts and merged: counts, statistics, scales, refusals."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from onkel import FOGDClassifier, FOGDRegressor, KernelRLSRegressor, StreamModel, load
from onkel.errors import MergeError


def table(n=1200, seed=0):
    rng = np.random.default_rng(seed)
    city = rng.integers(0, 90, n)
    x = rng.normal(5, 100, n)
    y = 10 * np.sin(x / 100) + city % 7 + rng.standard_normal(n)
    shown = np.array([f"c{k}" for k in city], dtype=object)
    shown[rng.random(n) < 0.05] = None
    return {"x": x, "city": shown, "y": y}


def part(rows, which):
    return {name: values[which] for name, values in rows.items()}


def learned(model, rows):
    return copy.deepcopy(model).partial_fit(rows, target="y")


@pytest.fixture(scope="module")
def sample():
    model = StreamModel(KernelRLSRegressor(n_components=30, gamma=0.1, dtype="float64"))
    return model.partial_fit(part(table(), slice(400)), target="y").fix_map()


@pytest.mark.parametrize("parts", [2, 7])
def test_counts_scales_and_sums_are_those_of_one_pass(sample, parts):
    rows = table()
    rest = [part(rows, own) for own in np.array_split(np.arange(400, 1200), parts)]
    models = [learned(sample, own) for own in rest]
    whole = models[0]
    for other in models[1:]:
        whole.merge(other, since=sample)
    one = learned(sample, part(rows, slice(400, None)))
    assert whole.n_rows == one.n_rows == 1200
    assert whole.describe_columns() == one.describe_columns()
    assert (whole.scaler.center_ == sample.scaler.center_).all()
    means = [model._inputs.means for model in (whole, one)]
    for name, counts in means[1].counts.items():
        np.testing.assert_array_equal(means[0].counts[name], counts)
        np.testing.assert_allclose(means[0].sums[name], means[1].sums[name], atol=1e-9)
    # rows were learned with the target means of their own part: close to one pass, not equal
    new = table(seed=1)
    errors = [np.sqrt(np.mean((model.predict(new) - new["y"]) ** 2)) for model in (whole, one)]
    assert errors[0] < 1.05 * errors[1] < 0.35 * new["y"].std()


def test_a_fixed_model_takes_no_new_column_or_category(sample, tmp_path):
    rows = table(50, seed=1)
    rows["new"] = np.arange(50.0)
    rows["city"][:25] = "unheard of"
    d = sample.estimator.n_features_in_
    sample.save(tmp_path / "fixed.onkel")
    again = load(tmp_path / "fixed.onkel")
    assert again.map_fixed
    model, other = learned(sample, rows), learned(again, rows)
    assert model.estimator.n_features_in_ == d
    assert model.merge(other, since=again).n_rows == 500
    # but its target mean is learned under its hash
    means = model._inputs.means
    assert max(counts.max() for counts in means.counts.values()) >= 50


def test_differences_are_named(sample):
    rows = part(table(), slice(200))
    unscaled = StreamModel(FOGDRegressor(), scaling="none")
    other = StreamModel(KernelRLSRegressor(n_components=30, gamma=0.1, dtype="float64"))
    other.partial_fit(rows, target="y")
    with pytest.raises(MergeError, match="whether the map is fixed: True in one and False"):
        sample.merge(other)
    with pytest.raises(MergeError, match="the columns: "):
        sample.merge(other.fix_map())
    with pytest.raises(MergeError, match="the scaling: auto in one and none"):
        sample.merge(unscaled)
    with pytest.raises(MergeError, match="no rows"):
        unscaled.fix_map()
    assert sample.n_rows == 400


def test_classes_in_another_order_are_refused_before_anything_changes():
    rows = part(table(), slice(300))
    models = []
    for first, second in (("late", "on time"), ("on time", "late")):
        own = {**rows, "y": np.where(np.arange(300) % 2, first, second)}
        model = StreamModel(FOGDClassifier(n_components=20, random_state=0), scaling="none")
        models.append(model.partial_fit(own, target="y").fix_map())
    before = models[0].to_bytes()
    with pytest.raises(MergeError, match="the order of the classes"):
        models[0].merge(models[1])
    assert models[0].to_bytes() == before
