"""Repeat the last class if that has been right more often than the probabilities."""

from __future__ import annotations

import numpy as np
import pytest

from onkel import OnlineKernelClassifier
from onkel.errors import ModelFileError
from onkel.memory import LastClass

N, K = 400, 3


def _naive(P, codes, weight):
    """The predicted class of each row, by the definition."""
    rows = right = lead = 0
    last, named = -1, []
    for p, code, counts in zip(P, codes, weight > 0.0, strict=True):
        top = int(p.argmax())
        seldom = rows >= 32 and right >= 0.95 * rows
        follows = last >= 0 and seldom and lead >= 0
        named.append(last if follows else top)
        if counts:
            lead += (last >= 0) * (int(last == code) - int(top == code))
            rows, right = rows + 1, right + (last == code)
            last = code
    return np.array(named)


def _came_last(codes, weight):
    out, last = np.zeros((len(codes), K)), -1
    for t, code in enumerate(codes):
        if last >= 0:
            out[t, last] = 1.0
        last = code if weight[t] > 0.0 else last
    return out


def _rows(stays, good, seed=0):
    """Classes persist with probability ``stays``; P names the right one with ``good``."""
    rng = np.random.default_rng(seed)
    codes = np.zeros(N, int)
    for t in range(1, N):
        codes[t] = codes[t - 1] if rng.random() < stays else rng.integers(K)
    P = rng.dirichlet(np.ones(K), N)
    for t in np.flatnonzero(rng.random(N) < good):
        P[t] = np.roll(np.sort(P[t])[::-1], codes[t])
    return P, codes, (rng.random(N) < 0.9).astype(float)


@pytest.mark.parametrize("size", [1, 7, N])
@pytest.mark.parametrize(("stays", "good"), [(0.98, 0.9), (0.98, 0.1), (0.3, 0.9), (0.9, 0.9)])
def test_against_its_definition(stays, good, size):
    P, codes, weight = _rows(stays, good)
    came, model, predicted = _came_last(codes, weight), LastClass(), []
    for a in range(0, N, size):
        part = slice(a, a + size)
        asked = model.predict(P[part][:1], came[part][:1])
        predicted.append(model.learn(P[part], came[part], codes[part], weight[part]))
        np.testing.assert_array_equal(asked, predicted[-1][:1])
    predicted = np.concatenate(predicted)
    np.testing.assert_array_equal(predicted.argmax(axis=1), _naive(P, codes, weight))
    # probabilities are only permuted
    np.testing.assert_array_equal(np.sort(predicted, axis=1), np.sort(P, axis=1))


def test_where_no_class_came_before_probabilities_stay():
    model, P = LastClass(), np.array([[0.2, 0.5, 0.3]])
    model.rows = model.right = 100
    np.testing.assert_array_equal(model.predict(P, np.zeros((1, 3))), P)
    np.testing.assert_array_equal(model.predict(P, np.eye(3)[:1]), [[0.5, 0.2, 0.3]])


def test_a_state_goes_on():
    P, codes, weight = _rows(0.95, 0.5)
    came, whole, first, second = _came_last(codes, weight), LastClass(), LastClass(), LastClass()
    expected = whole.learn(P, came, codes, weight)[200:]
    first.learn(P[:200], came[:200], codes[:200], weight[:200])
    second.set_state(first.get_state())
    predicted = second.learn(P[200:], came[200:], codes[200:], weight[200:])
    np.testing.assert_array_equal(predicted, expected)


@pytest.mark.parametrize("state", [{"right": 5}, {"rows": -1}, {"lead": 0.5}])
def test_a_crafted_state_is_refused(state):
    with pytest.raises(ModelFileError):
        LastClass().set_state({"rows": 4, "right": 3, "lead": 0} | state)


@pytest.mark.compiled
@pytest.mark.parametrize("classes", [None, [0, 1]])
def test_classes_that_seldom_change_are_no_worse_than_the_last_again(classes):
    rng = np.random.default_rng(3)
    y = np.repeat(np.arange(12) % 2, rng.integers(40, 160, 12))
    # weakly informative columns, which mislead near the borders
    X = np.column_stack([y + rng.normal(size=len(y)), rng.normal(size=len(y))])
    model = OnlineKernelClassifier(n_components=20, speed="fast")
    predicted = model.predict_then_learn(X, y, classes)
    assert np.sum(predicted[1:] != y[1:]) <= np.sum(y[1:] != y[:-1])
