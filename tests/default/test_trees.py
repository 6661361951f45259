"""The trees of the last fit: how they are grown, what they predict, and what they are worth."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from scipy.special import expit, softmax

from onkel import OnlineKernelClassifier, OnlineKernelRegressor, load
from onkel.default import boosting
from onkel.default.boosting import Binned, Task, boosted, edges_of, judged, loss_of
from onkel.default.cells import AGREED, DOUBT, LEFT, ROWS, SIZE, share
from onkel.default.held_out import HeldOut
from onkel.default.last_trees import beside_of, last_trees
from onkel.default.learning_leaves import LearningLeaves
from onkel.default.losses import MORE, SQUARED, TWO
from onkel.default.tree_loops import slopes
from onkel.default.tree_part import TreePart, add_values, share_of_classes
from onkel.errors import MergeError
from onkel.maps.landmarks import last_fit, learned
from onkel.maps.landmarks.drawn_rows import split
from onkel.numerics.arrays import targets_of
from onkel.numerics.in_steps import finished

pytestmark = pytest.mark.compiled


def made(loss, n=400, seed=0):
    """Rows in steps, targets as the loss wants them, and weights."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((n, 4)), 2)
    f = 2.0 * (X[:, 0] > 0.3) * (X[:, 1] < 0.5) + (X[:, 2] > 1.0) + 0.2 * rng.standard_normal(n)
    if loss == SQUARED:
        Y = f[:, None]
    elif loss == TWO:
        Y = (f > 0.5)[:, None].astype(float)
    else:
        Y = targets_of(np.digitize(f, [0.5, 1.5]), 3)
    return X, Y, rng.uniform(0.5, 2.0, n)


def grown(loss, n_trees=30, held=None):
    X, Y, weight = made(loss)
    rows = Binned.of(X)
    rng = np.random.default_rng(1)
    task = Task(rows, Y, weight, loss, n_trees, 0.2)
    if held is None:
        return X, Y, weight, rows, boosted(task, rng), None
    trees, losses = judged(task, rng.spawn(2), held, 100)
    return X, Y, weight, rows, trees, losses


@pytest.mark.parametrize("loss", [SQUARED, TWO, MORE])
def test_slopes_are_those_of_the_loss(loss):
    Y = made(loss, 5)[1]
    F = np.random.default_rng(2).standard_normal(Y.shape)
    g, h, every = np.empty(Y.shape), np.empty(Y.shape), np.arange(5)
    slopes(F[::-1].copy(), every[::-1].copy(), Y, np.full(5, 3.0), loss, g, h)
    g, h = g / 3.0, h / 3.0
    by = {SQUARED: 2.0}.get(loss, 1.0)
    for at in np.ndindex(*F.shape):
        step = np.zeros(F.shape)
        step[at] = 1e-4
        up, here, down = (
            loss_of(F + s * step, Y, np.eye(5)[at[0]], loss) / by for s in (1.0, 0.0, -1.0)
        )
        assert g[at] == pytest.approx((down - up) / 2e-4, abs=1e-6)
        assert h[at] == pytest.approx((up - 2.0 * here + down) / 1e-8, abs=1e-5)


def test_slopes_of_classes_are_finite_however_far_apart_scores_are():
    F = np.array([[2000.0, -1000.0, 2000.0], [-3000.0, -2000.0, -2000.0]])
    Y, g, h = np.eye(3)[[0, 2]], np.empty((2, 3)), np.empty((2, 3))
    slopes(F, np.arange(2), Y, np.ones(2), MORE, g, h)
    p = softmax(F, axis=1)
    np.testing.assert_allclose(g, Y - p)
    np.testing.assert_allclose(h, p * (1.0 - p))


