"""Bounds in a run: as of `Intervals`, with labels that come late, kept when a run goes on."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from sklearn.base import clone

from onkel import (
    FOGDClassifier,
    FOGDRegressor,
    Intervals,
    OnlineKernelClassifier,
    prequential,
)
from onkel.evaluation import PrequentialRun
from onkel.evaluation.bounds import RunBounds
from onkel.intervals.score import IntervalScore


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    return X, X[:, 0] + np.sin(3 * X[:, 1]) + 0.3 * rng.standard_normal(n)


def learner():
    return FOGDRegressor(n_components=50, gamma=0.5, random_state=0)


@pytest.mark.parametrize("delay", [0, 7])
def test_coverage_whatever_the_delay(delay):
    X, y = rows(3000)
    result = prequential(learner(), (X, y), intervals=0.8, delay=delay)
    found = result.details["intervals"]
    assert abs(found["coverage"] - 0.8) < 0.02
    assert found["level"] == 0.8
    assert len(found["last"]["low"]) == 200


def test_as_intervals_over_the_predictions():
    X, y = rows(1500)
    p = learner().predict_then_learn(X, y)
    score = IntervalScore(0.9)
    score.add(y[1:], Intervals(0.9).learn(p[1:].astype(float), y[1:]))
    found = prequential(learner(), (X, y), intervals=0.9).details["intervals"]
    del found["last"]
    assert found == pytest.approx(score.summary(), rel=1e-4)


def test_late_labels_are_not_used_before_they_come():
    X, y = rows(60)
    p = X[:, 0]
    bounds = RunBounds(0.9)
    missing = [min(t, 3) for t in range(60)]
    for a in range(0, 60, 13):
        part = slice(a, a + 13)
        n = len(y[part])
        bounds.add(y[part], p[part], n, missing[part])
    # row t knows the labels up to t - 4: three wait, and its own
    np.testing.assert_array_equal(bounds.last[:, 2:], _shifted(p, y, 3))


def _shifted(p, y, late):
    tracker, predicted, ways = Intervals(0.9), [], []
    for t in range(len(y)):
        k = t - late - 1
        if k >= 0:
            tracker.learn_late(p[k : k + 1].astype(float), y[k : k + 1], ways[k][None])
        ways.append(tracker.way())
        predicted.append(tracker.bounds(float(p[t])))
    return np.array(predicted)


def test_labels_that_come_at_once_are_learned_as_by_intervals():
    X, y = rows(60)
    p, late, now = X[:, 0].astype(float), Intervals(0.9), Intervals(0.9)
    for t in range(60):
        late.learn_late(p[t : t + 1], y[t : t + 1], late.way()[None])
    now.learn(p, y)
    np.testing.assert_array_equal(late.numbers, now.numbers)


def changing(kind, n, late):
    """Errors of forecasts that know the targets up to late + 1 rows before."""
    t, noise = np.arange(n), np.random.default_rng(0).standard_normal(n)
    if kind == "walk":
        walk = np.cumsum(noise)
        return walk - np.concatenate([np.zeros(late + 1), walk[: -late - 1]])
    if kind == "season":
        return noise * np.where(t % 24 < 12, 4.0, 1.0) + 3.0 * np.sin(2.0 * np.pi * t / 48)
    return noise * np.where(t // 1000 % 2, 5.0, 1.0)


@pytest.mark.parametrize("kind", ["walk", "season", "spread"])
@pytest.mark.parametrize(("late", "together"), [(1, 1), (5, 1), (24, 1), (100, 1), (0, 100)])
def test_coverage_where_labels_are_late(kind, late, together):
    """Judged by bounds of later on, errors of a walk were outside in 29 % of 24 rows ahead.

    With a whole step for each, labels that came 100 at a time left 28 % of a walk outside.
    """
    y = changing(kind, 20_000, late)
    bounds = RunBounds(0.9)
    for a in range(0, len(y), 500):
        t = np.arange(a, a + 500)
        missing = np.minimum(t, late + t % together).tolist()
        bounds.add(y[a : a + 500], np.zeros(500), 500, missing)
    assert abs(bounds.score.summary()["coverage"] - 0.9) < 0.015


def test_a_run_with_a_delay_that_goes_on_and_a_file_of_before():
    X, y = rows(400)
    whole, model = PrequentialRun(learner(), delay=7, intervals=0.9), learner()
    first = PrequentialRun(model, delay=7, intervals=0.9)
    whole.step((X[:200], y[:200]))
    whole.step((X[200:], y[200:]))
    first.step((X[:200], y[:200]))
    state = first.get_info()
    old = copy.deepcopy(state)
    del old["run"]["details"]["bounds"]["made"]
    found = []
    for kept, own in ((state, model), (old, copy.deepcopy(model))):
        second = PrequentialRun(own, delay=7, intervals=0.9)
        second.set_info(kept)
        second.step((X[200:], y[200:]))
        found.append(second.result().details["intervals"])
    expected = whole.result().details["intervals"]
    for name in ("rows", "coverage", "width", "winkler"):
        assert found[0][name] == expected[name]
    assert found[1]["coverage"] == pytest.approx(expected["coverage"], abs=0.02)


def test_a_run_that_goes_on():
    X, y = rows(1200)
    whole = PrequentialRun(learner(), intervals=0.9)
    model = learner()
    first = PrequentialRun(model, intervals=0.9)
    for a in range(0, 1200, 300):
        whole.step((X[a : a + 300], y[a : a + 300]))
    first.step((X[:600], y[:600]))
    second = PrequentialRun(model, intervals=0.9)
    second.set_state(first.get_state())
    second.step((X[600:900], y[600:900]))
    second.step((X[900:], y[900:]))
    a, b = (run.result().details["intervals"] for run in (whole, second))
    assert a["winkler"] == pytest.approx(b["winkler"], rel=1e-6)
    assert a["rows"] == b["rows"] == 1198


def three(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    y = (X[:, 0] + 0.5 * rng.standard_normal(n) > 0) + (X[:, 1] + 0.5 * rng.standard_normal(n) > 0)
    return X, y.astype(int)


@pytest.mark.parametrize("learner", [
    OnlineKernelClassifier(n_components=30, speed="fast"),
    FOGDClassifier(n_components=50, gamma=0.5, loss="logistic", random_state=0),
])  # fmt: skip
@pytest.mark.parametrize("n_classes", [2, 3])
def test_sets_of_classes(learner, n_classes):
    X, y = three(3000)
    y = y if n_classes == 3 else np.minimum(y, 1)
    result = prequential(clone(learner), (X, y), intervals=0.9)
    found = result.details["sets"]
    assert abs(found["coverage"] - 0.9) < 0.015
    assert found["worst_window"] > 0.84
    assert 0.9 < found["size"] < n_classes
    plain = prequential(clone(learner), (X, y)).details
    assert "sets" not in plain
    assert plain["log_loss"] == pytest.approx(result.details["log_loss"], rel=1e-9)


def test_sets_of_a_run_that_goes_on():
    X, y = three(1200)

    def make():
        return FOGDClassifier(n_components=50, gamma=0.5, loss="logistic", random_state=0)

    whole, model = PrequentialRun(make(), intervals=0.9), make()
    first = PrequentialRun(model, intervals=0.9)
    whole.step((X[:600], y[:600]))
    whole.step((X[600:], y[600:]))
    first.step((X[:600], y[:600]))
    second = PrequentialRun(model, intervals=0.9)
    second.set_state(first.get_state())
    second.step((X[600:], y[600:]))
    assert second.result().details["sets"] == whole.result().details["sets"]


def test_classes_without_probabilities_have_no_sets():
    with pytest.raises(ValueError, match="probabilities"):
        PrequentialRun(FOGDClassifier(loss="hinge"), intervals=0.9)
