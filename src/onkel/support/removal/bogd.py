"""BOGD's budget: random removal made unbiased, with bounded coefficients."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar

import numpy as np

from onkel.numerics.calling import call_python
from onkel.numerics.jit import jit_inline
from onkel.numerics.random import pick, uniform
from onkel.parameters import member, positive, whole
from onkel.rules.base import SCALE, SQUARED_NORM
from onkel.support.budget import DIAGONAL, N_PARAMETERS
from onkel.support.removal.choices import oldest_slot
from onkel.support.removal.kinds import Removal, RemovalKind, weights
from onkel.support.slots import AFTER, BEFORE, gram_row

# Their places in the parameter vector.
_REMOVAL, _BOUND, _MOST = 0, 1, 2


class Chance(IntEnum):
    """Which row goes."""

    UNIFORM = 0
    NONUNIFORM = 1
    OLDEST = 2


class Bound(IntEnum):
    """What is done with coefficients above the bound."""

    EACH = 0
    ALL = 1


@jit_inline
def _draw(rng, chance, size):
    """A slot drawn at random, with the probabilities ``chance``."""
    left = uniform(rng)
    r = 0
    for j in range(size):
        if chance[0, j] > 0.0:
            r = j
            left -= chance[0, j]
            if left < 0.0:
                break
    return r


@jit_inline
def _chances(A, info, size, chance):
    """p_i = 1 - (B - 1) w_i/Σ_j w_j with w = ‖α‖ √κ(s, s); a dominant row's is 0."""
    weights(A, info, size, chance)
    total = 0.0
    for j in range(size):
        chance[0, j] = math.sqrt(chance[0, j])
        total += chance[0, j]
    kept = 0.0
    for j in range(size):
        p = 1.0 / size
        if total > 0.0:
            p = max(0.0, 1.0 - (size - 1.0) * chance[0, j] / total)
        chance[0, j] = p
        kept += p
    for j in range(size):
        chance[0, j] /= kept


@jit_inline
def _remaining(chance, j):
    """1 - p_j."""
    return max(1.0 - chance[0, j], 1e-9)


@jit_inline
def _rounding(A):
    """Factors that differ by less than this are the same."""
    return 1e-12 if A.itemsize == 8 else 1e-6


@jit_inline
def _common_factor(A, chance, r, size):
    """1/(1 - p_j) of most survivors, if most have the same: a vote in one pass."""
    common, votes = 1.0, 0
    for j in range(size):
        factor = 1.0 / _remaining(chance, j)
        if j != r:
            if votes == 0:
                common = factor
            votes += 1 if abs(factor - common) <= _rounding(A) * common else -1
    return common


@jit_inline
def _choose(par, slots, size, chance):
    """The slot r to drop, and a factor of the survivors.

    Where the p_i differ, row 0 of ``chance`` (1, B) ← the p_i: each survivor's factor is
    1/(1 - p_i), and the one returned is that of the first survivor, or
    of most where each other one takes a row of kernel values.
    """
    removal = int(par[_REMOVAL])
    if removal == Chance.OLDEST:
        return oldest_slot(slots.info, size), 1.0
    if removal == Chance.UNIFORM:
        return pick(slots.rng, size), size / (size - 1.0)
    _chances(slots.A, slots.info, size, chance)
    r = _draw(slots.rng, chance, size)
    if slots.recompute > 0:
        return r, _common_factor(slots.A, chance, r, size)
    return r, 1.0 / _remaining(chance, 1 if r == 0 else 0)


@jit_inline
def _stretch(j, factor, size, slots, state, track):
    """α_j ← factor · α_j; ``track``: updates ‖f‖² too."""
    A, gram = slots.A, slots.gram
    row = gram_row(j, slots) if track else 0
    for k in range(A.shape[0]):
        move = (factor - 1.0) * A[k, j]
        if track:
            output = 0.0
            for i in range(size):
                output += A[k, i] * gram[row, i]
            change = move * (2.0 * output + move * slots.info[DIAGONAL, j])
            state[SQUARED_NORM] += state[SCALE] * state[SCALE] * change
        A[k, j] += A.dtype.type(move)


