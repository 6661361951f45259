"""The model of the twin vector machine: stored rows that each stand for rows of every class."""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.kernels import Kernel
from onkel.losses import Loss
from onkel.numerics.arrays import as_dense
from onkel.state import Array
from onkel.support.model import MOST_ROWS, SupportModel
from onkel.support.stored_rows import SLOTS
from onkel.support.twin.loop import learn_twins
from onkel.support.twin.machine import TwinVectors
from onkel.support.twin.prototypes import Twins


class TwinModel(SupportModel):
    """An SVM over prototypes, moved by no rule; hinge loss.

    ``mass`` (classes, B + 1) is the weight of the rows that a prototype stands for, ``plus`` and
    ``minus`` (K, B + 1) the dual coefficients of both sides, A their difference; ``outputs`` is f
    at the prototypes. There is one slot more than the budget: a new row is stored before room is
    made.
    """

    plus: np.ndarray
    minus: np.ndarray
    mass: np.ndarray

    def __init__(
        self,
        kernel: Kernel,
        gamma: float | str,
        n_warmup: int,
        machine: TwinVectors,
        n_outputs: int,
        d: int,
        dtype: Any,
    ) -> None:
        machine.check_kernel(kernel)
        self.machine = machine
        limit = machine.parameters(0.0).limit
        super().__init__(
            kernel, gamma, n_warmup, limit, None, Loss.HINGE, 0.0, n_outputs, d, dtype, seed=0
        )

    def arrays(self) -> dict[str, Array]:
        duals = Array(dtype=np.float64, shape=("n_outputs", SLOTS), low=0.0)
        return super().arrays() | {
            "gram": Array(dtype=np.float64, shape=(SLOTS, SLOTS)),
            "outputs": Array(dtype=np.float64, shape=("n_outputs", SLOTS)),
            "plus": duals,
            "minus": duals,
            "mass": Array(dtype=np.float64, shape=(max(2, self.n_outputs), SLOTS), low=0.0),
        }

    @property
    def most_slots(self) -> int | None:
        return None if self.limit is None else self.limit + 1

    def add_output(self, position: int) -> None:
        if self.ready:
            plus, minus = self.plus, self.minus
            if self.n_outputs == 1:
                plus, minus = (
                    0.5 * np.concatenate([minus, plus]),
                    0.5 * np.concatenate([plus, minus]),
                )
            for name, array in (("plus", plus), ("minus", minus), ("mass", self.mass)):
                setattr(self, name, np.insert(array, position, 0, axis=0).copy())
        super().add_output(position)

    def _walk(self, X: Any, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> None:
        for a in range(0, X.shape[0], MOST_ROWS):
            part = slice(a, min(a + MOST_ROWS, X.shape[0]))
            self._reserve(part.stop - a)
            twins = Twins(*(getattr(self, name) for name in Twins._fields))
            par = self.machine.parameters(self.gamma_)
            learn_twins(as_dense(X[part]), y[part], weight[part], twins, self.state, par, P[part])
