"""What every rule is: a name, a number for the compiled loops, and a vector of parameters."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from sklearn.base import BaseEstimator

__all__ = ["ALPHA", "ETA", "NU", "N_PARAMETERS", "RADIUS", "SCHEDULE", "Rule", "RuleKind"]


class RuleKind(IntEnum):
    """The families of rules by number, as the compiled loops know them."""

    GRADIENT = 0
    PASSIVE_AGGRESSIVE = 1
    ADAGRAD = 2
    LEAST_SQUARES = 3
    DOUBLY_STOCHASTIC = 4
    NEWTON = 5

    @property
    def exact(self) -> bool:
        """True for rules whose state is a matrix over the features."""
        return self in (RuleKind.LEAST_SQUARES, RuleKind.NEWTON)


# Places in the parameter vector of a rule. Passive-aggressive keeps its C in ETA and its variant
# in SCHEDULE, the doubly stochastic gradient its decay there; RADIUS is
# at most 0 where f is not projected onto a ball, NU is 0 where the margin stays.
ETA, SCHEDULE, ALPHA, RADIUS, NU = 0, 1, 2, 3, 4
N_PARAMETERS = 5


class Rule(BaseEstimator):
    """How f moves after a row: ``f ← a·f + b·c·κ(x, ·)`` with c the loss's direction.

    A rule declares what it accepts and what it needs; the loops do the rest.
    """

    name: str
    kind: RuleKind
    #: losses the rule may be used with; None for all
    losses: tuple[str, ...] | None = None
    #: losses the rule brings itself, by task; they replace the estimator's ``loss``
    own_loss: dict[str, str] | None = None
    #: True when the rule reads q = κ(x, x)
    needs_norm = False

    def loss_name(self, loss: str, task: str) -> str:
        """The loss used for ``task`` ("classification" or "regression"); ValueError if unfit."""
        if self.own_loss is not None:
            return self.own_loss[task]
        if self.losses is not None and loss not in self.losses:
            raise ValueError(
                f"loss={loss!r} cannot be used with rule {self.name!r}, whose step is derived for "
                + " and ".join(map(repr, self.losses))
            )
        return loss

    def parameters(self) -> np.ndarray:
        """The vector [ETA, SCHEDULE, ALPHA, RADIUS, NU] after checking every value."""
        raise NotImplementedError(f"{type(self).__name__} has no parameter vector")


def positive(owner: object, name: str) -> float:
    """The positive number ``owner.name``; ValueError naming it otherwise."""
    value = getattr(owner, name)
    if not np.isreal(value) or isinstance(value, str) or not 0.0 < value < np.inf:
        raise ValueError(f"{name}={value!r} must be a positive number")
    return float(value)


def non_negative(owner: object, name: str) -> float:
    """The number ``owner.name`` ≥ 0; ValueError naming it otherwise."""
    value = getattr(owner, name)
    if not np.isreal(value) or isinstance(value, str) or not 0.0 <= value < np.inf:
        raise ValueError(f"{name}={value!r} must be a number of at least 0")
    return float(value)
