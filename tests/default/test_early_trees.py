"""Trees that the first rows grow, and whose leaves go on learning."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
from scipy.special import expit, softmax

from onkel import OnlineKernelClassifier, OnlineKernelRegressor
from onkel.default import corrected_by_cells
from onkel.default import early_trees as of_early_trees
from onkel.default.boosting import Binned, Task, boosted
from onkel.default.cells import LEFT, ROWS, WHOLE, learn_share, share
from onkel.default.early_trees import GROWTHS, FirstRows, Growth, early_trees, n_early_trees
from onkel.default.learning_leaves import LearningLeaves
from onkel.default.losses import MORE, SQUARED, TWO
from onkel.default.tree_part import TreePart
from onkel.errors import MergeError

pytestmark = pytest.mark.compiled

(GROWN_BY, BEGIN_AT), SECOND = GROWTHS


def steps(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (n, 6))
    y = np.floor(4.0 * X[:, 0]) * np.sign(X[:, 1] - 0.3) * np.sign(X[:, 3]) + np.floor(3 * X[:, 2])
    return X, y + 0.1 * rng.standard_normal(n)


def regressor(restart=False, speed="fast"):
    return OnlineKernelRegressor(n_components=60, speed=speed, memory=False, restart=restart)


def classifier():
    return OnlineKernelClassifier(n_components=60, speed="fast", memory=False, restart=False)


def learned(model, X, y, cuts=(), **more):
    of = zip([0, *cuts], [*cuts, len(y)], strict=True)
    return np.concatenate([model.predict_then_learn(X[a:b], y[a:b], **more) for a, b in of])


# ---- leaves --------------------------------------------------------------------------------------


def naive(X, T, weight, loss, columns, edges, values, counts, n_first, base, *how):
    """F before each row, values and counts after all: row by row, in float64."""
    links, (forgetting, rate, penalty) = {SQUARED: lambda F: F, TWO: expit, MORE: softmax}, how
    growths = [range(n_first), range(n_first, len(columns))][: 1 + (n_first < len(columns))]
    # a value is a part of the mean of all growths
    values, counts, found, rows = values * float(len(growths)), counts.astype(float), [], 0
    for x, target, w in zip(X, T, weight, strict=True):
        sums = []
        for growth in growths:
            F = base.copy()
            for t in growth:
                leaf = sum(1 << j for j, c in enumerate(columns[t]) if x[c] > edges[t, j])
                p = links[loss](F)
                h = w * (np.ones_like(F) if loss == SQUARED else p * (1.0 - p))
                F = F + values[t, leaf]
                counts[t, leaf] += h
                step = rate * w * (target - p) - h * values[t, leaf]
                if w > 0.0:
                    values[t, leaf] += step / (counts[t, leaf] + penalty)
            sums.append(F)
        found.append(np.mean(sums, axis=0))
        rows += w > 0.0
        if w > 0.0 and rows % 256 == 0:
            counts *= forgetting**256
    return np.array(found), values / len(growths), counts


@pytest.mark.parametrize(("loss", "K"), [(SQUARED, 1), (TWO, 1), (MORE, 3)])
@pytest.mark.parametrize(("block", "forgetting"), [(1, 1.0), (37, 0.99), (600, 1.0), (600, 0.999)])
@pytest.mark.parametrize("n_first", [5, 3])
def test_leaves_move_as_the_formula_says(loss, K, block, forgetting, n_first):
    rng = np.random.default_rng(0)
    X, weight = rng.standard_normal((600, 4)), rng.integers(0, 3, 600) / 2.0
    T = rng.standard_normal((600, 1)) if loss == SQUARED else rng.integers(0, 2, (600, 1)) * 1.0
    if loss == MORE:
        T = np.eye(3)[rng.integers(0, 3, 600)]
    columns, edges = rng.integers(0, 4, (5, 2)), rng.standard_normal((5, 2))
    values, base = rng.standard_normal((5, 4, K)).astype(np.float32), rng.standard_normal(K)
    leaves = LearningLeaves(values.shape, forgetting, 0.3, 2.0)
    leaves.counts += 1.0
    leaves.n_first = n_first
    of = columns, edges, values, leaves.counts.copy(), n_first, base, forgetting, 0.3, 2.0
    expected = naive(X, T, weight, loss, *of)
    found = []
    for a in range(0, 600, block):
        some = slice(a, a + block)
        arrays = columns, edges, values, base
        found.append(leaves.learn(X[some], T[some], weight[some], loss, *arrays))
    for mine, own in zip((np.concatenate(found), values, leaves.counts), expected, strict=True):
        np.testing.assert_allclose(mine, own, rtol=1e-4, atol=1e-4)


def test_one_tree_is_that_of_all_rows_so_far():
    """Its leaves are rate · Σ w (y - base)/(Σ w + penalty)."""
    X, y = steps(3000)
    Y, weight = y[:, None], np.random.default_rng(1).uniform(0.5, 2.0, 3000)
    rng = np.random.default_rng(0)
    part = early_trees(X[:2000], Y[:2000], weight[:2000], 16, BEGIN_AT, rng, 1.0).finish()
    for name in ("columns", "edges", "values"):
        setattr(part, name, getattr(part, name)[:1])
    leaves = part.leaves
    leaves.counts, part.values = np.zeros_like(leaves.counts[:1]), 0.0 * part.values
    part.learn(X, Y, np.zeros((3000, 1)), weight)
    T = weight * ((y - part.middle) / part.scale - part.base[0])
    leaf = ((X[:, part.columns[0]] > part.edges[0]) << np.arange(6)).sum(axis=1)
    n, sums = (np.bincount(leaf, of, 64) for of in (weight, T))
    np.testing.assert_allclose(leaves.counts[0, :, 0], n, rtol=1e-4)
    expected = leaves.rate * sums / (n + leaves.penalty)
    np.testing.assert_allclose(part.values[0, :, 0], expected, rtol=1e-3, atol=1e-5)


def test_leaves_know_the_rows_that_grew_the_trees():
    X, y = steps(2000)
    rng, weight = np.random.default_rng(0), np.full(2000, 3.0)
    part = early_trees(X, y[:, None], weight, 16, BEGIN_AT, rng, 1.0).finish()
    # each row is in one leaf of each tree, and penalties are in units of the weights
    np.testing.assert_allclose(part.leaves.counts.sum(axis=(1, 2)), 6000.0)
    assert part.leaves.penalty == pytest.approx(9.0)


def test_values_stay_finite():
    X, y = steps(1000)
    part = early_trees(
        X, y[:, None], np.ones(1000), 16, BEGIN_AT, np.random.default_rng(0), 1.0
    ).finish()
    part.learn(X[:50], np.full((50, 1), 1e100), np.zeros((50, 1)), np.full(50, 1e50))
    assert np.isfinite(part.values).all()
    assert np.isfinite(part.leaves.counts).all()
    TreePart(1).set_state(part.get_state())


def test_a_third_class_halves_the_sums_of_both_memories():
    X, y = steps(1000)
    Y, rng = np.where(y > 0.0, 1.0, -1.0)[:, None], np.random.default_rng(0)
    part = early_trees(X, Y, np.ones(1000), 16, BEGIN_AT, rng, 1.0).finish()
    part.learn(X[:300], Y[:300], np.zeros((300, 1)), np.ones(300))
    before, share = [part.sums.copy(), part.leaves.recent.copy()], part.share
    part.add_output(2)
    for sums, then in zip((part.sums, part.leaves.recent), before, strict=True):
        np.testing.assert_array_equal(sums[:ROWS], 0.5 * then[:ROWS])
        assert sums[ROWS] == then[ROWS]
    assert part.share == pytest.approx(share)


def test_the_share_is_the_smaller_of_two_memories():
    X, y = steps(3000)
    part = early_trees(
        X, y[:, None], np.ones(3000), 16, BEGIN_AT, np.random.default_rng(0), 1.0
    ).finish()
    rng, n = np.random.default_rng(1), 6000
    rows, T = rng.uniform(-1.0, 1.0, (n, 6)), rng.standard_normal((n, 1))
    # trees are right for long, then wrong in a burst
    T[:5500] = part.predictions(rows[:5500])
    T[5500:] -= 3.0 * part.predictions(rows[5500:])
    shares, memories = [], np.zeros((2, len(part.sums)))
    kept = (1.0 - 1.0 / np.array([8192, 1024])) ** 256
    part.leaves.rate = part.leaves.penalty = 0.0
    part.leaves.counts += np.float32(1e20)
    P = np.zeros((1, 1))
    for t in range(n):
        S = part.predictions(rows[t : t + 1])
        before = [float(share(sums, 0.0)) for sums in memories]
        shares.append(min(before))
        expected = shares[-1] * S
        for sums, fades in zip(memories, kept, strict=True):
            known = T[t : t + 1], S, np.ones(1), fades[None], sums[None]
            learn_share(*known, 0.0, np.zeros((1, 1)))
        if t % 100 == 0:
            assert part.share == pytest.approx(shares[-1], abs=1e-6)
        found = part.learn(rows[t : t + 1], T[t : t + 1], P, np.ones(1))
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)
    assert shares[5500] > 0.9
    assert shares[-1] == 0.0
    assert float(share(memories[0])) > 0.3


def test_trees_of_an_older_file_were_grown_once():
    X, y = steps(1000)
    part = early_trees(X, y[:, None], np.ones(1000), 16, BEGIN_AT, np.random.default_rng(0), 1.0)
    part, other = part.finish(), TreePart(1)
    state = part.get_state()
    del state["leaves"]["n_first"]
    other.set_state(state)
    assert other.leaves.n_first == 16
    of = X[:50], y[:50, None], np.zeros((50, 1)), np.ones(50)
    np.testing.assert_array_equal(other.learn(*of), part.learn(*of))


@pytest.mark.parametrize("kind", ["numbers", "two classes", "classes"])
def test_joined_trees_are_the_mean_of_both(kind):
    X, y = steps(3000)
    Y = y[:, None]
    if kind == "two classes":
        Y = np.where(Y > 0.0, 1.0, -1.0)
    elif kind == "classes":
        Y = np.eye(3)[np.digitize(y, [-0.5, 0.5])]
    rng = np.random.default_rng(0)
    # numbers have other units in other rows
    rows = [slice(1000), slice(3000)] if kind != "numbers" else [y < 0.0, slice(3000)]
    of = [early_trees(X[r], Y[r], np.ones(len(y[r])), n, BEGIN_AT, rng, 1.0).finish()
          for r, n in zip(rows, (32, 16), strict=True)]  # fmt: skip
    before, part = of
    before.learn(X[:500], Y[:500], 0.0 * Y[:500], np.ones(500))
    parts = [one._linked(sum(one.values[t, leaves(one, t, X)] for t in range(len(one.values)))
                         + one.base) for one in (before, part)]  # fmt: skip
    for one, expected in zip(of, parts, strict=True):
        np.testing.assert_allclose(one.predictions(X), expected, rtol=1e-4, atol=1e-4)
    share, part_of = before.share, before.part
    part.join(before)
    assert (part.leaves.n_first, len(part.values)) == (32, 48)
    assert (part.share, part.part) == (share, part_of)
    mean = part.predictions(X)
    if kind == "numbers":
        np.testing.assert_allclose(mean, (parts[0] + parts[1]) / 2.0, rtol=1e-4, atol=1e-4)
    else:
        # of classes the mean is that of the log-odds
        low, high = np.minimum(*parts) - 1e-4, np.maximum(*parts) + 1e-4
        inside = (low <= mean) & (mean <= high)
        assert inside.all() if kind == "two classes" else inside.mean() > 0.9
    TreePart(Y.shape[1]).set_state(part.get_state())


def leaves(part, t, X):
    return ((X[:, part.columns[t]] > part.edges[t]) << np.arange(6)).sum(axis=1)


# ---- models --------------------------------------------------------------------------------------


def test_predictions_do_not_depend_on_the_blocks():
    X, y = steps(5200)
    whole = learned(regressor(), X, y)
    cuts = [4000, *range(4090, 4110), 4300, *range(4600, 4620), 5000]
    # least squares rounds the sums of blocks differently
    np.testing.assert_allclose(learned(regressor(), X, y, cuts), whole, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("speed", ["fast", "balanced"])
def test_trees_predict_steps_better(speed, monkeypatch):
    X, y = steps(9000)
    model = regressor(speed=speed)
    found = learned(model, X, y)
    assert model.model_.trees.share > 0.5
    monkeypatch.setattr(corrected_by_cells, "n_early_trees", lambda *_: 0)
    without = learned(regressor(speed=speed), X, y)
    np.testing.assert_array_equal(found[:BEGIN_AT], without[:BEGIN_AT])
    late = slice(BEGIN_AT, None)
    assert np.mean((found[late] - y[late]) ** 2) < 0.8 * np.mean((without[late] - y[late]) ** 2)


def test_rows_of_no_weight_do_not_count():
    X, y = steps(5000)
    weight = np.ones(5000)
    weight[[10, 4000, 4200, 4700]] = 0.0
    model, other, used = regressor(), regressor(), weight > 0.0
    found = learned(model, X, y, sample_weight=weight)[used]
    np.testing.assert_allclose(found, learned(other, X[used], y[used]), rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(model.model_.trees.columns, other.model_.trees.columns)


@pytest.mark.parametrize("at", [GROWN_BY + 200, BEGIN_AT + 200])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda of: type(of).from_state(of.get_state())])
@pytest.mark.parametrize("speed", ["fast", "balanced"])
def test_a_copied_model_goes_on(at, copied, speed):
    X, y = steps(5200)
    model = regressor(speed=speed)
    learned(model, X[:at], y[:at])
    assert (model.model_.growth._work is None) == (at > BEGIN_AT)
    other = copied(model)
    assert other.model_.growth._work is None
    rest = X[at:], y[at:], [100]
    np.testing.assert_array_equal(learned(other, *rest), learned(model, *rest))


def test_each_row_does_its_part_of_the_work():
    X, y = np.random.default_rng(0).standard_normal((2, GROWN_BY, 30))[0], np.arange(GROWN_BY) * 1.0
    rng, n_trees = np.random.default_rng(0), n_early_trees(200, 1)
    trees = early_trees(X, y[:, None], np.ones(GROWN_BY), n_trees, BEGIN_AT, rng, 1.0)
    total = 30 + n_trees // 5 + GROWN_BY // 256
    for count in range(GROWN_BY + 1, BEGIN_AT):
        before = trees.share
        trees.advance(count)
        due = (count - GROWN_BY) / (BEGIN_AT - GROWN_BY)
        assert due <= trees.share <= due + 1.0 / total
        assert trees.share - before <= math.ceil(total / 512) / total + 1e-9
    assert trees.finish().leaves is not None


@pytest.mark.parametrize("speed", ["fast", "balanced"])
def test_the_last_fit_takes_their_place(speed):
    X, y = steps(5000)
    model = regressor(speed=speed).partial_fit(X, y)
    assert model.model_.trees.leaves is not None
    model.consolidate()
    assert model.model_.trees.leaves is None


def test_the_second_model_of_a_memory_has_none():
    X, y = steps(5000)
    second = OnlineKernelRegressor(n_components=60)._make_second(6)
    second.learn(X, y, np.ones(5000))
    assert second.current.warmup.count == 5000
    assert second.current.trees is None


def test_few_landmarks_and_many_columns_have_none():
    assert n_early_trees(31, 1) == 0
    assert n_early_trees(32, 1) == 16
    assert n_early_trees(500, 1) == 300
    assert n_early_trees(500, 30) == 30
    assert n_early_trees(500, 100) == 0
    X, y = steps(4700)
    wide = np.hstack([X, np.zeros((len(X), 20))])
    # 64·B² bytes hold too few rows
    model = OnlineKernelRegressor(n_components=40, speed="fast", memory=False, restart=False)
    assert model.partial_fit(wide, y).model_.trees is None


def test_a_model_that_takes_over_goes_on_with_the_trees(monkeypatch):
    X, y = steps(9000)
    y[6000:] *= -1.0
    model, found = regressor(restart=True).partial_fit(X[:6000], y[:6000]), []
    before = model.model_.current.trees
    succeed = corrected_by_cells.CorrectedModel.succeed

    def kept(new, old):
        trees = old.trees
        succeed(new, old)
        found.append((new.trees is trees, new.trees.sums.copy(), len(trees.values)))

    monkeypatch.setattr(corrected_by_cells.CorrectedModel, "succeed", kept)
    p = learned(model, X[6000:], y[6000:])
    assert model.changes_
    same, sums, n_trees = found[0]
    assert same
    assert n_trees == len(before.values)
    assert not sums.any()
    # trees are left out of what decides
    monkeypatch.undo()
    monkeypatch.setattr(corrected_by_cells, "n_early_trees", lambda *_: 0)
    other = regressor(restart=True).partial_fit(X[:6000], y[:6000])
    without = learned(other, X[6000:], y[6000:])
    assert other.changes_ == model.changes_
    assert np.abs(p - without).max() > 0.1


@pytest.mark.parametrize("new_at", [2000, GROWN_BY + 200, 5000])
def test_classes_and_a_new_one(new_at):
    X, z = steps(6500)
    y = (z > 0.0).astype(int)
    y[new_at:][X[new_at:, 5] > 0.6] = 2
    model = classifier()
    found = learned(model, X, y)
    trees = model.model_.trees
    assert trees.values.shape == trees.leaves.counts.shape
    assert trees.values.shape[2] == 3
    assert trees.share > 0.0
    assert np.mean(found[6000:] == y[6000:]) > 0.8
    np.testing.assert_array_equal(learned(classifier(), X, y, [new_at, new_at + 100]), found)


def test_fixed_leaves_stay_and_merge():
    X, y = steps(6000)
    first = regressor().partial_fit(X[:5000], y[:5000])
    other = copy.deepcopy(first)
    with pytest.raises(MergeError, match="call fix_map"):
        first.model_.trees.require_alike(other.model_.trees)
    origin = copy.deepcopy(first.fix_map())
    other.fix_map().partial_fit(X[5500:], y[5500:])
    first.partial_fit(X[5000:5500], y[5000:5500]).merge(other, since=origin)
    np.testing.assert_array_equal(first.model_.trees.values, origin.model_.trees.values)
    whole = copy.deepcopy(origin).partial_fit(X[5000:], y[5000:])
    assert first.model_.trees.share == pytest.approx(whole.model_.trees.share, abs=0.05)


# ---- the second time ---------------------------------------------------------------------------


def steps_of_two_sizes(n):
    """Steps that landmarks and 4 096 rows do not find all of."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (n, 6))
    y = np.floor(8.0 * X[:, 0]) * np.sign(X[:, 1] - 0.3) * np.sign(X[:, 3] * X[:, 2])
    return X, y + 0.5 * rng.standard_normal(n)


