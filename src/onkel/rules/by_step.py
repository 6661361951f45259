"""Rules given by a step function: the base class for a rule of your own, and ALMA, an example."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from onkel.numerics.calling import rule_function
from onkel.parameters import positive
from onkel.rules.base import OWN, OWN_STATE, Rule, RuleKind, vector


class StepRule(Rule):
    """A rule whose step is one function; all loops can run it.

    A subclass defines ``name``, a constructor, :meth:`parameters`, :meth:`step`, and
    :meth:`first_state` if it carries numbers from row to row. Both functions below are compiled
    (numbers and ``math`` only) and must not raise. A NaN is refused as divergence.
    """

    kind = RuleKind.BY_STEP

    @staticmethod
    def step(own: Any, mine: Any, t: float, weight: float, value: float, norm: float) -> Any:
        """(a, b) of ``f ← a f + b c κ(x, ·)``, b ≥ 0, for the row t = 1, 2, ... that moves f.

        ``own`` holds the scalars given to :func:`vector`, ``mine`` the numbers of
        :meth:`first_state`, which it may change. ``value`` is the row's loss, ``norm`` is
        ‖c‖² κ(x, x). Rows without a loss get here only if ``alpha`` > 0.
        """
        raise NotImplementedError("a StepRule needs a step")

    @staticmethod
    def margin(own: Any, mine: Any, norm: float) -> float:
        """The margin required in classification; ``norm`` as in :meth:`step`, for the hinge."""
        return 1.0

    @property
    def number(self) -> int:
        return rule_function(type(self).step, type(self).margin, OWN, OWN_STATE)


class Alma(StepRule):
    """ALMA₂(α): where the margin is at most ``(1 - α)/(α√k)``, step √2/√k, then project.

    k counts the steps. The projection is onto the unit ball. Rows are normalised in feature space,
    ``κ(x, ·)/√κ(x, x)``; in multiclass, the joint direction of the true class and the runner-up.

    Parameters
    ----------
    alpha : float, default=0.9
        α in (0, 1): the share of the largest margin that may be lost; a smaller α steps more often.

    Notes
    -----
    Source: Gentile 2001, A new approximate maximal margin classification algorithm, Figure 1 with
    p = 2, B = 1/α and C = √2.
    """

    name = "alma"
    own_loss: ClassVar[dict[str, str] | None] = {"classification": "hinge"}

    def __init__(self, alpha: float = 0.9) -> None:
        self.alpha = alpha

    def parameters(self) -> np.ndarray:
        alpha = positive(self, "alpha", below=1.0)
        return vector((1.0 - alpha) / alpha, radius=1.0)

    def first_state(self, loss: Any, epsilon: float) -> tuple[float, ...]:
        return (1.0,)

    @staticmethod
    def margin(own: Any, mine: Any, norm: float) -> float:
        return own[0] * math.sqrt(norm / mine[0])

    @staticmethod
    def step(own: Any, mine: Any, t: float, weight: float, value: float, norm: float) -> Any:
        b = weight * math.sqrt(2.0 / (mine[0] * norm))
        mine[0] += 1.0
        return 1.0, b
