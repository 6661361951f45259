"""A search is left out where it would gain only what the labels of the rows before tell."""

from __future__ import annotations

import numpy as np
import pytest

from onkel import OnlineKernelClassifier, OnlineKernelRegressor
from onkel.maps import LearnedLandmarks
from onkel.maps.landmarks import small_search
from onkel.maps.landmarks.evidence import Landmarks
from onkel.maps.landmarks.fitted import TailCurves, Units
from onkel.maps.landmarks.labels_before import (
    STEPS,
    Left,
    left_of_last,
    rows_before,
    squares_left,
    steps_of_last,
)
from onkel.maps.landmarks.rational import kernel_columns
from onkel.maps.landmarks.schedule import CHOICE_ROWS
from onkel.maps.landmarks.search import improve
from onkel.maps.landmarks.searched import Rows
from onkel.maps.landmarks.small_search import Promises
from onkel.numerics.in_steps import finished


def test_what_is_left_is_that_of_least_squares():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((300, 3)), rng.standard_normal((300, 2))
    weight = rng.uniform(0.5, 2.0, 300)
    at = Landmarks(X[:20], np.full(3, -0.5), 0.0)
    alpha = rng.standard_normal((20, 2))
    numbers = rows_before(np.array([1, 40, 7, 2, 299, *range(50, 90)]))
    assert numbers[0].min() == 2
    work = squares_left(at, alpha, [Rows(X[of], Y[of], weight[of]) for of in numbers])
    assert len(list(work)) == STEPS
    left = finished(squares_left(at, alpha, [Rows(X[of], Y[of], weight[of]) for of in numbers]))

    held, f = numbers[0], kernel_columns(X, at.S, np.exp(at.log_width)) @ alpha
    root = np.sqrt(weight[held])[:, None]
    parts = [f[held], f[held - 1], Y[held - 1], f[held - 2], Y[held - 2], np.ones((len(held), 2))]
    A = np.stack([(root * part).ravel() for part in parts], axis=1)
    y = (root * Y[held]).ravel()
    _, squares, _, _ = np.linalg.lstsq(A, y, rcond=None)
    np.testing.assert_allclose(left.left, squares[0], rtol=1e-9)
    np.testing.assert_allclose(left.of_f, np.sum((root * (Y[held] - f[held])) ** 2), rtol=1e-12)


