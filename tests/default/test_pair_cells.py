"""Cells of pairs of columns: they learn from the residuals and never do harm."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_array

from onkel import OnlineKernelClassifier, OnlineKernelRegressor
from onkel.default import corrected_by_cells
from onkel.default.bins import PairBins
from onkel.default.cells import (
    DOUBT,
    LEFT,
    ROWS,
    SIZE,
    WHOLE,
    PairCells,
    find_bins,
    learn_in_stages,
    residuals_with_class,
)

pytestmark = pytest.mark.compiled


def rows(n=600, d=4, n_outputs=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, 1] = rng.integers(0, 5, n)
    R = np.sign(X[:, :1] * (X[:, 1:2] - 2.0)) + 0.3 * rng.standard_normal((n, n_outputs))
    return X, R, rng.integers(0, 3, n).astype(float)


def cells(X, R, most_cells=2000, forgetting=1.0):
    return PairCells(PairBins.of(X, R, most_cells), R.shape[1], forgetting)


def bins_of(X, bins):
    """The bins (n, m) of rows, as the loops find them."""
    values, columns, edges, _ = PairCells(bins, 1)._binned(X)
    B = np.empty((X.shape[0], len(columns)), np.int64)
    for t in range(len(B)):
        find_bins(values, t, columns, edges, B[t])
    return B


def naive(X, R, weight, bins, first):
    """The docstring's formulas, cell by cell; a·s before each row."""
    w, V, out = {}, {}, np.zeros(R.shape)
    agreed = doubt = size = 0.0
    for t, b in enumerate(bins_of(X, bins)):
        at = [(i, b[i]) for i in range(len(b))]
        at += [(i, j, b[i], b[j]) for i, j in combinations(range(len(b)), 2)]
        s = sum(w.get(c, np.zeros(R.shape[1])) for c in at)
        out[t] = s * np.clip((agreed - np.sqrt(doubt)) / size, 0, 1) if size > 0 else 0.0
        if weight[t] > 0:
            agreed += weight[t] * (R[t] @ s)
            doubt += (weight[t] * (R[t] @ s)) ** 2
            size += weight[t] * (s @ s)
            total = 1 / weight[t] + sum(V.get(c, first) for c in at)
            for c in at:
                v = V.get(c, first)
                w[c] = w.get(c, 0.0) + v / total * (R[t] - s)
                V[c] = v - v**2 / total
    return out


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_the_loop_is_the_formula(n_outputs):
    X, R, weight = rows(n_outputs=n_outputs)
    model = cells(X, R)
    expected = naive(X, R, weight, model.bins, 0.5 / 10)
    np.testing.assert_allclose(model.learn(X, R, weight), expected, rtol=1e-9, atol=1e-12)
    assert np.abs(expected).max() > 0.4
    whole, left = (weight @ (of**2).sum(axis=1) for of in (R, R - expected))
    np.testing.assert_allclose(model.sums[[WHOLE, LEFT]], [whole, left])
    assert model.left == pytest.approx(left / whole)


def test_the_one_cell_of_a_row_begins_with_half_the_variance_of_the_noise():
    X = np.repeat([[0.0], [1.0]], 10, axis=0)
    model = cells(X, X)
    assert model.left == 1.0
    model.learn(X[:1], np.array([[3.0]]), np.ones(1))
    np.testing.assert_allclose(model.W[:, 0], [0.5 / 1.5 * 3.0, 0.0])
    again = PairCells(PairBins.none(), 1)
    again.set_state(model.get_state())
    assert again.first == model.first == 0.5


def test_a_stage_learns_what_those_before_it_leave():
    X, R, weight = rows()
    bins = PairBins.of(X, R, 2000)
    stages, (one, two) = ([PairCells(of, 1) for of in (bins.alone(), bins)] for _ in "12")
    first = one.learn(X, R, weight)
    second = two.learn(X, R - first, weight)
    found = learn_in_stages(stages, X, R, weight)
    np.testing.assert_allclose(found, first + second, rtol=1e-12, atol=1e-15)
    assert np.abs(second).max() > 0.1


