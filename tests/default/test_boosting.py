"""How trees are grown: bins, rates, first values, and the rows and columns that are drawn."""

from __future__ import annotations

import numpy as np
import pytest

from onkel.default import boosting
from onkel.default.boosting import Binned, Task, Trees, boosted, edges_of, growing, judged, rate_of
from onkel.default.losses import MORE, SQUARED, TWO

pytestmark = pytest.mark.compiled


class Noting(np.random.Generator):
    """A generator that notes what was chosen."""

    def __init__(self, seed):
        super().__init__(np.random.PCG64(seed))
        self.chosen = []

    def choice(self, *args, **more):
        self.chosen.append(super().choice(*args, **more))
        return self.chosen[-1]


def rows(n=200, d=4, K=1, seed=0):
    """Rows as bins, targets and weights."""
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((n, d)), rng.standard_normal((n, K))
    return Binned.of(X), Y, rng.uniform(0.5, 2.0, n)


# ---- bins ----------------------------------------------------------------------------------------


def test_edges_come_a_part_of_a_bin_earlier():
    x = np.arange(1280.0)
    whole = np.arange(9.5, 1270.0, 10.0)
    np.testing.assert_allclose(edges_of(x), whole)
    np.testing.assert_allclose(edges_of(x, 0.5), whole - 5.0)
    found = Binned.of(np.column_stack([x, x]), np.array([0.0, 0.2]))
    np.testing.assert_allclose(found.edges, [whole, whole - 2.0])


def test_as_many_values_as_bins_have_a_bin_each():
    x = np.repeat(np.arange(128.0), np.arange(1, 129))
    np.testing.assert_allclose(edges_of(x), np.arange(127) + 0.5)


def test_a_value_counts_at_most_as_often_as_a_bin_has_rows():
    x = np.concatenate([np.zeros(500), np.arange(1.0, 1001.0), np.full(1100, 1001.0)])
    # of 2 600 rows 20 a bin: they count as 20 + 1 000 + 20, and an edge comes after each 8.125
    ends = np.ceil(8.125 * np.arange(3, 126)) - 20.0
    np.testing.assert_allclose(edges_of(x), [0.5, *(ends + 0.5), 1000.5])


def test_the_last_bin_has_a_value_however_many_rows_have_it():
    x = np.concatenate([np.arange(128.0), np.full(600, 200.0), np.full(600, 300.0)])
    assert edges_of(x)[-1] == 250.0


def test_rows_are_above_the_edges_of_the_cuts_they_are_above():
    X = np.random.default_rng(0).standard_normal((300, 3))
    X[:, 1] = 2.0
    rows = Binned.of(X)
    # the last of these was not asked
    columns, cuts = np.array([[0, 2, 0]]), np.array([[0, rows.counts[2] - 2, 128]])
    edges = rows.edges_at(Trees(columns, cuts, np.zeros((1, 8, 1)), np.zeros(1)))
    np.testing.assert_array_equal(X[:, columns[0]] > edges, cuts < rows.bins[columns[0]].T)
    assert edges[0, 2] == np.inf


# ---- trees ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_trees", "rate"), [(16, 0.3), (200, 0.2), (400, 0.1), (1000, 0.1)])
def test_fewer_trees_take_larger_steps(n_trees, rate):
    assert rate_of(n_trees) == pytest.approx(rate)


def test_the_first_trees_are_those_of_a_shorter_growth():
    of, rng = rows(), np.random.default_rng
    many, few = (boosted(Task(*of, SQUARED, n, 0.1), rng(0)) for n in (20, 7))
    for mine, own in zip(many.first(7), few, strict=True):
        np.testing.assert_array_equal(mine, own)


@pytest.mark.parametrize("loss", [SQUARED, TWO, MORE])
def test_values_are_steps_of_newton_with_the_penalty_of_the_loss(loss, monkeypatch):
    monkeypatch.setattr(boosting, "_SHARE", 1.0)
    binned, Y, weight = rows(K=3 if loss == MORE else 1)
    Y = Y if loss == SQUARED else np.eye(3)[Y.argmax(axis=1)] if loss == MORE else Y > 0.0
    trees = boosted(Task(binned, Y * 1.0, weight, loss, 1, 0.2), np.random.default_rng(0))
    p = np.average(Y, axis=0, weights=weight)
    g = weight[:, None] * (Y - p)
    h = weight[:, None] * (1.0 if loss == SQUARED else p * (1.0 - p))
    above = binned.bins[trees.columns[0]] > trees.cuts[0][:, None]
    leaf = (1 << np.arange(boosting.DEPTH)) @ above
    for j in np.unique(leaf):
        step = 0.2 * g[leaf == j].sum(axis=0)
        penalty = 3.0 if loss == SQUARED else 0.75
        step = step / (np.broadcast_to(h, g.shape)[leaf == j].sum(axis=0) + penalty)
        np.testing.assert_allclose(trees.values[0, j], step, rtol=1e-9)