def test_each_question_is_the_best_one_and_each_value_a_step_of_newton(monkeypatch):
    monkeypatch.setattr(boosting, "_SHARE", 1.0)
    _, Y, weight, rows, trees, _ = grown(TWO, n_trees=1)
    p = np.average(Y[:, 0], weights=weight)
    r, leaf = Y[:, 0] - p, np.zeros(len(Y), int)
    for level in range(boosting.DEPTH):
        gains = {}
        for c, counts in enumerate(rows.counts):
            for cut in range(counts - 1):
                of = 2 * leaf + (rows.bins[c] > cut)
                sums, sizes = np.bincount(of, weight * r), np.bincount(of, weight)
                gains[c, cut] = (sums**2 / (sizes + 3.0)).sum()
        asked = trees.columns[0, level], trees.cuts[0, level]
        assert gains[asked] == pytest.approx(max(gains.values()), rel=1e-9)
        leaf = 2 * leaf + (rows.bins[asked[0]] > asked[1])
    up = np.bincount(leaf, weight * r) * 0.2
    below = np.bincount(leaf, weight * p * (1.0 - p)) + 0.75
    F = trees.sums(rows.bins, 1)
    np.testing.assert_allclose(F[:, 0] - trees.base[0], (up / below)[leaf], rtol=1e-9)


@pytest.mark.parametrize("loss", [SQUARED, TWO, MORE])
def test_rows_held_out_are_not_learned_and_say_when_to_stop(loss):
    held = np.arange(100)
    _, Y, weight, rows, growths, losses = grown(loss, 400, held)
    bins, n_trees = rows.bins[:, held], len(growths[0].values)
    # a loss for every five trees, that of the growths' mean, and no better one among the last
    for i in (0, 3, 10):
        F = np.mean([trees.sums(bins, 5 * i) for trees in growths], axis=0)
        now = loss_of(F, Y[held], weight[held], loss)
        assert losses[i] == pytest.approx(now, rel=1e-12)
    assert {len(trees.values) for trees in growths} == {min(5 * losses.argmin() + 100, 400)}
    assert losses.min() < 0.6 * losses[0]
    other = Y.copy()
    other[held] = Y[held][::-1]
    rng = np.random.default_rng(1)
    again, _ = judged(Task(rows, other, weight, loss, 400, 0.2), rng.spawn(2), held, 100)
    both = min(len(again[0].values), n_trees)
    for mine, own in zip(again, growths, strict=True):
        np.testing.assert_array_equal(mine.values[:both], own.values[:both])


def test_trees_beside_predictions_are_judged_by_the_mix():
    X, Y, weight = made(SQUARED)
    rows, held = Binned.of(X), np.arange(300, 400)
    rng = np.random.default_rng(3)
    P = Y[held] + 0.5 * rng.standard_normal((100, 1))
    P[80:] = np.nan
    task = Task(rows, Y, weight, SQUARED, 300, 0.2)
    growths, losses = judged(task, np.random.default_rng(1).spawn(2), held, 300, P)
    some, w = held[:80], weight[held][:80, None]
    for i in (0, 5, len(losses) - 2):
        F = np.mean([trees.sums(rows.bins[:, held], 5 * i) for trees in growths], axis=0)
        S, R = F[:80] - P[:80], Y[some] - P[:80]
        least = min((w * (R - a * S) ** 2).sum() for a in np.linspace(0.0, 1.0, 2001))
        expected = least + weight[held][80:] @ (Y[held][80:] - F[80:])[:, 0] ** 2
        assert losses[i] == pytest.approx(expected, rel=1e-5)


def test_more_trees_are_best_beside_the_landmarks_than_alone():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 4))
    f = (X[:, :1] > 0.0) + np.sin(3.0 * X[:, 1:2])
    Y, held = f + rng.standard_normal((2000, 1)), np.arange(1600, 2000)
    others = f[held] + 0.3 * rng.standard_normal((400, 1))
    best = {}
    for unseen in (True, False):
        beside = beside_of(TreePart(1), HeldOut.at_once(held, others, np.full(400, unseen)))
        assert np.isnan(beside).all() != unseen
        task = Task(Binned.of(X), Y, np.ones(2000), SQUARED, 200, 0.2)
        _, losses = judged(task, np.random.default_rng(1).spawn(2), held, 200, beside)
        best[unseen] = int(losses.argmin())
    assert best[True] > best[False]


