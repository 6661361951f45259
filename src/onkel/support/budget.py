"""What a budget is: a declaration with a name, its family, and a vector of parameters.

A budget says how the support set is kept finite. Each is declared in one file, beside the compiled
functions that carry it out, and has one row in the table of :mod:`onkel.budgets`.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from onkel.kernels import Kernel
from onkel.parameters import whole
from onkel.rules.base import RADIUS, Rule
from onkel.sklearn_bases import BaseEstimator

# Rows of ``info``, for each stored row s: κ(s, s), its label, and the number of its insertion.
DIAGONAL, TARGET, BIRTH = 0, 1, 2
N_INFO = 3
N_PARAMETERS = 4


class Budget(BaseEstimator):
    """How the support set is kept finite: what happens when it is full and a row is to be added.

    A budget declares what it needs and which rules it goes with; the loop of its family does the
    rest.
    """

    name: str
    #: the family, a key of :data:`onkel.budgets.MODELS`
    family: str
    #: the budget's number in the loop of its family, where the loop has several
    kind: ClassVar[int] = 0
    #: rules the budget works with (None: all), and the reason why it takes no others
    rules: ClassVar[tuple[str, ...] | None] = None
    reason = ""

    def number(self, dtype: np.dtype) -> int:
        """The budget's number in the loop; it may hold for this process and this dtype only."""
        return int(self.kind)

    def limit(self) -> int | None:
        """B, the largest size of the support set, checked; None where the set grows."""
        return whole(self, "budget")

    def parameters(self) -> np.ndarray:
        """What the loop reads, (N_PARAMETERS,), after checking every value."""
        return np.zeros(N_PARAMETERS)

    def needs_norm(self, par: np.ndarray) -> bool:
        """True when ‖f‖² is kept, as projection onto a ball needs it; ``par`` are the rule's."""
        return bool(par[RADIUS] > 0.0)

    def needs_gram(self, par: np.ndarray) -> bool:
        """True when κ(S, S) is kept."""
        return self.needs_norm(par)

    def needs_outputs(self) -> bool:
        """True when f(s) of the stored rows s is kept."""
        return False

    def check_rule(self, rule: Rule) -> None:
        """ValueError with the reason where the rule cannot go with this budget."""
        if rule.by_feature:
            raise ValueError(
                f"rule {rule.name!r} works feature by feature, and a support set has no features "
                "that stay: use a gradient rule, or the rule with an explicit map"
            )
        if self.rules is not None and rule.name not in self.rules:
            raise ValueError(
                f"rule {rule.name!r} cannot be used with budget {self.name!r}: {self.reason}; it "
                "takes " + " and ".join(map(repr, self.rules))
            )

    def check_average(self) -> None:
        """ValueError with the reason where the mean of f over the rows cannot be kept."""
        if self.limit() is not None or self.family != "removal":
            raise ValueError(
                f"average=True cannot be used with budget {self.name!r}: the mean of f over the "
                "rows is made of every row that was ever stored, and this budget drops or changes "
                "them; use a learner without a budget (ogd, olk, perceptron) or one over features "
                "(fogd, nogd)"
            )

    def check_kernel(self, kernel: Kernel) -> None:
        """ValueError with the reason where the kernel cannot go with this budget."""


class SizedBudget(Budget):
    """A budget whose only parameter is its size B.

    Parameters
    ----------
    budget : int, default=100
        Most rows stored, B ≥ 1.
    """

    def __init__(self, budget: int = 100) -> None:
        self.budget = budget
