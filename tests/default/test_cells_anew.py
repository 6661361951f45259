"""After a search cells learn anew what the new fit leaves; the next rows choose the epochs."""

from __future__ import annotations

import copy
from types import SimpleNamespace

import numpy as np
import pytest

from onkel import OnlineKernelClassifier, OnlineKernelRegressor
from onkel.default.bins import PairBins
from onkel.default.cells import ROWS, PairCells
from onkel.default.cells_anew import CellsAnew
from onkel.default.corrected_by_cells import CorrectedModel
from onkel.learners import KernelRLSRegressor
from onkel.rules.second_order import ExactScalars

pytestmark = pytest.mark.compiled


def model_of(X, y, weight, m=60):
    """A model over ``m`` landmarks that has learned these rows."""
    learner = KernelRLSRegressor(n_components=m, gamma=0.3, n_warmup=m)
    model = learner.partial_fit(X[:m], y[:m]).model_
    model._reset()
    model._learn_in_order(X, y, weight, np.zeros((len(y), 1)))
    return model


def pairs(n, seed=0, d=5, values=6):
    """Numbers that every pair of columns says a little about, and which rows are alike in none."""
    X = np.random.default_rng(seed).integers(0, values, (n, d)).astype(float)
    said = np.random.default_rng(7).standard_normal((d, d, values, values))
    y = sum(
        said[i, j, X[:, i].astype(int), X[:, j].astype(int)] for j in range(d) for i in range(j)
    )
    return X, y + 0.3 * np.random.default_rng(seed + 1).standard_normal(n)


def begun(X, y, weight):
    """Cells that learn anew, and what they learn from."""
    model, bins = model_of(X, y, weight), PairBins.of(X, y[:, None], 2000)
    return CellsAnew(PairCells(bins, 1), model.training), model, bins


