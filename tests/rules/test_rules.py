"""Rules: their parameters, their losses, and their errors for others."""

from __future__ import annotations

import numpy as np
import pytest

from onkel import ExplicitKernelClassifier, ExplicitKernelRegressor, SupportKernelClassifier
from onkel.budgets import NoBudget
from onkel.kernels import make_kernel
from onkel.maps import IdentityFeatures
from onkel.numerics.jit import jit
from onkel.rules import (
    RULES,
    AdaGrad,
    Alma,
    DoublyStochastic,
    Gradient,
    Norma,
    PassiveAggressive,
    Pegasos,
    Perceptron,
    ProjectedGradient,
    StepRule,
    make_rule,
    vector,
)
from onkel.rules.base import OWN, OWN_STATE, RuleKind, UpdateContext
from onkel.rules.dispatch import step


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (Gradient(0.0), "learning_rate=0.0 must be a positive number"),
        (Gradient(schedule="sqrt"), "schedule='sqrt' is not one of 'constant'"),
        (Gradient(schedule=0), "schedule=0 is not one of .* or a number above 0 and at most 1"),
        (Gradient(schedule=True), "schedule=True is not one of 'constant'"),
        (Gradient(0.5, alpha=2.0), "must be below 1"),
        (Gradient(schedule="inverse"), "alpha=0.0 must be positive"),
        (Gradient(alpha=-1.0), "alpha=-1.0 must be a number of at least 0"),
        (ProjectedGradient(radius=0.0), "radius=0.0 must be a positive number"),
        (Pegasos(alpha=0.0), "alpha=0.0 must be a positive number"),
        (PassiveAggressive(C=-1.0), "C=-1.0 must be a positive number"),
        (PassiveAggressive(variant="PA-3"), "variant='PA-3' is not one of 'PA'"),
        (AdaGrad(learning_rate="fast"), "learning_rate='fast' must be a positive number"),
        (DoublyStochastic(n_parts=0), "n_parts=0 must be a whole number of at least 1"),
        (DoublyStochastic(decay=-1.0), "decay=-1.0 must be a number of at least 0"),
        (DoublyStochastic(alpha=3.0), "must be below 1"),
        (Alma(alpha=1.0), "alpha=1.0 must be above 0 and below 1"),
        (Perceptron(np.nan), "learning_rate=nan must be a positive number"),
    ],
)
def test_bad_parameters_are_named(rule, message):
    with pytest.raises(ValueError, match=message):
        rule.parameters()


@pytest.mark.parametrize("one", [1, np.float32(1.0)])
def test_a_power_may_be_any_number(one):
    expected = Gradient(schedule=1.0).parameters()
    np.testing.assert_array_equal(Gradient(schedule=one).parameters(), expected)


@pytest.mark.parametrize("name", RULES)
def test_defaults_are_valid(name):
    par = make_rule(name).parameters()
    assert par.dtype == np.float64
    assert len(par) > OWN
    assert np.isfinite(par).all()


@pytest.mark.parametrize("number", [RuleKind.ADAGRAD, RuleKind.LEAST_SQUARES, 99])
def test_a_number_without_a_step_ends_in_an_error(number):
    """An unknown rule used to run as passive-aggressive."""
    with pytest.raises(NotImplementedError, match="no step for its number"):
        step_of(int(number))


@jit
def step_of(rule):
    return step(
        UpdateContext(np.zeros(OWN_STATE), 0, 0.0, rule, np.zeros(8), np.empty((0, 0))),
        1.0,
        1.0,
        1.0,
        1.0,
    )


def test_losses_a_rule_takes():
    assert Perceptron().loss_name("hinge", "classification") == "perceptron"
    assert Perceptron().loss_name("squared", "regression") == "epsilon_insensitive"
    assert Gradient().loss_name("logistic", "classification") == "logistic"
    with pytest.raises(ValueError, match="loss='logistic' cannot be used with rule"):
        PassiveAggressive().loss_name("logistic", "classification")
    with pytest.raises(ValueError, match="rule='sgd' is not one of 'adagrad'"):
        make_rule("sgd")
    with pytest.raises(ValueError, match="did you mean 'pegasos'"):
        make_rule("pegaso")
    assert Alma().loss_name("logistic", "classification") == "hinge"
    with pytest.raises(ValueError, match="rule 'alma' is for classification only"):
        Alma().loss_name("squared", "regression")


