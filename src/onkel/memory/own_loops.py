"""What sets a group apart: its own small correction of what all groups share.

The shared prediction p is corrected by least squares on p's errors in this group's rows, over how
far the group's last values, level and timeless prediction f lie from p. p and the corrected
prediction are two experts of a mixture that each group has for itself
(:mod:`onkel.memory.experts`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from onkel.memory.experts import Mixture, learn_mixture, mix
from onkel.memory.linear import absorb, begin, move, times
from onkel.numerics.jit import jit

_N = 5
_RIDGE = 1.0


class Own(NamedTuple):
    """Regressions and mixtures of the groups, which are the first axis."""

    P: np.ndarray
    w: np.ndarray
    regret: np.ndarray
    spread: np.ndarray
    weights: np.ndarray
    largest: np.ndarray


def new_own(n: int) -> Own:
    """Room for n groups."""
    R, S, w = np.zeros((n, 2)), np.zeros((n, 2)), np.zeros((n, 2))
    return Own(np.zeros((n, _N, _N)), np.zeros((n, _N)), R, S, w, np.zeros((n, 1)))


@jit
def _mixture(own, slot):
    return Mixture(own.regret[slot], own.spread[slot], own.weights[slot], own.largest[slot])


@jit
def _begin(own, slot):
    begin(own.P[slot], _RIDGE)
    own.w[slot], own.regret[slot], own.spread[slot] = 0.0, 0.0, 0.0
    own.largest[slot] = 0.0
    own.weights[slot, 0], own.weights[slot, 1] = 0.5, 0.5


@jit
def correct(own, slot, new, known, p, v, E):
    """p (1,): the shared prediction; becomes that of the group's own mixture.

    ``known`` (4,): the last two values, a level and f. v (5,) and E (2, 1) go to learn_own.
    """
    if new:
        _begin(own, slot)
    v[0], E[0, 0], E[1, 0] = 1.0, p[0], p[0]
    for j in range(_N - 1):
        v[1 + j] = known[j] - p[0]
    for j in range(_N):
        E[1, 0] += own.w[slot, j] * v[j]
    mix(_mixture(own, slot), E, p)


@jit
def learn_own(own, slot, p, target, weight, v, E, k):
    """Learn the row that :func:`correct` was asked about: target (1,), weight."""
    learn_mixture(_mixture(own, slot), E, p, target, weight)
    spread = 1.0 / weight + times(own.P[slot], v, _N, k)
    move(own.w[slot], _N, k, (target[0] - E[1, 0]) / spread)
    absorb(own.P[slot], _N, k, spread)