def test_questions_about_classes_have_the_penalty_of_three_rows(monkeypatch):
    monkeypatch.setattr(boosting, "_SHARE", 1.0)
    # 4 of 4, 11 of 16 and 5 of 20 rows are of the second class: a smaller penalty would ask for 4
    sizes = [4, 16, 20]
    X = np.repeat([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], sizes, axis=0)
    Y = np.concatenate([np.arange(n) < m for n, m in zip(sizes, (4, 11, 5), strict=True)]) * 1.0
    task = Task(Binned.of(X), Y[:, None], np.ones(40), TWO, 1, 0.1)
    assert boosted(task, np.random.default_rng(0)).columns[0, 0] == 1


@pytest.mark.parametrize(
    ("loss", "share", "base"),
    [
        (SQUARED, 0.0, 0.0),
        (TWO, 0.25, np.log(1.0 / 3.0)),
        (TWO, 0.0, np.log(1e-4 / (1.0 - 1e-4))),
        (TWO, 1.0, np.log((1.0 - 1e-4) / 1e-4)),
        (MORE, 0.25, np.log(0.25)),
        (MORE, 0.0, np.log(1e-4)),
    ],
)
def test_before_any_tree_the_chance_of_a_class_is_its_share_but_not_0_or_1(loss, share, base):
    Y = np.repeat([1.0, 0.0], [int(40 * share), 40 - int(40 * share)])[:, None]
    Y = np.hstack([Y, 1.0 - Y]) if loss == MORE else Y
    task = Task(Binned.of(np.zeros((40, 1))), Y, np.ones(40), loss, 0, 0.1)
    assert boosted(task, np.random.default_rng(0)).base[0] == pytest.approx(base, abs=1e-12)


@pytest.mark.parametrize(
    ("n", "d", "n_drawn", "n_asked"),
    [(1000, 10, 800, 10), (1000, 70, 800, 32), (10_239, 70, 8191, 32), (10_240, 70, 8192, 64),
     (40_000, 70, 24_576, 64)],
)  # fmt: skip
def test_a_tree_is_grown_by_some_rows_and_asks_some_columns(n, d, n_drawn, n_asked):
    bits = np.random.default_rng(0).integers(0, 2, (d, n), np.uint8)
    binned, Y = Binned(bits, [np.array([0.5])] * d, np.full(d, 2)), bits[:1].T.astype(float)
    rng, among = Noting(0), np.arange(n)
    list(growing(Task(binned, Y, np.ones(n), SQUARED, 1, 0.1), rng, among))
    drawn, asked = rng.chosen
    assert len(drawn) == len(set(drawn)) == n_drawn
    assert len(asked) == len(set(asked)) == n_asked


def test_rows_are_drawn_for_five_trees_and_columns_for_each():
    rng = Noting(0)
    boosted(Task(*rows(d=40), SQUARED, 12, 0.1), rng)
    assert [len(chosen) for chosen in rng.chosen] == [160, *[32] * 5, 160, *[32] * 5, 160, 32, 32]


def test_a_tree_that_may_ask_no_column_of_two_bins_asks_nothing():
    X = np.zeros((100, 64))
    X[:, 0] = np.arange(100)
    binned = Binned.of(X)
    task = Task(binned, X[:, :1], np.ones(100), SQUARED, 20, 0.1)
    trees = boosted(task, np.random.default_rng(0))
    asks = np.isfinite(binned.edges_at(trees))
    # each tree may ask half of the columns
    assert 0 < asks.all(axis=1).sum() < 20
    assert (asks.all(axis=1) | ~asks.any(axis=1)).all()


def test_of_several_outputs_each_tree_sees_one_direction_at_random(monkeypatch):
    seen, choose = [], boosting.choose

    def kept(bins, counts, asked, weight, r, *more):
        seen.append(r.copy())
        choose(bins, counts, asked, weight, r, *more)

    monkeypatch.setattr(boosting, "choose", kept)
    monkeypatch.setattr(boosting, "_SHARE", 1.0)
    binned, Y, weight = rows(K=3)
    for seed in range(8):
        boosted(Task(binned, Y, weight, SQUARED, 1, 0.1), np.random.default_rng(seed))
    g = weight[:, None] * (Y - np.average(Y, axis=0, weights=weight))
    directions, left, *_ = np.linalg.lstsq(g, np.transpose(seen))
    assert left.max() < 1e-20
    signs = np.sign(directions)
    assert len(np.unique(signs, axis=1).T) > 3


def test_there_is_a_loss_before_each_five_trees_of_so_many():
    binned, Y, weight = rows()
    held = np.arange(50)
    for n_trees, n_losses in ((20, 4), (22, 5)):
        rngs = [np.random.default_rng(0)]
        (trees,), losses = judged(Task(binned, Y, weight, SQUARED, n_trees, 0.1), rngs, held, 1000)
        assert (len(losses), len(trees.values)) == (n_losses, n_trees)


@pytest.mark.parametrize(("toward", "share"), [(-1.0, 0.0), (0.5, 0.5), (3.0, 1.0)])
def test_predictions_are_mixed_with_trees_by_a_share_from_0_to_1(toward, share):
    rng = np.random.default_rng(0)
    F, P, weight = rng.random((30, 1)), rng.random((30, 1)), rng.random(30)
    P[25:] = np.nan
    Y = np.where(np.isnan(P), 0.0, P + toward * (F - P))
    expected = np.where(np.isnan(P), F, P + share * (F - P))
    np.testing.assert_allclose(boosting._mixed(F, P, Y, weight), expected, rtol=1e-12)
