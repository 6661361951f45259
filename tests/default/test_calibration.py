"""Probabilities learned from scores."""

from __future__ import annotations

import copy
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, softmax

from onkel import KernelRLSClassifier, ModelFileError, OnlineKernelClassifier
from onkel.default.calibration import MANY, TWO, Calibration


def bent(f):
    """Log-odds that no line in f has."""
    return 2.0 * f + 1.5 * np.maximum(f - 0.5, 0.0) * 6.0 - 0.7


def binary(n, seed=0):
    rng = np.random.default_rng(seed)
    f = rng.uniform(-1.2, 1.2, (n, 1))
    return f, (rng.random(n) < expit(bent(f[:, 0]))).astype(int)


def calibration_error(p, right):
    bins = np.minimum((20 * p).astype(int), 19)
    counts, said, was = (np.bincount(bins, w) for w in (np.ones(len(p)), p, right))
    return np.abs(said - was).sum() / counts.sum()


def test_two_classes_follow_a_bent_link():
    f, codes = binary(40_000)
    link = Calibration()
    predicted = link.learn(f, codes, np.ones(40_000))
    grid = np.linspace(0.1, 1.1, 11)[:, None]
    np.testing.assert_allclose(
        link.probabilities(grid)[:, 1], expit(bent(grid[:, 0])).clip(min=0.5), atol=0.05
    )
    # said before each row; the border is kept where the true log-odds cross it elsewhere
    far = np.abs(f[:, 0]) > 0.5
    right = (f[:, 0] > 0.0) == codes
    assert calibration_error(predicted[far, 1], right[far]) < 0.015


def test_many_classes_follow_a_temperature():
    rng = np.random.default_rng(1)
    F = rng.standard_normal((40_000, 4))
    P = softmax(3.0 * F, axis=1)
    codes = (rng.random((40_000, 1)) > P.cumsum(axis=1)).sum(axis=1).clip(max=3)
    link = Calibration()
    predicted = link.learn(F, codes, np.ones(40_000))
    found = link.probabilities(F)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert np.abs(found - P).mean() < 0.02
    assert calibration_error(predicted[5000:, 1], (F.argmax(axis=1) == codes)[5000:]) < 0.015


def test_it_follows_a_change():
    f, codes = binary(8000)
    codes[4000:] = 1 - codes[4000:][::-1]  # labels that no longer belong to the scores
    link = Calibration()
    predicted = link.learn(f, codes, np.ones(8000))
    assert -np.log(predicted[-2000:, 0]).mean() < 0.8


@pytest.mark.parametrize(("scores", "most"), [([-1.0], 14.5), ([0.001, 0.998, 0.001], 3.8)])
def test_a_class_that_does_not_come_soon_has_a_small_probability(scores, most):
    link, K = Calibration(), len(scores)
    codes = np.full(1000, 0 if K == 1 else 1)
    predicted = link.learn(np.tile(scores, (1000, 1)), codes, np.ones(1000))[:, 0]
    assert -np.log(predicted).sum() < most


def naive(scores, codes, knots, link_values):
    """The formula in plain Python: steps of the two knots beside each score, and order kept."""
    v, e, predicted = list(link_values), [1.0] * len(knots), []
    for row, code in zip(scores, codes, strict=True):
        hats = []
        for f in row:
            j = max(k for k in range(len(knots) - 1) if knots[k] < f or k == 0)
            u = (f - knots[j]) / (knots[j + 1] - knots[j])
            hats.append((j, u))
        h = [(1 - u) * v[j] + u * v[j + 1] for j, u in hats]
        if len(row) == 1:
            p = [1 / (1 + math.exp(-h[0]))]
            wanted = [float(code)]
            q = max(p[0], 0.5) if row[0] > 0 else min(p[0], 0.5)
            predicted.append(q if code else 1 - q)
        else:
            p = [math.exp(x) / sum(math.exp(y) for y in h) for x in h]
            wanted = [float(k == code) for k in range(len(row))]
            predicted.append(p[code])
        e = [1.0 + 0.9995 * (x - 1.0) for x in e]
        for (j, u), share in zip(hats, p, strict=True):
            e[j] += share * (1 - share) * (1 - u)
            e[j + 1] += share * (1 - share) * u
        before, whole = list(v), math.log(sum(map(math.exp, h))) if len(row) > 1 else 0.0
        for (j, u), share, target in zip(hats, p, wanted, strict=True):
            v[j] -= (share - target) * (1 - u) / e[j]
            v[j + 1] -= (share - target) * u / e[j + 1]
        for j in range(len(v)):
            then, now = (1 / (1 + math.exp(whole - x[j])) for x in (before, v))
            e[j] = 1.0 + (e[j] - 1.0) * min(now * (1 - now) / (then * (1 - then)), 1.0)
        gaps = [0.01 * (b - a) for a, b in itertools.pairwise(knots)]
        for j, _ in hats:
            if v[j + 1] - v[j] < gaps[j]:
                v[j] = (e[j] * v[j] + e[j + 1] * (v[j + 1] - gaps[j])) / (e[j] + e[j + 1])
                v[j + 1] = v[j] + gaps[j]
            for k in range(j, 0, -1):
                v[k - 1] = min(v[k - 1], v[k] - gaps[k - 1])
            for k in range(j + 1, len(v) - 1):
                v[k + 1] = max(v[k + 1], v[k] + gaps[k])
    return np.array(predicted), np.array(v)


