"""Passive-aggressive rules (Crammer et al. 2006)."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from onkel._jit import jit_inline
from onkel.rules.base import ETA, SCHEDULE, Rule, RuleKind, positive

__all__ = ["PassiveAggressive", "Variant", "passive_aggressive_step"]


class Variant(IntEnum):
    """PA (hard), PA-I (capped step), PA-II (softened step)."""

    PA = 0
    PA_I = 1
    PA_II = 2


@jit_inline
def passive_aggressive_step(par, weight, value, c2, q):
    """The least change of f that makes the loss of this row 0, as far as C allows."""
    norm = c2 * q
    if norm == 0.0:
        return 1.0, 0.0
    C = par[ETA] * weight
    variant = int(par[SCHEDULE])
    if variant == Variant.PA:
        return 1.0, value / norm
    if variant == Variant.PA_I:
        return 1.0, min(C, value / norm)
    return 1.0, value / (norm + 0.5 / C)


class PassiveAggressive(Rule):
    """Passive-aggressive: ``f ← f + τ c κ(x, ·)`` with τ from the loss itself, no step size.

    With ℓ the hinge (or ε-insensitive) loss and q = ‖c‖² κ(x, x) (2κ in multiclass, where the true
    class and the runner-up move): PA τ = ℓ/q, PA-I τ = min(C, ℓ/q), PA-II τ = ℓ/(q + 1/(2C)).

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness, > 0; multiplied by the row's weight. Not used by "PA", for which every
        positive weight is the same.
    variant : {"PA", "PA-I", "PA-II"}, default="PA-I"

    Notes
    -----
    Source: Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006, Figure 1 and section 8.
    """

    name = "passive_aggressive"
    kind = RuleKind.PASSIVE_AGGRESSIVE
    losses = ("hinge", "epsilon_insensitive")
    needs_norm = True

    def __init__(self, C: float = 1.0, variant: str = "PA-I") -> None:
        self.C = C
        self.variant = variant

    def parameters(self) -> np.ndarray:
        names = [variant.name.replace("_", "-") for variant in Variant]
        if self.variant not in names:
            raise ValueError(
                f"variant={self.variant!r} is not one of {', '.join(map(repr, names))}"
            )
        return np.array([positive(self, "C"), Variant(names.index(self.variant)), 0.0, 0.0, 0.0])