@pytest.mark.parametrize("n", [1000, 8000])
def test_they_learn_residuals_as_if_each_row_were_left_out(n):
    X, y = pairs(n)
    weight = np.random.default_rng(3).random(n) + 0.5
    anew, model, bins = begun(X, y, weight)
    assert sum(anew.learn_first(X, y, weight)) == (n if n == 1000 else 3 * n)
    Z = np.asarray(model.training.features(X), dtype=np.float64)
    H = (Z.T * weight) @ Z + ExactScalars.of(model.par).ridge * np.eye(Z.shape[1])
    own = weight * np.einsum("ij,ij->i", Z @ np.linalg.inv(H), Z)
    left = y - Z @ np.linalg.solve(H, Z.T @ (weight * y))
    R = (left / (1.0 - own[:: max(n // 128, 1)].mean()))[:, None]
    once = PairCells(bins, 1)
    once.learn(X, R, weight)
    np.testing.assert_allclose(anew._once.W, once.W, rtol=1e-6, atol=1e-9)
    assert 0.005 < own.mean() < 0.1
    assert once.left < 0.9
    if n == 1000:
        # a 32nd of so few rows could not choose
        assert anew._often is None
        return
    often, variances = copy.deepcopy(once), once.V.copy()
    for _ in range(2):
        often.V[:] = often.first
        often.learn(X, R, weight)
    np.testing.assert_allclose(anew._often.W, often.W, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(anew._often.V, variances, rtol=1e-9)
    np.testing.assert_allclose(anew._often.sums, once.sums, rtol=1e-6)


@pytest.mark.parametrize("unit", [1.0, 2.0**333])
@pytest.mark.filterwarnings("error")
def test_rows_that_follow_choose_several_epochs_where_cells_matter_together(unit):
    X, y = pairs(8000)
    weight, (more, then) = np.ones(8000), pairs(3000, seed=10)
    y, then = unit * y, unit * then
    anew, model, _ = begun(X, y, weight)
    list(anew.learn_first(X, y, weight))
    anew.learn(more[:256], then[:256], np.ones(256))
    assert anew.cells is anew._often
    left = then[256:] - model.scores(more[256:])[:, 0]
    once, often = (
        np.mean((left - cells.scores(more[256:])[:, 0]) ** 2) for cells in (anew._once, anew._often)
    )
    assert often < 0.85 * once


def test_one_epoch_where_more_would_only_fit_these_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((8256, 8))
    y = 1.5 * (X[:, 0] > 0.4) + rng.standard_normal(8256)
    weight = np.ones(8256)
    first, then = slice(0, 8000), slice(8000, None)
    anew, *_ = begun(X[first], y[first], weight[first])
    list(anew.learn_first(X[first], y[first], weight[first]))
    anew.learn(X[then], y[then], weight[then])
    assert anew._often is not None
    assert anew.cells is not anew._often


def test_the_former_go_on_where_cells_say_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((2000, 4)), rng.standard_normal(2000)
    anew, *_ = begun(X, y, np.ones(2000))
    list(anew.learn_first(X, y, np.ones(2000)))
    assert anew.cells is None


@pytest.mark.parametrize(("n", "m"), [(100, 80), (2000, 20)])
def test_too_few_rows_or_too_many_residuals_are_not_learned(n, m):
    X, y = pairs(n)
    weight = np.ones(n)
    cells = PairCells(PairBins.of(X[:500], y[:500, None], 500), 1)
    anew = CellsAnew(cells, model_of(X, y, weight, m).training)
    assert list(anew.learn_first(X, y, weight)) == []
    anew.learn(X[:64], y[:64], weight[:64])
    assert anew.cells is None


def stubbed(n_outputs=1, m=40, share=0.0, forgetting=1.0):
    """Cells that learn anew what an f of m landmarks leaves that is 0 and saw a share of itself."""
    X, y = pairs(500)
    training = SimpleNamespace(
        weights=np.zeros((n_outputs, m)),
        coef=np.zeros((n_outputs, m)),
        features=lambda X: np.zeros((len(X), m)),
        own_shares=lambda X, weight: np.full(len(X), share),
    )
    bins = PairBins.of(X, y[:, None], 100)
    return CellsAnew(PairCells(bins, n_outputs, forgetting), training)


@pytest.mark.parametrize(
    ("n_outputs", "m", "n", "learns"),
    [(1, 40, 60, True), (1, 40, 59, False), (1, 20, 1600, True), (1, 20, 1601, False),
     (4, 20, 400, True), (4, 20, 401, False)],
)  # fmt: skip
def test_rows_are_learned_from_as_many_as_landmarks_need_to_as_many_numbers_as_fit(
    n_outputs, m, n, learns, monkeypatch
):
    monkeypatch.setattr(PairCells, "left", 0.98)
    anew, (X, y) = stubbed(n_outputs, m), pairs(n)
    y = y if n_outputs == 1 else np.arange(n) % n_outputs * 1.0
    assert sum(anew.learn_first(X, y, np.ones(n))) == n * learns
    anew.learn(X, y, np.ones(n))
    # where they have not learned these rows, nor do they learn those that follow
    assert anew._once.sums.any() == learns


@pytest.mark.parametrize(("n", "left", "epochs"), [(7936, 0.9, 3), (7935, 0.9, 1), (7936, 0.98, 1)])
def test_further_epochs_need_rows_to_follow_and_cells_that_matter(n, left, epochs, monkeypatch):
    monkeypatch.setattr(PairCells, "left", left)
    anew, (X, y) = stubbed(m=50), pairs(n)
    assert sum(anew.learn_first(X, y, np.ones(n))) == epochs * n
    assert epochs == 1 or anew.work(n) == 3 * n


@pytest.mark.parametrize(("left", "done"), [(0.9989, 2500), (0.9991, 1024)])
def test_cells_that_leave_all_are_given_up_after_half_of_the_rows(left, done, monkeypatch):
    monkeypatch.setattr(PairCells, "left", left)
    anew, (X, y) = stubbed(), pairs(2500)
    assert sum(anew.learn_first(X, y, np.ones(2500))) == done
    assert anew._once.sums[ROWS] == (2500 if done == 2500 else 1536)
    assert anew.cells is None


@pytest.mark.parametrize(("left", "go_on"), [(0.97, True), (0.971, False)])
def test_cells_that_leave_much_do_not_go_on(left, go_on, monkeypatch):
    monkeypatch.setattr(PairCells, "left", left)
    anew = stubbed()
    list(anew.learn_first(*pairs(500), np.ones(500)))
    assert anew.cells is (anew._once if go_on else None)


@pytest.mark.parametrize(("gained", "often"), [(2.0, False), (2.01, True)])
def test_several_epochs_must_gain_two_standard_errors(gained, often, monkeypatch):
    monkeypatch.setattr(PairCells, "left", 0.9)
    anew = stubbed()
    list(anew.learn_first(*pairs(500), np.ones(500)))
    anew._often, anew._gained, anew._spread = copy.deepcopy(anew._once), gained, 1.0
    assert anew.cells is (anew._often if often else anew._once)


def test_what_several_epochs_gain_counts_rows_by_their_weight():
    (X, y), (more, then) = pairs(8000), pairs(200, seed=10)
    anew, weight = stubbed(m=50), np.random.default_rng(0).uniform(0.0, 4.0, 200)
    list(anew.learn_first(X, y, np.ones(8000)))
    once, often = copy.deepcopy(anew._once), copy.deepcopy(anew._often)
    R = then[:, None]
    squares = [(R - cells.learn(more, R, weight)) ** 2 for cells in (once, often)]
    gains = weight * (squares[0] - squares[1])[:, 0]
    anew.learn(more, then, weight)
    assert anew._gained == pytest.approx(gains.sum())
    assert anew._spread == pytest.approx(np.linalg.norm(gains))


@pytest.mark.parametrize(("share", "times"), [(0.0, 1.0), (0.75, 4.0), (1.0, 100.0)])
def test_residuals_grow_by_what_rows_told_of_themselves_but_not_without_bound(share, times):
    (X, y), anew = pairs(300), stubbed(share=share, forgetting=0.99)
    list(anew.learn_first(X, y, np.ones(300)))
    once = PairCells(anew._once.bins, 1, 0.99)
    once.learn(X, times * y[:, None], np.ones(300))
    np.testing.assert_allclose(anew._once.W, once.W, rtol=1e-9)


# ---- in the model --------------------------------------------------------------------------------


def rows(n=5000):
    """A search gains much here, and cells of pairs gain beside it."""
    X, y = pairs(n, d=3)
    rng = np.random.default_rng(5)
    wide, here = rng.standard_normal((n, 3)), np.arange(n) % 2 == 0
    wide[:, 0] += np.where(here, 6.0, -6.0)
    y = 0.4 * y + np.sin(4.0 * np.where(here, wide[:, 1], wide[:, 2]))
    return np.column_stack([wide, X]), y


def learner():
    return OnlineKernelRegressor(n_components=100, memory=False)


@pytest.mark.slow
def test_a_stream_is_predicted_better_after_a_search(monkeypatch):
    X, y = rows()
    later = slice(4096, None)
    monkeypatch.setattr(CorrectedModel, "follows", False)
    anew = learner().predict_then_learn(X, y)
    monkeypatch.setattr(CorrectedModel, "corrections_anew", lambda self: None)
    former = learner().predict_then_learn(X, y)
    np.testing.assert_array_equal(anew[:2048], former[:2048])
    assert np.mean((anew - y)[later] ** 2) < 0.97 * np.mean((former - y)[later] ** 2)


@pytest.mark.slow
def test_blocks_and_a_copy_amid_the_work_change_nothing():
    X, y = rows(4300)
    whole = learner().partial_fit(X, y)
    model = learner().partial_fit(X[:4000], y[:4000])
    for start in range(4000, 4050, 5):
        model.partial_fit(X[start : start + 5], y[start : start + 5])
    model = copy.deepcopy(model).partial_fit(X[4050:4200], y[4050:4200])
    model.partial_fit(X[4200:], y[4200:])
    np.testing.assert_allclose(model.predict(X), whole.predict(X), rtol=1e-7, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("at", [2040, 2047])
def test_a_class_that_comes_amid_the_work(at):
    X, y = rows(2300)
    y = (y > 0.0).astype(int)
    y[at] = 2
    model = OnlineKernelClassifier(n_components=100, memory=False)
    whole = copy.deepcopy(model).partial_fit(X, y)
    for start in range(0, len(y), 100):
        model.partial_fit(X[start : start + 100], y[start : start + 100])
    assert model.model_.current.stages[0].W.shape[1] == 3
    np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), rtol=1e-6, atol=1e-8)
