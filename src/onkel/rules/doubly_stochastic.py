"""Doubly stochastic gradients: random rows, and a random part of the features for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from onkel.numerics.jit import jit_inline
from onkel.parameters import non_negative, positive, whole
from onkel.rules.base import ALPHA, OWN, Rule, RuleKind, vector


class DoublyScalars(NamedTuple):
    """η, its decay, and the number of parts P."""

    eta: float
    decay: float
    n_parts: float


@jit_inline
def doubly_step(par, t, weight):
    """f ← (1 - η_t α) f + η_t c κ_s(x, ·) with η_t = η/(1 + decay·t); κ_s = P times a P-th of κ."""
    own = DoublyScalars(par[OWN], par[OWN + 1], par[OWN + 2])
    eta = own.eta / (1.0 + own.decay * t)
    return 1.0 - eta * par[ALPHA], own.n_parts * eta * weight


@jit_inline
def move_part(par, t, b, Z, i, W, k):
    """Add b · row i of Z to row k of W in every P-th feature: part (t - 1) mod P."""
    parts = int(DoublyScalars(par[OWN], par[OWN + 1], par[OWN + 2]).n_parts)
    step = W.dtype.type(b)
    for j in range((int(t) - 1) % parts, Z.shape[1], parts):
        W[k, j] += step * Z[i, j]


@dataclass(eq=False, repr=False)
class DoublyStochastic(Rule):
    """Doubly stochastic gradient: row t moves the weights of one part of the features only.

    ``w ← (1 - η_t α) w``, then ``w_j ← w_j - η_t ℓ'(f(x_t), y_t) P z_j(x_t)`` for the features j of
    part (t - 1) mod P, with ``η_t = η/(1 + decay·t)``. A part is every P-th feature (the cosine and
    the sine of a frequency stay together if P divides the number of frequencies). P times the sum
    over one part estimates κ without bias, so each step equals that of :class:`Gradient` in
    expectation. Parts save work on weights but add variance: more parts need a smaller η.

    Parameters
    ----------
    learning_rate : float, default=0.5
        η > 0 (θ in the paper).
    decay : float, default=0.0
        At least 0 (θ' in the paper).
    alpha : float, default=0.0
        L2 penalty (ν in the paper); ``learning_rate * alpha`` must be below 1.
    n_parts : int, default=8
        P ≥ 1; 1 is the plain gradient.

    Notes
    -----
    Source: Dai, Xie, He, Liang, Raj, Balcan & Song 2014, Algorithms 1 and 2. In the paper every
    row brings a new random feature and the model grows for ever. Here the number of features is
    fixed: the first P rows bring new ones, as in the paper; later rows reuse the parts in turn, and
    the limit of learning is the best f over these features. Rows come once, in stream order, each
    predicted before it is learned.
    """

    name = "doubly_stochastic"
    kind = RuleKind.DOUBLY_STOCHASTIC
    by_feature = True

    learning_rate: float = 0.5
    decay: float = 0.0
    alpha: float = 0.0
    n_parts: int = 8

    def parameters(self) -> np.ndarray:
        eta, alpha = positive(self, "learning_rate"), non_negative(self, "alpha")
        decay, parts = non_negative(self, "decay"), whole(self, "n_parts")
        if eta * alpha >= 1.0:
            raise ValueError(
                f"learning_rate * alpha = {eta * alpha:g} must be below 1, or f would change sign"
            )
        return vector(*DoublyScalars(eta, decay, float(parts)), alpha=alpha)
