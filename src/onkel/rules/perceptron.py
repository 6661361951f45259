"""The perceptron: it moves on mistakes only."""

from __future__ import annotations

import numpy as np

from onkel.parameters import positive
from onkel.rules.base import Rule, RuleKind, vector
from onkel.rules.gradient import GradientScalars, Schedule


class Perceptron(Rule):
    """Perceptron: on a wrong prediction ``f ← f + η y κ(x, ·)``.

    A score of 0 predicts +1 (among equal scores, the first class), so a row predicted right by that
    convention changes nothing. Regression: where \\|y - f\\| > ε, ``f ← f + η sgn(y - f) κ(x, ·)``.

    Parameters
    ----------
    learning_rate : float, default=1.0
        η > 0; in classification it scales f and changes no prediction.
    """

    name = "perceptron"
    kind = RuleKind.GRADIENT
    own_loss = {"classification": "perceptron", "regression": "epsilon_insensitive"}  # noqa: RUF012

    def __init__(self, learning_rate: float = 1.0) -> None:
        self.learning_rate = learning_rate

    def parameters(self) -> np.ndarray:
        return vector(*GradientScalars(positive(self, "learning_rate"), Schedule.CONSTANT, 0.0))
