"""Projectron's budget: a row that the stored ones nearly span is projected onto them.

With an orthonormal basis e_1, e_2, ... of the span of the stored rows, each row is
κ(x, ·) = Σ_i z_i e_i + δ e', and ‖δ‖² = κ(x, x) - ‖z‖² is its squared distance to that span.
"""

from __future__ import annotations

import math

import numpy as np

from onkel.numerics.jit import jit_inline
from onkel.parameters import non_negative, whole
from onkel.rules.base import Rule
from onkel.support.budget import N_PARAMETERS, Budget

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


class Projection(Budget):
    """A row within η of the span of the stored rows moves their coefficients, and is not stored.

    ``f ← a f + b c Pκ(x, ·)`` where ‖κ(x, ·) - Pκ(x, ·)‖ ≤ η or the set is full; else the row is
    stored. No row is ever dropped, so a full set stays as it is.

    Parameters
    ----------
    budget : int or None, default=100
        B ≥ 1; None for no bound other than η.
    eta : float, default=0.0
        η ≥ 0. 0 stores every row until the set is full (the LSOKL programs).
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

    def __init__(
        self, budget: int | None = 100, eta: float = 0.0, aggressive: bool = False
    ) -> None:
        self.budget = budget
        self.eta = eta
        self.aggressive = aggressive

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
