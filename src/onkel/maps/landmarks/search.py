"""The search for landmarks and widths: up the evidence, as far as held-out rows improve.

At first all landmarks share their widths. Where there are enough rows, a second search gives each
landmark widths of its own; they are kept if they predict the held-out rows better. Held-out rows
also choose the penalty λ, because the evidence ignores that the landmarks were fitted to the
targets. The last search, when all rows are there, tries landmarks' own widths with fewer rows, and
keeps them only if they are better by a standard error.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np

from onkel.maps.landmarks.evidence import (
    Gradient,
    Landmarks,
    Sums,
    gradient_in_steps,
    steps_of_gradient,
    steps_of_sums,
    sums_in_steps,
)
from onkel.maps.landmarks.fitted import Units
from onkel.maps.landmarks.rational import kernel_columns

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
    """A point, its squared errors (n,) on the rows held out, their sum, and the factor of its H."""

    at: Landmarks
    errors: np.ndarray
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
        squares = np.mean(residual**2, axis=1)
        error = float(squares @ judge.weight)
        if best is None or error <= best.error:
            best = Judged(there, squares * judge.weight, error, factor)
        yield True
    assert best is not None
    return best


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
# Adam's decays. One landmark's squared gradients are noisy: the mean over all landmarks is mixed in
# at this share, column by column.
_DECAY, _OF_SQUARES, _SHARED = 0.8, 0.99, 0.5
# Points at which a search may begin.
_MOST_STARTS = 2
# Rows per landmark from which on widths of each landmark's own are tried.
_OWN_FROM = 15
# The same in the last search, and by how many standard errors they must then be better.
_OWN_FROM_AT_LAST, _STANDARD_ERRORS = 8, 1.0
# These are more parameters, and take so many times as many steps.
_OWN_STEPS = 2
_OWN_RIDGE = 0.1


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
    units: Units,
    last: bool = False,
) -> Generator[bool, None, Landmarks]:
    """Up to ``steps`` Adam steps up the evidence of four fifths of the rows X (n, d), Y (n, C).

    The search for landmarks' own widths takes twice as many. Landmarks are in the units that
    ``units`` converts rows to. The search begins at the best of ``starts`` and returns the point
    with the smallest squared error on the other fifth, which is held out. ``last``: no other search
    follows. It is a generator, in about :func:`steps_of_search` steps.
    """
    judge, learn = yield from drawn(X, Y, weight, units, rng)
    tried = _tries_own(len(X), len(starts[0].S), _OWN_FROM_AT_LAST if last else _OWN_FROM)
    doubt = _STANDARD_ERRORS if last else 0.0
    return (yield from _search(starts, learn, judge, steps, tried, doubt))


def _tries_own(n: int, m: int, least: int = _OWN_FROM) -> bool:
    return least * m <= n


def steps_of_search(n: int, d: int, m: int, own: bool, steps: int) -> int:
    """Steps of a search by m landmarks on n rows of d columns, at most.

    ``own``: whether they have widths of their own already.
    """
    own_steps = int(_OWN_STEPS * steps)
    climbs = [own_steps] if own else [steps, own_steps] if _tries_own(n, m) else [steps]
    # each with the step that follows it
    of_sums = steps_of_sums(rows_to_learn(n)) + 1
    of_gradient = steps_of_gradient(rows_to_learn(n)) + 1
    checks = _MOST_STARTS + sum(-(-each // _CHECK_EVERY) + 1 for each in climbs)
    sums = _MOST_STARTS + sum(each + 1 for each in climbs)
    of_all = checks * CHECK_STEPS + sums * of_sums + sum(climbs) * of_gradient
    return steps_of_drawing(n, d) + of_all


def work_of_search(n: int, m: int, steps: int) -> int:
    """About how many multiplications a search of ``steps`` steps by m landmarks on n rows takes.

    They are those of least squares, in float64: one in float32 counts less than half.
    """
    own = int(_OWN_STEPS * steps) if _tries_own(n, m) else 0
    return (steps + own) * (min(n, MOST_ROWS) // 4 + m // 2) * m**2


def _search(
    starts: list[Landmarks], learn: Rows, judge: Rows, steps: int, tried: bool, doubt: float
) -> Generator[bool, None, Landmarks]:
    """The best point; where ``tried``, landmarks' own widths are searched for, too.

    They must be better by ``doubt`` standard errors.
    """
    begun, own_steps = [], int(_OWN_STEPS * steps)
    room = np.empty((len(learn.X), len(starts[0].S)), learn.X.dtype)
    for start in starts:
        sums = yield from sums_in_steps(start, *learn.of_sums, room)
        begun.append((yield from judged(start, sums, judge)))
    at = min(begun, key=lambda start: start.error).at
    common = at.log_width.ndim == 1
    found, errors = yield from _climb(at, learn, judge, steps if common else own_steps, room)
    if common and tried:
        own = Landmarks(found.S, np.tile(found.log_width, (len(found.S), 1)), math.log(_OWN_RIDGE))
        own, own_errors = yield from _climb(own, learn, judge, own_steps, room)
        gains = errors - own_errors
        if gains.sum() > doubt * math.sqrt(len(gains)) * gains.std():
            return own
    return found


def _climb(
    at: Landmarks, learn: Rows, judge: Rows, steps: int, room: np.ndarray
) -> Generator[bool, None, tuple[Landmarks, np.ndarray]]:
    """The best point on the way, and its squared errors (n,) on ``judge``."""
    best, errors, best_error, best_step = at, np.empty(0), np.inf, 0
    adam, size = _Adam(), 1.0
    for step in range(steps + 1):
        sums = yield from sums_in_steps(at, *learn.of_sums, room)
        yield True
        factor = None
        if step % _CHECK_EVERY == 0 or step == steps:
            at, squares, error, factor = yield from judged(at, sums, judge)
            if error < best_error:
                best, errors, best_error, best_step = at, squares, error, step
            elif 2 * step > steps:
                # steps already shrink here: later points are no better
                break
            elif step - best_step >= _PATIENCE * _CHECK_EVERY:
                at, adam, size, best_step = best, _Adam(), size * _SMALLER, step
                continue
        if step == steps:
            break
        every = _EVERY if len(learn.X) >= _ENOUGH_ROWS else 1
        down = yield from gradient_in_steps(at, sums, *learn.of_sums, every, step % every, factor)
        yield True
        at = adam.step(at, down, size * min(1.0, 2.0 * (1.0 - step / steps) + _LAST_SIZE))
    return best, errors
