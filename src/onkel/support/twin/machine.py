"""The parameters of the twin vector machine."""

from __future__ import annotations

from typing import NamedTuple

from sklearn.base import BaseEstimator

from onkel.kernels import Gaussian, Kernel
from onkel.parameters import positive, whole


class TwinParameters(NamedTuple):
    """The parameters as the loop takes them, checked."""

    limit: int
    gamma: float
    C: float
    margin: float
    tol: float
    max_steps: int


class TwinVectors(BaseEstimator):
    """The twin vector machine: see :class:`onkel.TVMClassifier` for the parameters.

    It is no :class:`~onkel.support.budget.Budget`: no rule moves f, so there is nothing to combine
    it with.
    """

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

    def parameters(self, gamma: float) -> TwinParameters:
        """What the loop reads, after checking every value."""
        return TwinParameters(
            whole(self, "budget", least=2),
            gamma,
            positive(self, "C"),
            positive(self, "margin"),
            positive(self, "tol"),
            whole(self, "max_steps"),
        )

    def check_kernel(self, kernel: Kernel) -> None:
        """ValueError where rows of the kernel cannot be merged in the space of the inputs."""
        if type(kernel) is not Gaussian:
            raise ValueError(
                f"kernel={kernel.name!r} cannot be used with twin vectors: they merge by averaging "
                "rows, and their loop knows the Gaussian kernel only; use kernel='gaussian'"
            )
