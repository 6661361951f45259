"""OLK: gradient steps that are projected onto a ball."""

from __future__ import annotations

import numpy as np

from onkel.parameters import positive
from onkel.rules.gradient import Gradient


class ProjectedGradient(Gradient):
    """OLK: a gradient step, then the projection ``f ← min(1, U/‖f‖) f`` onto a ball.

    A scalar recursion keeps ‖f‖² (He & Kwok 2014, Algorithm 1 and equation 9).

    Parameters
    ----------
    radius : float, default=10.0
        U > 0.
    learning_rate, schedule, alpha
        As in :class:`Gradient`; the paper's schedules are "constant" and "inverse_sqrt".
    """

    name = "projected"

    def __init__(
        self,
        radius: float = 10.0,
        learning_rate: float = 0.5,
        schedule: str | float = "inverse_sqrt",
        alpha: float = 0.0,
    ) -> None:
        super().__init__(learning_rate, schedule, alpha)
        self.radius = radius

    def parameters(self) -> np.ndarray:
        return self._vector(radius=positive(self, "radius"))
