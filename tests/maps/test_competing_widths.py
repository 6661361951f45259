"""Priors of widths compete: which columns tell something, and which fit the later rows choose."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import norm

from onkel import OnlineKernelClassifier, OnlineKernelRegressor, from_bytes, to_bytes
from onkel.maps import LearnedLandmarks
from onkel.maps.landmarks import competing_widths as competing
from onkel.maps.landmarks.competing_widths import best_widths, columns_that_tell
from onkel.maps.landmarks.first_widths import first_widths, of_columns, predicted_by, prior_mean
from onkel.numerics.in_steps import finished


def few_of_many(n, d=50, seed=0):
    """Only the product of two columns matters, and a third by itself."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.7, 1.7, (n, d))
    y = np.sin(3.0 * X[:, 0]) * X[:, 1] + 0.5 * np.cos(2.5 * X[:, 2])
    return X, y + 0.1 * rng.standard_normal(n)


def tells_naively(X, Y, weight):
    """By the formula, sum by sum."""
    n, d = X.shape
    ends = [k * n // 8 for k in range(9)]
    largest, looks = np.zeros(d), 0
    for target in Y.T:
        y = weight * (target - np.average(target, weights=weight))
        for j in range(d):
            order = np.argsort(X[:, j], kind="stable")
            within = []
            for a, b in pairwise(ends):
                inside = np.zeros(n)
                inside[order[a:b]] = 1.0
                within.append(inside)
            products = [X[:, j] * X[:, i] for i in range(d)]
            for phi in [*within, X[:, j], *products]:
                z = abs((y * phi).sum()) / np.sqrt(((y * phi) ** 2).sum())
                largest[j] = max(largest[j], z)
        looks += d * 9 + d * (d + 1) / 2
    return largest > norm.isf(0.5 * 0.05 / looks)


@pytest.mark.parametrize("seed", range(3))
def test_columns_that_tell_are_those_of_the_formula(seed):
    rng = np.random.default_rng(seed)
    X, weight = rng.standard_normal((300, 8)), rng.uniform(0.5, 2.0, 300)
    Y = np.stack([X[:, 0] * X[:, 1], np.cos(3 * X[:, 2]), X[:, 3] + rng.standard_normal(300)], 1)
    found = columns_that_tell(X, Y, weight)
    np.testing.assert_array_equal(found, tells_naively(X, Y, weight))
    assert found[:4].all()


def test_columns_that_hardly_tell_are_those_of_the_formula():
    rng, told = np.random.default_rng(0), []
    for _ in range(40):
        X = rng.standard_normal((200, 4))
        Y = X @ rng.uniform(0.0, 1.0, (4, 2)) + rng.standard_normal((200, 2))
        # weights that follow the targets move their mean
        weight = np.exp(0.5 * Y[:, 0])
        told.append(columns_that_tell(X, Y, weight))
        np.testing.assert_array_equal(told[-1], tells_naively(X, Y, weight))
    assert 0.1 < np.mean(told) < 0.9


def test_columns_of_noise_seldom_tell_anything():
    rng = np.random.default_rng(0)
    kept = [
        columns_that_tell(rng.standard_t(3, (512, 30)), rng.standard_normal((512, 2)), np.ones(512))
        for _ in range(40)
    ]
    assert np.any(kept, axis=1).sum() <= 6


def test_a_constant_column_tells_nothing(monkeypatch):
    X, y = few_of_many(512, 4)
    X = np.c_[X, np.zeros(512)]
    Y = (y - y.mean())[:, None]
    assert not columns_that_tell(X, Y, np.ones(512))[4]
    monkeypatch.setattr(competing, "_MOST_PAIRS", 10)
    assert columns_that_tell(X, Y, np.ones(512))[:2].all()
    # of more columns than pairs are looked at, each is looked at alone
    monkeypatch.setattr(competing, "_MOST_PAIRED", 3)
    assert columns_that_tell(X, Y, np.ones(512)).tolist() == [False, False, True, False, False]


@pytest.mark.compiled
def test_rows_that_were_not_fitted_choose():
    X, y = few_of_many(400, 12)
    Y, weight = ((y - y.mean()) / y.std())[:, None], np.random.default_rng(1).uniform(0.5, 2.0, 400)
    few = X[:250], Y[:250], weight[:250]

    def error(theta):
        diff = np.exp(theta[:-1]) * (X[:, None] - X[None, :250])
        K = 1.0 / (1.0 + (diff**2).sum(axis=-1)) + 10.0
        noisy = K[:250] + np.diag(np.exp(theta[-1]) / weight[:250])
        predicted = K[250:] @ np.linalg.solve(noisy, Y[:250])
        np.testing.assert_allclose(predicted_by(theta, *few, X[250:]), predicted, atol=1e-8)
        return weight[250:] * ((Y[250:] - predicted) ** 2)[:, 0]

    together = prior_mean(12)
    best = finished(best_widths(X, Y, weight, together, 250, np.arange(12)))
    roughly = competing.STEPS, np.arange(12), 10.0, competing.ROUGHLY
    fresh = first_widths(*few, prior_mean(12), *roughly)
    assert error(best).sum() <= min(error(together).sum(), error(fresh).sum())
    # what was found so far stays unless other widths are clearly better
    nearly = max(best - 0.03, best + 0.03, key=lambda theta: error(theta).sum())
    gains = error(nearly) - error(best)
    assert 0.0 < gains.sum() < 2.0 * gains.std() * np.sqrt(150)
    np.testing.assert_array_equal(
        finished(best_widths(X, Y, weight, nearly, 250, np.arange(12))), nearly
    )


@pytest.mark.compiled
@pytest.mark.parametrize(("noise", "n_fits"), [(0, 1), (2, 2)])
def test_one_prior_competes_where_all_columns_tell(noise, n_fits, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3 + noise))
    Y, variances = X[:, :3].sum(axis=1, keepdims=True), []
    fit = competing.widths_in_steps

    def counted(X, Y, weight, start, steps, groups, apart, enough):
        variances.append(apart)
        return fit(X, Y, weight, start, steps, groups, apart, enough)

    monkeypatch.setattr(competing, "widths_in_steps", counted)
    # what was found so far is not beaten, so that no fit goes on
    groups, found = np.arange(3 + noise), np.append(np.full(3 + noise, -3.0), -7.0)
    tells = columns_that_tell(X[:200], Y[:200], np.ones(200))
    assert tells.tolist() == [True] * 3 + [False] * noise
    assert finished(best_widths(X, Y, np.ones(300), found, 200, groups)) is found
    assert variances == [30.0, 10.0][:n_fits]