@pytest.fixture(scope="module")
def before_the_second():
    """The default after the rows that grow the second trees, but for 100; rows and targets."""
    X, y = steps_of_two_sizes(20_000)
    model = regressor(speed="balanced")
    learned(model, X[: SECOND[0] - 100], y[: SECOND[0] - 100])
    return model, X, y


def test_more_rows_grow_half_as_many_again(before_the_second):
    model, X, y = copy.deepcopy(before_the_second[0]), *before_the_second[1:]
    n = len(model.model_.trees.columns)
    assert model.rows_before_anew() == 100
    learned(model, X[SECOND[0] - 100 : SECOND[1] - 1], y[SECOND[0] - 100 : SECOND[1] - 1])
    assert model.rows_before_anew() == math.inf
    assert len(model.model_.trees.columns) == n
    share = model.model_.trees.share
    learned(model, X[SECOND[1] - 1 : SECOND[1]], y[SECOND[1] - 1 : SECOND[1]])
    trees = model.model_.trees
    assert (len(trees.columns), trees.leaves.n_first) == (n + n // 2, n)
    assert trees.share == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize("cuts", [[50], [100], [101], [100, 101, 500, 2148, 2149]])
def test_blocks_do_not_matter_to_the_second(before_the_second, cuts):
    model, X, y = before_the_second
    start = SECOND[0] - 100
    whole = learned(copy.deepcopy(model), X[start:], y[start:])
    found = learned(copy.deepcopy(model), X[start:], y[start:], cuts)
    np.testing.assert_allclose(found, whole, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("after", [100, 101, 1000, 2148])
def test_a_saved_model_goes_on_with_the_second(before_the_second, after):
    model, X, y = copy.deepcopy(before_the_second[0]), *before_the_second[1:]
    start, at = SECOND[0] - 100, SECOND[0] - 100 + after
    learned(model, X[start:at], y[start:at])
    other = type(model).from_state(model.get_state())
    np.testing.assert_array_equal(learned(other, X[at:], y[at:]), learned(model, X[at:], y[at:]))
    assert len(model.model_.trees.columns) == 1.5 * model.model_.trees.leaves.n_first


def test_where_the_first_trees_do_not_help_no_others_grow():
    growth, trees = Growth(), TreePart(1)
    rows = np.zeros((0, 2)), np.zeros(0), np.zeros(0)
    for left, goes_on in ((0.985, True), (0.995, False)):
        trees.sums[:] = 0.0
        trees.sums[WHOLE], trees.sums[LEFT] = 100.0, 100.0 * left
        first = FirstRows(SECOND[0], 30_000, lambda: rows)
        assert growth.rows_left(first._replace(seen=SECOND[0] - 1)) == 1
        assert growth.grown(first, trees, 16, 1, 0, 1.0) is trees
        assert growth.goes_on == goes_on
    assert growth.rows_left(first) == math.inf
    assert growth.rows_before_second(first) == math.inf
    # where fewer rows are kept for sure, none
    assert Growth().rows_left(first._replace(seen=5000, kept=18_000)) == math.inf
    assert Growth(1).rows_left(first._replace(seen=5000)) == math.inf


# ---- when they grow, on few rows -----------------------------------------------------------------

FEW = ((40, 48), (100, 120))


@pytest.fixture
def few_rows(monkeypatch):
    """Trees grow on few rows; a function that hands a growth the rows seen so far."""
    monkeypatch.setattr(of_early_trees, "GROWTHS", FEW)
    X, y = steps(200)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 200)

    def first(seen, kept=200):
        return FirstRows(seen, kept, lambda: (X[:seen], y[:seen], weight[:seen]))

    return first, X, y, weight


def test_trees_come_at_their_rows_and_only_the_second_join(few_rows):
    first, X, y, weight = few_rows
    growth, trees, came = Growth(), None, {}
    for seen in range(1, 151):
        assert growth.goes_on == (seen <= 120)
        before, trees = trees, growth.grown(first(seen), trees, 16, 1, 7, 1.0)
        if trees is not before:
            came[seen] = trees
            trees.sums[WHOLE], trees.sums[LEFT] = 100.0, 50.0
    assert list(came) == [48, 120]
    for (grown_by, begin_at), trees, n in zip(FEW, came.values(), (16, 8), strict=True):
        some = slice(grown_by)
        rng = np.random.default_rng([7, grown_by, 4])
        own = early_trees(X[some], y[some, None], weight[some], n, begin_at, rng, 1.0).finish()
        np.testing.assert_array_equal(trees.edges[-n:], own.edges)
    assert (len(trees.columns), trees.leaves.n_first) == (24, 16)


def test_rows_are_left_until_the_work_begins_and_until_it_ends(few_rows):
    first, *_ = few_rows
    growth = Growth()
    for seen in range(150):
        ends = [end for of in FEW for end in of if end > seen]
        assert growth.rows_left(first(seen)) == (ends[0] - seen if ends else math.inf)
        second = 100 - seen if seen <= 100 else math.inf
        assert growth.rows_before_second(first(seen)) == second
    assert growth.rows_left(None) == growth.rows_before_second(None) == math.inf
    # rows that are kept for sure must be as many as there are when trees begin to predict
    assert growth.rows_left(first(60, kept=120)) == 40
    assert growth.rows_left(first(60, kept=119)) == math.inf
    assert growth.rows_before_second(first(60, kept=119)) == math.inf


def test_a_model_may_grow_them_once_or_never(few_rows):
    first, *_ = few_rows
    once, trees = Growth(1), None
    for seen in range(1, 121):
        trees = once.grown(first(seen), trees, 16, 1, 0, 1.0)
    assert len(trees.values) == 16
    assert not once.goes_on
    assert not Growth(0).goes_on
    assert Growth(0).rows_left(first(10)) == math.inf


def test_the_first_trees_replace_those_of_the_model_before(few_rows):
    first, *_ = few_rows
    before = TreePart(1)
    # what they leave says nothing about trees of this model
    before.sums[WHOLE], before.sums[LEFT] = 100.0, 100.0
    growth, trees = Growth(), before
    for seen in range(40, 49):
        assert trees is before
        trees = growth.grown(first(seen), trees, 16, 1, 0, 1.0)
    assert len(trees.values) == trees.leaves.n_first == 16


def test_work_begun_again_gives_the_same_trees(few_rows):
    first, *_ = few_rows
    found = []
    for again in (False, True):
        growth, trees = Growth(), None
        for seen in range(40, 49):
            if again and seen == 45:
                assert growth._work is not None
                growth.begin_again()
                assert growth._work is None
            trees = growth.grown(first(seen), trees, 16, 1, 0, 1.0)
        found.append(trees)
    np.testing.assert_array_equal(found[0].values, found[1].values)
    np.testing.assert_array_equal(found[0].edges, found[1].edges)


@pytest.mark.parametrize(("kind", "part_of"), [("numbers", 1.0), ("two classes", 0.5)])
def test_they_are_boosted_trees_over_bins_that_begin_at_random(kind, part_of):
    X, y = steps(300)
    Y = y[:, None] if kind == "numbers" else np.where(y > 0.0, 1.0, -1.0)[:, None]
    weight = np.random.default_rng(1).uniform(1.0, 4.0, 300)
    part = early_trees(X, Y, weight, 16, 400, np.random.default_rng(0), 1.0).finish()
    rng, again = np.random.default_rng(0), TreePart(1)
    targets = again.begin(Y, weight)
    rows = Binned.of(X, rng.random(6))
    task = Task(rows, targets, weight / weight.mean(), part.loss, 16, 0.3)
    trees = boosted(task, rng)
    np.testing.assert_array_equal(part.edges, rows.edges_at(trees))
    np.testing.assert_allclose(part.values, trees.values, rtol=1e-6, atol=1e-8)
    assert part.part == part_of
    assert part.leaves.rate == 0.3
