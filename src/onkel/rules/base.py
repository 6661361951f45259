"""What every rule is: a name, a number for the compiled loops, and vectors of scalars and state.

A loop hands two vectors to every rule. ``par`` holds its parameters: ALPHA and RADIUS mean the same
in all rules; from OWN on stand the rule's own scalars, which a NamedTuple in the rule's file names.
``state`` holds what learning changes: T, SCALE and SQUARED_NORM mean the same in all rules; from
OWN_STATE on stand the numbers that the rule itself carries from row to row (``first_state``).
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from sklearn.base import BaseEstimator

from onkel.losses import Loss


class RuleKind(IntEnum):
    """The families of rules by number, as the compiled loops know them."""

    GRADIENT = 0
    PASSIVE_AGGRESSIVE = 1
    ADAGRAD = 2
    LEAST_SQUARES = 3
    DOUBLY_STOCHASTIC = 4
    NEWTON = 5
    NORMA = 6
    BY_STEP = 7

    @property
    def exact(self) -> bool:
        """True for rules whose state is a matrix over the features."""
        return self in (RuleKind.LEAST_SQUARES, RuleKind.NEWTON)


# Places in the parameter vector: the L2 penalty, above 0 where f decays at every row; the radius of
# the ball that f is projected onto, 0 for none; and the first of the rule's own scalars.
ALPHA, RADIUS, OWN = 0, 1, 2

# Places in the state vector: rows learned, the common factor of the coefficients, ‖f‖² (kept where
# f is projected), and the first of the rule's own numbers. Those between are the budget's.
T, SCALE, SQUARED_NORM, OWN_STATE = 0, 1, 2, 8


def vector(*own: float, alpha: float = 0.0, radius: float = 0.0) -> np.ndarray:
    """The parameter vector of a rule with these scalars of its own."""
    return np.array([alpha, radius, *own], dtype=np.float64)


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
    #: True when each feature moves by itself, so that a map with features that stay is needed
    by_feature = False

    @property
    def number(self) -> int:
        """What the loops know the rule by, in this process."""
        return int(self.kind)

    def loss_name(self, loss: str, task: str) -> str:
        """The loss used for ``task`` ("classification" or "regression"); ValueError if unfit."""
        if self.own_loss is not None:
            if task not in self.own_loss:
                raise ValueError(f"rule {self.name!r} is for {next(iter(self.own_loss))} only")
            return self.own_loss[task]
        if self.losses is not None and loss not in self.losses:
            raise ValueError(
                f"loss={loss!r} cannot be used with rule {self.name!r}, whose step is derived for "
                + " and ".join(map(repr, self.losses))
            )
        return loss

    def parameters(self) -> np.ndarray:
        """The vector [ALPHA, RADIUS, own scalars] after checking every value."""
        raise NotImplementedError(f"{type(self).__name__} has no parameter vector")

    def first_state(self, loss: Loss, epsilon: float) -> tuple[float, ...]:
        """The numbers that the rule carries from row to row, as they are before the first."""
        return ()