@pytest.mark.parametrize("block", [1, 7, 256, 300])
@pytest.mark.parametrize("forgetting", [1.0, 0.999])
def test_blocks_do_not_matter(block, forgetting):
    X, R, weight = rows()
    model, whole = cells(X, R, forgetting=forgetting), cells(X, R, forgetting=forgetting)
    got = [model.learn(X[a : a + block], R[a : a + block], weight[a : a + block])
           for a in range(0, len(X), block)]  # fmt: skip
    np.testing.assert_array_equal(np.concatenate(got), whole.learn(X, R, weight))
    np.testing.assert_array_equal(model.scores(X), whole.scores(X))


def test_a_bin_is_the_number_of_edges_below():
    X, R, _ = rows(d=20)
    X[:, 3] = np.maximum(X[:, 3], 0.0)
    bins = PairBins.of(X, R, 5000)
    new = np.random.default_rng(1).standard_normal((200, 20))
    for values in (X, new, csr_array(new)):
        dense = values.toarray() if hasattr(values, "toarray") else values
        expected = [np.searchsorted(e[np.isfinite(e)], dense[:, j])
                    for j, e in zip(bins.columns, bins.edges, strict=True)]  # fmt: skip
        np.testing.assert_array_equal(bins_of(values, bins), np.transpose(expected))


@pytest.mark.parametrize(
    ("most", "columns"), [(0, 0), (1, 0), (3, 1), (40, 4), (300, 12), (5000, 16), (10**6, 16)]
)
def test_no_more_cells_than_allowed(most, columns):
    """m columns of two bins are 2 m² cells."""
    X, R, _ = rows(d=20)
    bins = PairBins.of(X, R, most)
    assert bins.n_cells <= most
    assert len(bins.columns) == columns


def test_every_cell_is_one_cells():
    X, R, _ = rows(d=3)
    bins = PairBins.of(X, R, 500)
    seen = {}
    for b in bins_of(X, bins):
        for i, j, offset, stride in bins.pairs:
            cell = (i, j, b[i] if stride else 0, b[j])
            assert seen.setdefault(offset + stride * b[i] + b[j], cell) == cell
    assert max(seen) < bins.n_cells


def test_columns_alone_are_cut_where_pairs_are_but_in_fewer_bins():
    X, R, _ = rows(n=1000)
    bins = PairBins.of(X, R, 5000)
    few = bins.alone()
    assert (few.pairs[:, 0] == few.pairs[:, 1]).all()
    assert few.n_cells == sum(len(e[np.isfinite(e)]) + 1 for e in few.edges) == 3 * 8 + 5
    for coarse, fine in zip(few.edges, bins.edges, strict=True):
        assert set(coarse[np.isfinite(coarse)]) <= set(fine)
    counts = np.bincount(bins_of(X, few)[:, 0])
    assert counts.max() < 1.5 * counts.min()
    again = PairBins.none()
    again.set_state(few.get_state())
    np.testing.assert_array_equal(again.pairs, few.pairs)
    np.testing.assert_array_equal(bins_of(X, again), bins_of(X, few))


def test_columns_that_say_something_are_chosen():
    X, R, _ = rows(n=1000, d=60)
    X[:, 5] = 1.0
    R = X[:, 40:41] ** 2 + np.abs(X[:, 50:51])
    bins = PairBins.of(X, R, 2000)
    assert len(bins.columns) == 16
    assert {40, 50} <= set(bins.columns)
    assert 5 not in bins.columns


def test_columns_are_compared_by_what_they_say_beyond_chance():
    """Eight bins of noise explain seven times as much by chance as two values do."""
    chosen = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((1000, 40))
        X[:, 7] = rng.integers(0, 2, 1000)
        Y = 0.16 * X[:, 7:8] + rng.standard_normal((1000, 1))
        chosen += 7 in PairBins.of(X, Y, 5000).columns
    assert chosen >= 16
    # a column of numbers that says much comes before many of two values that say nothing
    X[:, 8:] = rng.integers(0, 2, (1000, 32))
    assert 3 in PairBins.of(X, Y + X[:, 3:4], 5000).columns