# ---- weights of rows -----------------------------------------------------------------------------

# the step b of f ← a f + b c κ(x, ·), by the row's loss, q = κ(x, x) and weight
STEPS = {
    "gradient": (Gradient(0.3), lambda loss, q, v: 0.3 * v),
    "pegasos": (Pegasos(0.5, project=False), lambda loss, q, v: v / (0.5 * 2)),
    "norma": (Norma(0.4, 0.3), lambda loss, q, v: 0.3 * v),
    "parts": (DoublyStochastic(0.3, n_parts=1), lambda loss, q, v: 0.3 * v),
    # it has stepped once before
    "alma": (Alma(), lambda loss, q, v: v * np.sqrt(2.0 / (2 * q))),
    "pa": (PassiveAggressive(0.05, "PA"), lambda loss, q, v: loss / q),
    "pa-1": (PassiveAggressive(0.05, "PA-I"), lambda loss, q, v: min(0.05 * v, loss / q)),
    "pa-2": (PassiveAggressive(0.05, "PA-II"), lambda loss, q, v: loss / (q + 0.5 / (0.05 * v))),
}


@pytest.mark.parametrize("weight", [0.5, 1.0, 3.0, 100.0])
@pytest.mark.parametrize("name", STEPS)
def test_a_weight_changes_the_step_as_the_rule_says(name, weight):
    rule, step = STEPS[name]
    x, z = np.array([0.3, 0.1]), np.array([-0.2, 0.4])
    model = ExplicitKernelClassifier(map=IdentityFeatures(False), rule=rule, dtype="float64")
    model.partial_fit(x[None], [1], classes=[0, 1])
    w = np.ravel(model.coef_)
    model.partial_fit(z[None], [1], sample_weight=[weight])
    decay = 0.5 if name == "pegasos" else 1.0
    moved = decay * w + step(1.0 - w @ z, z @ z, weight) * z
    # ALMA ends on the unit ball
    moved /= max(1.0, np.linalg.norm(moved)) if name == "alma" else 1.0
    np.testing.assert_allclose(np.ravel(model.coef_), moved, rtol=1e-12)


