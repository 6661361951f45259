"""From the parameters of a spectrum to its frequencies: what RRF's map and its loop share.

Frequency d belongs to component b where ``first[b] <= d < first[b + 1]``; its law is
ω_d = exp(g_b) ∘ (m_b + e_d), and the component has the share softmax(logit)_b of the kernel.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from onkel.numerics.jit import jit, jit_inline


class Law(NamedTuple):
    """What frequencies are made of: noise (d, D), and the parameters of G components.

    These are log-widths (d, G); means (d, G), or (d, 0) for none; logits (G,) of the shares, or
    (0,) where all frequencies weigh the same; the numbers of the first frequencies (G + 1,).
    """

    noise: np.ndarray
    log_width: np.ndarray
    mean: np.ndarray
    logit: np.ndarray
    first: np.ndarray


#: log-widths stay within ±20: no sane stream comes near, and exp can't overflow
WIDEST = 20.0


@jit_inline
def fill_frequencies(n, E, log_width, mean, first, F):
    """Row n of F ← exp(g_n) (m_n + e_n), by component."""
    for b in range(log_width.shape[1]):
        width = F.dtype.type(math.exp(log_width[n, b]))
        middle = F.dtype.type(mean[n, b] if mean.shape[1] > 0 else 0.0)
        for d in range(first[b], first[b + 1]):
            F[n, d] = width * (middle + E[n, d])


@jit_inline
def fill_shares(logit, first, shares, amplitude):
    """Row 0 of ``shares`` ← softmax(logit); a_d ← √(share_b/D_b) for the component b of d."""
    top, total = -np.inf, 0.0
    for b in range(logit.shape[0]):
        top = max(top, logit[b])
    for b in range(logit.shape[0]):
        shares[0, b] = math.exp(logit[b] - top)
        total += shares[0, b]
    for b in range(logit.shape[0]):
        shares[0, b] /= total
        for d in range(first[b], first[b + 1]):
            amplitude[d] = math.sqrt(shares[0, b] / (first[b + 1] - first[b]))


@jit
def frequencies_of(E, log_width, mean, first):
    """ω (d, D), in the precision of the noise E (d, D)."""
    F = np.empty_like(E)
    for n in range(E.shape[0]):
        fill_frequencies(n, E, log_width, mean, first, F)
    return F


@jit
def amplitudes_of(logit, first, amplitude):
    """a (D,) of a mixture, written to ``amplitude``; returns the shares (G,)."""
    shares = np.empty((1, logit.shape[0]))
    fill_shares(logit, first, shares, amplitude)
    return shares[0]
