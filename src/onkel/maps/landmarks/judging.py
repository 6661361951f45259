"""Rows that a search learns from, and rows held out, which judge what it finds.

Held-out rows also choose the penalty λ, because the evidence ignores that the landmarks were fitted
to the targets.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from onkel.maps.landmarks.evidence import Landmarks, Sums
from onkel.maps.landmarks.rational import kernel_columns
from onkel.maps.landmarks.units import Units

#: a search looks at this many rows at most, drawn at random
MOST_ROWS = 65_536
# A fifth of them are held out, up to a limit.
_HELD_OUT, _MOST_HELD_OUT = 0.2, 4096
# Numbers that are scaled in a step.
_NUMBERS = 1 << 18
# Factors of λ tried at every check.
_RIDGES = np.log([0.25, 0.5, 1.0, 2.0, 4.0])
_RIDGE_RANGE = np.log([1e-3, 1e3])
#: steps of a check
CHECK_STEPS = 1 + len(_RIDGES)


class Rows(NamedTuple):
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


def drawn(
    X: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    units: Units,
    rng: np.random.Generator,
) -> Generator[bool, None, tuple[Rows, Rows]]:
    """Rows to judge by and to learn from, in units and float32; each step scales some rows."""
    order = rng.permutation(len(X))[:MOST_ROWS]
    held = _held_out(len(X))
    both = []
    for of in (order[:held], order[held:]):
        scaled = np.empty((len(of), X.shape[1]), np.float32)
        for some in _some_rows(len(of), X.shape[1]):
            scaled[some] = units(X[of[some]])
            yield True
        both.append(Rows(scaled, Y[of].astype(np.float32), weight[of].astype(np.float32)))
    judge, learn = both
    return judge, learn


def steps_of_drawing(n: int, d: int) -> int:
    """Steps of :func:`drawn` for n rows of d columns."""
    held = _held_out(n)
    return len(_some_rows(held, d)) + len(_some_rows(rows_to_learn(n), d))


def rows_to_learn(n: int) -> int:
    """How many of n rows a search learns from."""
    return min(n, MOST_ROWS) - _held_out(n)


def _held_out(n: int) -> int:
    return min(int(min(n, MOST_ROWS) * _HELD_OUT), _MOST_HELD_OUT)


def _some_rows(n: int, d: int) -> list[slice]:
    rows = max(_NUMBERS // d, 1)
    return [slice(a, min(a + rows, n)) for a in range(0, n, rows)]


class Judged(NamedTuple):
    """A point, its error on the rows held out, and the factor of its H."""

    at: Landmarks
    error: float
    factor: np.ndarray


def judged(at: Landmarks, sums: Sums, judge: Rows) -> Generator[bool, None, Judged]:
    """``at`` with the best of some λ around its own, by the error on ``judge``."""
    K = kernel_columns(judge.X, at.S, np.exp(at.log_width))
    yield True
    best, failing = None, 0
    # the smaller λ is, the closer H is to singular: what fails with one fails with a smaller one
    for log_ridge in (at.log_ridge + _RIDGES)[::-1]:
        there = at._replace(log_ridge=float(np.clip(log_ridge, *_RIDGE_RANGE)))
        factor, failing = yield from sums.factor_in_steps(there.ridge, failing)
        residual = judge.Y - K @ sums.alpha(factor).astype(K.dtype)
        error = float(np.mean(residual**2, axis=1) @ judge.weight)
        if best is None or error <= best.error:
            best = Judged(there, error, factor)
        yield True
    assert best is not None
    return best
