"""Learners of parts, merged, against one pass over all rows."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from onkel import (
    ExplicitKernelRegressor,
    FOGDClassifier,
    FOGDRegressor,
    ForgetronClassifier,
    KernelRLSClassifier,
    KernelRLSRegressor,
    OnlineKernelClassifier,
    OnlineKernelRegressor,
    load,
    make,
)
from onkel.default.bins import PairBins
from onkel.default.cells import AGREED, SIZE, PairCells, _sums_of_mean, joined_sums, share
from onkel.errors import MergeError, ModelFileError


def rows(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.2 * rng.standard_normal(n)


def merged(sample, X, y, parts):
    """Copies of a learner that learned one part each, merged in a tree."""
    models = []
    for part in np.array_split(np.arange(len(y)), parts):
        models.append(copy.deepcopy(sample).partial_fit(X[part], y[part]))
    while len(models) > 1:
        for a, b in zip(models[::2], models[1::2], strict=False):
            a.merge(b, since=sample)
        models = models[::2]
    return models[0]


@pytest.mark.parametrize("parts", [2, 7, 64])
@pytest.mark.parametrize("kind", [KernelRLSRegressor, KernelRLSClassifier])
def test_least_squares_is_one_pass(kind, parts):
    X, y = rows()
    y = y if kind is KernelRLSRegressor else np.digitize(y, [-0.5, 0.5])
    sample = kind(n_components=40, dtype="float64").fit(X[:300], y[:300]).fix_map()
    one = copy.deepcopy(sample).partial_fit(X[300:], y[300:])
    many = merged(sample, X[300:], y[300:], parts)
    assert many.n_rows_ == one.n_rows_ == 1500
    np.testing.assert_allclose(many.coef_, one.coef_, rtol=1e-7, atol=1e-9)
    # it continues like the model of one pass
    for model in (one, many):
        model.partial_fit(X[:200], y[:200])
    np.testing.assert_allclose(many.coef_, one.coef_, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_without_a_sample_are_counted_once(weighted):
    X, y = rows(600)
    weight = np.linspace(0.0, 2.0, 600) if weighted else None
    own = (lambda part: None) if weight is None else weight.__getitem__
    kind = {"map": "identity", "rule": "least_squares", "loss": "squared", "dtype": "float64"}
    learners = [ExplicitKernelRegressor(**kind) for _ in range(3)]
    for part, model in zip((slice(0, 600), slice(0, 200), slice(200, 600)), learners, strict=True):
        model.partial_fit(X[part], y[part], sample_weight=own(part))
    one, a, b = learners
    assert a.merge(b).n_rows_ == one.n_rows_
    np.testing.assert_allclose(a.coef_, one.coef_, rtol=1e-8)
    # a third part is no learner that both went on from
    with pytest.raises(TypeError):
        a.merge(b, one)


def test_forgetting_merges_rows_that_follow():
    X, y = rows(900)
    sample = (
        OnlineKernelRegressor(n_components=20, forgetting=0.99, pairs=False)
        .fit(X[:300], y[:300])
        .fix_map()
    )
    one = copy.deepcopy(sample).partial_fit(X[300:], y[300:])
    many = merged(sample, X[300:], y[300:], 2)
    np.testing.assert_allclose(many.predict(X), one.predict(X), rtol=1e-5, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [OnlineKernelRegressor, OnlineKernelClassifier])
def test_default_is_near_one_pass(kind):
    X, y = rows(6000)
    y = y if kind is OnlineKernelRegressor else y > 0.0
    sample = kind(n_components=40).fit(X[:1024], y[:1024]).fix_map()
    one = copy.deepcopy(sample).partial_fit(X[1024:5000], y[1024:5000])
    many = merged(sample, X[1024:5000], y[1024:5000], 4)
    # kernels are wide: weights of thousands cancel, and rounding leaves their sum f alone as it is
    Z = one.map_.transform(X)
    np.testing.assert_allclose(Z @ many.coef_.T, Z @ one.coef_.T, atol=1e-5)
    score, wanted = many.score(X[5000:], y[5000:]), one.score(X[5000:], y[5000:])
    assert score > 0.8
    assert abs(score - wanted) < 0.005


@pytest.mark.parametrize("classes", [2, 3])
def test_a_part_that_learned_nothing_changes_no_probability(classes):
    X, y = rows(6000)
    y = np.digitize(y, [-0.5, 0.5][: classes - 1])
    sample = KernelRLSClassifier(n_components=40).fit(X[:500], y[:500]).fix_map()
    one = copy.deepcopy(sample).partial_fit(X[500:], y[500:])
    for mine, other in ((one, sample), (sample, one)):
        merged = copy.deepcopy(mine).merge(other, since=sample)
        assert merged.n_rows_ == 6000
        np.testing.assert_allclose(merged.predict_proba(X), one.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("forgetting", [1.0, 0.998])
def test_a_part_that_learned_nothing_changes_no_cell(forgetting):
    """Not even where the rows since are fewer than those that a cell has forgotten."""
    X, y = rows(3000)
    bins = PairBins.of(X, y[:, None], 400)
    origin = PairCells(bins, 1, forgetting)
    origin.learn(X[:1024], y[:1024, None], np.ones(1024))
    one = copy.deepcopy(origin)
    # a part of the cells alone
    some = X[1024:][X[1024:, 0] > 0.3]
    one.learn(some, np.cos(some[:, :1]), np.ones(len(some)))
    assert ((one.V > origin.V).sum() > 10) == (forgetting < 1.0)
    for mine, other in ((one, origin), (origin, one)):
        merged = copy.deepcopy(mine)
        merged.take_in(other, origin)
        np.testing.assert_allclose(merged.W, one.W, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(merged.V, one.V)
        np.testing.assert_allclose(merged.sums, one.sums)


@pytest.mark.parametrize("forgetting", [1.0, 0.998])
def test_cells_lie_between_a_mean_and_a_sum(forgetting):
    X, y = rows(3000)
    bins = PairBins.of(X, y[:, None], 400)
    origin = PairCells(bins, 1, forgetting)
    origin.learn(X[:512], y[:512, None], np.ones(512))
    a, b = (copy.deepcopy(origin) for _ in range(2))
    for cells, own in ((a, slice(512, 1024)), (b, slice(1024, 1536))):
        cells.learn(X[own], y[own, None], np.ones(512))
    left = forgetting**512
    known = 1 / origin.first + left * (1 / origin.V - 1 / origin.first)
    gained = left * np.maximum(1 / a.V - known, 0), np.maximum(1 / b.V - known, 0)
    both, learned = gained[0] + gained[1], gained[0] + gained[1] > 0
    mean = (gained[0] * a.W[:, 0] + gained[1] * b.W[:, 0])[learned] / both[learned]
    alone = [np.mean((cells.scores(X[1536:])[:, 0] - y[1536:]) ** 2) for cells in (a, b)]
    precision = 1 / b.V + left * (1 / a.V - 1 / origin.V)
    a_, b_, o_ = (cells.W[:, 0] / cells.V for cells in (a, b, origin))
    wanted = 0.5 * (mean + ((b_ + left * (a_ - o_)) / precision)[learned])
    untouched = copy.deepcopy(origin)
    untouched.take_in(b, origin)
    np.testing.assert_allclose(untouched.W[learned], b.W[learned], atol=1e-12)
    a.take_in(b, origin)
    np.testing.assert_allclose(a.W[learned, 0], wanted, atol=1e-12)
    np.testing.assert_allclose(1 / a.V, precision)
    assert a.sums[-1] == 1536
    if forgetting == 1.0:
        assert np.mean((a.scores(X[1536:])[:, 0] - y[1536:]) ** 2) < min(alone)


def test_the_share_of_merged_cells_grows_as_their_noise_averages_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 3))
    y = np.sign(X[:, 0]) * (X[:, 1] > 0.3) + 3.0 * rng.normal(size=9000)
    bins = PairBins.of(X[:1000], y[:1000, None], 400)
    origin = PairCells(bins, 1)
    parts = [copy.deepcopy(origin) for _ in range(4)]
    for k, cells in enumerate(parts):
        own = slice(1000 + 1500 * k, 2500 + 1500 * k)
        cells.learn(X[own], y[own, None], np.ones(1500))
    shares = [share(cells.sums) for cells in parts]
    errors = [np.mean((cells.scores(X[7000:])[:, 0] - y[7000:]) ** 2) for cells in parts]
    agreed = sum(cells.sums[AGREED] for cells in parts)
    noise = sum(cells.sums[SIZE] - cells.sums[AGREED] for cells in parts)
    for cells in parts[1:]:
        parts[0].take_in(cells, origin)
    # the mean of four equal parts has a fourth of their noise
    np.testing.assert_allclose(parts[0].sums[SIZE], agreed + noise / 4, rtol=1e-12)
    assert share(parts[0].sums) > max(shares)
    assert np.mean((parts[0].scores(X[7000:])[:, 0] - y[7000:]) ** 2) < min(errors)


def test_cells_that_say_too_little_have_no_noise_that_averages_out():
    """Where the residuals agree with more than cells say, the sums are those of all rows."""
    agreed, doubt, size, whole, left, n = 5.0, 1.0, 3.0, 20.0, 12.0, 100.0
    mine = np.array([agreed, doubt, size, whole, left, n])
    other, origin = 3.0 * mine, np.zeros(6)
    for kept in (1.0, 0.5):
        expected = joined_sums(mine, other, origin, kept)
        np.testing.assert_array_equal(_sums_of_mean(mine, other, origin, 1.0, kept), expected)
    # of cells that say more, the noise of each part counts by its rows
    mine[SIZE], other[SIZE] = 9.0, 21.0
    expected = joined_sums(mine, other, origin, 0.5)
    expected[SIZE] -= 0.75 * 0.5 * (9.0 - 5.0) + 0.25 * (21.0 - 15.0)
    np.testing.assert_allclose(_sums_of_mean(mine, other, origin, 1.0, 0.5), expected)
    # what is left of the origin's after the rows of a part is no gain of these
    origin = 10.0 * other
    faded, both = 0.25 * origin + mine, origin + other
    faded[-1] = origin[-1] + n
    expected = joined_sums(faded, both, origin, 1.0)
    expected[SIZE] -= 0.75 * (9.0 - 5.0) + 0.25 * (21.0 - 15.0)
    np.testing.assert_allclose(_sums_of_mean(faded, both, origin, 0.25, 1.0), expected)


def test_gradient_learners_are_mixed_by_their_rows():
    X, y = rows(900)
    kind = FOGDRegressor(n_components=30, gamma=0.5, random_state=3, dtype="float64")
    sample = kind.fit(X[:100], y[:100]).fix_map()
    a, b = (
        copy.deepcopy(sample).partial_fit(X[p], y[p]) for p in (slice(100, 300), slice(300, 900))
    )
    wanted = 0.25 * a.coef_ + 0.75 * b.coef_
    np.testing.assert_allclose(a.merge(b, since=sample).coef_, wanted, rtol=1e-12)
    assert a.n_rows_ == 900


def test_saved_between():
    X, y = rows(900)
    sample = OnlineKernelClassifier(n_components=20).fit(X[:600], y[:600] > 0).fix_map()
    again = OnlineKernelClassifier.from_state(sample.get_state())
    parts = [copy.deepcopy(m).partial_fit(X[600:], y[600:] > 0) for m in (sample, again)]
    assert (parts[0].coef_ == parts[1].coef_).all()
    assert parts[1].map_fixed_
    assert parts[1].memory_ is None
    with pytest.raises(ValueError, match="is not one of the classes given"):
        again.partial_fit(X[:1], np.array([2]))


def alike(**more):
    X, y = rows(200)
    options = {"n_components": 20, "gamma": 0.5, "random_state": 0} | more
    return FOGDClassifier(**options).partial_fit(X, y > 0)


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        (lambda: alike(random_state=1), "random_state: 0 in one and 1 in the other"),
        (lambda: alike(gamma=0.7), "gamma: 0.5 in one and 0.7 in the other"),
        (lambda: alike(kernel="laplacian"), "kernel: gaussian in one and laplacian"),
        (lambda: alike(n_components=21), "n_components: 20 in one and 21"),
        (lambda: alike().partial_fit(rows(5)[0], np.full(5, 2)), "the classes: "),
        (lambda: alike().add_columns(1), "the columns: 3 in one and 4"),
        (lambda: FOGDRegressor().fit(*rows(20)), "FOGDClassifier in one and FOGDRegressor"),
        (lambda: alike().fix_map(), "whether the map is fixed: False in one and True"),
    ],
)
def test_differences_are_named(other, difference):
    model = alike()
    before = model.coef_
    with pytest.raises(MergeError) as refusal:
        model.merge(other())
    assert difference in str(refusal.value)
    assert (model.coef_ == before).all()


def test_what_cannot_be_merged_says_why():
    X, y = rows(300)
    with pytest.raises(MergeError, match="order in which they come"):
        ForgetronClassifier().fit(X, y > 0).merge(ForgetronClassifier().fit(X, y > 0))
    fitting = [KernelRLSRegressor(n_components=400).fit(X, y) for _ in range(2)]
    with pytest.raises(MergeError, match="still being fitted on first rows"):
        fitting[0].merge(fitting[1])
    restarting = [OnlineKernelRegressor(n_components=10).fit(X, y) for _ in range(2)]
    with pytest.raises(MergeError, match="may begin anew"):
        restarting[0].merge(restarting[1])
    growing = make("nogd", task="regression").fit(X[:20], y[:20])
    with pytest.raises(MergeError, match="still changes while rows are learned"):
        growing.fix_map()
    longer, model = alike().partial_fit(X[:100], y[:100] > 0), alike()
    with pytest.raises(MergeError, match="since= has learned 300 rows"):
        model.merge(alike(), since=longer)


def test_saved_by_file(tmp_path):
    X, y = rows(400)
    sample = KernelRLSRegressor(n_components=20).fit(X, y).fix_map()
    sample.save(tmp_path / "m.onkel")
    assert load(tmp_path / "m.onkel").merge(sample, since=sample).n_rows_ == 400


@pytest.mark.parametrize("value", [True, 3, "yes"])
def test_a_file_cannot_fix_what_has_no_map(value):
    X, y = rows(60)
    state = ForgetronClassifier(gamma=0.5).fit(X, y > 0).get_state()
    state["fitted"]["map_fixed"] = value
    with pytest.raises(ModelFileError, match="map_fixed"):
        ForgetronClassifier.from_state(state)


def test_a_learner_that_has_learned_nothing_is_told():
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
    new, fixed = KernelRLSClassifier(), KernelRLSClassifier(n_components=10).fit(X, y).fix_map()
    for one, other in ((fixed, new), (new, fixed)):
        with pytest.raises(NotFittedError):
            one.merge(other)
