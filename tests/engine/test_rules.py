"""Rules: which parameters they take, which losses, and what they say otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from onkel.rules import (
    RULES,
    AdaGrad,
    DoublyStochastic,
    Gradient,
    PassiveAggressive,
    Pegasos,
    Perceptron,
    ProjectedGradient,
    make_rule,
)
from onkel.rules.base import N_PARAMETERS


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (Gradient(0.0), "learning_rate=0.0 must be a positive number"),
        (Gradient(schedule="sqrt"), "schedule='sqrt' is not one of 'constant'"),
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
        (Perceptron(np.nan), "learning_rate=nan must be a positive number"),
    ],
)
def test_bad_parameters_are_named(rule, message):
    with pytest.raises(ValueError, match=message):
        rule.parameters()


@pytest.mark.parametrize("name", RULES)
def test_defaults_are_valid(name):
    assert make_rule(name).parameters().shape == (N_PARAMETERS,)


def test_losses_a_rule_takes():
    assert Perceptron().loss_name("hinge", "classification") == "perceptron"
    assert Perceptron().loss_name("squared", "regression") == "epsilon_insensitive"
    assert Gradient().loss_name("logistic", "classification") == "logistic"
    with pytest.raises(ValueError, match="loss='logistic' cannot be used with rule"):
        PassiveAggressive().loss_name("logistic", "classification")
    with pytest.raises(ValueError, match="rule='sgd' is not one of 'gradient'"):
        make_rule("sgd")