def test_a_fit_begins_at_the_groups_of_which_a_column_tells_something(monkeypatch):
    groups, starts = np.array([0, 0, 1, 2]), []

    def noted(X, Y, weight, start, *more, **near):
        starts.append(start)
        yield True
        return start

    monkeypatch.setattr(competing, "widths_in_steps", noted)
    monkeypatch.setattr(competing, "columns_that_tell", lambda *_: np.arange(4) == 1)
    X, usual = np.random.default_rng(0).standard_normal((40, 4)), prior_mean(3)
    finished(best_widths(X, X[:, 1:2], np.ones(40), of_columns(usual, groups), 30, groups))
    # these are as wide as if there were no others, which are narrower
    np.testing.assert_array_equal(starts[0][:2], prior_mean(1)[0])
    assert (starts[0][2:4] < usual[0]).all()
    assert starts[0][4] == usual[3]
    np.testing.assert_array_equal(starts[1], of_columns(usual, groups))


def test_rows_judge_widths_by_their_weight():
    X, y = few_of_many(60, 3)
    of, weight = (X[:40], y[:40, None], np.ones(40)), np.arange(20.0)
    each, weighted = (
        finished(competing._judged(prior_mean(3), of, (X[40:], y[40:, None], w)))
        for w in (np.ones(20), weight)
    )
    np.testing.assert_allclose(weighted, weight * each, rtol=1e-12)


