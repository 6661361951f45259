"""The weights of f, and what a rule keeps beside them, over features and classes that change."""

from __future__ import annotations

import numpy as np
import pytest

from onkel.errors import ModelFileError
from onkel.explicit.weights import Weights, regression
from onkel.losses import Loss
from onkel.rules import AdaGrad, Gradient, LeastSquares, ProjectedGradient
from onkel.rules import base as places

M, SCALE = 4, 0.5


def weights_of(rule, K=2, average=False, seed=0):
    """Weights, sums of squares and a sum of iterates, all at random, and a scale that is not 1."""
    rng = np.random.default_rng(seed)
    state = np.array([3.0, *[0.0] * (places.OWN_STATE - 1), 4.0])
    state[places.SCALE], state[places.PENDING] = SCALE, 2.0
    context = state, int(Loss.HINGE), 0.1, rule.parameters()
    weights = Weights(rule, context, (K, M), np.float64, average=average)
    weights.W[:] = rng.standard_normal((K, M))
    weights.H[:] = rng.uniform(0.5, 1.5, weights.H.shape)
    weights.total[:] = rng.standard_normal(weights.total.shape)
    weights.refresh_norm()
    return weights


def norm_is_that_of_the_weights(weights):
    squared = float((weights.coef**2).sum())
    assert weights.state[places.SQUARED_NORM] == pytest.approx(squared, rel=1e-12)


def test_f_and_its_mean_stay_at_points_whose_features_change():
    weights, rng = weights_of(AdaGrad(), average=True), np.random.default_rng(1)
    T = rng.standard_normal((M, M))
    before = rng.standard_normal((10, M))
    after = before @ np.linalg.inv(T)
    f, mean, H = before @ weights.coef.T, before @ weights.predicting.T, weights.H.copy()
    weights.carry_over(before, after, 0.0)
    np.testing.assert_allclose(after @ weights.coef.T, f, rtol=1e-8)
    np.testing.assert_allclose(after @ weights.predicting.T, mean, rtol=1e-8)
    for own, old in zip(weights.H, H, strict=True):
        np.testing.assert_allclose(own, np.diag(T @ np.diag(old) @ T.T), rtol=1e-8)
    norm_is_that_of_the_weights(weights)


def test_features_are_taken_multiplied_or_begun_at_zero():
    weights = weights_of(AdaGrad(), average=True)
    W, mean, H = weights.coef, weights.predicting, weights.H.copy()
    old, factor = np.array([2, -1, 0]), np.array([4.0, 0.0, 0.5])
    weights.select(old, factor)
    zero = np.zeros(2)
    for now, was in ((weights.coef, W), (weights.predicting, mean)):
        np.testing.assert_allclose(now.T, [was[:, 2] / 4.0, zero, was[:, 0] / 0.5], rtol=1e-12)
    # gradients are multiples of features
    np.testing.assert_allclose(weights.H.T, [H[:, 2] * 16.0, zero, H[:, 0] * 0.25], rtol=1e-12)
    norm_is_that_of_the_weights(weights)


def test_new_features_begin_at_zero_in_their_place():
    before, weights = (weights_of(AdaGrad(), average=True) for _ in range(2))
    weights.add_features(1, 2)
    for name in ("coef", "predicting", "H"):
        expected = np.insert(getattr(before, name), [1, 1], 0.0, axis=1)
        np.testing.assert_allclose(getattr(weights, name), expected, rtol=1e-12)


@pytest.mark.parametrize("K", [1, 3])
def test_a_new_class_scores_zero_and_the_others_differ_as_before(K):
    weights = weights_of(AdaGrad(), K, average=True)
    old, mean, H = weights.coef, weights.predicting, weights.H.copy()
    weights.add_output(1)
    if K == 1:
        old, mean = (np.concatenate([-0.5 * A, 0.5 * A]) for A in (old, mean))
        H = np.tile(H, (2, 1))
    for now, was in ((weights.coef, old), (weights.predicting, mean), (weights.H, H)):
        np.testing.assert_allclose(now, np.insert(was, 1, 0.0, axis=0), rtol=1e-12)
    norm_is_that_of_the_weights(weights)


def test_only_rows_that_count_are_counted():
    weights = weights_of(LeastSquares(), K=1)
    rows = np.random.default_rng(0).standard_normal((5, M))
    weights.learn(rows, np.ones(5), np.array([1.0, 0.0, 2.0, 0.5, 0.0]), np.zeros((5, 1)))
    assert weights.state[places.T] == 3.0 + 3.0


@pytest.mark.parametrize(
    "rule", [Gradient(), AdaGrad(), ProjectedGradient(9.0)], ids=lambda r: r.name
)
def test_merged_weights_are_the_mean_by_the_rows_since_they_parted(rule):
    origin, a, b = (weights_of(rule, seed=seed) for seed in range(3))
    # 2 and 6 rows more than the origin's 3
    a.state[places.T], b.state[places.T] = 5.0, 9.0
    b.state[places.OWN_STATE] = 8.0
    mean, H = 0.25 * a.coef + 0.75 * b.coef, a.H + b.H - origin.H
    a.take_in(b, origin)
    np.testing.assert_allclose(a.coef, mean, rtol=1e-12)
    np.testing.assert_allclose(a.H, H, rtol=1e-12)
    assert a.state[places.T] == 11.0
    # the rule's own numbers
    assert a.state[places.OWN_STATE] == 0.25 * 4.0 + 0.75 * 8.0
    norm_is_that_of_the_weights(a)
    # one that has learned nothing changes nothing
    for weights, expected in ((a, mean), (weights_of(rule), origin.coef)):
        rows = weights.state[places.T]
        weights.take_in(weights_of(rule), origin)
        np.testing.assert_allclose(weights.coef, expected, rtol=1e-12)
        assert weights.state[places.T] == rows


@pytest.mark.parametrize("scale", [0.0, 1e8])
def test_a_state_whose_scale_is_out_of_range_is_refused(scale):
    weights = weights_of(Gradient())
    state = weights.get_state()
    weights.set_state(state)
    state["state"] = state["state"].copy()
    state["state"][places.SCALE] = scale
    with pytest.raises(ModelFileError, match="it must be 1e-7 to 1e7"):
        weights.set_state(state)


def test_regression_has_a_limit_where_features_depend_on_each_other():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((20, 3)), rng.standard_normal((20, 2))
    ridge = np.linalg.solve(X.T @ X + 0.7 * np.eye(3), X.T @ Y)
    np.testing.assert_allclose(regression(X, Y, 0.7), ridge, rtol=1e-10)
    twice = np.hstack([X, X])
    B = regression(twice, Y, 0.0)
    np.testing.assert_allclose(twice @ B, X @ np.linalg.lstsq(X, Y, rcond=None)[0], atol=1e-3)
    # no features at all: weights stay
    np.testing.assert_array_equal(regression(0.0 * X, 0.0 * X, 0.0), np.eye(3))
