"""speed="fast": the rows it keeps, and the trees that its last fit grows."""

from __future__ import annotations

import numpy as np
import pytest

from onkel import OnlineKernelClassifier, OnlineKernelRegressor
from onkel.default import row_sample, without_search
from onkel.default.held_out import HeldOut
from onkel.default.quick_trees import quick_trees
from onkel.default.row_sample import RowSample
from onkel.errors import ModelFileError

_HALVES = slice(4000), slice(4000, None)


def product(n=3000, d=30, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d))
    return X, (X[:, 0] * X[:, 1] > 0.0).astype(int)


def steps(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (n, 4))
    y = np.floor(4.0 * X[:, 0]) * np.sign(X[:, 1] - 0.3) + np.floor(3.0 * X[:, 2])
    return X, y + 0.1 * rng.standard_normal(n)


def kept(X, cuts, n_bytes):
    sample, y = RowSample(n_bytes, X.shape[1]), np.arange(len(X), dtype=float)
    for a, b in zip([0, *cuts], [*cuts, len(X)], strict=True):
        sample.add(X[a:b], y[a:b], np.ones(b - a))
    return sample


def test_the_rows_kept_do_not_depend_on_the_blocks():
    X = np.random.default_rng(0).standard_normal((1000, 3))
    whole, cut = kept(X, [], 2400), kept(X, [1, 2, 3, 500, 501, 900], 2400)
    for mine, own in zip(whole.rows(), cut.rows(), strict=True):
        np.testing.assert_array_equal(mine, own)
    assert 150 <= whole.count <= 200
    assert whole.seen == cut.seen == 1000
    np.testing.assert_array_equal(whole.y, whole.born)