def test_a_choice_takes_about_the_steps_foreseen():
    X, y = few_of_many(300, 6)
    steps = list(best_widths(X, y[:, None], np.ones(300), prior_mean(6), 200, np.arange(6)))
    assert 10 < len(steps) <= 1.5 * competing.steps_of_best()


@pytest.mark.slow
@pytest.mark.compiled
def test_a_choice_is_as_good_without_the_steps_that_gain_next_to_nothing(monkeypatch):
    X, y = few_of_many(400, 12)
    of = X, y[:, None], np.ones(400), prior_mean(12), 250, np.arange(12)
    steps, errors = [], []
    for enough in (0.0, competing.ROUGHLY):
        monkeypatch.setattr(competing, "ROUGHLY", enough)
        work = best_widths(*of)
        steps.append(len(list(work)))
        best = finished(best_widths(*of))
        few = X[:250], y[:250, None], np.ones(250)
        errors.append(np.mean((y[250:] - predicted_by(best, *few, X[250:])[:, 0]) ** 2))
    assert steps[1] < 0.9 * steps[0]
    assert errors[1] < 1.02 * errors[0]


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("alone", [False, True])
def test_of_fifty_columns_the_three_that_matter_are_found(alone):
    X, y = few_of_many(3000)
    model = OnlineKernelRegressor(n_components=200, speed="fast", memory=False)
    rows = [slice(0, 900), *(slice(t, t + 1) for t in range(900, 1100) if alone)]
    for some in [*rows, slice(rows[-1].stop, 2000)]:
        model.partial_fit(X[some], y[some])
    width = model.map_.width_
    assert width[:3].min() > 3 * width[3:].max()
    assert np.mean((model.predict(X[2000:]) - y[2000:]) ** 2) < 0.1 * y.var()


@pytest.mark.slow
@pytest.mark.compiled
def test_a_bare_map_lets_later_rows_choose_too():
    X, y = few_of_many(1500)
    width = LearnedLandmarks(50, search_steps=0).fit(X, y).width_
    assert width[:3].min() > 3 * width[3:].max()


@pytest.mark.slow
@pytest.mark.compiled
def test_a_column_that_matters_only_later_gets_in():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((9000, 20))
    later = np.arange(9000) >= 3000
    labels = np.where(later, X[:, 0] * X[:, 1], X[:, 2]) > 0.0
    model = OnlineKernelClassifier(n_components=100, speed="fast", memory=False)
    before = model.predict_then_learn(X, labels)
    assert np.mean(before[8000:] != labels[8000:]) < 0.1


@pytest.mark.compiled
@pytest.mark.parametrize("few_matter", [False, True])
def test_challengers_know_whether_the_columns_must_part(few_matter):
    X, y = few_of_many(1200)
    X, y = (X, y) if few_matter else (X[:, :4], X[:, :4].sum(axis=1))
    model = OnlineKernelRegressor(n_components=50, speed="fast").partial_fit(X, y)
    model = from_bytes(to_bytes(model))
    challenger = model.model_._begin_challenger().map
    assert challenger.chooses(1024) is few_matter
    # one more value of a category says nothing new
    challenger.add_columns(1)
    assert challenger.chooses(1024) is few_matter
    # what is true of the old columns may not be true of a new one
    challenger.expect_news()
    assert challenger.chooses(1024)


@pytest.mark.compiled
def test_a_few_of_very_many_columns_are_found():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((900, 800))
    y = np.sign(X[:, 3] * X[:, 7])[:, None]
    of, groups = np.ones(900), np.arange(800)
    found = finished(best_widths(X, y, of, prior_mean(800), 512, groups))
    missed = y[512:] - predicted_by(found, X[:512], y[:512], of[:512], X[512:])
    assert np.mean(missed**2) < 0.5
    assert sorted(np.argsort(found[:-1])[-2:].tolist()) == [3, 7]