@pytest.mark.parametrize("name", STEPS)
def test_a_row_of_zeros_does_no_harm(name):
    rule, x = STEPS[name][0], np.array([[0.3, 0.1]])
    model = ExplicitKernelClassifier(map=IdentityFeatures(False), rule=rule, dtype="float64")
    model.partial_fit(x, [1], classes=[0, 1])
    w = model.coef_
    model.partial_fit(0.0 * x, [0])
    np.testing.assert_allclose(model.coef_, (0.5 if name == "pegasos" else 1.0) * w, rtol=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_adagrad_steps_by_gradients_with_the_weight_and_the_penalty(alpha):
    rng = np.random.default_rng(0)
    X, weight = rng.standard_normal((60, 2)), rng.choice([0.5, 1.0, 2.0], 60)
    y = (X[:, 0] > 0.0).astype(int)
    w, H, n_without_loss = np.zeros(2), np.zeros(2), 0
    for x, sign, v in zip(X, 2 * y - 1, weight, strict=True):
        loses = sign * (w @ x) < 1.0
        g = alpha * w - v * sign * x * loses
        H += g**2
        w = w - 0.5 * g / (np.sqrt(H) + 1e-8)
        n_without_loss += not loses
    assert n_without_loss > 5
    rule = AdaGrad(0.5, alpha)
    model = ExplicitKernelClassifier(map=IdentityFeatures(False), rule=rule, dtype="float64")
    model.partial_fit(X, y, classes=[0, 1], sample_weight=weight)
    np.testing.assert_allclose(np.ravel(model.coef_), w, rtol=1e-9)


class WideMargin(StepRule):
    """A gradient step for rows with a margin below 2."""

    name = "wide_margin"

    def parameters(self):
        return vector()

    @staticmethod
    def step(own, mine, t, weight, value, norm):
        return 1.0, 0.1

    @staticmethod
    def margin(own, mine, norm):
        return 2.0


def test_a_margin_is_asked_for_in_classification_only():
    X, y = np.array([[0.3, 0.1], [-0.2, 0.4], [0.5, 0.2]]), np.array([3.0, -1.0, 2.0])
    own, plain = (
        ExplicitKernelRegressor(map=IdentityFeatures(False), rule=rule, dtype="float64")
        for rule in (WideMargin(), Gradient(0.1))
    )
    np.testing.assert_array_equal(own.fit(X, y).coef_, plain.fit(X, y).coef_)
    # it goes on beyond a margin of 1
    model = ExplicitKernelClassifier(map=IdentityFeatures(False), rule=WideMargin())
    for _ in range(20):
        model.partial_fit(np.ones((1, 1)), [1], classes=[0, 1])
    assert model.coef_.item() == pytest.approx(2.0)


# ---- ALMA ----------------------------------------------------------------------------------------

ROWS = np.random.default_rng(0).normal(size=(250, 3))
WAVE = np.sin(2 * ROWS[:, 0]) * ROWS[:, 1] + ROWS[:, 2]


def naive_alma(K, y, alpha, n_classes):
    """Gentile 2001, Figure 1, over the kernel matrix: the scores (n, n_classes) before each row.

    Two classes have one output for +1; of more, the true class moves against the runner-up.
    """
    outputs = 1 if n_classes == 2 else n_classes
    coef, scores, k = np.zeros((outputs, len(y))), np.zeros((len(y), outputs)), 1
    for t in range(len(y)):
        scores[t] = p = coef @ K[:, t]
        c = np.zeros(outputs)
        if outputs == 1:
            c[0] = 1.0 if y[t] else -1.0
        else:
            rival = max((s for s in range(outputs) if s != y[t]), key=lambda s: p[s])
            c[y[t]], c[rival] = 1.0, -1.0
        length = np.sqrt(c @ c * K[t, t])
        if c @ p / length < (1 - alpha) / alpha / np.sqrt(k):
            coef[:, t] += np.sqrt(2.0 / k) * c / length
            coef /= max(1.0, np.sqrt(np.einsum("ki,ij,kj->", coef, K, coef)))
            k += 1
    return scores


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kernel", ["gaussian", "polynomial"])
@pytest.mark.parametrize("alpha", [0.3, 0.9])
def test_alma_is_the_naive_one(kernel, n_classes, alpha):
    y = np.digitize(WAVE, [0.0] if n_classes == 2 else [-0.7, 0.7])
    K = make_kernel(kernel).gram(ROWS, ROWS, 0.5)
    naive = naive_alma(K, y, alpha, n_classes)
    model = SupportKernelClassifier(
        kernel=kernel, gamma=0.5, rule=Alma(alpha), budget=NoBudget(), dtype="float64"
    )
    scores = []
    for part in (slice(0, 120), slice(120, 250)):
        known = {} if scores else {"classes": np.arange(n_classes)}
        scores.append(model.predict_then_learn(ROWS[part], y[part], return_scores=True, **known))
        # the counter k is saved with the model
        model = type(model).from_state(model.get_state())
    got = np.concatenate(scores)
    np.testing.assert_allclose(got.reshape(naive.shape), naive, rtol=1e-8, atol=1e-10)


def test_alma_over_features_is_that_over_their_kernel():
    y = (WAVE > 0.0).astype(int)
    naive = naive_alma(ROWS @ ROWS.T, y, 0.9, 2)
    model = ExplicitKernelClassifier(map=IdentityFeatures(False), rule=Alma(0.9), dtype="float64")
    got = model.predict_then_learn(ROWS, y, return_scores=True, classes=[0, 1])
    np.testing.assert_allclose(got, naive[:, 0], rtol=1e-8, atol=1e-10)
