"""Pegasos: the gradient of the SVM's objective, with its own step size."""

from __future__ import annotations

import numpy as np

from onkel.parameters import positive
from onkel.rules.base import Rule, RuleKind, vector
from onkel.rules.gradient import GradientScalars, Schedule


class Pegasos(Rule):
    """Pegasos: ``f ← (1 - 1/t) f + c κ(x, ·)/(αt)``, then projection onto ‖f‖ ≤ 1/√α.

    Parameters
    ----------
    alpha : float, default=1e-4
        L2 penalty α > 0 (λ in Shalev-Shwartz et al. 2007).
    project : bool, default=True
        The paper's optional projection.
    """

    name = "pegasos"
    kind = RuleKind.GRADIENT

    def __init__(self, alpha: float = 1e-4, project: bool = True) -> None:
        self.alpha = alpha
        self.project = project

    def parameters(self) -> np.ndarray:
        alpha = positive(self, "alpha")
        radius = alpha**-0.5 if self.project else 0.0
        return vector(*GradientScalars(1.0, Schedule.INVERSE, 0.0), alpha=alpha, radius=radius)