def of_time(n: int, slow: bool) -> tuple[np.ndarray, np.ndarray]:
    """A target that one of the columns tells as a wave, which rows pass slowly or at random."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3))
    t = np.arange(n) / 40.0
    X[:, 0] = 6.0 * np.sin(0.05 * t) if slow else 6.0 * np.sin(0.05 * rng.permutation(t))
    return X, np.sin(4.0 * X[:, 0]) + 0.02 * rng.standard_normal(n)


@pytest.mark.compiled
@pytest.mark.parametrize("slow", [False, True])
@pytest.mark.parametrize("known", [False, True])
def test_what_the_labels_before_tell_is_no_gain(slow, known):
    X, y = of_time(2048, slow)
    how = {"labels_before": known, "least_gain": 0.01, "random_state": 0}
    found = LearnedLandmarks(20, 2048, **how).fit(X, y)
    first = np.allclose(found.landmarks_, X[:20])
    assert first is (slow and known)


def test_the_last_rows_are_predicted_by_those_before():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((300, 3)), rng.standard_normal((300, 1))
    weight = rng.uniform(0.5, 2.0, 300)
    at = Landmarks(X[:20], np.full((20, 3), -0.5), 0.0)
    early = Rows(X[:200], Y[:200], weight[:200])
    last = [Rows(X[of], Y[of], weight[of]) for of in rows_before(np.arange(240, 300))]
    work = list(left_of_last(at, early, last))
    assert len(work) == steps_of_last(200)
    K = kernel_columns(X[:200], at.S, np.exp(at.log_width))
    alpha = np.linalg.solve(
        K.T @ (weight[:200, None] * K) + np.eye(20), K.T @ (weight[:200, None] * Y[:200])
    )
    expected = finished(squares_left(at, alpha, last))
    np.testing.assert_allclose(finished(left_of_last(at, early, last)), expected, rtol=1e-9)


@pytest.mark.parametrize(("share", "dear", "made"), [(0.05, 6, 0), (0.2, 6, 1), (0.05, 99, 1)])
def test_a_dear_search_waits_where_the_labels_before_tell_the_last_rows(
    share, dear, made, monkeypatch
):
    def told(at, early, last):
        # the last rows, and rows before them to learn from
        assert last[0].X.max() < 0.0 < early.X.min()
        yield True
        return Left(1.0, share)

    monkeypatch.setattr(small_search, "left_of_last", told)
    monkeypatch.setattr(small_search, "_DEAR", dear)
    X, y = of_time(2048, False)
    X -= X.min() - 1.0
    X[-409:] *= -1.0
    units = Units(TailCurves(*np.zeros((2, 3))), np.zeros(3), np.ones(3))
    start, rng = Landmarks(X[:20], np.full(3, -1.0), 0.0), np.random.default_rng(0)
    of = X, y[:, None], np.ones(2048), 12, rng, units, Promises(0.02, labels_before=True)
    found = finished(improve([start], *of))
    assert (found is not start) == made


@pytest.mark.parametrize(
    ("lefts", "made"),
    [
        # the labels before tell nearly all of what f does not
        ([Left(1.0, 0.1)], False),
        # they tell next to nothing
        ([Left(1.0, 0.95)], True),
        # beside them the small search gains enough, or too little
        ([Left(1.0, 0.5), Left(0.9, 0.4)], True),
        ([Left(1.0, 0.5), Left(0.9, 0.49)], False),
    ],
)
def test_a_small_search_gains_what_the_labels_before_do_not_tell(lefts, made, monkeypatch):
    left = iter(lefts)

    def told(at, alpha, rows):
        yield True
        return next(left)

    monkeypatch.setattr(small_search, "squares_left", told)
    X, y = of_time(600, False)
    units = Units(TailCurves(*np.zeros((2, 3))), np.zeros(3), np.ones(3))
    start, rng = Landmarks(X[:100], np.full(3, -1.0), 0.0), np.random.default_rng(0)
    of = X, y[:, None], np.ones(600), 12, rng, units, Promises(0.02, labels_before=True)
    found = finished(improve([start], *of))
    assert (found is not start) is made
    # each was asked for
    assert next(left, None) is None


def test_only_predictions_that_use_labels_do_without_such_searches():
    X, y = of_time(64, True)
    for learner, known in (
        (OnlineKernelRegressor(n_components=10), True),
        (OnlineKernelRegressor(n_components=10, memory=False), False),
        (OnlineKernelClassifier(n_components=10), True),
        (OnlineKernelClassifier(n_components=10, class_weight={0: 1.0, 1: 2.0}), False),
    ):
        classes = isinstance(learner, OnlineKernelClassifier)
        learner.partial_fit(X, (y > 0.0).astype(int) if classes else y)
        assert learner.map_.labels_before is known


def test_the_second_model_needs_a_larger_gain():
    second = OnlineKernelRegressor(n_components=10)._make_second(3)
    assert second.map.least_gain > LearnedLandmarks().least_gain
    assert not second.map.labels_before


def test_in_the_second_model_fits_of_widths_compete_only_where_no_search_follows():
    for speed, compete in (("balanced", False), ("fast", True)):
        learner = OnlineKernelRegressor(n_components=10, speed=speed)
        of_model, second = learner._new_map(3), learner._make_second(3)
        assert of_model.chooses(CHOICE_ROWS)
        assert second.map.chooses(CHOICE_ROWS) is compete
        # also in a model that takes its place
        assert second._begin_challenger().map.chooses(CHOICE_ROWS) is compete
