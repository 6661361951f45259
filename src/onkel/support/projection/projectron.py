"""Projectron: a row that the stored ones nearly span is projected onto them.

κ(S, S) = L Lᵀ, and z = L⁻¹ κ(S, x) are the coordinates of the projection Pκ(x, ·) in the basis
e_1, e_2, ... that Gram-Schmidt makes of the stored rows in order: κ(x, ·) = Σ_i z_i e_i + δ e', and
‖δ‖² = κ(x, x) - ‖z‖² is the squared distance of x to their span. f has a weight for each
coordinate, A (K, capacity), and is a linear learner in z: f(x) = A z, ‖f‖ = ‖A‖, and a projected
step is A ← A + b c zᵀ. A row that is stored adds the row [z, ‖δ‖] to L, and one coordinate.

The coordinates of a sub-block are computed before the loop learns it, for the slots in use then.
The loop adds those of the slots that are filled in the meantime.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from onkel.fields import Array
from onkel.losses import Loss, evaluate
from onkel.numerics.jit import jit, jit_inline
from onkel.numerics.threads import scratch
from onkel.parameters import non_negative, whole
from onkel.rules.base import ALPHA, SCALE, SQUARED_NORM, Rule, T
from onkel.rules.dispatch import direction_sums, judge, step
from onkel.support.budget import N_PARAMETERS, Budget
from onkel.support.model import MOST_ROWS, BudgetModel
from onkel.support.projection.coordinates import new_coordinates, solve
from onkel.support.slots import CHANGED, SIZE, Limits, Rows, Slots, place, score
from onkel.support.stored_rows import SLOTS
from onkel.support.update import onto_ball, scale_by

# Their places in the parameter vector.
ETA, AGGRESSIVE = 0, 1


@jit_inline
def margin_step(value, c2, z2, delta2, most, eta, limit):
    """τ of Projectron++ for a row predicted right with too small a margin (0: leave it).

    ⟨f - u, c Pκ⟩ ≤ U‖c‖‖δ‖ - ℓ for every u of norm U that has no loss on the row, so the step
    brings f nearer to u by at least τ(2ℓ - 2U‖c‖‖δ‖ - τ‖c‖²‖Pκ‖²): no step where that is negative.
    With η = 0, the form of the LSOKL programs, ‖c‖ counts as 1 in multiclass too.
    """
    if z2 <= 0.0:
        return 0.0
    if eta > 0.0:
        norm = c2 * z2
        safe = 2.0 * (value - math.sqrt(c2 * delta2) / eta) / norm
        return max(min(most, value / norm, safe), 0.0)
    tau = min(most, value / z2)
    m = limit + 1.0
    radius = 0.25 * math.sqrt(m / math.log(m))
    return tau if 2.0 * value - tau * z2 - 2.0 * radius * math.sqrt(delta2) >= 0.0 else 0.0


@dataclass(eq=False, repr=False)
class Projection(Budget):
    """A row within η of the span of the stored rows moves their coefficients, and is not stored.

    ``f ← a f + b c Pκ(x, ·)`` where ‖κ(x, ·) - Pκ(x, ·)‖ ≤ η or the set is full; else the row is
    stored. No row is ever dropped, so a full set stays as it is.

    Parameters
    ----------
    budget : int or None, default=100
        B ≥ 1; None for no bound other than η.
    eta : float, default=0.0
        Largest residual η ≥ 0 that is projected away before the set is full; with 0 every row that
        moves f is stored until then (the LSOKL programs). In units of √κ(x, x).
    aggressive : bool, default=False
        Projectron++: rows predicted right with a margin below 1 move f too, as far as their
        projection lets them; they are never stored.

    Notes
    -----
    Source: Orabona, Keshet & Caputo 2009, Projectron and Projectron++. The Cholesky factor L of
    κ(S, S) is kept in place of the inverse K⁻¹ = L⁻ᵀL⁻¹. Each stored row adds a row to L, so that
    rounding errors don't build up as in an updated inverse. A row whose ‖δ‖² is rounding error is
    projected whatever η is.
    """

    name = "projection"
    family = "projection"

    budget: int | None = 100
    eta: float = 0.0
    aggressive: bool = False

    def limit(self) -> int | None:
        if self.budget is not None:
            return whole(self, "budget")
        if self.eta == 0.0:
            raise ValueError(f"eta={self.eta!r} must be positive where budget=None sets no bound")
        return None

    def parameters(self) -> np.ndarray:
        out = np.zeros(N_PARAMETERS)
        out[ETA], out[AGGRESSIVE] = non_negative(self, "eta"), bool(self.aggressive)
        return out

    def needs_gram(self, par: np.ndarray) -> bool:
        return False

    def check_rule(self, rule: Rule) -> None:
        super().check_rule(rule)
        if self.aggressive and rule.name != "perceptron":
            raise ValueError(
                f"rule {rule.name!r} cannot be used with aggressive=True, which adds margin "
                "updates to the perceptron's; it takes 'perceptron'"
            )


class Basis(NamedTuple):
    """The basis, and the rows of a sub-block in it."""

    Z: np.ndarray  # (n, capacity) coordinates of the rows
    factor: np.ndarray  # (capacity, capacity) Lᵀ


class Scratch(NamedTuple):
    """Scratch arrays, overwritten for every row."""

    c: np.ndarray  # (K,) the direction of the step
    new: np.ndarray  # (K,) the weights of a new coordinate


@jit_inline
def _squared_length(Z, t, size):
    """‖Pκ(x, ·)‖² = ‖z‖²."""
    total = Z.dtype.type(0.0)
    for j in range(size):
        total += Z[t, j] * Z[t, j]
    return float(total)


@jit_inline
def _move(Z, t, size, b, c, A, state):
    """f ← f + b c Pκ(x, ·)."""
    for k in range(A.shape[0]):
        if c[k] != 0.0:
            move = A.dtype.type(b * c[k] / state[SCALE])
            for j in range(size):
                A[k, j] += move * Z[t, j]


@jit_inline
def _store(t, size, b, delta, rows, slots, basis, state, scratch):
    """Row t becomes the next slot, with the next row [z, ‖δ‖] of L."""
    for k in range(scratch.c.shape[0]):
        scratch.new[k] = b * scratch.c[k] * delta
    for j in range(size):
        basis.factor[j, size] = basis.Z[t, j]
    basis.factor[size, size] = delta
    place(size, rows, t, scratch.new, slots, state)


@jit_inline
def _learn_row(t, size, rows, slots, basis, limits, context, scratch):
    """Learn row t, whose scores are known."""
    c, state, P = scratch.c, context.state, rows.P
    weight, q, y = rows.weight[t], rows.q[t], rows.y[t]
    eta = limits.par[ETA]
    state[T] += 1.0
    value = judge(context, P, t, y, q, c)
    c2, cp = direction_sums(c, P, t)
    margin = limits.par[AGGRESSIVE] > 0.0 and c2 == 0.0
    if margin:
        value = evaluate(Loss.HINGE, P, t, y, context.epsilon, c)
        c2, cp = direction_sums(c, P, t)
    if c2 == 0.0 and context.par[ALPHA] == 0.0:
        return
    length = _squared_length(basis.Z, t, size)
    delta2 = max(q - length, 0.0)
    # for rows nearer than this to the stored ones, L⁻¹ would magnify the rounding of κ(S, x)
    rounding = 1e-10 if slots.A.itemsize == 8 else 1e-4
    room = not margin and (size < limits.size or limits.size < 0)
    stores = room and delta2 > max(eta * eta, rounding * q)
    a, b = step(context, weight, value, c2, q)
    if margin:
        b = margin_step(value, c2, length, delta2, b, eta, limits.size)
    scale_by(slots.A, slots.outputs, a, state)
    if c2 > 0.0 and b > 0.0:
        _move(basis.Z, t, size, b, c, slots.A, state)
        if stores:
            _store(t, size, b, math.sqrt(delta2), rows, slots, basis, state, scratch)
            length = q
        if limits.track:
            moved = 2.0 * b * a * cp + b * b * c2 * length
            state[SQUARED_NORM] = max(state[SQUARED_NORM] + moved, 0.0)
    onto_ball(slots, context)


@jit_inline
def _take_row(t, first, rows, slots, basis, limits, context, scratch):
    """Score row t and, where its weight is not 0, learn it."""
    size = slots.counts[SIZE]
    new_coordinates(basis.Z, t, first, size, rows.panel, slots.changes, basis.factor)
    score(basis.Z, t, slots.A, size, context.state, rows.P, t)
    if rows.weight[t] != 0.0:
        _learn_row(t, size, rows, slots, basis, limits, context, scratch)


@jit
def learn_projection(rows, slots, basis, limits, context):
    """Learn the rows of one sub-block; ``rows.panel`` is not read where the set is full already."""
    K = rows.P.shape[1]
    scratch = Scratch(np.empty(K), np.empty(K))
    slots.counts[CHANGED] = 0
    first = slots.counts[SIZE]
    for t in range(rows.P.shape[0]):
        _take_row(t, first, rows, slots, basis, limits, context, scratch)


class ProjectionModel(BudgetModel):
    """f over an orthonormal basis of the stored rows: A (K, capacity) are its weights there.

    ``factor`` (capacity, capacity) is Lᵀ, the Cholesky factor of κ(S, S); see
    :mod:`onkel.support.projection.projectron`.
    """

    factor: np.ndarray

    def arrays(self) -> dict[str, Array]:
        return super().arrays() | {"factor": Array(dtype=self.dtype, shape=(SLOTS, SLOTS))}

    @property
    def coef(self) -> np.ndarray:
        """Coefficients (K, size) of the stored rows: Lᵀ α = A."""
        m = self.size
        if m == 0:
            return super().coef
        upper = self.factor[:m, :m].astype(np.float64)
        return np.asarray(solve_triangular(upper, super().coef.T).T, self.dtype)

    @property
    def basis_coef(self) -> np.ndarray:
        """Weights (K, size) of the basis."""
        return super().coef

    def _weights(self) -> np.ndarray:
        return self.basis_coef

    def _coordinates(self, K: np.ndarray) -> np.ndarray:
        Z = np.ascontiguousarray(K, self.dtype)
        solve(Z, self.size, self.factor)
        return Z

    def _block_rows(self) -> int:
        return MOST_ROWS if self.size == self.limit else super()._block_rows()

    def panel(self, X: np.ndarray) -> np.ndarray:
        """As for all budgets, but without κ(block, block) once the set is full and stays so."""
        if self.size != self.limit:
            return super().panel(X)
        X = X.astype(self.dtype, copy=False)
        out = scratch("panel", (len(X), self.size), self.dtype)
        return np.asarray(self.kernel.ordered_gram(X, self.S, self.gamma_, out), self.dtype)

    def _learn(self, X: np.ndarray, rows: Rows, slots: Slots, limits: Limits) -> None:
        m = self.size
        Z = scratch("coordinates", (len(X), len(self.S)), self.dtype)
        Z[:, :m] = rows.panel[:, :m]
        solve(Z, m, self.factor)
        learn_projection(rows, slots, Basis(Z, self.factor), limits, self.context())
        self._keep_rows(X, rows, slots)