@jit_inline
def _stretch_to(before, r, size, chance, slots, state):
    """α_j ← α_j/(1 - p_j)/``before`` for all but slot r.

    Once rows have been dropped, all terms but the newest have the same size, and so the same p:
    most need no change.
    """
    rounding = _rounding(slots.A)
    changed = 0
    for j in range(size if slots.recompute > 0 else 0):
        changed += j != r and abs(1.0 / (before * _remaining(chance, j)) - 1.0) > rounding
    at_once = changed > 1
    track = slots.gram.shape[0] > 0 and not at_once
    if at_once:
        call_python(slots.recompute, BEFORE)
    for j in range(size):
        factor = 1.0 / (before * _remaining(chance, j))
        if j != r and abs(factor - 1.0) > rounding:
            _stretch(j, factor, size, slots, state, track)
    if at_once:
        call_python(slots.recompute, AFTER)


@jit_inline
def _bounded(par, A, size, r, b, new, scale):
    """The factor of all terms, the new one too; with ``bound="each"`` it is 1, and A is cut."""
    most = par[_MOST] * b
    if most == np.inf:
        return 1.0
    if int(par[_BOUND]) == Bound.EACH:
        limit = A.dtype.type(most / scale)
        for k in range(A.shape[0]):
            for j in range(size):
                A[k, j] = min(max(A[k, j], -limit), limit)
        return 1.0
    largest = 0.0
    for k in range(A.shape[0]):
        largest = max(largest, abs(new[k]))
        for j in range(size):
            if j != r:
                largest = max(largest, abs(scale * A[k, j]))
    return min(1.0, most / largest) if largest > 0.0 else 1.0


@jit_inline
def bounded_slot(par, slots, size, b, new, state, work):
    """(slot that goes, factor of the survivors, factor of all with the new row)."""
    r, before = _choose(par, slots, size, work)
    if int(par[_REMOVAL]) == Chance.NONUNIFORM:
        _stretch_to(before, r, size, work, slots, state)
    return r, before, _bounded(par, slots.A, size, r, b, new, before * state[SCALE])


@jit_inline
def cuts(par):
    """Whether coefficients may have been cut, which the update of the norm does not see."""
    return par[_MOST] < np.inf


@dataclass(eq=False, repr=False)
class BoundedRemoval(Removal):
    """Random removal whose survivors stand in for the dropped row, and stay bounded.

    Uniform: every row is dropped with probability 1/B and the others are multiplied by
    B/(B - 1). Non-uniform: ``p_i = 1 - (B - 1)|α_i|√κ_ii/Σ_j |α_j|√κ_jj``, factor 1/(1 - p_i).

    Parameters
    ----------
    budget : int, default=100
        B ≥ 2 (1 with ``removal="oldest"``).
    removal : {"uniform", "nonuniform", "oldest"}, default="uniform"
        "oldest" drops the oldest row and multiplies by nothing.
    max_weight : float, default=10.0
        γ > 0: coefficients stay within γ steps, ±γη; inf for no bound.
    bound : {"each", "all"}, default="each"
        "each": a larger coefficient is cut. "all": the whole of f is multiplied so that the
        largest one fits (the LSOKL programs).

    Notes
    -----
    Source: Zhao, Wang, Wu, Jin & Hoi 2012, Algorithms 1 (uniform) and 2 (non-uniform).
    """

    name = "bounded"
    kind: ClassVar[int] = RemovalKind.BOUNDED
    rules: ClassVar[tuple[str, ...] | None] = ("gradient", "projected", "pegasos", "norma")
    reason = "its bound on the coefficients is counted in gradient steps"

    budget: int = 100
    removal: str = "uniform"
    max_weight: float = 10.0
    bound: str = "each"

    def limit(self) -> int | None:
        return whole(self, "budget", least=1 if self.removal == "oldest" else 2)

    def recomputes(self, par: np.ndarray) -> bool:
        # a coefficient that is cut changes ‖f‖² by more than a row tells
        return self.max_weight == np.inf and super().recomputes(par)

    def parameters(self) -> np.ndarray:
        most = np.inf if self.max_weight == np.inf else positive(self, "max_weight")
        out = np.zeros(N_PARAMETERS)
        out[_REMOVAL] = member(self, "removal", Chance)
        out[_BOUND], out[_MOST] = member(self, "bound", Bound), most
        return out
