"""The share of a correction: how much of it is added, by how right it was so far.

A correction s of f is added as a·s. a in [0, 1] is the least-squares share of s in the residuals r
of the rows so far, less its standard error: a correction that does not help is left out. It comes
from six sums over rows, each predicted before it was learned. Cells, linear functions and trees all
have such a share; some take the smallest of several, which remember fewer rows.
"""

from __future__ import annotations

import math

import numpy as np

from onkel.merging import joined
from onkel.numerics.jit import jit, jit_called

#: places in the sums: Σ⟨r, s⟩ and its standard error, Σ‖s‖², Σ‖r‖², Σ‖r - a s‖², rows
AGREED, DOUBT, SIZE, WHOLE, LEFT, ROWS = range(6)
N_SUMS = 6
#: rows between two steps of forgetting
PERIOD = 256


def share_left(sums: np.ndarray) -> float:
    """Squared residuals after a correction, as a share of those before."""
    whole = sums[WHOLE]
    return float(sums[LEFT] / whole) if whole > 0.0 else 1.0


def steps_since(sums: np.ndarray, origin: np.ndarray) -> int:
    """Steps of forgetting of the sums of a correction since they were those of ``origin``."""
    return int(sums[ROWS] // PERIOD - origin[ROWS] // PERIOD)


def joined_sums(mine: np.ndarray, other: np.ndarray, origin: np.ndarray, kept: float) -> np.ndarray:
    """The sums of one correction over the rows of two models."""
    sums: np.ndarray = joined((mine, other, origin), kept)
    doubts = (part[DOUBT] ** 2 for part in (mine, other, origin))
    sums[DOUBT] = max(joined(doubts, kept**2), 0.0) ** 0.5
    sums[ROWS] = joined(part[ROWS] for part in (mine, other, origin))
    return sums


# ---- the loops ---------------------------------------------------------------------------------


@jit_called
def share(sums, doubt=1.0):
    """a: the least squares share of s in r, less ``doubt`` standard errors; in [0, 1]."""
    if sums[SIZE] <= 0.0:
        return 0.0
    return min(max((sums[AGREED] - doubt * sums[DOUBT]) / sums[SIZE], 0.0), 1.0)


@jit_called
def add_to_sums(r, s, a, weight, sums, expected=0.0):
    """Add a row. Its ⟨r, s⟩ is uncertain by how far it is from ``expected`` ‖s‖².

    With 0 all of it is: that is the standard error where s says nothing. Where s is right about
    most of r, that would be far too much, and a share known from the rows before says what to
    expect.
    """
    agreed, size, whole, left = 0.0, 0.0, 0.0, 0.0
    for k in range(len(s)):
        agreed += r[k] * s[k]
        size += s[k] * s[k]
        whole += r[k] * r[k]
        left += (r[k] - a * s[k]) ** 2
    sums[AGREED] += weight * agreed
    # a sum of fourth powers would overflow long before sums of squares do
    sums[DOUBT] = math.hypot(sums[DOUBT], weight * (agreed - expected * size))
    sums[SIZE] += weight * size
    sums[WHOLE] += weight * whole
    sums[LEFT] += weight * left
    sums[ROWS] += 1.0


@jit
def learn_share(R, S, weight, kept, sums, doubt, out):
    """out (n, K) ← a s of corrections S (n, K), before the residuals R of each row are known.

    a is the smallest of the shares of several memories, less ``doubt`` standard errors. ``sums``
    (M, N_SUMS) are those of each, and ``kept`` (M,): what is left of them after each PERIOD of
    rows.
    """
    for t in range(len(S)):
        a = 1.0
        for m in range(len(sums)):
            a = min(a, share(sums[m], doubt))
        for k in range(S.shape[1]):
            out[t, k] = a * S[t, k]
        if weight[t] > 0.0:
            for m in range(len(sums)):
                add_to_sums(R[t], S[t], a, weight[t], sums[m])
                if kept[m] < 1.0 and sums[m, ROWS] % PERIOD == 0.0:
                    fade(sums[m], kept[m])


@jit_called
def fade(sums, kept):
    # numba takes seconds to compile the same for a slice
    for k in range(ROWS):
        sums[k] *= kept
