"""Gradient rules: OGD with three step sizes and L2, perceptron, Pegasos, projection onto a ball."""

from __future__ import annotations

import math
from enum import IntEnum

import numpy as np

from onkel._jit import jit_inline
from onkel.rules.base import (
    ALPHA,
    ETA,
    NU,
    RADIUS,
    SCHEDULE,
    Rule,
    RuleKind,
    non_negative,
    positive,
)

__all__ = [
    "Gradient",
    "Norma",
    "Pegasos",
    "Perceptron",
    "ProjectedGradient",
    "Schedule",
    "gradient_step",
    "step_size",
]


class Schedule(IntEnum):
    """Step sizes: η, η/√t and 1/(αt)."""

    CONSTANT = 0
    INVERSE_SQRT = 1
    INVERSE = 2


@jit_inline
def step_size(par, t):
    """η_t of row t = 1, 2, ..."""
    if par[SCHEDULE] < 0.0:
        return par[ETA] * t ** par[SCHEDULE]
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
    schedule : {"constant", "inverse_sqrt", "inverse"} or float, default="constant"
        η_t = η, η/√t or 1/(αt) (Kivinen et al. 2004; Zinkevich 2003; Shalev-Shwartz et al. 2007);
        a number r in (0, 1] is η/t^r.
    alpha : float, default=0.0
        L2 penalty (α/2)‖f‖²; ``learning_rate * alpha`` must be below 1.
    """

    name = "gradient"
    kind = RuleKind.GRADIENT

    def __init__(
        self, learning_rate: float = 0.5, schedule: str | float = "constant", alpha: float = 0.0
    ) -> None:
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.alpha = alpha

    def _schedule(self) -> float:
        """The schedule as the loops know it: its number, or minus its power."""
        if isinstance(self.schedule, float) and 0.0 < self.schedule <= 1.0:
            return -self.schedule
        names = [schedule.name.lower() for schedule in Schedule]
        if self.schedule not in names:
            raise ValueError(
                f"schedule={self.schedule!r} is not one of {', '.join(map(repr, names))}, "
                "or a number above 0 and at most 1"
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
        return np.array([eta, schedule, alpha, 0.0, 0.0])


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
        schedule: str | float = "inverse_sqrt",
        alpha: float = 0.0,
    ) -> None:
        super().__init__(learning_rate, schedule, alpha)
        self.radius = radius

    def parameters(self) -> np.ndarray:
        par = super().parameters()
        par[RADIUS] = positive(self, "radius")
        return par


class Norma(Gradient):
    """NORMA: a gradient step with a tube (regression) or margin (classification) that adapts.

    Regression: ``ε ← ε + η_t (1 - ν)`` where \\|y - f\\| > ε, else ``ε ← ε - η_t ν``: a share ν of
    the rows ends up outside of the tube. Classification: rows with y f < ρ move f, and
    ``ρ ← ρ - η_t (1 - ν)`` there, ``ρ ← ρ + η_t ν`` elsewhere.

    Parameters
    ----------
    nu : float, default=0.4
        ν in (0, 1).
    learning_rate, schedule, alpha
        As in :class:`Gradient`.

    Notes
    -----
    Source: Kivinen, Smola & Williamson 2004, section III. The tube starts at the estimator's
    ``epsilon``, the margin at 1; neither is held above 0.
    """

    name = "norma"
    losses = ("hinge", "epsilon_insensitive")

    def __init__(
        self,
        nu: float = 0.4,
        learning_rate: float = 0.5,
        schedule: str | float = "constant",
        alpha: float = 0.0,
    ) -> None:
        super().__init__(learning_rate, schedule, alpha)
        self.nu = nu

    def parameters(self) -> np.ndarray:
        par = super().parameters()
        par[NU] = positive(self, "nu")
        if par[NU] >= 1.0:
            raise ValueError(f"nu={self.nu!r} must be above 0 and below 1")
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
        radius = alpha**-0.5 if self.project else 0.0
        return np.array([1.0, Schedule.INVERSE, alpha, radius, 0.0])


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
        return np.array([positive(self, "learning_rate"), Schedule.CONSTANT, 0.0, 0.0, 0.0])