def test_what_says_least_is_left_out_first_and_constants_at_once():
    X, R, _ = rows(n=1000, d=20)
    R = X[:, 4:5] + X[:, 11:12]
    assert {4, 11} <= set(PairBins.of(X, R, 40).columns)
    X[:, 2:] = 1.0
    assert PairBins.of(X, R, 5000).columns.tolist() == [0, 1]


def test_a_new_value_falls_into_the_bin_of_the_nearest():
    X = np.repeat([[0.0], [4.0], [10.0]], 20, axis=0)
    bins = PairBins.of(X, X, 100)
    new = np.array([[-5.0], [1.9], [2.1], [6.9], [7.1], [99.0]])
    assert bins_of(new, bins)[:, 0].tolist() == [0, 0, 1, 1, 2, 2]


def test_noise_is_left_out():
    rng = np.random.default_rng(0)
    X, R = rng.standard_normal((4000, 6)), rng.standard_normal((4000, 1))
    model = cells(X[:1000], R[:1000], 5000)
    out = model.learn(X, R, np.ones(4000))
    assert ((R - out) ** 2).mean() < 1.0003 * (R**2).mean()
    assert 0.99 < model.left < 1.0003


def test_forgetting_follows_a_change():
    X, R, _ = rows(4000)
    R[2000:] *= -1.0
    left = {}
    for forgetting in (1.0, 0.998):
        model = cells(X, R, forgetting=forgetting)
        out = model.learn(X, R, np.ones(4000))
        left[forgetting] = ((R - out)[3000:] ** 2).mean() / (R[3000:] ** 2).mean()
    assert left[0.998] < 0.9 < left[1.0]


def test_forgotten_rows_are_rows_of_less_weight():
    """One column of two bins: after a period of 256 rows, each row has the weight λ²⁵⁶."""
    X, R = np.repeat([[0.0], [1.0]], 128, axis=0), np.ones((256, 1))
    kept = 0.99**256
    model = cells(X, R, forgetting=0.99)
    model.learn(X, R, np.ones(256))
    other = cells(X, R)
    other.learn(X[[0, 255]], R[:2], np.full(2, 128 * kept))
    np.testing.assert_allclose(model.V, other.V)
    np.testing.assert_allclose(model.W, other.W)
    assert model.sums[ROWS] == 256


def test_all_sums_fade_after_256_rows_but_not_their_number():
    X, R, _ = rows(256)
    model, other = cells(X, R, forgetting=0.99), cells(X, R)
    for each in (model, other):
        each.learn(X, R, np.ones(256))
    np.testing.assert_allclose(model.sums[:ROWS], 0.99**256 * other.sums[:ROWS], rtol=1e-12)
    assert model.sums[ROWS] == other.sums[ROWS] == 256


def test_a_class_added_is_a_class_that_was_never_seen():
    X, R, weight = rows()
    model, wider = cells(X, R), cells(X, R)
    first = slice(0, 300)
    for each in (model, wider):
        each.learn(X[first], R[first], weight[first])
    wider.add_output(1)
    one = model.learn(X[300:], R[300:], weight[300:])
    three = wider.learn(X[300:], residuals_with_class(R[300:], 1), weight[300:])
    np.testing.assert_allclose(three, residuals_with_class(one, 1), atol=1e-12)
    assert model.left == pytest.approx(wider.left)
    # one class more of many leaves the squares of all residuals as they are
    before = wider.sums.copy()
    wider.add_output(0)
    np.testing.assert_array_equal(wider.sums, before)
    assert not wider.W[:, 0].any()


def test_withdrawn_cells_correct_nothing_and_are_as_sure_as_before():
    X, R, weight = rows()
    model = cells(X, R)
    model.learn(X, R, weight)
    V, sums = model.V.copy(), model.sums.copy()
    model.withdraw()
    assert not model.scores(X).any()
    assert model.left == 1.0
    np.testing.assert_array_equal(model.V, V)
    kept = [DOUBT, SIZE, WHOLE, ROWS]
    np.testing.assert_array_equal(model.sums[kept], sums[kept])


