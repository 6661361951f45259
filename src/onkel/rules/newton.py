"""Online Newton: the second-order rule of the logistic loss."""

from __future__ import annotations

import numpy as np

from onkel.rules.base import Rule, RuleKind
from onkel.rules.least_squares import LeastSquares


class LogisticNewton(Rule):
    """One Newton step on the logistic loss per row, with all curvature so far.

    With t = 1 for the class and 0 otherwise, p = σ(f), f⁺ = w⁺·z: ``w⁺ = w + P z (t - p⁺)``
    minimises the row's loss plus ½(w⁺ - w)ᵀ P⁻¹ (w⁺ - w). Then ``P⁻¹ ← P⁻¹ + h z zᵀ`` with
    h = p⁺(1 - p⁺). P⁻¹ starts at ridge/4·K₀. The gradient is taken where the step ends, so no step
    is too long. With more than two classes each is learned against the others; they share P, with
    the largest h.

    Parameters
    ----------
    ridge : float, default=0.01
        Penalty (ridge/8)‖w‖² > 0; near p = ½ it equals that of least squares on ±1.
    forgetting : float, default=1.0
        In (0, 1]: every further row multiplies a row's influence by this.

    Notes
    -----
    Source: Laplace's approximation row by row (Spiegelhalter & Lauritzen 1990), with the implicit
    step of Kulis & Bartlett 2010; the blocks are ours. The state is a matrix over the features, so
    the rule needs an explicit map. Where features move, past rows are carried over as in
    :class:`LeastSquares`, each with the quadratic approximation of its loss at the time it was
    learned. docs/second-order.md compares the rule with least squares on the features of the
    default learner.
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
