"""Gradient rules: online gradient descent and its step sizes, OLK, Pegasos and the perceptron."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, NamedTuple

import numpy as np

from onkel.numerics.jit import jit_inline
from onkel.parameters import is_number, non_negative, positive
from onkel.rules.base import ALPHA, OWN, Rule, RuleKind, vector


class Schedule(IntEnum):
    """Step sizes: η, η/√t, 1/(αt) and η/t^r."""

    CONSTANT = 0
    INVERSE_SQRT = 1
    INVERSE = 2
    POWER = 3


class GradientScalars(NamedTuple):
    """η, the :class:`Schedule`, and r of η/t^r."""

    eta: float
    schedule: float
    power: float


@jit_inline
def step_size(par, t):
    """η_t of row t = 1, 2, ..."""
    own = GradientScalars(par[OWN], par[OWN + 1], par[OWN + 2])
    schedule = int(own.schedule)
    if schedule == Schedule.CONSTANT:
        return own.eta
    if schedule == Schedule.INVERSE_SQRT:
        return own.eta / math.sqrt(t)
    if schedule == Schedule.INVERSE:
        return 1.0 / (par[ALPHA] * t)
    return own.eta * t**-own.power


@jit_inline
def gradient_step(par, t, weight):
    """f ← (1 - η_t α) f + η_t c κ(x, ·)."""
    eta = step_size(par, t)
    return 1.0 - eta * par[ALPHA], eta * weight


@dataclass(eq=False, repr=False)
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

    learning_rate: float = 0.5
    schedule: str | float = "constant"
    alpha: float = 0.0

    def parameters(self) -> np.ndarray:
        return self._vector()

    def _vector(self, *more: float, radius: float = 0.0) -> np.ndarray:
        """The parameter vector, with ``more`` scalars after those of the step size."""
        eta, alpha = positive(self, "learning_rate"), non_negative(self, "alpha")
        schedule, power = self._schedule()
        if schedule == Schedule.INVERSE and alpha == 0.0:
            raise ValueError(f"alpha={self.alpha!r} must be positive: schedule='inverse' is 1/(αt)")
        if schedule != Schedule.INVERSE and eta * alpha >= 1.0:
            raise ValueError(
                f"learning_rate * alpha = {eta * alpha:g} must be below 1, or f would change sign"
            )
        return vector(*GradientScalars(eta, schedule, power), *more, alpha=alpha, radius=radius)

    def _schedule(self) -> tuple[Schedule, float]:
        """The schedule, and the power r of η/t^r."""
        truth = isinstance(self.schedule, (bool, np.bool_))
        if is_number(self.schedule) and not truth and 0.0 < self.schedule <= 1.0:
            return Schedule.POWER, float(self.schedule)
        names = [name for name in Schedule.__members__ if name != "POWER"]
        if not isinstance(self.schedule, str) or self.schedule.upper() not in names:
            raise ValueError(
                f"schedule={self.schedule!r} is not one of "
                f"{', '.join(repr(name.lower()) for name in names)}, "
                "or a number above 0 and at most 1"
            )
        return Schedule[self.schedule.upper()], 0.0


@dataclass(eq=False, repr=False)
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

    alpha: float = 1e-4
    project: bool = True

    def parameters(self) -> np.ndarray:
        alpha = positive(self, "alpha")
        radius = alpha**-0.5 if self.project else 0.0
        return vector(*GradientScalars(1.0, Schedule.INVERSE, 0.0), alpha=alpha, radius=radius)


class ProjectedGradient(Gradient):
    """OLK: a gradient step, then the projection ``f ← min(1, U/‖f‖) f`` onto a ball.

    A scalar recursion keeps ‖f‖² (He & Kwok 2014, Algorithm 1 and equation 9).

    Parameters
    ----------
    radius : float, default=10.0
        U > 0.
    learning_rate, schedule, alpha
        As in :class:`Gradient`; the paper's schedules are "constant" and "inverse_sqrt".
    """

    name = "projected"

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
        return self._vector(radius=positive(self, "radius"))


@dataclass(eq=False, repr=False)
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
    own_loss: ClassVar[dict[str, str] | None] = {
        "classification": "perceptron",
        "regression": "epsilon_insensitive",
    }

    learning_rate: float = 1.0

    def parameters(self) -> np.ndarray:
        return vector(*GradientScalars(positive(self, "learning_rate"), Schedule.CONSTANT, 0.0))
