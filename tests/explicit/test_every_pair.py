"""Every feature map learns by every rule, whatever the blocks, and saved or not."""

from __future__ import annotations

import numpy as np
import pytest

from onkel.learners import ExplicitKernelClassifier, ExplicitKernelRegressor
from onkel.maps import (
    MAPS,
    AdaptiveNystroem,
    AlignedFourier,
    FastfoodFeatures,
    FourierFeatures,
    IdentityFeatures,
    LearnedLandmarks,
    NystroemFeatures,
    RegeneratedFeatures,
    ReparameterizedFeatures,
    SignProjection,
)
from onkel.maps.reparameterized import LAWS
from onkel.rules import RULES, DoublyStochastic, Gradient, Norma, Pegasos, ProjectedGradient

pytestmark = pytest.mark.compiled

FEW = {"gamma": 1.0, "random_state": 0}
EACH = [
    IdentityFeatures(),
    FourierFeatures(30, **FEW),
    FourierFeatures(30, orthogonal=True, **FEW),
    NystroemFeatures(30, **FEW),
    LearnedLandmarks(20, 128, 4),
    *(ReparameterizedFeatures(30, law=law, n_mixtures=3, **FEW) for law in LAWS),
    AlignedFourier(40, 80, n_align=200, **FEW),
    FastfoodFeatures(32, **FEW),
    RegeneratedFeatures(30, **FEW),
    AdaptiveNystroem(30, **FEW),
    SignProjection(40, random_state=0),
]
N = 700
X = np.random.default_rng(0).uniform(-2, 2, (N, 3))
WAVE = np.sin(1.5 * X[:, 0]) + 0.5 * X[:, 1]
TARGETS = {
    "binary": WAVE > 0.0,
    "multiclass": np.digitize(WAVE, [-0.5, 0.5]),
    "regression": WAVE,
}
LOSSES = {"regression": ("epsilon_insensitive", "squared")}
STEPS = {
    "gradient": Gradient(0.05),
    "norma": Norma(learning_rate=0.05),
    "pegasos": Pegasos(0.1),
    "projected": ProjectedGradient(learning_rate=0.3),
    "doubly_stochastic": DoublyStochastic(0.03),
}


def test_the_list_is_complete():
    assert {feature_map.name for feature_map in EACH} == set(MAPS)


def learner(feature_map, name, task):
    """A learner of the pair, with the first of the task's losses that the rule is derived for."""
    rule = STEPS[name] if name in STEPS else RULES[name]()
    kind = "regression" if task == "regression" else "classification"
    for loss in LOSSES.get(task, ("hinge", "logistic", "squared_hinge")):
        try:
            rule.loss_name(loss, kind)
        except ValueError:
            continue
        cls = ExplicitKernelRegressor if task == "regression" else ExplicitKernelClassifier
        return cls(map=feature_map, rule=rule, loss=loss, dtype="float64", random_state=0)
    raise AssertionError(f"no loss for {name}")


@pytest.mark.parametrize("task", TARGETS)
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("feature_map", EACH, ids=lambda m: f"{m.name}-{getattr(m, 'law', '')}")
def test_every_map_learns_by_every_rule(feature_map, name, task):
    if name in ("newton", "alma") and task == "regression":
        pytest.skip("the rule is for classes")
    y = TARGETS[task]
    model = learner(feature_map, name, task)
    known = {} if task == "regression" else {"classes": np.unique(y)}
    before = model.predict_then_learn(X, y, **known)
    if task == "regression":
        # relative to the error of the mean of all targets; some step sizes are too long here
        share = np.mean(np.abs(before - y)[400:]) / np.mean(np.abs(y - y.mean()))
        assert share < {"pegasos": 2.5, "perceptron": 12.0, "least_squares": 0.8}.get(name, 1.2)
    elif name not in ("pegasos", "projected") or feature_map.name != "learned_landmarks":
        # the largest of two classes has half of the rows, of three classes fewer
        assert np.mean((before == y)[400:]) > (0.65 if task == "binary" else 0.45)
    parts = learner(feature_map, name, task)
    seen = [parts.predict_then_learn(X[:333], y[:333], **known)]
    parts = type(parts).from_state(parts.get_state())
    seen += [parts.predict_then_learn(X[a : a + 61], y[a : a + 61]) for a in range(333, N, 61)]
    if task == "regression":
        np.testing.assert_allclose(np.concatenate(seen), before, rtol=1e-5, atol=1e-6)
    else:
        assert np.mean(np.concatenate(seen) != before) <= 1 / N