@pytest.mark.parametrize("K", [1, 4])
def test_as_a_naive_loop(K):
    rng = np.random.default_rng(2)
    scores = rng.uniform(-1.3, 1.3, (300, K))
    codes = rng.integers(max(K, 2), size=300)
    link = Calibration()
    knots, (values, _) = (TWO, link.two) if K == 1 else (MANY, link.many)
    wanted, v = naive(scores.tolist(), codes.tolist(), knots.tolist(), values.tolist())
    predicted = link.learn(scores, codes, np.ones(300))
    np.testing.assert_allclose(predicted[:, 0], wanted, rtol=1e-9)
    np.testing.assert_allclose(values, v, rtol=1e-9)
    P = Calibration().learn_all(scores, codes, np.ones(300))
    np.testing.assert_allclose(P[np.arange(300), codes], predicted[:, 0])
    np.testing.assert_allclose(P.sum(axis=1), 1.0)


@pytest.mark.parametrize("K", [1, 3])
@pytest.mark.parametrize("cut", [1, 13])
def test_blocks_and_weights_of_zero_do_not_matter(cut, K):
    rng = np.random.default_rng(2)
    f, codes = rng.standard_normal((500, K)), rng.integers(max(K, 2), size=500)
    weight = rng.uniform(0.1, 2.0, 500) * (rng.random(500) > 0.2)
    whole, parts, few = Calibration(), Calibration(), Calibration()
    whole.learn(f, codes, weight)
    for a in range(0, 500, cut):
        parts.learn(f[a : a + cut], codes[a : a + cut], weight[a : a + cut])
    used = weight > 0.0
    few.learn(f[used], codes[used], weight[used])
    for other in (parts, few):
        np.testing.assert_array_equal(whole.two, other.two)
        np.testing.assert_array_equal(whole.many, other.many)


SCORES = st.sampled_from([-1e9, -3.0, -1.0, -0.6, 0.0, 1e-9, 0.3, 1.0, 1.05, 1e9])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(SCORES, SCORES, SCORES, st.integers(0, 2)), min_size=1, max_size=80),
    st.sampled_from([1e-6, 1.0, 1e12]),
)
def test_the_order_of_scores_is_kept_whatever_comes(rows, size):
    F, codes = np.array([row[:3] for row in rows]), np.array([row[3] for row in rows])
    weight = np.full(len(rows), size)
    link = Calibration()
    link.learn(F, codes, weight)
    link.learn(np.ascontiguousarray(F[:, :1]), codes % 2, weight)
    again = Calibration.from_state(link.get_state())
    assert np.all(np.diff(again.two[0]) > 0.0)
    assert np.all(np.diff(again.many[0]) > 0.0)
    P = again.probabilities(F)
    assert np.isfinite(P).all()
    best = np.take_along_axis(P, F.argmax(axis=1)[:, None], axis=1)[:, 0]
    np.testing.assert_array_equal(best, P.max(axis=1))


