"""Twin vectors: prototypes that stand for rows of every class at one place."""

from __future__ import annotations

import numpy as np

from onkel.budgets.base import Budget, BudgetKind, check_budget
from onkel.kernels import Gaussian, Kernel
from onkel.rules.base import positive

__all__ = ["Twin"]


class Twin(Budget):
    """What the twin vector machine keeps: see :class:`onkel.TVMClassifier` for the parameters."""

    name = "twin"
    kind = BudgetKind.TWIN

    def __init__(
        self,
        budget: int = 100,
        C: float = 1.0,
        margin: float = 1.0,
        tol: float = 0.05,
        max_steps: int = 100,
    ) -> None:
        self.budget = budget
        self.C = C
        self.margin = margin
        self.tol = tol
        self.max_steps = max_steps

    def limit(self) -> int | None:
        return check_budget(self, least=2)

    def parameters(self) -> np.ndarray:
        most = check_budget(self, name="max_steps")
        return np.array(
            [positive(self, "C"), positive(self, "margin"), positive(self, "tol"), most]
        )

    def needs_gram(self, par: np.ndarray) -> bool:
        return True

    def check_kernel(self, kernel: Kernel) -> None:
        """ValueError where rows of the kernel cannot be merged in the space of the inputs."""
        if type(kernel) is not Gaussian:
            raise ValueError(
                f"kernel={kernel.name!r} cannot be used with twin vectors: they merge by averaging "
                "rows, and their loop knows the Gaussian kernel only; use kernel='gaussian'"
            )
