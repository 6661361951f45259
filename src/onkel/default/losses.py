"""The losses that trees and a linear follower learn by: of numbers, of two classes, and of more."""

from __future__ import annotations

import numpy as np

from onkel.numerics.jit import jit_inline

#: squared errors, log loss of two classes (targets 0 and 1), log loss of more (indicators)
SQUARED, TWO, MORE = range(3)


def loss_for(Y: np.ndarray) -> int:
    """The loss for targets Y (n, K): numbers, signs of two classes, or indicators of more."""
    if Y.shape[1] > 1:
        return MORE
    return TWO if (np.abs(Y) == 1.0).all() else SQUARED


@jit_inline
def slopes_of_row(f, y, weight, loss, g, h):
    """g and h (K,) ← slope and curvature of the loss of a row at f (K,), times its weight."""
    K, total = len(f), 1.0
    if loss == MORE:
        most, total = f[0], 0.0
        for k in range(K):
            most = max(most, f[k])
        for k in range(K):
            g[k] = np.exp(f[k] - most)
        for k in range(K):
            total += g[k]
    elif loss == TWO:
        g[0] = 1.0 / (1.0 + np.exp(-f[0]))
    for k in range(K):
        if loss == SQUARED:
            p, curved = f[k], 1.0
        else:
            p = g[k] / total
            curved = p * (1.0 - p)
        g[k], h[k] = weight * (y[k] - p), weight * curved
