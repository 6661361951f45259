"""Transfer: rows that leave the support set are carried over into random Fourier features."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from onkel.annotations import Matrix
from onkel.fields import Array, Fields
from onkel.kernels import Kernel
from onkel.maps.fourier import FourierFeatures
from onkel.model.labels import outputs_with_class
from onkel.numerics.jit import axpy, dot, jit, jit_inline, sincos_turns
from onkel.parameters import whole
from onkel.rules.base import RADIUS, SCALE, Rule
from onkel.state import Part
from onkel.support.budget import Budget
from onkel.support.model import BudgetModel
from onkel.support.removal.choices import smallest_slot
from onkel.support.slots import CHANGED, REMOVED, SIZE, Limits, Rows, Slots, catch_up, place, score
from onkel.support.update import scale_by, update_of


@dataclass(eq=False, repr=False)
class Transfer(Budget):
    """The k lightest rows of a full set are carried over into a weight vector.

    ``w̃ ← w̃ + Σ α_i z(s_i)`` over the k rows of the smallest ‖α_i‖, which are then dropped, with
    ``f(x) = Σ_j α_j κ(s_j, x) + w̃·z(x)`` and random Fourier features z: f changes by no more than
    their error. O(B + D·d) time per added row.

    Parameters
    ----------
    budget : int, default=100
        B ≥ 1.
    n_components : int, default=200
        Number of frequencies D ≥ 1; z has 2D features. The error falls as 1/√D.
    n_transfer : int, default=20
        Number k in 1..B of rows carried over at once. Fewer keep more rows exact; more cost less.
    orthogonal : bool, default=False
        Orthogonal frequencies: smaller error; radial kernels only.

    Notes
    -----
    Source: Le, Nguyen, Nguyen & Phung 2016, Algorithms 1 and 2 (k-merging). Frequencies are of the
    kernel's own spectrum (for the Gaussian √(2γ) N(0, I)). Shift-invariant kernels only.
    """

    name = "transfer"
    family = "transfer"

    budget: int = 100
    n_components: int = 200
    n_transfer: int = 20
    orthogonal: bool = False

    def limit(self) -> int | None:
        limit = whole(self, "budget")
        whole(self, "n_components")
        if whole(self, "n_transfer") > limit:
            raise ValueError(f"n_transfer={self.n_transfer!r} must be at most budget={limit}")
        return limit

    def needs_gram(self, par: np.ndarray) -> bool:
        return False

    def needs_norm(self, par: np.ndarray) -> bool:
        return False

    def check_rule(self, rule: Rule) -> None:
        super().check_rule(rule)
        if rule.parameters()[RADIUS] > 0.0:
            raise ValueError(
                f"rule {rule.name!r} projects f onto a ball, which budget {self.name!r} cannot: "
                "f lives in two spaces, and its norm is not kept; use 'gradient', or "
                "Pegasos(project=False)"
            )

    def check_kernel(self, kernel: Kernel) -> None:
        if not kernel.shift_invariant:
            raise ValueError(
                f"kernel={kernel.name!r} cannot be used with budget {self.name!r}: it is not "
                "shift-invariant and has no random Fourier features that could carry its rows over"
            )
        kernel.check_spectrum(self.orthogonal)


class Carried(NamedTuple):
    """The part of f over random features, and how features come from a row."""

    W: np.ndarray  # (K, 2D) weights, over the same scale as the coefficients
    Z: np.ndarray  # (n, 2D) features of the rows of a sub-block
    turns: np.ndarray  # (d, D) frequencies in turns


@jit
def _features_of(S, s, turns, angles, z):
    """z (1, 2D) ← z(s) of stored row s; ``angles`` (1, D) is scratch."""
    D = turns.shape[1]
    angles[0, :] = 0.0
    for i in range(S.shape[1]):
        if S[s, i] != 0.0:
            axpy(S[s, i], turns, i, angles, 0)
    sincos_turns(angles[0], 1.0 / math.sqrt(D), z[0, :D], z[0, D:])


@jit_inline
def _fill(s, last, slots, S):
    """Slot s ← slot ``last``, noted as a change."""
    A, info, changes = slots.A, slots.info, slots.changes
    for j in range(A.shape[0]):
        A[j, s] = A[j, last]
    for i in range(info.shape[0]):
        info[i, s] = info[i, last]
    for i in range(S.shape[1]):
        S[s, i] = S[last, i]
    i = slots.counts[CHANGED]
    changes[0, i], changes[1, i] = s, last
    slots.counts[CHANGED] += 1


@jit
def _carry_over(k, slots, S, carried):
    """The k lightest rows leave the support set for W; the last slots move into theirs."""
    A, counts, W, turns = slots.A, slots.counts, carried.W, carried.turns
    angles, z = np.empty((1, turns.shape[1]), W.dtype), np.empty((1, W.shape[1]), W.dtype)
    work = np.empty((1, A.shape[1]))
    for _ in range(k):
        s = smallest_slot(A, slots.info, counts[SIZE], work)
        _features_of(S, s, turns, angles, z)
        for j in range(A.shape[0]):
            axpy(A[j, s], z, 0, W, j)
        counts[SIZE] -= 1
        counts[REMOVED] += 1
        if s < counts[SIZE]:
            _fill(s, counts[SIZE], slots, S)


@jit_inline
def _score(t, rows, slots, carried, state):
    score(rows.panel, t, slots.A, slots.counts[SIZE], state, rows.P, t)
    for j in range(rows.P.shape[1]):
        rows.P[t, j] += state[SCALE] * dot(carried.W, j, carried.Z, t)


@jit
def learn_transfer(rows, X, S, slots, carried, limits, k, context):
    """Learn the rows X (n, d) of one sub-block; a full set gives up k rows at once."""
    K, state = rows.P.shape[1], context.state
    c, new = np.empty(K), np.empty(K)
    slots.counts[CHANGED] = 0
    for t in range(rows.P.shape[0]):
        catch_up(rows.panel, t, slots)
        _score(t, rows, slots, carried, state)
        update = update_of(context, rows, t, c)
        # W is scaled along with A: it is passed in place of the outputs at stored rows
        scale_by(slots.A, carried.W, update.a, state)
        if update.b > 0.0:
            if slots.counts[SIZE] == limits.size:
                _carry_over(k, slots, S, carried)
            for j in range(K):
                new[j] = update.b * c[j]
            s = slots.counts[SIZE]
            place(s, rows, t, new, slots, state)
            for i in range(S.shape[1]):
                S[s, i] = X[t, i]


class TransferModel(BudgetModel):
    """f_k(x) = Σ_j α_kj κ(s_j, x) + w̃_k·z(x), for :class:`~onkel.budgets.Transfer`."""

    budget: Transfer
    features: FourierFeatures
    carried: np.ndarray

    def _new_features(self) -> FourierFeatures:
        budget = self.budget
        features = FourierFeatures(
            budget.n_components, self.kernel, self.gamma_, budget.orthogonal, random_state=self.seed
        )
        features.start(self.d, self.dtype)
        return features

    def _fit_first(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> None:
        super()._fit_first(X, y, weight)
        self.features = self._new_features()
        self.features.fit_first(X)

    def arrays(self) -> dict[str, Array]:
        n_features = 2 * self.budget.n_components
        return super().arrays() | {
            "carried": Array(dtype=self.dtype, shape=("n_outputs", n_features))
        }

    @property
    def feature_coef(self) -> np.ndarray:
        """w̃, (K, 2D)."""
        return self.carried * self.dtype.type(self.state[SCALE])

    def state_fields(self) -> Fields:
        features = Part(TransferModel._new_features, anew=True, beside="gamma")
        return {**super().state_fields(), "features": features}

    def add_output(self, position: int) -> None:
        if self.ready:
            self.carried = outputs_with_class(self.carried, position)
        super().add_output(position)

    def widen(self, n: int) -> None:
        super().widen(n)
        if self.ready:
            self.features.add_columns(n)

    def is_finite(self) -> bool:
        finite = not self.ready or bool(np.isfinite(self.carried.sum()))
        return finite and super().is_finite()

    def scores(self, X: Matrix) -> np.ndarray:
        out = super().scores(X)
        if self.ready:
            out += self.features.features(X) @ self.feature_coef.T
        return out

    def _slots(self, n_changes: int) -> Slots:
        # each row fills a slot, each removal moves one; there are n + n_transfer removals at most
        return super()._slots(2 * n_changes + int(self.budget.n_transfer))

    def _learn(self, X: np.ndarray, rows: Rows, slots: Slots, limits: Limits) -> None:
        carried = Carried(self.carried, self.features.features(X), self.features._turns)
        k = int(self.budget.n_transfer)
        learn_transfer(rows, X, self.S, slots, carried, limits, k, self.context())
