"""The search for landmarks and widths: up the evidence, as far as held-out rows improve.

At first all landmarks share their widths. Where there are enough rows, a second search gives each
landmark widths of its own; they are kept if they predict the held-out rows better. Held-out rows
also choose the penalty λ, because the evidence ignores that the landmarks were fitted to the
targets.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np

from onkel.maps.landmarks.evidence import (
    STEP_ROWS,
    Gradient,
    Landmarks,
    Sums,
    gradient_in_steps,
    sums_in_steps,
)
from onkel.maps.landmarks.rational import kernel_columns
from onkel.numerics.in_steps import in_shares

# A search looks at this many rows at most, drawn at random; a fifth of them are held out, up to a
# limit.
_MOST_ROWS = 65_536
_HELD_OUT, _MOST_HELD_OUT = 0.2, 4096
# Steps between two checks on the held-out rows. After two checks without improvement the search
# returns to its best point and goes on with smaller steps.
_CHECK_EVERY = 6
_PATIENCE = 2
_SMALLER = 0.3
# In the second half of a search steps shrink, down to this share; a check there without improvement
# ends it.
_LAST_SIZE = 0.05
# With more rows than this, the most expensive part of the gradient uses one row in _EVERY.
_ENOUGH_ROWS, _EVERY = 2048, 4
# Steps of landmarks (in standard deviations of a column) and log-widths; the second where landmarks
# have widths of their own.
_SIZES = ((0.045, 0.15), (0.03, 0.1))
# Adam's decays, and the share that all landmarks have in the squares of a column's gradients: one
# landmark's are noisy.
_DECAY, _OF_SQUARES, _SHARED = 0.8, 0.99, 0.5
# Rows per landmark from which on widths of each landmark's own are tried.
_OWN_FROM = 15
# There are more of them to find, in so many times as many steps.
_OWN_STEPS = 2
_OWN_RIDGE = 0.1
# Factors of λ tried at every check.
_RIDGES = np.log([0.25, 0.5, 1.0, 2.0, 4.0])
_RIDGE_RANGE = np.log([1e-3, 1e3])


class _Rows(NamedTuple):
    """X (n, d), Y (n, C), weight (n,)."""

    X: np.ndarray
    Y: np.ndarray
    weight: np.ndarray

    @property
    def root(self) -> np.ndarray:
        """√weight (n, 1); (0, 1) where all are 1."""
        if (self.weight == 1.0).all():
            return np.empty((0, 1))
        return np.sqrt(self.weight)[:, None]

    @property
    def of_sums(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """X, Y and √weight."""
        return self.X, self.Y, self.root


class _Adam:
    """Kingma & Ba 2015, with one step size for landmarks and one for widths."""

    def __init__(self) -> None:
        self.t = 0
        self.mean: list[Any] = [0.0, 0.0]
        self.square: list[Any] = [0.0, 0.0]

    def step(self, at: Landmarks, down: Gradient, size: float) -> Landmarks:
        self.t += 1
        moved: list[Any] = []
        for i in range(2):
            g: Any = down[i]
            squares = g * g
            if g.ndim == 2:
                squares += _SHARED * (squares.mean(axis=0) - squares)
            self.mean[i] = _DECAY * self.mean[i] + (1.0 - _DECAY) * g
            self.square[i] = _OF_SQUARES * self.square[i] + (1.0 - _OF_SQUARES) * squares
            mean = self.mean[i] / (1.0 - _DECAY**self.t)
            root = np.sqrt(self.square[i] / (1.0 - _OF_SQUARES**self.t))
            moved.append(at[i] - size * _SIZES[at.log_width.ndim - 1][i] * mean / (root + 1e-12))
        return Landmarks(moved[0], moved[1], at.log_ridge)


def improve(
    starts: list[Landmarks],
    X: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    steps: int,
    rng: np.random.Generator,
) -> Generator[float, None, Landmarks]:
    """Up to ``steps`` Adam steps up the evidence of four fifths of the rows X (n, d), Y (n, C).

    For widths of the landmarks' own twice as many. The search begins at the best of ``starts``
    and returns the point with the smallest squared error on the other fifth, which is held out. It
    is a generator, which gives the share of the work that is done.
    """
    order = rng.permutation(len(X))[:_MOST_ROWS]
    held = min(int(len(order) * _HELD_OUT), _MOST_HELD_OUT)
    X, Y, weight = (A.astype(np.float32, copy=False) for A in (X, Y, weight))
    judge, learn = (_Rows(X[i], Y[i], weight[i]) for i in (order[:held], order[held:]))
    own_steps = int(_OWN_STEPS * steps)
    tried = _OWN_FROM * len(starts[0].S) <= len(X)
    evaluations = len(starts) + steps + 1 + tried * (own_steps + 1)
    # of sums and gradient, a slice each for some rows; and the solves
    most = evaluations * (2 * -(-len(learn.X) // STEP_ROWS) + 1)
    return (yield from in_shares(_search(starts, learn, judge, steps, tried), most))


def work_of_search(n: int, m: int, steps: int) -> int:
    """Multiplications for a search of ``steps`` steps by m landmarks on n rows, about.

    In the time that least squares takes for one: a product in float32 counts less than half.
    """
    own = int(_OWN_STEPS * steps) if m * _OWN_FROM <= n else 0
    return (steps + own) * (min(n, _MOST_ROWS) // 4 + m // 2) * m**2


def _search(
    starts: list[Landmarks], learn: _Rows, judge: _Rows, steps: int, tried: bool
) -> Generator[None, None, Landmarks]:
    """The best point; with ``tried``, widths of the landmarks' own are."""
    begun, own_steps = [], int(_OWN_STEPS * steps)
    room = np.empty((len(learn.X), len(starts[0].S)), learn.X.dtype)
    for start in starts:
        sums = yield from sums_in_steps(start, *learn.of_sums, room)
        begun.append(_judged(start, sums, judge))
    at, _ = min(begun, key=lambda pair: pair[1])
    common = at.log_width.ndim == 1
    found, error = yield from _climb(at, learn, judge, steps if common else own_steps, room)
    if common and tried:
        own = Landmarks(found.S, np.tile(found.log_width, (len(found.S), 1)), math.log(_OWN_RIDGE))
        own, own_error = yield from _climb(own, learn, judge, own_steps, room)
        if own_error < error:
            return own
    return found