def test_bins_have_as_many_rows_but_for_values_that_many_rows_have():
    x = np.random.default_rng(0).uniform(0.0, 1.0, 3000)
    x[:2500] = 0.0
    edges = edges_of(x)
    counts = np.bincount(np.searchsorted(edges, x))
    assert len(edges) > 100
    assert counts[0] in range(2500, 2510)
    assert counts[1:].max() <= 6
    np.testing.assert_allclose(edges_of(np.array([1.0, 5.0, 5.0, 2.0])), [1.5, 3.5])
    assert not len(edges_of(np.full(9, 3.0)))


def part_of(loss, held=None):
    X, Y, weight = made(loss)
    Y = 2.0 * Y - 1.0 if loss == TWO else Y
    held = np.arange(300, 400) if held is None else held
    nothing = HeldOut.at_once(held, np.tile(Y.mean(axis=0), (len(held), 1)))
    part = last_trees(X, Y, weight, nothing, 200, np.random.default_rng(0), 1.0)
    assert part is not None
    return X, Y, weight, part


@pytest.mark.parametrize("loss", [SQUARED, TWO, MORE])
def test_predictions_are_those_of_the_trees_that_were_grown(loss, monkeypatch):
    grown = []

    def kept(task, rng):
        grown.append(boosted(task, rng))
        return grown[-1]

    def few(task, *more):
        return judged(task._replace(n_trees=min(task.n_trees, 90)), *more)

    monkeypatch.setattr("onkel.default.last_trees.boosted", kept)
    monkeypatch.setattr("onkel.default.last_trees.judged", few)
    X, Y, _, part = part_of(loss)
    bins = Binned.of(X).bins
    F = np.mean([trees.sums(bins, len(trees.values)) for trees in grown], axis=0)
    # as often as 2 000 trees allow, or four times
    assert len(grown) == min(2000 // len(grown[0].values), 4)
    expected = part.middle + part.scale * F
    if loss != SQUARED:
        expected = 2.0 * expit(F) - 1.0 if loss == TWO else softmax(F, axis=1)
    np.testing.assert_allclose(part.predictions(X), expected, atol=1e-5)
    assert np.mean((part.predictions(X) - Y) ** 2) < 0.4 * np.mean((Y - Y.mean(axis=0)) ** 2)


@pytest.mark.parametrize("n_folds", [1, 3])
def test_the_share_is_that_of_least_squares_on_rows_held_out(n_folds):
    X, Y, weight = made(SQUARED)
    held, folds = np.arange(250, 400), np.arange(150) % n_folds
    known, most = 0.7 * Y[held] + 0.1, 4 * 3600 // 64
    of_rows = HeldOut(held, known, folds, np.ones(150, bool))
    part = last_trees(X, Y, weight, of_rows, 60, np.random.default_rng(0), 1.0)
    T = (Y - np.average(Y[:, 0], weights=weight)) / np.std(Y)
    rng, rows, runs = np.random.default_rng(0), Binned.of(X), []
    both = rng.spawn(2)
    for fold in range(n_folds):
        out = held[folds == fold]
        task = Task(rows, T, weight / weight.mean(), SQUARED, most, 40.0 / most)
        beside = (known[folds == fold] - part.middle) / part.scale
        runs.append((out, *judged(task, both, out, 100, beside)))
    checks = min(len(losses) for *_, losses in runs)
    n = 5 * np.sum([losses[:checks] for *_, losses in runs], axis=0).argmin()
    F = np.zeros(Y.shape)
    for out, growths, _ in runs:
        F[out] = np.mean([trees.sums(rows.bins[:, out], n) for trees in growths], axis=0)
    S = part.middle + part.scale * F[held] - known
    w = weight[held, None]
    size = (w * S * S).sum()
    a = (w * S * (Y[held] - known)).sum() / size
    noise = (w**2 * S**2 * (Y[held] - known - a * S) ** 2).sum() / size**2
    a = (a / noise + 0.4 / 0.05) / (1.0 / noise + 1.0 / 0.05)
    assert 0.05 < a < 0.95
    assert share(part.sums) == pytest.approx(a, rel=1e-6)
    # predictions that are right leave no place for trees
    right = HeldOut(held, Y[held], folds, np.ones(150, bool))
    assert last_trees(X, Y, weight, right, 60, rng, 1.0) is None


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_of_classes_the_share_with_the_fewest_mistakes_is_taken(n_outputs):
    rng = np.random.default_rng(0)
    codes, weight = rng.integers(0, max(n_outputs, 2), 3000), rng.uniform(0.5, 2.0, 3000)
    Y = targets_of(codes if n_outputs > 1 else 2.0 * codes - 1.0, n_outputs)
    P = Y + 1.5 * rng.standard_normal(Y.shape)
    S, mistakes = 0.5 * (Y - P) + 0.7 * rng.standard_normal(Y.shape), {}
    for a in np.linspace(0.0, 1.0, 21):
        F = P + a * S
        known = F[:, 0] > 0.0 if n_outputs == 1 else F.argmax(axis=1)
        mistakes[a] = weight @ (known != codes)
    found = share_of_classes(P, S, Y, weight)
    assert min(mistakes, key=mistakes.get) == pytest.approx(found, abs=0.15)
    assert abs(found - 0.4) > 0.05
    # few rows hardly matter; without a difference the share is the usual one
    assert abs(share_of_classes(P[:20], S[:20], Y[:20], weight[:20]) - 0.4) < 0.3
    assert share_of_classes(P, 0.0 * S, Y, weight) == pytest.approx(0.4)


@pytest.mark.parametrize("a", [0.0, 0.3, 0.9])
def test_the_share_of_classes_follows_that_of_least_squares(a):
    part = TreePart(1)
    part.sums[[AGREED, SIZE]] = 0.6, 1.0
    part._take_share(a)
    assert part.share == pytest.approx(a)
    assert share(part.sums) == pytest.approx(max(a, 0.6))


def test_too_few_landmarks_have_no_trees():
    X, Y, weight = made(SQUARED)
    held = HeldOut.at_once(np.arange(100), np.zeros((100, 1)))
    assert last_trees(X, Y, weight, held, 15, np.random.default_rng(0), 1.0) is None


@pytest.mark.parametrize("block", [1, 7, 300])
def test_the_share_follows_and_blocks_do_not_matter(block):
    X, Y, weight, part = part_of(SQUARED)
    X, Y, weight = np.tile(X, (30, 1)), np.tile(Y, (30, 1)), np.tile(weight, 30)
    P = Y + 0.01 * np.random.default_rng(3).standard_normal(Y.shape)
    one, other = copy.deepcopy(part), TreePart(1)
    other.set_state(part.get_state())
    whole = one.learn(X, Y, P, weight)
    cuts = [slice(a, a + block) for a in range(0, len(X), block)]
    found = [other.learn(X[of], Y[of], P[of], weight[of]) for of in cuts]
    np.testing.assert_allclose(np.concatenate(found), whole, rtol=1e-9)
    np.testing.assert_allclose(other.sums, one.sums, rtol=1e-12)
    # better predictions than the trees' take over
    assert share(one.sums) < 0.6 * share(part.sums)
    np.testing.assert_array_equal(one.correction(X, P), one.share * (one.predictions(X) - P))


@pytest.mark.parametrize("leaves_learn", [False, True])
def test_what_is_added_before_a_row_is_learned_is_its_correction(leaves_learn):
    part, rng = TreePart(1), np.random.default_rng(0)
    part.columns, part.edges = np.zeros((3, 6), np.int64), rng.standard_normal((3, 6))
    part.values = rng.standard_normal((3, 64, 1)).astype(np.float32)
    part.loss, part.part = TWO, 0.5
    part.sums[[AGREED, DOUBT, SIZE]] = 6.0, 1.0, 10.0
    if leaves_learn:
        part.leaves = LearningLeaves(part.values.shape, 1.0, 0.1, 1.0)
        part.leaves.recent[[AGREED, DOUBT, SIZE]] = 9.0, 3.0, 10.0
    # less a standard error, where the smaller of two shares is not careful enough
    assert part.share == pytest.approx(0.5 * (0.6 if leaves_learn else 0.5))
    X, P, one = rng.standard_normal((1, 2)), np.array([[0.3]]), np.ones((1, 1))
    expected = part.correction(X, P)
    assert abs(expected).max() > 0.01
    np.testing.assert_allclose(part.learn(X, one, P, one[0]), expected, rtol=1e-6)


def test_sums_fade_so_that_some_thousands_of_rows_count():
    X, Y, _, part = part_of(SQUARED)
    X, Y = np.tile(X, (256, 1)), np.tile(Y, (256, 1))
    right, wrong = part.predictions(X), 2.0 * Y.mean() - part.predictions(X)
    part.learn(X, Y, wrong, np.ones(len(X)))
    assert share(part.sums) > 0.5
    part.learn(X[:40_000], right[:40_000] - 1.0, right[:40_000] - 1.0, np.ones(40_000))
    assert share(part.sums) < 0.05


@pytest.mark.parametrize("position", [0, 1, 2])
def test_a_class_that_comes_leaves_the_chances_of_the_others(position):
    X, _, _, part = part_of(TWO)
    before = (part.predictions(X)[:, 0] + 1.0) / 2.0
    part.add_output(position)
    chances = part.predictions(X)
    assert chances[:, position].max() < 1e-6
    known = np.delete(chances, position, axis=1)
    np.testing.assert_allclose(known[:, 1], before, atol=1e-5)
    part.add_output(3)
    np.testing.assert_allclose(part.predictions(X)[:, :3], chances, atol=1e-6)


def test_two_parts_of_a_stream_give_the_sums_of_the_whole():
    X, Y, weight, origin = part_of(SQUARED)
    P = Y + 0.3
    whole, mine, other = (copy.deepcopy(origin) for _ in range(3))
    whole.learn(X[:150], Y[:150], P[:150], weight[:150])
    mine.learn(X[:90], Y[:90], P[:90], weight[:90])
    other.learn(X[90:150], Y[90:150], P[90:150], weight[90:150])
    mine.require_alike(other)
    mine.take_in(other, origin)
    # all but what the shares left depends on the rows alone
    keep = np.delete(np.arange(len(whole.sums)), 4)
    np.testing.assert_allclose(mine.sums[keep], whole.sums[keep], rtol=1e-9)
    other.values[0, 0, 0] += 1.0
    with pytest.raises(MergeError, match="the trees: values"):
        mine.require_alike(other)


def test_in_merged_sums_the_rows_before_count_as_little_as_in_one_stream():
    X, Y, _, origin = part_of(SQUARED)
    X, Y = np.tile(X, (4, 1)), np.tile(Y, (4, 1))
    P, weight = Y + 0.3, np.random.default_rng(5).uniform(0.5, 2.0, len(X))

    def learn(part, a, b):
        part.learn(X[a:b], Y[a:b], P[a:b], weight[a:b])

    # sums fade whenever 256 rows more have come
    learn(origin, 0, 512 - int(origin.sums[ROWS]))
    whole, mine, other = (copy.deepcopy(origin) for _ in range(3))
    learn(whole, 500, 1524)
    learn(mine, 500, 756)
    learn(other, 756, 1524)
    mine.take_in(other, origin)
    keep = np.delete(np.arange(len(whole.sums)), LEFT)
    np.testing.assert_allclose(mine.sums[keep], whole.sums[keep], rtol=1e-9)


# ---- in the default ------------------------------------------------------------------------------


def steps(n, seed=0):
    """A wave in two columns, and thresholds of six others together."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (n, 8))
    y = np.sin(3.0 * X[:, 0] + X[:, 1])
    for a, b, c in ((2, 3, 4), (5, 6, 7), (2, 5, 7)):
        y += 2.0 * (X[:, a] > 0.2) * (X[:, b] > -0.2) * (X[:, c] < 0.1)
    return X, y + 0.1 * rng.standard_normal(n)


@pytest.fixture(scope="module")
def model():
    learner = OnlineKernelRegressor(n_components=60, memory=False, restart=False)
    return learner.fit(*steps(2000))


def test_trees_see_what_landmarks_miss(model):
    X, y = steps(1000, seed=1)
    both, own = np.mean((model.predict(X) - y) ** 2), copy.deepcopy(model)
    own.model_.trees = None
    assert both < 0.7 * np.mean((own.predict(X) - y) ** 2)


def test_they_stay_out_where_all_is_smooth():
    X, _ = steps(3000)
    # without noise landmarks leave nothing but rounding
    noise = np.random.default_rng(0).standard_normal(3000)
    y = np.sin(3.0 * X[:, 0] + X[:, 1]) + 0.1 * noise
    model = OnlineKernelRegressor(n_components=60, memory=False).fit(X[:2000], y[:2000])
    both = np.mean((model.predict(X[2000:]) - y[2000:]) ** 2)
    model.model_.current.trees = None
    assert both < 1.02 * np.mean((model.predict(X[2000:]) - y[2000:]) ** 2)


def test_a_model_with_trees_goes_on_and_is_saved(model, tmp_path):
    X, y = steps(2500)
    model.save(tmp_path / "model")
    again, on = load(tmp_path / "model"), copy.deepcopy(model)
    for one in (again, on):
        one.partial_fit(X[2000:], y[2000:])
    assert on.model_.trees.sums[ROWS] == model.model_.trees.sums[ROWS] + 500
    np.testing.assert_array_equal(again.predict(X), on.predict(X))
    assert len(again.model_.trees.values) > 0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_classifier_with_trees_meets_a_class(n_classes):
    X, f = steps(1600)
    y = np.digitize(f, [0.5, 2.0][: n_classes - 1])
    model = OnlineKernelClassifier(n_components=60, restart=False).fit(X, y)
    assert model.model_.trees is not None
    right = np.mean(model.predict(X) == y)
    model.partial_fit(X[:20], np.full(20, 7))
    assert np.mean(model.predict(X) == y) > right - 0.05
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_few_rows_have_trees_by_predictions_in_folds(monkeypatch):
    held = []

    def kept(X, Y, weight, of, *more):
        held.append(of)

    X, y = steps(600)
    learner = OnlineKernelRegressor(n_components=60, memory=False, restart=False)
    learner.partial_fit(X, y)
    monkeypatch.setattr("onkel.default.with_search.last_trees", kept)
    learner.consolidate()
    ((rows, predictions, folds, unseen),) = held
    assert unseen.all()
    np.testing.assert_array_equal(rows, np.arange(600))
    np.testing.assert_array_equal(np.bincount(folds), np.full(5, 120))
    Z, prior = learner.map_.features(X), learner.map_.prior()
    for fold in range(5):
        learned_from = folds != fold
        R = Z[learned_from].T @ Z[learned_from] + prior
        w = np.linalg.solve(R, Z[learned_from].T @ y[learned_from])
        np.testing.assert_allclose(predictions[~learned_from, 0], Z[~learned_from] @ w, atol=1e-6)


def test_the_last_rows_and_those_that_no_search_has_seen_are_held_out_first():
    for n, seen in ((3000, 1984), (3000, 2500), (2100, 1984), (2000, 0)):
        held, learned_from = split(n, np.random.default_rng(0), seen)
        assert len(held) == n // 5
        assert set(range(n - n // 10, n)) <= set(held)
        assert (held >= seen).sum() == min(n - seen, n // 5)
        # the other half are drawn
        assert held.min() < n - n // 5
        np.testing.assert_array_equal(np.sort(np.append(held, learned_from)), np.arange(n))


def test_what_is_held_out_is_predicted_by_the_others_when_it_is_asked_for(monkeypatch):
    X, y = steps(1500)
    learner = OnlineKernelRegressor(n_components=60, memory=False, pairs=False, restart=False)
    with monkeypatch.context() as patched:
        # without cells nobody asks
        patched.delattr(last_fit, "predict_held_out")
        of_map = learner.fit(X, y).model_.map
    Y, one = y[:, None], np.ones(1500)
    rows, predictions, unseen = of_map.predict_held_out(X, Y, one)
    assert len(rows) == 300
    assert (rows >= 992).all()
    assert unseen.all()
    others = np.delete(np.arange(1500), rows)
    Z, prior = of_map.features(X)[:, :-1], of_map.prior()[:-1, :-1]
    target = y[others] - y.mean()
    alpha = np.linalg.solve(Z[others].T @ Z[others] + prior, Z[others].T @ target)
    np.testing.assert_allclose(predictions[:, 0], Z[rows] @ alpha + y.mean(), atol=1e-3)
    # where too few rows are new, all that are held out count
    rows, _, unseen = of_map.predict_held_out(X[:1050], Y[:1050], one[:1050])
    assert len(rows) == 210
    assert unseen.all()
    rows, _, unseen = of_map.predict_held_out(X[:1150], Y[:1150], one[:1150])
    np.testing.assert_array_equal(unseen, rows >= 992)
    assert not unseen.all()


def test_held_out_are_the_rows_that_the_last_search_held_out(monkeypatch):
    X, y = steps(2100)
    held, improve = [], last_fit.improve

    def kept(*args, **more):
        held.append(more["last"].held if "last" in more else None)
        return improve(*args, **more)

    monkeypatch.setattr(last_fit, "improve", kept)
    # a search that was postponed is owed: its rows are not those of the power of two before
    map_ = learned.LearnedLandmarks(60, random_state=0)
    map_.start(8, np.float64)
    map_.fit_labelled(X[:512], y[:512, None], np.ones(512))
    map_._owing, map_._resumed = True, 1800
    finished(map_.fit_last(X, y[:, None], np.ones(2100)))
    rows, _, unseen = map_.predict_held_out(X, y[:, None], np.ones(2100))
    assert set(rows) == set(held[-1])
    assert rows[unseen].min() >= 1800


@pytest.mark.parametrize("K", [1, 5])
def test_rows_alone_have_the_values_of_a_block(K):
    """Few rows are looked up one after the other, and many tree by tree."""
    rng = np.random.default_rng(0)
    X, columns = rng.normal(size=(300, 7)), rng.integers(0, 7, (40, 6))
    edges, values = rng.normal(size=(40, 6)), rng.normal(size=(40, 64, K))
    F, alone = np.zeros((300, K)), np.zeros((300, K))
    add_values(X, columns, edges, values, F)
    for i in range(300):
        add_values(X[i : i + 1], columns, edges, values, alone[i : i + 1])
    assert np.array_equal(F, alone)
    leaves = (X[:, columns] > edges) @ (1 << np.arange(6))
    np.testing.assert_allclose(F, values[np.arange(40), leaves].sum(axis=1), rtol=1e-12, atol=1e-12)
