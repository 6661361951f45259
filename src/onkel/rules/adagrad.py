"""AdaGrad: a step size per weight."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from onkel.numerics.jit import jit_inline
from onkel.parameters import non_negative, positive
from onkel.rules.base import ALPHA, OWN, Rule, RuleKind, vector

# Added to the root of the summed squares, so that a first gradient of 0 is not divided by 0.
_FLOOR = 1e-8


class AdaGradScalars(NamedTuple):
    """The step size η."""

    eta: float


@jit_inline
def adagrad_move(par, weight, Z, t, c, W, H):
    """g = α w - c z;  H ← H + g²;  w ← w - η g/√H, for each output that moves."""
    own, alpha = AdaGradScalars(par[OWN]), par[ALPHA]
    moved = False
    for k in range(W.shape[0]):
        if c[k] == 0.0 and alpha == 0.0:
            continue
        moved = True
        pull = W.dtype.type(weight * c[k])
        decay = W.dtype.type(alpha)
        step = W.dtype.type(own.eta)
        floor = W.dtype.type(_FLOOR)
        for j in range(Z.shape[1]):
            g = decay * W[k, j] - pull * Z[t, j]
            H[k, j] += g * g
            W[k, j] -= step * g / (math.sqrt(H[k, j]) + floor)
    return moved


class AdaGrad(Rule):
    """Diagonal adaptive gradient: ``H ← H + g²``, ``w ← w - η g/√H``, per weight.

    Parameters
    ----------
    learning_rate : float, default=0.1
        η > 0.
    alpha : float, default=0.0
        L2 penalty on the weights.

    Notes
    -----
    Source: Duchi, Hazan & Singer 2011, Figure 1 (diagonal). The state is one number per weight,
    so the rule needs an explicit map.
    """

    name = "adagrad"
    kind = RuleKind.ADAGRAD
    by_feature = True

    def __init__(self, learning_rate: float = 0.1, alpha: float = 0.0) -> None:
        self.learning_rate = learning_rate
        self.alpha = alpha

    def parameters(self) -> np.ndarray:
        eta, alpha = positive(self, "learning_rate"), non_negative(self, "alpha")
        return vector(*AdaGradScalars(eta), alpha=alpha)