def _climb(
    at: Landmarks, learn: _Rows, judge: _Rows, steps: int, room: np.ndarray
) -> Generator[None, None, tuple[Landmarks, float]]:
    """The best point on the way, and its error on ``judge``."""
    best, best_error, best_step = at, np.inf, 0
    adam, size = _Adam(), 1.0
    for step in range(steps + 1):
        sums = yield from sums_in_steps(at, *learn.of_sums, room)
        if step % _CHECK_EVERY == 0 or step == steps:
            yield
            at, error = _judged(at, sums, judge)
            yield
            if error < best_error:
                best, best_error, best_step = at, error, step
            elif 2 * step > steps:
                # steps shrink by now: what follows is no better
                break
            elif step - best_step >= _PATIENCE * _CHECK_EVERY:
                at, adam, size, best_step = best, _Adam(), size * _SMALLER, step
                continue
        if step == steps:
            break
        every = _EVERY if len(learn.X) >= _ENOUGH_ROWS else 1
        down = yield from gradient_in_steps(at, sums, *learn.of_sums, every, step % every)
        at = adam.step(at, down, size * min(1.0, 2.0 * (1.0 - step / steps) + _LAST_SIZE))
    return best, best_error


def _judged(at: Landmarks, sums: Sums, judge: _Rows) -> tuple[Landmarks, float]:
    """``at`` with that λ near its own that has the smallest error on ``judge``, and the error."""
    K = kernel_columns(judge.X, at.S, np.exp(at.log_width))
    tried = []
    for log_ridge in at.log_ridge + _RIDGES:
        there = at._replace(log_ridge=float(np.clip(log_ridge, *_RIDGE_RANGE)))
        alpha = sums.alpha(sums.factor(there.ridge))
        residual = judge.Y - K @ alpha.astype(K.dtype)
        tried.append((there, float(np.mean(residual**2, axis=1) @ judge.weight)))
    return min(tried, key=lambda pair: pair[1])
