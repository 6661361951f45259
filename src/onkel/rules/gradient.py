"""Gradient rules: OGD with three step sizes and L2, perceptron, Pegasos, projection onto a ball."""

from __future__ import annotations

import math
from enum import IntEnum

import numpy as np

from onkel._jit import jit_inline
from onkel.rules.base import ALPHA, ETA, SCHEDULE, Rule, RuleKind, non_negative, positive

__all__ = ["Gradient", "Pegasos", "Perceptron", "ProjectedGradient", "Schedule", "gradient_step"]


class Schedule(IntEnum):
    """Step sizes: η, η/√t and 1/(αt)."""

    CONSTANT = 0
    INVERSE_SQRT = 1
    INVERSE = 2


@jit_inline
def step_size(par, t):
    """η_t of row t = 1, 2, ..."""
    schedule = int(par[SCHEDULE])
    if schedule == Schedule.CONSTANT:
        return par[ETA]
    if schedule == Schedule.INVERSE_SQRT:
        return par[ETA] / math.sqrt(t)
    return 1.0 / (par[ALPHA] * t)


@jit_inline
def gradient_step(par, t, weight):
    """f ← (1 - η_t α) f + η_t c κ(x, ·)."""
    eta = step_size(par, t)
    return 1.0 - eta * par[ALPHA], eta * weight


class Gradient(Rule):
    """Online gradient descent: ``f ← (1 - η_t α) f - η_t ℓ'(f(x), y) κ(x, ·)``.

    Parameters
    ----------
    learning_rate : float, default=0.5
        η > 0; not used by ``schedule="inverse"``.
    schedule : {"constant", "inverse_sqrt", "inverse"}, default="constant"
        η_t = η, η/√t or 1/(αt) (Kivinen et al. 2004; Zinkevich 2003; Shalev-Shwartz et al. 2007).
    alpha : float, default=0.0
        L2 penalty (α/2)‖f‖²; ``learning_rate * alpha`` must be below 1.
    """

    name = "gradient"
    kind = RuleKind.GRADIENT

    def __init__(
        self, learning_rate: float = 0.5, schedule: str = "constant", alpha: float = 0.0
    ) -> None:
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.alpha = alpha

    def _schedule(self) -> Schedule:
        names = [schedule.name.lower() for schedule in Schedule]
        if self.schedule not in names:
            raise ValueError(
                f"schedule={self.schedule!r} is not one of {', '.join(map(repr, names))}"
            )
        return Schedule[self.schedule.upper()]

    def parameters(self) -> np.ndarray:
        eta, alpha = positive(self, "learning_rate"), non_negative(self, "alpha")
        schedule = self._schedule()
        if schedule == Schedule.INVERSE and alpha == 0.0:
            raise ValueError(f"alpha={self.alpha!r} must be positive: schedule='inverse' is 1/(αt)")
        if schedule != Schedule.INVERSE and eta * alpha >= 1.0:
            raise ValueError(
                f"learning_rate * alpha = {eta * alpha:g} must be below 1, or f would change sign"
            )
        return np.array([eta, schedule, alpha, 0.0])


class ProjectedGradient(Gradient):
    """OLK: a gradient step, then the projection ``f ← min(1, U/‖f‖) f`` onto a ball.

    ‖f‖² is carried by its scalar recursion (He & Kwok 2014, Algorithm 1 and equation 9).

    Parameters
    ----------
    radius : float, default=10.0
        U > 0.
    learning_rate, schedule, alpha
        As in :class:`Gradient`; the paper's schedules are "constant" and "inverse_sqrt".
    """

    name = "projected"
    needs_norm = True

    def __init__(
        self,
        radius: float = 10.0,
        learning_rate: float = 0.5,
        schedule: str = "inverse_sqrt",
        alpha: float = 0.0,
    ) -> None:
        super().__init__(learning_rate, schedule, alpha)
        self.radius = radius

    def parameters(self) -> np.ndarray:
        par = super().parameters()
        par[-1] = positive(self, "radius")
        return par


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
    needs_norm = True

    def __init__(self, alpha: float = 1e-4, project: bool = True) -> None:
        self.alpha = alpha
        self.project = project

    def parameters(self) -> np.ndarray:
        alpha = positive(self, "alpha")
        return np.array([1.0, Schedule.INVERSE, alpha, alpha**-0.5 if self.project else 0.0])


class Perceptron(Rule):
    """Perceptron: on a wrong prediction ``f ← f + η y κ(x, ·)``.

    A score of 0 predicts +1 (of equal scores the first class), so a row predicted right by that
    convention changes nothing. Regression: on \\|y - f\\| > ε, ``f ← f + η sgn(y - f) κ(x, ·)``.

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
        return np.array([positive(self, "learning_rate"), Schedule.CONSTANT, 0.0, 0.0])
