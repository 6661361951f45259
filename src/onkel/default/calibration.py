"""Probabilities from scores: a logistic link, learned online.

Two classes: p = σ(a f + c), kept on the side of ½ that the sign of f predicts. More classes:
p = softmax(a f). Each score was made before its row was learned, so it is an honest prediction.
Online Newton steps on the logistic loss of these scores fit θ = (a, c):

    H ← H + w ∂²loss,   θ ← θ - H⁻¹ w ∂loss.

Source: Platt 1999 (the link), here on the stream's own predictions; Hazan, Agarwal & Kale 2007 (the
step).
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, softmax

from onkel.losses import sigmoid
from onkel.merging import joined
from onkel.numerics.jit import jit
from onkel.state import Array, Fields, Stateful, require

# Least squares on ±1 has f = 2p - 1 = tanh(½ logit p): a slope of 2 at 0; indicators likewise.
_FIRST_SLOPE = 2.0
_FIRST_ROWS = 1.0
#: scores far outside of the targets' range are clipped: they say no more than this
LARGEST = 10.0
#: the least probability of the positive class where it is predicted
MORE = np.nextafter(0.5, 1.0)


@jit
def _learn_two(f, positive, weight, theta, H, out):
    for t in range(len(f)):
        p = sigmoid(theta[0] * f[t] + theta[1])
        q = max(p, MORE) if f[t] > 0.0 else min(p, 0.5)
        out[t, 0] = q if positive[t] > 0.0 else 1.0 - q
        out[t, 1] = max(q, 1.0 - q)
        h = weight[t] * p * (1.0 - p)
        H[0, 0] += h * f[t] * f[t]
        H[0, 1] += h * f[t]
        H[1, 1] += h
        g = weight[t] * (p - positive[t])
        determinant = H[0, 0] * H[1, 1] - H[0, 1] * H[0, 1]
        theta[0] -= g * (H[1, 1] * f[t] - H[0, 1]) / determinant
        theta[1] -= g * (H[0, 0] - H[0, 1] * f[t]) / determinant


@jit
def _learn_many(F, codes, weight, theta, H, out):
    for t in range(F.shape[0]):
        top = F[t].max()
        total, mean, square = 0.0, 0.0, 0.0
        for k in range(F.shape[1]):
            e = math.exp(theta[0] * (F[t, k] - top))
            total += e
            mean += e * F[t, k]
            square += e * F[t, k] * F[t, k]
        mean /= total
        out[t, 0] = math.exp(theta[0] * (F[t, codes[t]] - top)) / total
        out[t, 1] = 1.0 / total
        H[0, 0] += weight[t] * max(square / total - mean * mean, 0.0)
        theta[0] -= weight[t] * (mean - F[t, codes[t]]) / H[0, 0]


class Calibration(Stateful):
    """θ = (a, c) and H (2, 2)."""

    STATE: ClassVar[Fields] = {
        "theta": Array(shape=(2,), low=-1e6, high=1e6),
        "H": Array(shape=(2, 2)),
    }

    def __init__(self) -> None:
        self.theta = np.array([_FIRST_SLOPE, 0.0])
        self.H = np.eye(2) * _FIRST_ROWS

    def learn(self, scores: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Learn from scores (n, K) made before each row was learned, and class ``codes`` (n,).

        Returns the probabilities (n, 2), before each row, of its class and of the predicted one.
        """
        out = np.empty((len(scores), 2))
        scores = np.minimum(np.maximum(scores, -LARGEST), LARGEST)
        if scores.shape[1] == 1:
            f = scores[:, 0]
            _learn_two(f, codes.astype(np.float64), weight, self.theta, self.H, out)
        else:
            _learn_many(scores, codes, weight, self.theta, self.H, out)
        return out

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """(n, max(K, 2)) of scores (n, K)."""
        scores = scores.clip(-LARGEST, LARGEST)
        if scores.shape[1] == 1:
            f = scores[:, 0]
            positive = expit(self.theta[0] * f + self.theta[1])
            # a probability never contradicts the predicted class
            positive = np.where(f > 0.0, np.maximum(positive, MORE), np.minimum(positive, 0.5))
            return np.stack([1.0 - positive, positive], axis=1)
        return np.asarray(softmax(self.theta[0] * scores, axis=1))

    def take_in(self, other: Calibration, origin: Calibration | None) -> None:
        """Add what another learned since both were ``origin``: H and H θ add."""
        of_all = (self, other, Calibration() if origin is None else origin)
        H = joined(of.H + np.triu(of.H, 1).T for of in of_all)
        total = joined((of.H + np.triu(of.H, 1).T) @ of.theta for of in of_all)
        self.theta, self.H = np.linalg.solve(H, total), np.triu(H)

    def check_state(self, state: dict[str, Any], sizes: dict[str, int]) -> None:
        (a, b), (_, c) = state["H"]
        require(a > 0.0 and a * c > b * b, "H: is not positive definite")
