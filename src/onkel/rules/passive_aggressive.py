"""Passive-aggressive rules (Crammer et al. 2006)."""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar, NamedTuple

import numpy as np

from onkel.numerics.jit import jit_inline
from onkel.parameters import positive
from onkel.rules.base import OWN, Rule, RuleKind, vector


class Variant(IntEnum):
    """PA (hard), PA-I (capped step), PA-II (softened step)."""

    PA = 0
    PA_I = 1
    PA_II = 2


class PassiveAggressiveScalars(NamedTuple):
    """C and the :class:`Variant`."""

    C: float
    variant: float


@jit_inline
def passive_aggressive_step(par, weight, value, c2, q):
    """The least change of f that makes the loss of this row 0, as far as C allows."""
    norm = c2 * q
    if norm == 0.0:
        return 1.0, 0.0
    own = PassiveAggressiveScalars(par[OWN], par[OWN + 1])
    C = own.C * weight
    variant = int(own.variant)
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
        Aggressiveness, > 0: the largest step; multiplied by the row's weight. Not used by "PA",
        which treats all positive weights alike.
    variant : {"PA", "PA-I", "PA-II"}, default="PA-I"
        How the step is bounded.

    Notes
    -----
    Source: Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006, Figure 1 and section 8.
    """

    name = "passive_aggressive"
    kind = RuleKind.PASSIVE_AGGRESSIVE
    losses: ClassVar[tuple[str, ...] | None] = ("hinge", "epsilon_insensitive")

    def __init__(self, C: float = 1.0, variant: str = "PA-I") -> None:
        self.C = C
        self.variant = variant

    def parameters(self) -> np.ndarray:
        names = [variant.name.replace("_", "-") for variant in Variant]
        if self.variant not in names:
            raise ValueError(
                f"variant={self.variant!r} is not one of {', '.join(map(repr, names))}"
            )
        variant = Variant(names.index(self.variant))
        return vector(*PassiveAggressiveScalars(positive(self, "C"), variant))
