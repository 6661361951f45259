"""Rules given by a step function: what to derive from for a rule of your own."""

from __future__ import annotations

from typing import Any

from onkel.numerics.calling import rule_function
from onkel.rules.base import OWN, OWN_STATE, Rule, RuleKind


class StepRule(Rule):
    """A rule that says in one function how f moves; all loops can run it.

    A subclass gives ``name``, a constructor, :meth:`parameters`, :meth:`step`, and
    :meth:`first_state` where it carries numbers from row to row. Both functions below are compiled
    (numbers and ``math`` only) and must not raise: a NaN is refused as divergence.
    """

    kind = RuleKind.BY_STEP

    @staticmethod
    def step(own: Any, mine: Any, t: float, weight: float, value: float, norm: float) -> Any:
        """(a, b) of ``f ← a f + b c κ(x, ·)``, b ≥ 0, after row t = 1, 2, ... that is to move f.

        ``own`` are the scalars given to :func:`vector`, ``mine`` the numbers of
        :meth:`first_state`, which may be changed; ``value`` is the row's loss, ``norm`` is
        ‖c‖² κ(x, x). Rows without a loss come here only where ``alpha`` > 0.
        """
        raise NotImplementedError("a StepRule needs a step")

    @staticmethod
    def margin(own: Any, mine: Any, norm: float) -> float:
        """The margin that classes are judged by; ``norm`` as in :meth:`step`, for the hinge."""
        return 1.0

    @property
    def number(self) -> int:
        return rule_function(type(self).step, type(self).margin, OWN, OWN_STATE)
