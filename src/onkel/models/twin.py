"""A support set of twin vectors: each stands for rows of every class at one place."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from onkel._dense import as_dense
from onkel.budgets.twin import Twin
from onkel.kernels import Kernel
from onkel.models.support import MOST_ROWS, SupportModel
from onkel.models.twin_loops import learn_twins

__all__ = ["TwinModel"]


class TwinModel(SupportModel):
    """A :class:`SupportModel` for :class:`~onkel.budgets.twin.Twin`, moved by no rule.

    ``mass`` (classes, B + 1) is the weight of the rows that a prototype stands for, ``plus`` and
    ``minus`` (K, B + 1) the dual coefficients of both sides, A their difference; ``outputs`` is f
    at the prototypes. There is one slot more than the budget: a new row is stored first.
    """

    budget: Twin
    by_slot: ClassVar = SupportModel.by_slot | {"mass": (1,), "plus": (1,), "minus": (1,)}

    def __init__(
        self, kernel: Kernel, gamma: float | str, n_warmup: int, budget: Twin, *args: Any
    ) -> None:
        budget.check_kernel(kernel)
        super().__init__(kernel, gamma, n_warmup, budget, *args)

    @property
    def most_slots(self) -> int | None:
        return None if self.limit is None else self.limit + 1

    def _reset(self) -> None:
        super()._reset()
        first = len(self.S)
        self.outputs = np.zeros((self.n_outputs, first))
        self.gram = np.zeros((first, first))
        self.plus = np.zeros((self.n_outputs, first))
        self.minus = np.zeros((self.n_outputs, first))
        self.mass = np.zeros((max(2, self.n_outputs), first))

    def add_output(self, position: int) -> None:
        if self.ready:
            one = self.n_outputs == 1
            for name, other in (("plus", self.minus.copy()), ("minus", self.plus.copy())):
                duals = getattr(self, name)
                duals = 0.5 * np.concatenate([other, duals]) if one else duals
                setattr(self, name, np.ascontiguousarray(np.insert(duals, position, 0, axis=0)))
            self.mass = np.ascontiguousarray(np.insert(self.mass, position, 0, axis=0))
        super().add_output(position)

    def _walk(self, X: Any, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> None:
        for a in range(0, X.shape[0], MOST_ROWS):
            b = min(a + MOST_ROWS, X.shape[0])
            self._reserve(b - a)
            arrays = self.S, self.A, self.plus, self.minus, self.mass, self.gram, self.outputs
            learn_twins(
                as_dense(X[a:b]),
                y[a:b],
                weight[a:b],
                *arrays,
                self.counts,
                self.state,
                self.limit,
                self.gamma_,
                *self.budget_par,
                P[a:b],
            )
