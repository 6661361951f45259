"""Losses: what a prediction costs, and in which direction the outputs should move.

One function, :func:`evaluate`, serves all tasks. With one output (binary and regression) the label
``y`` is -1, +1 or a real number and p the score; with K outputs ``y`` is the class code 0..K-1 and
p the K scores. It returns the loss and writes ``c = -∂loss/∂p``: the direction in
which the outputs move, so that every rule is ``f ← a·f + b·c·κ(x, ·)``.

==================== =============================== ==========================================
name                 one output                      K outputs
==================== =============================== ==========================================
hinge                max(0, 1 - y p)                 max(0, 1 - (p_y - max_{s≠y} p_s))
squared_hinge        max(0, 1 - y p)²                the square of the same
logistic             log(1 + exp(-y p))              softmax: -log(exp p_y / Σ exp p_k)
margin_logistic      the same                        log(1 + exp(-(p_y - max_{s≠y} p_s)))
perceptron           max(0, -y p), moves on mistakes max(0, max_{s≠y} p_s - p_y), on mistakes
squared              (y - p)²/2 where |y - p| > ε
absolute             \\|y - p\\|
epsilon_insensitive  max(0, \\|y - p\\| - ε)
==================== =============================== ==========================================

A score of exactly 0 predicts +1; among equal scores the first class is predicted. The perceptron
moves only where this prediction is wrong (the convention of the LSOKL programs).
"""

from __future__ import annotations

import math
from enum import IntEnum

import numpy as np

from onkel.numerics.jit import jit, jit_inline


class Loss(IntEnum):
    """The numbers of the losses in the compiled loops; those of classes go up to PERCEPTRON."""

    MARGIN_LOGISTIC = -1
    HINGE = 0
    SQUARED_HINGE = 1
    LOGISTIC = 2
    PERCEPTRON = 3
    SQUARED = 4
    ABSOLUTE = 5
    EPSILON_INSENSITIVE = 6


CLASSIFICATION = ("hinge", "squared_hinge", "logistic", "margin_logistic", "perceptron")
REGRESSION = ("squared", "absolute", "epsilon_insensitive")
PROBABILISTIC = ("logistic",)
_ALIASES = {
    "softmax": "logistic",
    "log_loss": "logistic",
    "l1": "absolute",
    "l2": "squared",
    "squared_error": "squared",
}


def parse_loss(loss: str, allowed: tuple[str, ...]) -> Loss:
    """The :class:`Loss` of a name; ValueError with the allowed names otherwise."""
    name = _ALIASES.get(loss, loss) if isinstance(loss, str) else loss
    if name not in allowed:
        raise ValueError(f"loss={loss!r} is not one of {', '.join(map(repr, allowed))}")
    return Loss[name.upper()]


@jit_inline
def sigmoid(x):
    """1/(1 + exp(-x)); exp gets only non-positive numbers, so it cannot overflow."""
    e = math.exp(-abs(x))
    return (1.0 if x >= 0.0 else e) / (1.0 + e)


@jit_inline
def _logistic(margin):
    """log(1 + exp(-margin)), and minus its derivative."""
    # exp of a non-positive number cannot overflow
    e = math.exp(-abs(margin))
    return math.log1p(e) + max(0.0, -margin), (e if margin > 0.0 else 1.0) / (1.0 + e)


@jit_inline
def _one_output(loss, p, y, epsilon, c):
    """Loss and direction with one output."""
    value = 0.0
    move = 0.0
    if loss <= Loss.PERCEPTRON:
        margin = y * p
        if loss == Loss.LOGISTIC or loss == Loss.MARGIN_LOGISTIC:
            value, move = _logistic(margin)
            move *= y
        elif loss == Loss.PERCEPTRON:
            if (p >= 0.0) != (y > 0.0):
                value, move = max(0.0, -margin), y
        elif margin < 1.0:
            value, move = 1.0 - margin, y
            if loss == Loss.SQUARED_HINGE:
                value, move = value * value, 2.0 * value * y
    else:
        delta = y - p
        size = abs(delta)
        if loss == Loss.ABSOLUTE:
            value, move = size, np.sign(delta)
        elif size > epsilon:
            if loss == Loss.SQUARED:
                value, move = 0.5 * delta * delta, delta
            else:
                value, move = size - epsilon, np.sign(delta)
    c[0] = move
    return value


@jit
def _softmax(P, t, k, c):
    """Softmax loss of class k; c = onehot(k) - softmax(p)."""
    top = P[t, 0]
    for j in range(1, P.shape[1]):
        top = max(top, P[t, j])
    total = 0.0
    for j in range(P.shape[1]):
        c[j] = math.exp(P[t, j] - top)
    for j in range(P.shape[1]):
        total += c[j]
    for j in range(P.shape[1]):
        c[j] = -c[j] / total
    c[k] += 1.0
    return math.log(total) - (P[t, k] - top)


@jit
def _many_outputs(loss, P, t, k, c):
    """Loss and direction with K outputs: the true class k against the best wrong one."""
    if loss == Loss.LOGISTIC:
        return _softmax(P, t, k, c)
    other = -1
    for j in range(P.shape[1]):
        c[j] = 0.0
        if j != k and (other < 0 or P[t, j] > P[t, other]):
            other = j
    margin = P[t, k] - P[t, other]
    value = 0.0
    move = 0.0
    if loss == Loss.PERCEPTRON:
        # among equal scores the first class is predicted
        if margin < 0.0 or (margin == 0.0 and other < k):
            value, move = -margin, 1.0
    elif loss == Loss.MARGIN_LOGISTIC:
        value, move = _logistic(margin)
    elif margin < 1.0:
        value, move = 1.0 - margin, 1.0
        if loss == Loss.SQUARED_HINGE:
            value, move = value * value, 2.0 * value
    c[k] = move
    c[other] = -move
    return value


@jit_inline
def evaluate(loss, P, t, y, epsilon, c):
    """Loss of the scores in row t of P (n, K) for label y; writes c = -∂loss/∂p (K,)."""
    if P.shape[1] == 1:
        return _one_output(loss, P[t, 0], y, epsilon, c)
    return _many_outputs(loss, P, t, int(y), c)


@jit_inline
def evaluate_by_margin(loss, P, t, y, epsilon, margin, c):
    """As :func:`evaluate`, with ``margin`` in place of 1 for the losses that have a margin."""
    k = 0 if P.shape[1] == 1 else int(y)
    p = P[t, k]
    if margin != 1.0:
        P[t, k] = p + (1.0 - margin) * (y if P.shape[1] == 1 else 1.0)
    value = evaluate(loss, P, t, y, epsilon, c)
    P[t, k] = p
    return value
