"""Landmarks and widths moved to where they explain the rows best, without believing too much."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from onkel.maps.evidence import Gradient, Landmarks, fit_alpha, gradient, kernel_columns

__all__ = ["improve"]

# A search looks at so many rows, of more at a draw; a fifth of them are held out.
_MOST_ROWS = 16_384
_HELD_OUT = 0.2
# Every so many steps the rows held out judge; when they were no better twice, the search goes back
# to the best point and on with smaller steps.
_CHECK_EVERY = 6
_PATIENCE = 2
_SMALLER = 0.3
# Of more rows than these the dearest part of the gradient takes one in so many.
_ENOUGH_ROWS, _EVERY = 2048, 4
# Steps of landmarks (in standard deviations of a column), log-widths and log λ.
_SIZES = (0.03, 0.1, 0.1)
_RIDGE_RANGE = np.log([1e-4, 1e2])


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


class _Adam:
    """Kingma & Ba 2015, with a step size of its own for each part of the landmarks."""

    def __init__(self) -> None:
        self.t = 0
        self.mean: list[Any] = [0.0, 0.0, 0.0]
        self.square: list[Any] = [0.0, 0.0, 0.0]

    def step(self, at: Landmarks, down: Gradient, size: float) -> Landmarks:
        self.t += 1
        moved: list[Any] = []
        for i in range(3):
            value: Any = at[i]
            g: Any = down[i]
            self.mean[i] = 0.9 * self.mean[i] + 0.1 * g
            self.square[i] = 0.99 * self.square[i] + 0.01 * g * g
            mean, square = self.mean[i] / (1 - 0.9**self.t), self.square[i] / (1 - 0.99**self.t)
            moved.append(value - size * _SIZES[i] * mean / (np.sqrt(square) + 1e-12))
        return Landmarks(moved[0], moved[1], float(np.clip(moved[2], *_RIDGE_RANGE)))


def improve(
    starts: list[Landmarks],
    X: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    steps: int,
    rng: np.random.Generator,
) -> Landmarks:
    """Up to ``steps`` Adam steps up the evidence of four fifths of the rows X (n, d), Y (n, C).

    The rest judges: the search begins at the best of ``starts``, and of the points looked at the
    one with the smallest squared error on the rows held out is returned.
    """
    order = rng.permutation(len(X))[:_MOST_ROWS]
    held = int(len(order) * _HELD_OUT)
    judge, learn = (_Rows(X[i], Y[i], weight[i]) for i in (order[:held], order[held:]))
    root = learn.root
    at = min(starts, key=lambda s: _error(s, fit_alpha(s, learn.X, learn.Y, root).alpha, judge))
    best, best_error, best_step = at, np.inf, 0
    adam, size = _Adam(), 1.0
    for step in range(steps + 1):
        fit = fit_alpha(at, learn.X, learn.Y, root)
        if step % _CHECK_EVERY == 0:
            error = _error(at, fit.alpha, judge)
            if error < best_error:
                best, best_error, best_step = at, error, step
            elif step - best_step >= _PATIENCE * _CHECK_EVERY:
                at, adam, size, best_step = best, _Adam(), size * _SMALLER, step
                continue
        every = _EVERY if len(learn.X) >= _ENOUGH_ROWS else 1
        at = adam.step(at, gradient(at, fit, learn.X, root, every, step % every), size)
    return best


def _error(at: Landmarks, alpha: np.ndarray, judge: _Rows) -> float:
    w = np.exp(at.log_width)
    residual = judge.Y - kernel_columns(judge.X * w, at.S * w) @ alpha
    return float(np.mean(residual**2, axis=1) @ judge.weight)
