"""The base class of rules: a name, a number for the compiled loops, and two vectors.

A loop passes two vectors to every rule. ``par`` holds parameters: ALPHA and RADIUS mean the same in
all rules; the rule's own scalars start at OWN, and a NamedTuple in the rule's file names them.
``state`` holds what learning changes: T, SCALE and SQUARED_NORM mean the same in all rules; the
numbers that the rule itself carries from row to row (``first_state``) start at OWN_STATE.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from onkel.losses import Loss
from onkel.sklearn_bases import BaseEstimator


class RuleKind(IntEnum):
    """The numbers of the rule families in the compiled loops."""

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


# Indices into the parameter vector: the L2 penalty (above 0: f decays at every row), the radius of
# the ball that f is projected onto (0: no projection), and the first of the rule's own scalars.
ALPHA, RADIUS, OWN = 0, 1, 2

# Indices into the state vector: rows learned, the common factor of the coefficients, ‖f‖² (kept
# where f is projected), the sum of the factors of the rows since the coefficients were last added
# to the sum of all iterates (kept for averages), and the first of the rule's own numbers. The
# budget uses those between.
T, SCALE, SQUARED_NORM, PENDING, OWN_STATE = 0, 1, 2, 7, 8


class UpdateContext(NamedTuple):
    """What an update of f depends on beside its row, as every compiled loop takes it."""

    #: T, SCALE, SQUARED_NORM and the rule's own numbers
    state: np.ndarray
    loss: int
    epsilon: float
    #: the rule's number, and its parameter vector
    rule: int
    par: Any
    #: the sum of the weights after each row, (K, m) in float64; (0, 0) where it isn't kept
    total: np.ndarray


def vector(*own: float, alpha: float = 0.0, radius: float = 0.0) -> np.ndarray:
    """The parameter vector of a rule whose own scalars are ``own``."""
    return np.array([alpha, radius, *own], dtype=np.float64)


class Rule(BaseEstimator):
    """How f moves after a row: ``f ← a·f + b·c·κ(x, ·)`` with c the loss's direction.

    A rule declares what it accepts and what it needs; the loops do the rest.
    """

    name: str
    kind: RuleKind
    #: losses the rule may be used with; None for all
    losses: ClassVar[tuple[str, ...] | None] = None
    #: where the products of the exact rules are made
    device: str = "cpu"
    #: the rule's own losses, by task; they replace the estimator's ``loss``
    own_loss: ClassVar[dict[str, str] | None] = None
    #: True when the rule works on single features, so that it needs a map with features from row 1
    by_feature = False

    @cached_property
    def number(self) -> int:
        """The rule's number in the compiled loops of this process."""
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
        """The initial values of the numbers that the rule carries from row to row."""
        return ()
