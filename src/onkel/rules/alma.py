"""ALMA: the large-margin perceptron on normalised rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onkel.parameters import positive
from onkel.rules.base import vector
from onkel.rules.by_step import StepRule


class Alma(StepRule):
    """ALMA₂(α): where the margin is at most ``(1 - α)/(α√k)``, step √2/√k, then project.

    k counts the steps. The projection is onto the unit ball. Rows are normalised in feature space,
    ``κ(x, ·)/√κ(x, x)``; in multiclass, the joint direction of the true class and the runner-up.

    Parameters
    ----------
    alpha : float, default=0.9
        α in (0, 1): the share of the largest margin that may be lost; a smaller α steps more often.

    Notes
    -----
    Source: Gentile 2001, A new approximate maximal margin classification algorithm, Figure 1 with
    p = 2, B = 1/α and C = √2.
    """

    name = "alma"
    own_loss = {"classification": "hinge"}  # noqa: RUF012

    def __init__(self, alpha: float = 0.9) -> None:
        self.alpha = alpha

    def parameters(self) -> np.ndarray:
        alpha = positive(self, "alpha", below=1.0)
        return vector((1.0 - alpha) / alpha, radius=1.0)

    def first_state(self, loss: Any, epsilon: float) -> tuple[float, ...]:
        return (1.0,)

    @staticmethod
    def margin(own: Any, mine: Any, norm: float) -> float:
        return own[0] * math.sqrt(norm / mine[0])  # type: ignore[no-any-return]

    @staticmethod
    def step(own: Any, mine: Any, t: float, weight: float, value: float, norm: float) -> Any:
        if norm == 0.0:
            return 1.0, 0.0
        b = weight * math.sqrt(2.0 / (mine[0] * norm))
        mine[0] += 1.0
        return 1.0, b
