"""Online gradient descent, with its step sizes."""

from __future__ import annotations

import math
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from onkel.numerics.jit import jit_inline
from onkel.parameters import non_negative, positive
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
        if isinstance(self.schedule, float) and 0.0 < self.schedule <= 1.0:
            return Schedule.POWER, self.schedule
        names = [name for name in Schedule.__members__ if name != "POWER"]
        if not isinstance(self.schedule, str) or self.schedule.upper() not in names:
            raise ValueError(
                f"schedule={self.schedule!r} is not one of "
                f"{', '.join(repr(name.lower()) for name in names)}, "
                "or a number above 0 and at most 1"
            )
        return Schedule[self.schedule.upper()], 0.0