# ---- under the default learner ---------------------------------------------------------------


def crossed(n=6000, seed=0):
    """A smooth part plus a table over two columns of unordered codes."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 30, (n, 2))
    table = rng.standard_normal((30, 30))
    x = rng.standard_normal((n, 2))
    y = np.sin(x[:, 0]) * x[:, 1] + table[codes[:, 0], codes[:, 1]]
    return np.column_stack([x, codes]), y


@pytest.mark.slow
def test_they_learn_what_landmarks_cannot():
    X, y = crossed()
    error = {}
    for pairs in (True, False):
        model = OnlineKernelRegressor(n_components=100, speed="fast", pairs=pairs)
        error[pairs] = np.mean((model.predict_then_learn(X, y) - y)[4000:] ** 2)
    assert error[True] < 0.8 * error[False]


@pytest.mark.slow
def test_later_stages_follow_what_changes_slowly_and_leave_alone_what_stays(monkeypatch):
    # trees would follow, too
    monkeypatch.setattr(corrected_by_cells, "n_early_trees", lambda *_: 0)
    rng = np.random.default_rng(0)
    n = 20_000
    X = rng.standard_normal((n, 3))
    stays = X[:, 0] * X[:, 1]
    moves = X[:, 2] * np.sin(np.arange(n) / 2000)
    for y, least, most in ((stays + moves, 0.0, 0.6), (stays, 0.98, 1.02)):
        model, static = (
            OnlineKernelRegressor(n_components=100, speed="fast", restart=False, memory=False)
            for _ in "12"
        )
        y = y + 0.3 * rng.standard_normal(n)
        error = np.mean((model.predict_then_learn(X, y) - y)[4000:] ** 2)
        static.partial_fit(X[:1023], y[:1023])
        expected = []
        for a in range(1023, n, 500):
            expected.append(static.predict_then_learn(X[a : a + 500], y[a : a + 500]))
            del static.model_.stages[1:]
        expected = np.mean((np.concatenate(expected) - y[1023:])[2977:] ** 2)
        assert least <= error / expected <= most


@pytest.mark.slow
def test_error_bars_know_what_is_corrected():
    X, y = crossed()
    model = OnlineKernelRegressor(n_components=100, speed="fast").fit(X[:5000], y[:5000])
    mean, std = model.predict(X[5000:], return_std=True)
    without = OnlineKernelRegressor(n_components=100, speed="fast", pairs=False).fit(
        X[:5000], y[:5000]
    )
    assert np.median(std / without.predict(X[5000:], return_std=True)[1]) < 0.97
    assert np.mean(np.abs(y[5000:] - mean) < 1.645 * std) == pytest.approx(0.9, abs=0.05)


@pytest.mark.parametrize("stop", [30, 700, 1024, 3000])
@pytest.mark.parametrize("forgetting", [1.0, 0.999])
def test_a_saved_learner_goes_on_bit_for_bit(stop, forgetting):
    X, y = crossed(4000)
    code = np.digitize(y, [-1.0, 1.0])
    code[:500] = np.minimum(code[:500], 1)
    model = OnlineKernelClassifier(n_components=20, speed="fast", forgetting=forgetting)
    model.partial_fit(X[:stop], code[:stop])
    other = OnlineKernelClassifier.from_state(model.get_state())
    for each in (model, other):
        each.partial_fit(X[stop:], code[stop:])
    np.testing.assert_array_equal(model.decision_function(X), other.decision_function(X))


@pytest.mark.parametrize("unit", [1e-100, 1e80])
def test_targets_come_in_any_units(unit):
    X, y = crossed(2000)
    model, other = (
        OnlineKernelRegressor(n_components=20, speed="fast", restart=False) for _ in "12"
    )
    expected = model.predict_then_learn(X, y)
    np.testing.assert_allclose(other.predict_then_learn(X, unit * y) / unit, expected, atol=1e-6)
    assert model.model_.stages[0].scores(X).any()


@pytest.mark.slow
def test_rows_kept_for_the_choice_are_few_where_they_are_wide():
    X = csr_array((np.ones(600), (np.arange(600), np.arange(600) % 97)), shape=(600, 20_000))
    label = np.arange(600) % 2
    model = OnlineKernelClassifier(n_components=5, speed="fast", restart=False).fit(
        X[:50], label[:50]
    )
    assert model.model_.choice.n_rows == 64
    model.partial_fit(X[50:100], label[50:100])
    assert model.model_.choice is None
    assert len(model.model_.stages[0].bins.columns) > 0
    wider = csr_array((600, 10**6))
    model = OnlineKernelClassifier(n_components=5, speed="fast", restart=False)
    assert model.partial_fit(wider[:2], label[:2]).model_.choice is None


@pytest.mark.parametrize("block", [1, 100, 1000])
def test_blocks_do_not_matter_to_the_learner(block):
    X, y = crossed(1500)
    code = np.digitize(y, [-1.0, 1.0])
    code[:200] = np.minimum(code[:200], 1)
    expected = OnlineKernelClassifier(n_components=20, speed="fast").predict_then_learn(X, code)
    model = OnlineKernelClassifier(n_components=20, speed="fast")
    got = [model.predict_then_learn(X[a : a + block], code[a : a + block])
           for a in range(0, len(X), block)]  # fmt: skip
    assert np.mean(np.concatenate(got) != expected) < 0.005
    assert model.model_.n_outputs == 3


@pytest.mark.parametrize("stop", [30, 500, 2000])
def test_a_new_column_changes_nothing_before_it_says_something(stop):
    X, y = crossed(3000)
    model = OnlineKernelRegressor(n_components=20, speed="fast", restart=False).fit(
        X[:stop], y[:stop]
    )
    before = model.predict(X)
    wide = np.column_stack([X, np.zeros(len(X))])
    np.testing.assert_allclose(model.add_columns(1).predict(wide), before, atol=1e-9)
    wide[stop:, -1] = y[stop:]
    model.partial_fit(wide[stop:], y[stop:])
    assert model.model_.stages[0].bins.edges.shape[0] == (5 if stop < 1024 else 4)


def late_jumps(n: int, since: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose last column is 0 before row ``since``; then it turns the sign of a jump."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, 4))
    X[:, 3] = np.where(np.arange(n) < since, 0.0, rng.integers(0, 2, n))
    return X, X[:, 0] + X[:, 3] * np.sign(X[:, 1]) + 0.1 * rng.normal(size=n)


def test_a_column_that_comes_late_gets_cells():
    X, y = late_jumps(8000, 3000)
    model = OnlineKernelRegressor(n_components=50, speed="fast", restart=False)
    model.partial_fit(X[:3000, :3], y[:3000]).add_columns(1)
    predicted = model.predict_then_learn(X[3000:], y[3000:])
    # 0.5 is what landmarks make of it alone
    assert np.std(predicted[3000:] - y[6000:]) < 0.35
    assert 3 in model.model_.stages[3].bins.columns


def test_a_column_that_brings_no_news_gets_no_cells():
    X, y = late_jumps(5000, 3000)
    model = OnlineKernelRegressor(n_components=20, speed="fast", restart=False)
    model.partial_fit(X[:3000, :3], y[:3000]).add_columns(1, quietly=True)
    assert len(model.partial_fit(X[3000:], y[3000:]).model_.stages) == 3


@pytest.mark.parametrize("stop", [3001, 3100, 3500, 4500])
def test_a_saved_learner_goes_on_while_a_late_column_gets_cells(stop):
    X, y = late_jumps(5000, 3000)
    model = OnlineKernelRegressor(n_components=20, speed="fast")
    model.partial_fit(X[:3000, :3], y[:3000]).add_columns(1).partial_fit(X[3000:stop], y[3000:stop])
    copied = OnlineKernelRegressor.from_state(model.get_state())
    predicted = [of.predict_then_learn(X[stop:], y[stop:]) for of in (model, copied)]
    np.testing.assert_array_equal(*predicted)
    assert len(model.model_.current.stages) == 4 or model.changes_
