"""Rules given by a step function: the base class for a rule of your own."""

from __future__ import annotations

from typing import Any

from onkel.numerics.calling import rule_function
from onkel.rules.base import OWN, OWN_STATE, Rule, RuleKind


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
