"""Probabilities from scores: a link that bends, learned online.

Two classes: p = σ(h(f)), kept on the side of ½ that the sign of f predicts. More classes:
p = softmax(h(f_1), ..., h(f_K)). h grows and is linear between a few knots x_1 < x_2 < ... with the
values v_1, v_2, ...:

    h(f) = (1-u) v_j + u v_{j+1},    u = (f - x_j)/(x_{j+1} - x_j).

Least squares scores are near the targets ±1, or 0 and 1, and their log-odds are not a line: so the
knots are close there. Each score was made before its row was learned, so it is an honest
prediction. Steps on the logistic loss of these scores fit v, here for two classes (y is 0 or 1):

    e_j ← e_j + p(1-p)(1-u),    v_j ← v_j - (p - y)(1-u)/e_j,

and likewise for j+1 with u. These are Newton steps with a diagonal that bounds the Hessian. The
sums e fade, by half in 1 386 rows, so that the link follows changes. Two values that a step puts
out of order meet at their mean, weighted by e, and push those beside them.

Source: Platt 1999 (a link learned from scores); the bent link is ours.
docs/results/probabilities.md shows what it brings.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from scipy.special import expit, softmax

from onkel.fields import Array, Fields, State, require
from onkel.losses import sigmoid
from onkel.numerics.jit import jit, jit_inline
from onkel.state import Stateful

#: scores far outside of the targets' range are clipped: they say no more than this
LARGEST = 10.0
#: the least probability of the positive class where it is predicted
MORE = np.nextafter(0.5, 1.0)

_HALF = (0.5, 0.75, 0.9, 1.0, 1.2, 2.0, 4.0, LARGEST)
#: knots for scores of two classes, ±1, and for scores of more, 0 or 1
TWO = np.array([*(-x for x in reversed(_HALF)), 0.0, *_HALF])
_SHARES = (0.0, 0.05, 0.12, 0.25, 0.4, 0.6, 0.8, 0.9, 1.0)
MANY = np.array([-LARGEST, -4.0, -2.0, -0.5, -0.1, *_SHARES, 1.1, 2.0, 4.0, LARGEST])
# Least squares on ±1 has f = 2p - 1 = tanh(½ logit p): a slope of 2 at 0. Indicators have f = p:
# its logarithm, and beyond 0.02 and 1 a slope of 1.
_FIRST_SLOPE, _LEAST_SHARE = 2.0, 0.02
#: what a knot has learned before its first row, in the units of e
_FIRST_ROWS = 1.0
_KEPT = 0.9995
#: so that equal probabilities never hide an order of scores
_LEAST_SLOPE = 0.01
# smaller sums are what rounding leaves of a difference
_LEAST_GAIN = 1e-9


@jit_inline
def _place(f, knots):
    """j and u of a score."""
    first, last = 0, knots.shape[0] - 1
    while last - first > 1:
        middle = (first + last) // 2
        if f > knots[middle]:
            first = middle
        else:
            last = middle
    return first, (f - knots[first]) / (knots[last] - knots[first])


@jit_inline
def _fade(e):
    for k in range(e.shape[0]):
        e[k] = _FIRST_ROWS + _KEPT * (e[k] - _FIRST_ROWS)


def _faded(e: np.ndarray, rows: int) -> np.ndarray:
    """What is left of sums e after so many rows."""
    return np.asarray(e + (_KEPT**rows - 1.0) * (e - _FIRST_ROWS))


@jit_inline
def _step(v, e, j, u, gradient):
    """Move the values of the knots beside a score; no value by more than 1."""
    step = min(max(gradient, -e[j]), e[j])
    v[j] -= step * (1.0 - u) / e[j]
    step = min(max(gradient, -e[j + 1]), e[j + 1])
    v[j + 1] -= step * u / e[j + 1]


@jit_inline
def _follow(e, j, before, now):
    """After a step of v_j: what rows have told, as far as they would tell it at its value now."""
    p, q = sigmoid(before), sigmoid(now)
    e[j] = _FIRST_ROWS + (e[j] - _FIRST_ROWS) * min((q * (1.0 - q)) / (p * (1.0 - p)), 1.0)


@jit_inline
def _put_in_order(v, e, knots, j):
    """After a step of v_j and v_{j+1}: no slope below the least."""
    least = _LEAST_SLOPE * (knots[j + 1] - knots[j])
    if v[j + 1] - v[j] < least:
        v[j] = (e[j] * v[j] + e[j + 1] * (v[j + 1] - least)) / (e[j] + e[j + 1])
        v[j + 1] = v[j] + least
    for k in range(j, 0, -1):
        v[k - 1] = min(v[k - 1], v[k] - _LEAST_SLOPE * (knots[k] - knots[k - 1]))
    for k in range(j + 1, v.shape[0] - 1):
        v[k + 1] = max(v[k + 1], v[k] + _LEAST_SLOPE * (knots[k + 1] - knots[k]))


@jit
def _learn_two(f, positive, weight, knots, v, e, out):
    for t in range(len(f)):
        j, u = _place(f[t], knots)
        p = sigmoid((1.0 - u) * v[j] + u * v[j + 1])
        q = max(p, MORE) if f[t] > 0.0 else min(p, 0.5)
        out[t, 0] = q if positive[t] > 0.0 else 1.0 - q
        out[t, 1] = max(q, 1.0 - q)
        if weight[t] > 0.0:
            _fade(e)
            h = weight[t] * p * (1.0 - p)
            e[j] += h * (1.0 - u)
            e[j + 1] += h * u
            before = v[j], v[j + 1]
            _step(v, e, j, u, weight[t] * (p - positive[t]))
            for k in range(2):
                _follow(e, j + k, before[k], v[j + k])
            _put_in_order(v, e, knots, j)


@jit
def _learn_many(F, codes, weight, knots, v, e, shares, out):
    """``shares`` (n or 1, K): of all classes, of each row or of the last one."""
    K, before = F.shape[1], np.empty(v.shape[0])
    for t in range(F.shape[0]):
        P = shares[t if shares.shape[0] > 1 else 0]
        top, best = -np.inf, 0
        for k in range(K):
            j, u = _place(F[t, k], knots)
            P[k] = (1.0 - u) * v[j] + u * v[j + 1]
            top = max(top, P[k])
            if F[t, k] > F[t, best]:
                best = k
        total = 0.0
        for k in range(K):
            P[k] = math.exp(P[k] - top)
            total += P[k]
        for k in range(K):
            P[k] /= total
        out[t, 0], out[t, 1] = P[codes[t]], P[best]
        if weight[t] > 0.0:
            _fade(e)
            for k in range(K):
                j, u = _place(F[t, k], knots)
                h = weight[t] * P[k] * (1.0 - P[k])
                e[j] += h * (1.0 - u)
                e[j + 1] += h * u
            before[:] = v
            for k in range(K):
                j, u = _place(F[t, k], knots)
                _step(v, e, j, u, weight[t] * (P[k] - (1.0 if k == codes[t] else 0.0)))
            whole = top + math.log(total)
            for j in range(v.shape[0]):
                if v[j] != before[j]:
                    _follow(e, j, before[j] - whole, v[j] - whole)
            for k in range(K):
                j, u = _place(F[t, k], knots)
                _put_in_order(v, e, knots, j)


def _begun(knots: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.stack([values, np.full(len(knots), _FIRST_ROWS)])


class Calibration(Stateful):
    """The values v and the sums e of a link for two classes, and of one for more: (2, knots)."""

    STATE: ClassVar[Fields] = {
        "two": Array(shape=(2, len(TWO))),
        "many": Array(shape=(2, len(MANY))),
    }

    def __init__(self) -> None:
        self.two: np.ndarray = _begun(TWO, _FIRST_SLOPE * TWO)
        inside = MANY.clip(_LEAST_SHARE, 1.0)
        self.many: np.ndarray = _begun(MANY, np.log(inside) + MANY - inside)

    def learn(self, scores: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Learn from scores (n, K) made before each row was learned, and class ``codes`` (n,).

        Returns the probabilities (n, 2), before each row, of its class and of the predicted one.
        """
        out = np.empty((len(scores), 2))
        scores = np.minimum(np.maximum(scores, -LARGEST), LARGEST)
        if scores.shape[1] == 1:
            f = scores[:, 0]
            _learn_two(f, codes.astype(np.float64), weight, TWO, *self.two, out)
        else:
            shares = np.empty((1, scores.shape[1]))
            _learn_many(scores, codes, weight, MANY, *self.many, shares, out)
        return out

    def learn_all(self, scores: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """As `learn`; returns the probabilities (n, max(K, 2)) of all classes before each row."""
        if scores.shape[1] == 1:
            own = self.learn(scores, codes, weight)[:, 0]
            positive = np.where(codes > 0, own, 1.0 - own)
            return np.column_stack([1.0 - positive, positive])
        shares, scores = np.empty(scores.shape), scores.clip(-LARGEST, LARGEST)
        _learn_many(scores, codes, weight, MANY, *self.many, shares, np.empty((len(scores), 2)))
        return shares

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """(n, max(K, 2)) of scores (n, K)."""
        if scores.shape[1] == 1:
            f = scores[:, 0]
            positive = expit(np.interp(f, TWO, self.two[0]))
            # a probability never contradicts the predicted class
            positive = np.where(f > 0.0, np.maximum(positive, MORE), np.minimum(positive, 0.5))
            return np.stack([1.0 - positive, positive], axis=1)
        return np.asarray(softmax(np.interp(scores, MANY, self.many[0]), axis=1))

    def take_in(
        self, other: Calibration, since: Calibration | None, rows: int, its_rows: int
    ) -> None:
        """Merge with another: the mean of the values, weighted by what each knot has learned.

        ``since``: the link that both went on from; None: a new one. ``rows`` and ``its_rows``: how
        many this one and the other have learned from there. Those of the other follow.
        """
        if not its_rows:
            return
        links = (self, other, Calibration() if since is None else since)
        of_two, of_many = ([getattr(link, name) for link in links] for name in ("two", "many"))
        for (mine, its, origin), knots in ((of_two, TWO), (of_many, MANY)):
            gained = np.maximum(mine[1] - _faded(origin[1], rows), 0.0)
            its_gained = np.maximum(its[1] - _faded(origin[1], its_rows), 0.0)
            total = gained + its_gained
            # a knot that neither has learned from was moved by its neighbours
            by_rows = np.full(len(knots), its_rows / (rows + its_rows))
            share = np.divide(its_gained, total, out=by_rows, where=total > _LEAST_GAIN)
            mine[0] += share * (its[0] - mine[0])
            mine[1] = _faded(mine[1], its_rows) + its_gained
            least = _LEAST_SLOPE * knots
            mine[0] = np.maximum.accumulate(mine[0] - least) + least

    def check_state(self, state: State, sizes: dict[str, int]) -> None:
        for name in ("two", "many"):
            values, learned = state[name]
            require(np.all(np.diff(values) > 0.0), f"{name}: values are not in growing order")
            require(np.all(learned >= 0.5 * _FIRST_ROWS), f"{name}: a knot has no weight")
