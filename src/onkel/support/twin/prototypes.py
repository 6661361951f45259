"""The prototypes of the twin vector machine, their kernel values and margins."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from onkel.numerics.jit import jit_inline


class Twins(NamedTuple):
    """The arrays of the prototypes; the first ``counts[SIZE]`` slots are in use."""

    S: np.ndarray  # (B + 1, d) the prototypes
    A: np.ndarray  # (K, B + 1) β = α⁺ - α⁻
    plus: np.ndarray  # (K, B + 1) α⁺
    minus: np.ndarray  # (K, B + 1) α⁻
    mass: np.ndarray  # (classes, B + 1) weights of the rows that each stands for
    gram: np.ndarray  # (B + 1, B + 1) κ(S, S)
    outputs: np.ndarray  # (K, B + 1) f(s)
    counts: np.ndarray  # SIZE, BORN, CHANGED, REMOVED


@jit_inline
def kernel_row(X, t, S, size, gamma, row):
    """row[j] ← exp(-γ‖x_t - s_j‖²)."""
    for j in range(size):
        total = 0.0
        for i in range(S.shape[1]):
            gap = float(X[t, i]) - float(S[j, i])
            total += gap * gap
        row[j] = math.exp(-gamma * total)


@jit_inline
def rival_gap(scores, j, c):
    """Lead of class c over the others in column j, on a scale where the margin is 1."""
    if scores.shape[0] == 1:
        return scores[0, j] if c == 1 else -scores[0, j]
    rival = -np.inf
    for k in range(scores.shape[0]):
        if k != c:
            rival = max(rival, scores[k, j])
    return 0.5 * (scores[c, j] - rival)
