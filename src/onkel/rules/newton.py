"""Online Newton: the second-order rule of the logistic loss."""

from __future__ import annotations

import numpy as np

from onkel.rules.base import Rule, RuleKind
from onkel.rules.least_squares import LeastSquares


class LogisticNewton(Rule):
    """One Newton step of the logistic loss a row, with all curvature so far.

    With t = 1 for the class and 0 else, p = σ(f), f⁺ = w⁺·z: ``w⁺ = w + P z (t - p⁺)``, the minimum
    of the row's loss and ½(w⁺ - w)ᵀ P⁻¹ (w⁺ - w), and ``P⁻¹ ← P⁻¹ + h z zᵀ``, h = p⁺(1 - p⁺); P⁻¹
    begins as ridge/4·K₀. Since the loss is met where the step ends, no step is too long. Of more
    than two classes each is told from the others; they share P, with the largest h.

    Parameters
    ----------
    ridge : float, default=0.01
        Penalty (ridge/8)‖w‖² > 0: that of least squares on ±1 near p = ½.
    forgetting : float, default=1.0
        Each row's influence is multiplied by this with every further row, in (0, 1].

    Notes
    -----
    Source: Laplace's approximation row by row (Spiegelhalter & Lauritzen 1990), with the implicit
    step of Kulis & Bartlett 2010; the blocks are ours. The state is a matrix over the features, so
    the rule needs an explicit map; where features move, rows go along as in :class:`LeastSquares`,
    each with the parabola by which it was learned. Against least squares on the features of the
    default learner: docs/second-order.md.
    """

    name = "newton"
    kind = RuleKind.NEWTON
    by_feature = True
    own_loss = {"classification": "logistic"}  # noqa: RUF012

    def __init__(self, ridge: float = 0.01, forgetting: float = 1.0) -> None:
        self.ridge = ridge
        self.forgetting = forgetting

    def loss_name(self, loss: str, task: str) -> str:
        """ "logistic"; ValueError for regression."""
        if task == "regression":
            raise ValueError(
                "rule 'newton' learns by the logistic loss, which is for classes; "
                "use rule='least_squares' for regression"
            )
        return "logistic"

    def parameters(self) -> np.ndarray:
        return LeastSquares(self.ridge, self.forgetting).parameters()
