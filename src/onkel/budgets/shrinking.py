"""The Forgetron's budget: shrink f, then forget its oldest row."""

from __future__ import annotations

import math
from enum import IntEnum

import numpy as np

from onkel._jit import jit_inline
from onkel.budgets.base import N_PARAMETERS, TARGET, Budget, BudgetKind
from onkel.losses import Loss

__all__ = ["MISTAKES", "ShrinkOldest", "Variant", "basic_shrinkage", "self_tuned_shrinkage"]

# The budget's places in the state vector: damage so far Q, and rows added so far M.
DAMAGE, MISTAKES = 4, 5


class Variant(IntEnum):
    """How the shrinkage φ is chosen."""

    SELF_TUNED = 0
    BASIC = 1


@jit_inline
def _weight_and_output(loss, A, info, gram, size, r, panel, t, n, new, scale):
    """σ = |α_r| and μ = y_r f'(s_r), f' with the new row in it."""
    k = 0 if A.shape[0] == 1 else int(info[TARGET, r])
    output = new[k] * panel[t, n + r]
    for j in range(size):
        output += scale * A[k, j] * gram[r, j]
    if loss > Loss.PERCEPTRON:
        output = abs(output)
    elif A.shape[0] == 1:
        output *= info[TARGET, r]
    return abs(scale * A[k, r]), output


@jit_inline
def self_tuned_shrinkage(loss, A, info, gram, size, r, panel, t, n, new, scale, state):
    """The largest φ ≤ 1 with Q + Ψ(φσ, φμ) ≤ (15/32) M, Ψ(λ, μ) = λ² + 2λ - 2λμ."""
    sigma, mu = _weight_and_output(loss, A, info, gram, size, r, panel, t, n, new, scale)
    a = sigma * sigma - 2.0 * sigma * mu
    b = 2.0 * sigma
    c = min(state[DAMAGE] - 15.0 / 32.0 * state[MISTAKES], 0.0)
    phi = 1.0
    if a + b + c > 0.0:
        # c ≤ 0 and φ = 1 is too large: this root is the first crossing, for either sign of a
        phi = -2.0 * c / (b + math.sqrt(b * b - 4.0 * a * c))
    state[DAMAGE] += phi * (phi * a + b)
    return phi


@jit_inline
def basic_shrinkage(limit, squared_norm):
    """φ = min((B+1)^(-1/(2(B+1))), U/‖f'‖), U = ¼ √((B+1)/ln(B+1))."""
    m = limit + 1.0
    radius = 0.25 * math.sqrt(m / math.log(m))
    phi = m ** (-0.5 / m)
    if squared_norm > 0.0:
        phi = min(phi, radius / math.sqrt(squared_norm))
    return phi


class ShrinkOldest(Budget):
    """Shrink f by φ, then drop the oldest row: what is dropped has been shrunk most.

    Parameters
    ----------
    budget : int, default=100
        B ≥ 1.
    variant : {"self-tuned", "basic"}, default="self-tuned"
        "self-tuned": the largest φ ≤ 1 that keeps the damage of all removals below 15/32 of the
        mistakes; f is shrunk only when a row is dropped. "basic": φ from B and ‖f‖ alone, at every
        mistake.

    Notes
    -----
    Source: Dekel, Shalev-Shwartz & Singer 2008, sections 4 (basic) and 5 (self-tuned). In
    multiclass the coefficient and the score of the dropped row's own class are looked at, in
    regression \\|α\\| and \\|f\\| (the convention of the LSOKL programs).
    """

    name = "shrink_oldest"
    kind = BudgetKind.SHRINK
    rules = ("perceptron",)
    reason = "its shrinkage is derived from the perceptron's count of mistakes"

    def __init__(self, budget: int = 100, variant: str = "self-tuned") -> None:
        self.budget = budget
        self.variant = variant

    def parameters(self) -> np.ndarray:
        names = {"self-tuned": Variant.SELF_TUNED, "basic": Variant.BASIC}
        if self.variant not in names:
            raise ValueError(f"variant={self.variant!r} is not one of 'self-tuned', 'basic'")
        out = np.zeros(N_PARAMETERS)
        out[0] = names[self.variant]
        return out

    def needs_gram(self, par: np.ndarray) -> bool:
        return True

    def needs_norm(self, par: np.ndarray) -> bool:
        return self.variant == "basic"
