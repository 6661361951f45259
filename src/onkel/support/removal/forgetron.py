"""The Forgetron's budget: shrink f, then drop its oldest row."""

from __future__ import annotations

import math
from enum import IntEnum
from typing import ClassVar

import numpy as np

from onkel.losses import Loss
from onkel.numerics.jit import jit_inline
from onkel.parameters import member
from onkel.rules.base import SCALE, SQUARED_NORM
from onkel.support.budget import BIRTH, N_PARAMETERS, TARGET
from onkel.support.removal.choices import oldest_slot
from onkel.support.removal.kinds import RemovalKind, SizedRemoval

# The budget's places in the state vector: damage so far Q, and rows added so far M.
DAMAGE, MISTAKES = 4, 5
# Its place in the parameter vector.
_VARIANT = 0
# The damage that is allowed for each mistake.
_ALLOWED = 15.0 / 32.0


class Variant(IntEnum):
    """How the row that goes and the shrinkage φ are chosen."""

    SELF_TUNED = 0
    BASIC = 1
    GREEDY = 2
    LSOKL = 3


@jit_inline
def _weight_and_output(loss, slots, size, r, k_new, new, scale):
    """σ = |α_r| and μ = y_r f'(s_r), f' with the new row in it; ``k_new`` is κ of both rows."""
    A, info, gram = slots.A, slots.info, slots.gram
    k = 0 if A.shape[0] == 1 else int(info[TARGET, r])
    output = new[k] * k_new
    for j in range(size):
        output += scale * A[k, j] * gram[r, j]
    if loss > Loss.PERCEPTRON:
        output = abs(output)
    elif A.shape[0] == 1:
        output *= info[TARGET, r]
    return abs(scale * A[k, r]), output


@jit_inline
def _shrinkage(variant, sigma, mu, state):
    """The largest φ ≤ 1 with Q + Ψ(φσ, φμ) ≤ (15/32) M, Ψ(λ, μ) = λ² + 2λ - 2λμ."""
    a = sigma * sigma - 2.0 * sigma * mu
    b = 2.0 * sigma
    c = min(state[DAMAGE] - _ALLOWED * state[MISTAKES], 0.0)
    phi = 1.0
    if a + b + c > 0.0:
        root = math.sqrt(b * b - 4.0 * a * c)
        # c ≤ 0 and φ = 1 is too large: this root is the first crossing, for either sign of a
        phi = -2.0 * c / (b + root)
        if variant == Variant.LSOKL and a < 0.0:
            # the second crossing, above 1
            phi = -(b + root) / (2.0 * a)
    state[DAMAGE] += phi * (phi * a + b)
    return phi


@jit_inline
def _next_oldest(info, size, after):
    """The slot of the smallest birth above ``after``; -1 where there is none."""
    s = -1
    for j in range(size):
        if info[BIRTH, j] > after and (s < 0 or info[BIRTH, j] < info[BIRTH, s]):
            s = j
    return s


@jit_inline
def _harmless(loss, slots, size, panel, t, new, scale):
    """The oldest slot whose removal does no more damage than one mistake allows; -1 for none."""
    r = _next_oldest(slots.info, size, -1.0)
    while r >= 0:
        sigma, mu = _weight_and_output(loss, slots, size, r, panel[t, r], new, scale)
        if sigma * sigma + 2.0 * sigma * (1.0 - mu) <= _ALLOWED:
            break
        r = _next_oldest(slots.info, size, slots.info[BIRTH, r])
    return r


@jit_inline
def shrunk_slot(par, loss, slots, size, panel, t, new, state):
    """(slot that goes, φ of all that stay); the basic variant's φ is :func:`shrinkage_of_all`."""
    variant, scale = int(par[_VARIANT]), state[SCALE]
    if variant == Variant.GREEDY:
        r = _harmless(loss, slots, size, panel, t, new, scale)
        if r >= 0:
            return r, 1.0
    r = oldest_slot(slots.info, size)
    phi = 1.0
    if variant != Variant.BASIC:
        sigma, mu = _weight_and_output(loss, slots, size, r, panel[t, r], new, scale)
        phi = _shrinkage(variant, sigma, mu, state)
    return r, phi


@jit_inline
def shrinkage_of_all(par, phi, limit, added, state):
    """The basic variant's φ for a mistake that adds ``added`` to ‖f‖²; ``phi`` for the others.

    φ = min((B+1)^(-1/(2(B+1))), U/‖f'‖), U = ¼ √((B+1)/ln(B+1)).
    """
    if int(par[_VARIANT]) != Variant.BASIC:
        return phi
    m = limit + 1.0
    radius = 0.25 * math.sqrt(m / math.log(m))
    squared_norm = state[SQUARED_NORM] + added
    phi = m ** (-0.5 / m)
    if squared_norm > 0.0:
        phi = min(phi, radius / math.sqrt(squared_norm))
    return phi


class ShrinkOldest(SizedRemoval):
    """Shrink f by φ, then drop the oldest row: what is dropped has been shrunk most.

    Parameters
    ----------
    budget : int, default=100
        B ≥ 1.
    variant : {"self-tuned", "basic", "greedy", "lsokl"}, default="self-tuned"
        "self-tuned": the largest φ ≤ 1 that keeps the damage of all removals below 15/32 of the
        mistakes; f is shrunk only when a row is dropped. "basic": φ from B and ‖f‖ alone, at every
        mistake. "greedy": the oldest stored row whose own damage is within 15/32 goes, and nothing
        is shrunk; where there is none, as self-tuned; up to O(B²) per removal. "lsokl": self-tuned,
        with a φ > 1 where the damage as a function of φ opens downwards, as in the program behind
        Lu et al. 2016; only for repeating its numbers.

    Notes
    -----
    Source: Dekel, Shalev-Shwartz & Singer 2008, sections 4 (basic) and 5 (self-tuned); greedy as in
    the Cognitive Foundry. Multiclass uses the coefficient and the score of the dropped row's own
    class, regression \\|α\\| and \\|f\\| (the convention of the LSOKL programs).
    """

    name = "shrink_oldest"
    kind: ClassVar[int] = RemovalKind.SHRINK_OLDEST
    rules: ClassVar[tuple[str, ...] | None] = ("perceptron",)
    reason = "its shrinkage is derived from the perceptron's count of mistakes"

    def __init__(self, budget: int = 100, variant: str = "self-tuned") -> None:
        self.budget = budget
        self.variant = variant

    def parameters(self) -> np.ndarray:
        out = np.zeros(N_PARAMETERS)
        out[_VARIANT] = member(self, "variant", Variant)
        return out

    def needs_gram(self, par: np.ndarray) -> bool:
        return True

    def needs_norm(self, par: np.ndarray) -> bool:
        return self.variant == "basic"

    def recomputes(self, par: np.ndarray) -> bool:
        return False
