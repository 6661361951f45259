"""The explicit model: norms, widths, scales, support sets and warm-up."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from onkel.exact import least_squares
from onkel.explicit import training_loop
from onkel.explicit.model import ExplicitModel
from onkel.losses import Loss, evaluate
from onkel.maps import (
    FourierFeatures,
    IdentityFeatures,
    NystroemFeatures,
    ReparameterizedFeatures,
)
from onkel.maps.reparameterized import LAWS
from onkel.rules import (
    AdaGrad,
    Gradient,
    LeastSquares,
    PassiveAggressive,
    Pegasos,
    ProjectedGradient,
)
from onkel.rules import base as places
from onkel.rules.base import RADIUS


def model_of(feature_map, rule, loss=Loss.HINGE, n_outputs=1, d=3, epsilon=0.0):
    feature_map.start(d, "float64")
    return ExplicitModel(feature_map, rule, loss, epsilon, n_outputs)


def stream(n, d=3, n_outputs=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    if n_outputs == 1:
        y = np.where(np.sin(2 * X[:, 0]) + X[:, 1] > 0.0, 1.0, -1.0)
    else:
        y = rng.integers(n_outputs, size=n).astype(float)
    return X, y, np.ones(n)


@pytest.mark.parametrize("n_outputs", [1, 4])
@pytest.mark.parametrize("rule", [ProjectedGradient(radius=1.5), Pegasos(alpha=0.3)])
def test_norm_recursion_is_the_norm_and_stays_in_the_ball(rule, n_outputs):
    X, y, w = stream(150, n_outputs=n_outputs)
    model = model_of(FourierFeatures(20, gamma=0.5, random_state=0), rule, n_outputs=n_outputs)
    radius = rule.parameters()[RADIUS]
    for t in range(150):
        model.learn(X[t : t + 1], y[t : t + 1], w[:1])
        squared = (model.coef**2).sum()
        assert model.weights.state[places.SQUARED_NORM] == pytest.approx(
            squared, rel=1e-9, abs=1e-12
        )
        assert squared <= radius**2 * (1 + 1e-12)


def test_norm_recursion_over_a_growing_support_set():
    X, y, w = stream(60)
    rule = ProjectedGradient(radius=1.2)
    model = model_of(NystroemFeatures(100, gamma=0.5, landmarks="support"), rule)
    model.learn(X, y, w)
    S = model.training.support
    assert model.map.grows
    assert len(S) > 5
    squared = (model.coef @ model.map.kernel_rows(S, S) @ model.coef.T).item()
    assert model.weights.state[places.SQUARED_NORM] == pytest.approx(squared)


@pytest.mark.parametrize("variant", ["PA", "PA-I", "PA-II"])
@pytest.mark.parametrize("n_outputs", [1, 4])
def test_passive_aggressive_repairs_the_row(variant, n_outputs):
    X, y, w = stream(40, n_outputs=n_outputs)
    rule = PassiveAggressive(C=1e12, variant=variant)
    model = model_of(FourierFeatures(30, gamma=0.5, random_state=0), rule, n_outputs=n_outputs)
    for t in range(40):
        before = model.learn(X[t : t + 1], y[t : t + 1], w[:1])[0]
        p = model.scores(X[t : t + 1])[0]
        if n_outputs == 1:
            assert y[t] * p[0] >= 1 - 1e-6
        else:
            # the margin over the former best wrong class is now 1
            k = int(y[t])
            rival = max((j for j in range(4) if j != k), key=lambda j: before[j])
            assert p[k] - p[rival] >= 1 - 1e-6


def test_own_shares_are_those_of_the_weighted_rows():
    X, y, _ = stream(1300)
    weight = np.random.default_rng(1).uniform(0.0, 2.0, 1300)
    model = model_of(IdentityFeatures(), LeastSquares(0.5), Loss.SQUARED)
    model.learn(X, y, weight)
    Z = model.map.features(X)
    P = np.linalg.inv(0.5 * np.eye(4) + (Z.T * weight) @ Z)
    shares = weight * np.einsum("ij,jk,ik->i", Z, P, Z)
    np.testing.assert_allclose(model.training.own_shares(X, weight), shares, rtol=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
def test_two_threads_learn_what_one_does(weighted, monkeypatch):
    X, y, w = stream(1300)
    if weighted:
        w = np.random.default_rng(1).integers(0, 3, 1300).astype(float)
    by_two, alone = (model_of(IdentityFeatures(), LeastSquares(), Loss.SQUARED) for _ in range(2))
    expected = alone.learn(X, y, w)
    shared, learn_shared = [], by_two.weights.matrix.learn_shared

    def noted(*of):
        shared.append(of)
        return learn_shared(*of)

    monkeypatch.setattr(training_loop, "n_threads", lambda: 2)
    monkeypatch.setattr(least_squares, "_LARGE", 0.0)
    monkeypatch.setattr(by_two.weights.matrix, "learn_shared", noted)
    np.testing.assert_array_equal(by_two.learn(X, y, w), expected)
    np.testing.assert_array_equal(by_two.coef, alone.coef)
    assert by_two.weights.state[places.T] == np.count_nonzero(w)
    # rows of weight 0 are left to one thread
    assert bool(shared) is not weighted


CASES = [
    *[(loss, 1) for loss in Loss],
    *[(loss, 4) for loss in (Loss.HINGE, Loss.SQUARED_HINGE, Loss.LOGISTIC, Loss.PERCEPTRON)],
]


MOVING = ("log_width_", "mean_", "logit_")


@pytest.mark.parametrize(("loss", "n_outputs"), CASES)
@pytest.mark.parametrize("law", LAWS)
def test_spectra_move_along_the_gradient(loss, n_outputs, law):
    """One step of RRF from random weights against central differences of the loss.

    For every loss, law of the frequencies and parameter: widths, means and shares.
    """
    rng = np.random.default_rng(7)
    for trial in range(4):
        feature_map = ReparameterizedFeatures(
            13, gamma=0.4, learning_rate=1e-3, damping=0, random_state=trial, law=law
        )
        model = model_of(feature_map, Gradient(0.25), loss, n_outputs)
        model.weights.W[:] = rng.standard_normal(model.weights.W.shape)
        model.weights.state[places.SCALE] = 0.5
        for name in MOVING:
            values = getattr(feature_map, name)
            values += 0.3 * rng.standard_normal(values.shape)
        x = rng.standard_normal((1, 3))
        y = float(rng.integers(n_outputs)) if n_outputs > 1 else rng.choice([-1.0, 1.0])
        start = copy.deepcopy(feature_map.moving())
        slopes = {name: _central(model, name, x, y) for name in MOVING}
        model.learn(x, np.array([y]), np.ones(1))
        for name in MOVING:
            moved = (getattr(feature_map, name) - start[name]) / 1e-3
            np.testing.assert_allclose(moved, -slopes[name], rtol=1e-5, atol=1e-7)
        if law == "mixture":
            assert slopes["mean_"].shape == (3, 4)
            assert slopes["logit_"].shape == (4,)


def _central(model, name, x, y, h=1e-6):
    """∂loss/∂(a parameter of the map) at a row, by central differences."""
    values = getattr(model.map, name)
    slope = np.zeros_like(values)
    for place in np.ndindex(values.shape):
        at = values[place]
        for side in (h, -h):
            values[place] = at + side
            p = model.scores(x)
            value = evaluate(model.loss, p, 0, y, 0.0, np.empty(p.shape[1]))
            slope[place] += np.sign(side) * value / (2 * h)
        values[place] = at
    return slope


def test_a_mixture_is_the_spectral_mixture_kernel():
    """Σ_b π_b exp(-½ Σ_n σ_bn² τ_n²) cos(μ_b·τ), Wilson & Adams 2013, eq. 12."""
    X = np.random.default_rng(0).uniform(-1, 1, (20, 2))
    feature_map = ReparameterizedFeatures(
        60_000, gamma=0.5, random_state=0, law="mixture", n_mixtures=3
    ).fit(X)
    feature_map.log_width_ += [[0.3, -0.5, 0.0], [0.0, 0.4, -0.2]]
    feature_map.logit_ += [0.0, 1.0, -0.5]
    sigma = np.exp(feature_map.log_width_)
    mu = sigma * feature_map.mean_
    share = np.exp(feature_map.logit_) / np.exp(feature_map.logit_).sum()
    tau = X[:, None] - X[None]
    kernel = sum(
        share[b] * np.exp(-0.5 * ((sigma[:, b] * tau) ** 2).sum(-1)) * np.cos(tau @ mu[:, b])
        for b in range(3)
    )
    Z = feature_map.transform(X)
    np.testing.assert_allclose(Z @ Z.T, kernel, atol=0.025)
    np.testing.assert_allclose((Z**2).sum(axis=1), 1.0, rtol=1e-12)
    assert np.abs(kernel).min() < 0.2


def test_a_mixture_begins_as_the_gaussian():
    """Averaged over its random initial means, the mixture's kernel is the Gaussian of gamma."""
    X = np.random.default_rng(1).uniform(-1, 1, (8, 2))
    total, seeds = np.zeros((8, 8)), 1500
    for seed in range(seeds):
        params = {"gamma": 0.7, "law": "mixture", "n_mixtures": 4, "random_state": seed}
        Z = ReparameterizedFeatures(16, **params).fit_transform(X)
        total += Z @ Z.T / seeds
    gaussian = np.exp(-0.7 * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
    np.testing.assert_allclose(total, gaussian, atol=0.05)


def test_scale_is_folded_before_it_vanishes():
    X, y, w = stream(400)
    model = model_of(IdentityFeatures(), Gradient(0.5, alpha=1.0))
    expected = np.zeros(4)
    for x, label in zip(X, y, strict=True):
        z = np.append(x, 1.0)
        move = label * (label * (expected @ z) < 1)
        expected = 0.5 * expected + 0.5 * move * z
    model.learn(X, y, w)
    assert model.weights.state[places.SCALE] >= 1e-6
    np.testing.assert_allclose(model.coef[0], expected, rtol=1e-9)


def test_three_outputs_from_one_keep_its_decisions():
    X, y, w = stream(200)
    model = model_of(FourierFeatures(30, gamma=0.5, random_state=0), Gradient(0.5, alpha=0.01))
    model.learn(X, y, w)
    before = model.scores(X)[:, 0]
    model.add_output(1)
    after = model.scores(X)
    np.testing.assert_allclose(after[:, 2] - after[:, 0], before, atol=1e-12)
    assert not after[:, 1].any()


def test_first_rows_fix_the_bandwidth_whatever_the_blocks():
    X, y, w = stream(300)
    scores = []
    for cut in (1, 7, 300):
        model = model_of(FourierFeatures(20, n_warmup=100, random_state=0), Gradient(0.5))
        scores.append(
            np.concatenate(
                [
                    model.learn(X[a : a + cut], y[a : a + cut], w[a : a + cut])
                    for a in range(0, 300, cut)
                ]
            )
        )
        assert model.warmup is None
        distances = np.sqrt(((X[:100, None] - X[None, :100]) ** 2).sum(-1))
        median = np.median(distances[np.triu_indices(100, 1)])
        assert model.map.gamma_ == pytest.approx(0.5 / median**2)
    np.testing.assert_allclose(scores[0], scores[2], atol=1e-10)
    np.testing.assert_allclose(scores[1], scores[2], atol=1e-10)


def test_support_set_never_exceeds_the_budget_and_becomes_landmarks():
    X, y, w = stream(500)
    model = model_of(NystroemFeatures(25, 10, gamma=0.5, landmarks="support"), Gradient(0.5))
    for t in range(500):
        model.learn(X[t : t + 1], y[t : t + 1], w[:1])
        assert len(model.training.support) <= 25
    assert not model.map.grows
    assert model.map.landmarks_.shape == (25, 3)
    assert model.coef.shape == (1, 10)


def test_weights_carry_the_kernel_model_over_at_full_rank():
    X, y, w = stream(200)
    model = model_of(NystroemFeatures(20, gamma=0.5, landmarks="support"), Gradient(0.5))
    t = 0
    while len(model.training.support) < 20:
        model.learn(X[t : t + 1], y[t : t + 1], w[:1])
        t += 1
    at_landmarks = model.scores(model.training.support)
    support = model.training.support.copy()
    model.training.freeze()
    np.testing.assert_allclose(model.scores(support), at_landmarks, atol=1e-6)


def test_adagrad_needs_an_explicit_map():
    with pytest.raises(ValueError, match="landmarks='first'"):
        model_of(NystroemFeatures(5, gamma=0.5, landmarks="support"), AdaGrad())