def test_small_whole_numbers_take_a_byte():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 100, (1000, 8)).astype(float)
    X[300:, 1] += 0.5
    X[350, 2] = 500.0
    whole, cut = kept(X, [], 8 * 1000), kept(X, [*range(1, 300), 349, 400, 705], 8 * 1000)
    one_by_one = kept(X, range(1, 1000), 8 * 1000)
    for other in (cut, one_by_one):
        for name, value in whole.get_state().items():
            np.testing.assert_array_equal(other.get_state()[name], value)
    # a column that once was not small stays in float32
    seen = X[whole.born]
    np.testing.assert_array_equal(whole.rows()[0], seen)
    assert np.flatnonzero(~whole.is_small).tolist() == [1, 2]
    assert 0.7 * 571 < whole.count <= whole.size == 571
    loaded = RowSample(8000, 8)
    loaded.set_state(whole.get_state())
    np.testing.assert_array_equal(loaded.rows()[0], seen)
    whole.replace(np.array([0, 3]), np.column_stack([seen[:, 0] - 1.0, seen[:, 3] / 3.0]))
    np.testing.assert_array_equal(whole.rows()[0][:, 0], X[whole.born, 0] - 1.0)
    np.testing.assert_allclose(whole.rows()[0][:, 3], X[whole.born, 3] / 3.0, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(whole.rows()[0][:, 4:], X[whole.born, 4:])


@pytest.mark.parametrize("cuts", [[], range(1, 200)], ids=["a block", "row by row"])
def test_a_byte_holds_differences_up_to_127(cuts):
    X = np.tile([7.0, 0.0, 0.0, 0.0], (200, 1))
    X[50:, 1:] = 127.0, 128.0, -128.0
    sample = kept(X, cuts, 10_000)
    np.testing.assert_array_equal(sample.rows()[0], X)
    assert sample.is_small.tolist() == [True, True, False, False]


def test_rows_are_no_more_than_there_is_room_for_when_a_column_becomes_wide():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 100, (1000, 8)).astype(float), np.arange(1000.0)
    X[600:, 1] += 0.5
    sample = RowSample(8 * 1000, 8)
    for t in range(1000):
        sample.add(X[t : t + 1], y[t : t + 1], np.ones(1))
        assert sample.count <= sample.size == (1000 if t < 600 else 8000 // 11)
    values = X[sample.born, :4] / 3.0
    sample.replace(np.arange(4), values)
    assert sample.count <= sample.size == 8000 // 20
    expected = X[sample.born]
    expected[:, :4] /= 3.0
    np.testing.assert_allclose(sample.rows()[0], expected, rtol=1e-6, atol=1e-5)


def test_for_sure_the_first_rows_are_kept_whatever_their_numbers_are():
    X = np.random.default_rng(0).standard_normal((201, 3))
    sample = kept(X[:200], [], 2400)
    assert sample.sure == sample.count == 200
    assert RowSample(2400, 3).sure == 200
    assert kept(X, [], 2400).count < 200


@pytest.mark.parametrize("born", [[0, 1, 1], [0, 2, 1], [0, 1, 3]])
def test_crafted_numbers_of_rows_are_refused(born):
    state = kept(np.arange(3.0)[:, None], [], 1000).get_state()
    with pytest.raises(ModelFileError, match="born"):
        RowSample(1000, 1).set_state({**state, "born": np.array(born)})


def test_rows_of_a_file_in_which_no_column_was_small():
    X = np.random.default_rng(0).integers(0, 3, (50, 3)).astype(float)
    state = kept(X, [], 1000).get_state()
    old = {name: state[name] for name in state if name not in ("small", "is_small")}
    old["X"] = (X - X[0]).astype(np.float32)
    sample = RowSample(1000, 3)
    sample.set_state(old)
    np.testing.assert_array_equal(sample.rows()[0], X)
    sample.add(X, X[:, 0], np.ones(50))
    assert sample.count <= sample.size == 1000 // 12


def test_each_row_is_as_likely_as_any_other():
    sample = kept(np.zeros((40_000, 1)), [], 4 * 2000)
    parts = np.bincount(sample.born // 10_000, minlength=4)
    assert abs(parts - parts.mean()).max() < 4.0 * np.sqrt(parts.mean())


def test_rows_of_no_weight_do_not_count():
    X, weight = np.arange(20.0)[:, None], np.tile([1.0, 0.0], 10)
    sample = RowSample(1000, 1)
    sample.add(X, X[:, 0], weight)
    for t in range(20):
        sample.add(X[t : t + 1], X[t], weight[t : t + 1])
    np.testing.assert_array_equal(sample.rows()[0][:, 0], np.tile(np.arange(0.0, 20.0, 2.0), 2))
    assert sample.seen == 20


def test_a_date_in_seconds_keeps_its_digits():
    X = 1.7e9 + np.arange(100.0)[:, None]
    sample = kept(X, [], 10_000)
    np.testing.assert_array_equal(sample.rows()[0], X)
    sample.replace(np.array([0, 5]), np.column_stack([X[:, 0] + 7.0, X[:, 0]]))
    np.testing.assert_array_equal(sample.rows()[0], X + 7.0)


def test_wider_rows_leave_room_for_fewer(monkeypatch):
    X = np.random.default_rng(0).standard_normal((300, 2))
    sample = kept(X, [], 8 * 300)
    assert sample.count == 300
    sample.add_columns(2)
    # two columns of zeros take a byte each
    assert 150 < sample.count <= 240
    rows, y, _ = sample.rows()
    np.testing.assert_allclose(rows[:, :2], X[y.astype(int)], rtol=1e-6, atol=1e-6)
    assert not rows[:, 2:].any()
    for _ in range(20):
        sample.add(np.full((1, 4), 0.5), np.zeros(1), np.ones(1))
    assert sample.count <= 150
    monkeypatch.setattr(row_sample, "_MOST_ROWS", 10)
    assert kept(X, [], 8 * 300).count <= 10


@pytest.mark.compiled
@pytest.mark.parametrize("made", [product, steps])
def test_the_last_fit_grows_trees_where_they_help(made):
    X, y = made()
    kind = OnlineKernelClassifier if y.dtype.kind == "i" else OnlineKernelRegressor
    model = kind(n_components=60, speed="fast").partial_fit(X[:2500], y[:2500])
    coef, before = model.coef_.copy(), np.mean((model.predict(X[2500:]) - y[2500:]) ** 2)
    model.consolidate()
    np.testing.assert_array_equal(model.coef_, coef)
    assert np.mean((model.predict(X[2500:]) - y[2500:]) ** 2) < 0.8 * before
    assert len(model.model_.current.trees.columns) <= 300


@pytest.mark.compiled
def test_no_part_of_the_model_has_learned_the_rows_held_out(monkeypatch):
    rng = np.random.default_rng(0)
    X, values = rng.uniform(0.0, 1.0, (8000, 2)), rng.standard_normal((12, 12))
    cells = (12.0 * X).astype(int)
    y = values[cells[:, 0], cells[:, 1]] + rng.standard_normal(len(X))
    found = []

    def kept(X, Y, weight, held, *more):
        found.append(np.mean((held.predictions - Y[held.rows]) ** 2))

    monkeypatch.setattr(without_search, "quick_trees", kept)
    model = OnlineKernelRegressor(n_components=60, speed="fast", restart=False, memory=False)
    model.partial_fit(X[:4000], y[:4000]).consolidate()
    known, new = (np.mean((model.predict(X[of]) - y[of]) ** 2) for of in _HALVES)
    # cells follow the rows that they have learned
    assert known < 0.9 * new
    assert 0.9 * new < found[0] < 1.1 * new


@pytest.mark.compiled
def test_few_columns_that_matter_are_asked_alone_where_that_is_better():
    X, y = product(4000, 40)
    # the first two columns become the last
    X = X[:, ::-1].copy()
    Y, weight = 2.0 * y[:, None] - 1.0, np.ones(len(X))
    held = HeldOut.at_once(np.arange(3000, 4000), np.zeros((1000, 1)))
    for matter, asked in ((np.array([38, 39]), {38, 39}), (np.array([5, 6]), None)):
        rng = np.random.default_rng(0)
        trees = quick_trees(X, Y, weight, held, matter, 500, rng, 1.0)
        found = set(trees.columns[np.isfinite(trees.edges)])
        assert found == asked or (asked is None and len(found) > 2)


@pytest.mark.compiled
def test_a_saved_model_grows_the_same_trees():
    X, y = steps(2000)
    model = OnlineKernelRegressor(n_components=40, speed="fast").partial_fit(X[:1200], y[:1200])
    copied = OnlineKernelRegressor.from_state(model.get_state())
    for each in (model, copied):
        each.partial_fit(X[1200:], y[1200:]).consolidate()
    np.testing.assert_array_equal(model.predict(X), copied.predict(X))
    again = OnlineKernelRegressor.from_state(model.get_state())
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.compiled
def test_rows_kept_get_new_classes_and_columns():
    X, y = product(1500, 3)
    more = np.where(X[:, 2] > 1.0, 2, y)
    model = OnlineKernelClassifier(n_components=40, speed="fast").partial_fit(X[:800, :2], y[:800])
    model.add_columns(1).partial_fit(X[800:], more[800:]).consolidate()
    sample = model.model_.current.sample
    assert sample.rows()[0].shape[1] == 3
    assert set(np.unique(sample.y)) <= {0.0, 1.0, 2.0}
    assert np.mean(model.predict(X[800:]) == more[800:]) > 0.9


@pytest.mark.compiled
def test_a_fixed_model_keeps_no_rows():
    X, y = steps(1500)
    model = OnlineKernelRegressor(n_components=40, speed="fast").partial_fit(X, y)
    model.fix_map()
    assert model.model_.current.sample is None
    assert not len(model.rows_kept())
    predicted = model.predict(X)
    np.testing.assert_array_equal(model.consolidate().predict(X), predicted)
