"""What every budget is: a name, a number for the compiled loops, and a vector of parameters."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from sklearn.base import BaseEstimator

from onkel.rules.base import RADIUS, Rule, RuleKind

__all__ = [
    "BIRTH",
    "DIAGONAL",
    "N_INFO",
    "N_PARAMETERS",
    "TARGET",
    "Budget",
    "BudgetKind",
    "check_budget",
]

# What is known of each stored row: κ(s, s), its label, and the number of its insertion.
DIAGONAL, TARGET, BIRTH = 0, 1, 2
N_INFO = 3
N_PARAMETERS = 4


class BudgetKind(IntEnum):
    """The budgets by number, as the compiled loops know them."""

    NONE = 0
    RANDOM = 1
    OLDEST = 2
    SMALLEST = 3
    REDUNDANT = 4
    SHRINK = 5
    BOUNDED = 6
    STOCHASTIC = 7
    FIXED_RANDOM = 8
    REPLACE = 9
    PROJECT = 10
    EXCHANGE_LEAST = 11
    EXCHANGE_SMALLEST = 12
    EXCHANGE_NEAREST = 13
    MERGE = 14
    TRANSFER = 15
    TWIN = 16


class Budget(BaseEstimator):
    """How the support set is kept finite: what happens when a row is to be added and it is full.

    A budget declares what it needs and which rules it goes with; the loops do the rest.
    """

    name: str
    kind: BudgetKind
    #: rules the budget may be used with, None for all; and why the others are out
    rules: tuple[str, ...] | None = None
    reason = ""

    def limit(self) -> int | None:
        """The largest size of the support set B after checking it; None where it grows."""
        return check_budget(self)

    def parameters(self) -> np.ndarray:
        """What the loops read, (N_PARAMETERS,), after checking every value."""
        return np.zeros(N_PARAMETERS)

    def needs_gram(self, par: np.ndarray) -> bool:
        """True when κ(S, S) is kept; ``par`` are the rule's parameters."""
        return self.needs_norm(par)

    def needs_norm(self, par: np.ndarray) -> bool:
        """True when ‖f‖² is kept: f is projected onto a ball."""
        return bool(par[RADIUS] > 0.0)

    def check_rule(self, rule: Rule) -> None:
        """ValueError with the reason where the rule cannot go with this budget."""
        if rule.kind not in (RuleKind.GRADIENT, RuleKind.PASSIVE_AGGRESSIVE):
            raise ValueError(
                f"rule {rule.name!r} works feature by feature, and a support set has no features "
                "that stay: use a gradient rule, or the rule with an explicit map"
            )
        if self.rules is not None and rule.name not in self.rules:
            raise ValueError(
                f"rule {rule.name!r} cannot be used with budget {self.name!r}: {self.reason}; it "
                "takes " + " and ".join(map(repr, self.rules))
            )


def check_budget(owner: object, least: int = 1, name: str = "budget") -> int:
    """The whole number ``owner.budget`` ≥ ``least``; ValueError naming it otherwise."""
    value = getattr(owner, name)
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < least:
        raise ValueError(f"{name}={value!r} must be a whole number of at least {least}")
    return int(value)