@pytest.mark.parametrize(
    "learner",
    [KernelRLSClassifier, pytest.param(OnlineKernelClassifier, marks=pytest.mark.compiled)],
)
def test_probabilities_are_met(learner):
    """Of the rows with predicted probability p, a share p is in the class."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((12_000, 3))
    y = (rng.random(12_000) < expit(2.0 * np.sin(2 * X[:, 0]) + X[:, 1])).astype(int)
    p = learner(n_components=60).fit(X[:8000], y[:8000]).predict_proba(X[8000:])[:, 1]
    for low in (0.0, 0.2, 0.4, 0.6, 0.8):
        said = (p >= low) & (p < low + 0.2)
        assert y[8000:][said].mean() == pytest.approx(p[said].mean(), abs=0.06)


@pytest.mark.compiled
@pytest.mark.slow
def test_probabilities_of_the_next_row_are_met_too():
    """Scores with memory have a link of their own, which is saved."""
    rng = np.random.default_rng(4)
    n = 6000
    state = np.cumsum(rng.random(n) < 0.1) % 2
    X = rng.standard_normal((n, 2))
    y = (rng.random(n) < expit(2.0 * (2.0 * state - 1.0) + X[:, 0])).astype(int)
    model = OnlineKernelClassifier(n_components=40, speed="fast").partial_fit(X[:4000], y[:4000])
    said = []
    for t in range(4000, n):
        said.append(model.predict_proba_next(X[t : t + 1])[0])
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    P, y = np.array(said), y[4000:]
    assert -np.log(P[np.arange(len(y)), y]).mean() < 0.62
    assert calibration_error(P.max(axis=1), P.argmax(axis=1) == y) < 0.04
    again = OnlineKernelClassifier.from_state(model.get_state())
    np.testing.assert_array_equal(again.predict_proba_next(X[:5]), model.predict_proba_next(X[:5]))
    assert not np.array_equal(model.calibration_.two, model.calibration_next_.two)


def test_near_its_border_a_prediction_is_not_contradicted():
    link = Calibration()
    link.two[0] += 0.5
    scores = np.array([-0.3, -0.1, 0.0, 1e-9, 0.3])[:, None]
    P = link.probabilities(scores)
    np.testing.assert_array_equal(P.argmax(axis=1), scores[:, 0] > 0.0)
    np.testing.assert_allclose(P[[0, 4], 1], 1.0 / (1.0 + np.exp([0.1, -1.1])))


def test_merged_links_are_means_by_what_was_learned():
    links = [Calibration() for _ in range(2)]
    for seed, link in enumerate(links):
        link.learn(*binary(3000, seed), np.ones(3000))
    a, b = (link.two.copy() for link in links)
    links[0].take_in(links[1], None, 3000, 3000)
    known = a[1] - 1.0, b[1] - 1.0
    mean = (a[0] * known[0] + b[0] * known[1]) / np.maximum(sum(known), 1e-9)
    mean = np.where(sum(known) > 1e-9, mean, 0.5 * (a[0] + b[0]))
    np.testing.assert_allclose(links[0].two[0], mean, atol=0.02)
    Calibration.from_state(links[0].get_state())


def test_merged_links_count_what_both_knew_once():
    """Of links that went on from one: what they gained counts."""
    origin = Calibration()
    origin.learn(*binary(1000, 0), np.ones(1000))
    a, b = copy.deepcopy(origin), copy.deepcopy(origin)
    a.learn(*binary(10_000, 1), np.ones(10_000))
    one, two = copy.deepcopy(a), copy.deepcopy(origin)
    one.take_in(b, origin, 10_000, 0)
    two.take_in(a, origin, 0, 10_000)
    np.testing.assert_array_equal(one.two, a.two)
    np.testing.assert_allclose(two.two, a.two, rtol=1e-9)
    np.testing.assert_array_equal(two.many, origin.many)
    # a part of few rows moves the link little, and the sums are those of one pass
    f, y = binary(10_020, 1)
    b.learn(f[10_000:], y[10_000:], np.ones(20))
    one.take_in(b, origin, 10_000, 20)
    assert np.abs(one.two[0] - a.two[0]).max() < 0.1 * np.abs(b.two[0] - a.two[0]).max()
    whole = copy.deepcopy(a)
    whole.learn(f[10_000:], y[10_000:], np.ones(20))
    np.testing.assert_allclose(one.two[1], whole.two[1], rtol=0.02)


@pytest.mark.parametrize("name", ["two", "many"])
def test_a_damaged_link_is_refused(name):
    state = Calibration().get_state()
    for wrong in (state[name][:, ::-1].copy(), np.zeros_like(state[name])):
        with pytest.raises(ModelFileError, match=name):
            Calibration.from_state({**state, name: wrong})
