"""The twin vector machine: its parameters, its loop over rows, and its model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from onkel.annotations import Matrix
from onkel.fields import Array
from onkel.kernels import Gaussian, Kernel
from onkel.losses import Loss
from onkel.numerics.arrays import as_dense
from onkel.numerics.jit import jit, jit_inline
from onkel.parameters import positive, whole
from onkel.rules.base import T
from onkel.sklearn_bases import BaseEstimator
from onkel.support.model import MOST_ROWS, Space, SupportModel
from onkel.support.slots import BORN, REMOVED, SIZE, refresh_outputs
from onkel.support.stored_rows import SLOTS
from onkel.support.twin.prototypes import Twins, kernel_row, make_room, optimise, rival_gap


class TwinParameters(NamedTuple):
    """The parameters as the loop takes them, checked."""

    limit: int
    gamma: float
    C: float
    margin: float
    tol: float
    max_steps: int


@dataclass(eq=False, repr=False)
class TwinVectors(BaseEstimator):
    """The twin vector machine: see :class:`onkel.TVMClassifier` for the parameters.

    It is no :class:`~onkel.support.budget.Budget`: no rule moves f, so there is nothing to combine
    it with.
    """

    budget: int = 100
    C: float = 1.0
    margin: float = 1.0
    tol: float = 0.05
    max_steps: int = 100

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


@jit_inline
def _score(size, A, row, P, t):
    """P[t] ← f(x) from the kernel values ``row``."""
    for k in range(A.shape[0]):
        total = 0.0
        for j in range(size):
            total += A[k, j] * row[j]
        P[t, k] = total


@jit_inline
def _append(x, X, c, weight, P, row, twins):
    """Row x of class c becomes the next prototype, with no part in f yet."""
    S, A, mass, gram, counts = twins.S, twins.A, twins.mass, twins.gram, twins.counts
    size = counts[SIZE]
    for i in range(S.shape[1]):
        S[size, i] = X[x, i]
    for k in range(A.shape[0]):
        A[k, size], twins.plus[k, size], twins.minus[k, size] = 0.0, 0.0, 0.0
        twins.outputs[k, size] = P[x, k]
    for i in range(mass.shape[0]):
        mass[i, size] = weight if i == c else 0.0
    for j in range(size):
        gram[size, j] = row[j]
        gram[j, size] = row[j]
    gram[size, size] = 1.0
    counts[BORN] += 1
    counts[SIZE] += 1


@jit
def learn_twins(X, y, weight, twins, state, par, P):
    """Learn the rows in order; P (n, K) gets the scores before each."""
    K, counts = P.shape[1], twins.counts
    row = np.empty(twins.A.shape[1])
    for t in range(X.shape[0]):
        kernel_row(X, t, twins.S, counts[SIZE], par.gamma, row)
        _score(counts[SIZE], twins.A, row, P, t)
        if weight[t] == 0.0:
            continue
        state[T] += 1.0
        c = int(y[t] > 0.0) if K == 1 else int(y[t])
        if counts[SIZE] > 0 and rival_gap(P.T, t, c) >= par.margin:
            continue
        _append(t, X, c, weight[t], P, row, twins)
        if counts[SIZE] > par.limit:
            make_room(par.limit + 1, par, twins, row)
            counts[SIZE] -= 1
            counts[REMOVED] += 1
        if counts[REMOVED] % (2 * par.limit) == 1:
            refresh_outputs(counts[SIZE], twins.A, twins.gram, twins.outputs)
        optimise(counts[SIZE], par, twins)


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

    def __init__(self, space: Space, machine: TwinVectors, n_outputs: int) -> None:
        machine.check_kernel(space.kernel)
        self.machine = machine
        limit = machine.parameters(0.0).limit
        super().__init__(space, limit, None, Loss.HINGE, 0.0, n_outputs)

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

    def _learn_in_order(self, X: Matrix, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> None:
        for a in range(0, X.shape[0] if self.ready else 0, MOST_ROWS):
            part = slice(a, min(a + MOST_ROWS, X.shape[0]))
            self._reserve(part.stop - a)
            twins = Twins(*(getattr(self, name) for name in Twins._fields))
            par = self.machine.parameters(self.gamma_)
            learn_twins(as_dense(X[part]), y[part], weight[part], twins, self.state, par, P[part])
