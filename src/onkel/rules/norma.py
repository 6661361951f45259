"""NORMA: a gradient step with a tube or margin that adapts."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np

from onkel.losses import Loss
from onkel.numerics.jit import jit_inline
from onkel.parameters import positive
from onkel.rules.base import OWN, OWN_STATE, RuleKind, T
from onkel.rules.gradient import Gradient, step_size

# NORMA's index into the state vector: its tube (regression) or margin (classification).
TUBE = OWN_STATE


class NormaScalars(NamedTuple):
    """The scalars of the gradient's step size, then ν."""

    eta: float
    schedule: float
    power: float
    nu: float


@jit_inline
def adapt_tube(par, state, loss, value, c):
    """Adapt the tube or margin after a row with this loss and direction."""
    own = NormaScalars(par[OWN], par[OWN + 1], par[OWN + 2], par[OWN + 3])
    eta = step_size(par, state[T])
    if loss > Loss.PERCEPTRON:
        state[TUBE] += eta * ((1.0 if c[0] != 0.0 else 0.0) - own.nu)
    else:
        state[TUBE] -= eta * ((1.0 if value > 0.0 else 0.0) - own.nu)


class Norma(Gradient):
    """NORMA: a gradient step with a tube (regression) or margin (classification) that adapts.

    Regression: ``ε ← ε + η_t (1 - ν)`` where \\|y - f\\| > ε, else ``ε ← ε - η_t ν``: a share ν of
    the rows ends up outside the tube. Classification: rows with y f < ρ move f, and
    ``ρ ← ρ - η_t (1 - ν)`` there, ``ρ ← ρ + η_t ν`` elsewhere.

    Parameters
    ----------
    nu : float, default=0.4
        Share ν in (0, 1) of the rows that ends up outside of the tube, or short of the margin.
    learning_rate, schedule, alpha
        As in :class:`Gradient`.

    Notes
    -----
    Source: Kivinen, Smola & Williamson 2004, section III. The tube starts at the estimator's
    ``epsilon``, the margin at 1; either may fall below 0.
    """

    name = "norma"
    kind = RuleKind.NORMA
    losses: ClassVar[tuple[str, ...] | None] = ("hinge", "epsilon_insensitive")

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
        return self._vector(positive(self, "nu", below=1.0))

    def first_state(self, loss: Loss, epsilon: float) -> tuple[float, ...]:
        return (1.0 if loss <= Loss.PERCEPTRON else epsilon,)
