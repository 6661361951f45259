"""The climb up the evidence from one point, as far as rows held out are predicted better.

Held-out rows also choose the penalty λ, because the evidence ignores that the landmarks were fitted
to the targets.

Of many rows most steps look at a part only, each at the next: Adam averages over the last steps, so
together they see all rows, in a fraction of the time. Where held-out rows check the point, all rows
say which weights are best there.

Source: Kingma & Ba 2015 (Adam); steps on parts of the rows are those of Robbins & Monro 1951.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator
from typing import Any, NamedTuple

import numpy as np

from onkel.maps.landmarks.evidence import Landmarks, Sums, steps_of_sums
from onkel.maps.landmarks.gradient import Gradient, steps_of_gradient
from onkel.maps.landmarks.searched import Searched
from onkel.numerics.in_steps import together

# At every check λ is doubled or halved so many times at most, up to the largest λ.
_DOUBLED, _MOST_RIDGE = 2, 1e3
# Steps of a check: the rows held out, and each λ that is tried.
_CHECK_STEPS = 1 + 2 + _DOUBLED


class Judged(NamedTuple):
    """A point, its squared errors (n,) on the rows held out, their sum, and the factor of its H."""

    at: Landmarks
    errors: np.ndarray
    error: float
    factor: np.ndarray


def judged(at: Landmarks, sums: Sums, rows: Searched) -> Generator[bool, None, Judged]:
    """``at`` with a better λ, doubled or halved for as long as rows held out gain by it."""
    K, weight = rows.judging(at), rows.judging_weight
    yield True
    least, most = math.log(rows.least_ridge), math.log(_MOST_RIDGE)

    def ridge(doubled: int) -> float:
        return min(max(at.log_ridge + doubled * math.log(2.0), least), most)

    def tried(log_ridge: float, failing: int) -> Generator[bool, None, tuple[Judged, int]]:
        """The point with this λ, and how often H could not be factored."""
        there = at._replace(log_ridge=log_ridge)
        factor, failing = yield from sums.factor_in_steps(there.ridge, failing)
        squares = rows.squares(K, sums.alpha(factor))
        yield True
        return Judged(there, squares * weight, float(squares @ weight), factor), failing

    # only one where λ is the least already
    near = [ridge(0), ridge(-1)] if ridge(-1) < ridge(0) else [ridge(0)]
    found = yield from together([tried(each, 0) for each in near])
    (best, _), (other, failing) = found[0], found[-1]
    falls = other.error < best.error
    best = other if falls else best
    for doubled in range(-2, -_DOUBLED - 1, -1) if falls else range(1, _DOUBLED + 1):
        if ridge(doubled) == best.at.log_ridge:
            break
        # the smaller λ is, the closer H is to singular: what fails fails with a smaller one
        other, failing = yield from tried(ridge(doubled), failing if falls else 0)
        if not other.error < best.error:
            # no less, or not finite
            break
        best = other
    return best


def steps_of_start(n: int) -> int:
    """Steps in which a point is judged, with its sums of n rows."""
    return _CHECK_STEPS + steps_of_sums(n)


def better(errors: np.ndarray, others: np.ndarray, doubt: float) -> bool:
    """Whether errors are smaller than the others by so many standard errors of their difference."""
    gains = others - errors
    return bool(gains.sum() > doubt * math.sqrt(len(gains)) * gains.std())


# From so many rows a landmark on steps look at one half of the rows after the other, and at smaller
# parts where these have so many rows a landmark.
_HALVED_FROM, _OF_PART, _MOST_PARTS = 8, 32, 8
# Steps between two checks on the held-out rows. After two checks without improvement the search
# returns to its best point and goes on with smaller steps.
_CHECK_EVERY = 6
_PATIENCE = 2
_SMALLER = 0.3
# A climb that should beat another ends where it would not, even if it gained so many times as much
# as in as many checks before.
_MAY_GAIN = 2.0
# In the second half of a search steps shrink, down to this share; a check there without improvement
# ends it.
_LAST_SIZE = 0.05
#: the most expensive part of the gradient uses about so many rows, at least one in _MOST_EVERY
ENOUGH_ROWS = 256
_MOST_EVERY = 8
# Steps of landmarks (in standard deviations of a column) and log-widths; the second where landmarks
# have widths of their own.
_SIZES = ((0.045, 0.15), (0.03, 0.1))
# Adam's decays. One landmark's squared gradients are noisy: the mean over all landmarks is mixed in
# at this share, column by column.
_DECAY, _OF_SQUARES, _SHARED = 0.8, 0.99, 0.5


class _Adam:
    """Kingma & Ba 2015, with one step size for landmarks and one for widths."""

    def __init__(self) -> None:
        self.t = 0
        self.mean: list[Any] = [0.0, 0.0]
        self.square: list[Any] = [0.0, 0.0]

    def step(self, at: Landmarks, down: Gradient, size: float) -> Landmarks:
        self.t += 1
        moved: list[np.ndarray] = []
        for i in range(2):
            g: np.ndarray = down[i]
            squares = g * g
            if g.ndim == 2:
                squares += _SHARED * (squares.mean(axis=0) - squares)
            self.mean[i] = _DECAY * self.mean[i] + (1.0 - _DECAY) * g
            self.square[i] = _OF_SQUARES * self.square[i] + (1.0 - _OF_SQUARES) * squares
            mean = self.mean[i] / (1.0 - _DECAY**self.t)
            root = np.sqrt(self.square[i] / (1.0 - _OF_SQUARES**self.t))
            moved.append(at[i] - size * _SIZES[at.log_width.ndim - 1][i] * mean / (root + 1e-12))
        return Landmarks(moved[0], moved[1], at.log_ridge)


def climb(
    start: Landmarks | Judged,
    rows: Searched,
    steps: int,
    sums: Sums | None = None,
    check_every: int = _CHECK_EVERY,
    decided: Callable[[np.ndarray], bool] | None = None,
    to_beat: float = np.inf,
    least_gain: float = 0.0,
    n_parts: int = 1,
    enough_rows: int = ENOUGH_ROWS,
) -> Generator[bool, None, tuple[Landmarks, np.ndarray]]:
    """The best point on the way, and its squared errors (n,) on the rows held out.

    ``start``: the first point, judged where that is known; ``sums``: those of this point, if known.
    The climb ends at a check after which these errors are all that is wanted: where ``decided`` of
    them is true. It also ends where their sum will hardly get below ``to_beat``, or where it has
    not fallen by the share ``least_gain`` since the last check, from the second one on: the first
    steps are slow, as Adam does not know the size of slopes yet. Steps between checks look at one
    of ``n_parts`` parts of the rows after the other, and the most expensive part of a gradient at
    about ``enough_rows`` of these.
    """
    known = start if isinstance(start, Judged) else None
    at = start if isinstance(start, Landmarks) else start.at
    best, errors, best_error, best_step = at, np.empty(0), np.inf, 0
    before: list[float] = []
    adam, size = _Adam(), 1.0
    for step, checks, some in _looked_at(rows, n_parts, steps, check_every):
        if step or sums is None:
            sums = yield from some.sums(at)
        yield True
        factor = None
        if checks:
            now = known or (yield from judged(at, sums, rows))
            (at, squares, error, factor), known = now, None
            before.append(min(error, best_error))
            gained = before[-1 - _PATIENCE] - before[-1] if len(before) > _PATIENCE else np.inf
            if before[-1] - _MAY_GAIN * gained > to_beat:
                # what it has found is not wanted
                break
            if error < best_error:
                best, errors, best_error, best_step = at, squares, error, step
            elif 2 * step > steps:
                # steps already shrink here: later points are no better
                break
            elif step - best_step >= _PATIENCE * check_every:
                at, adam, size, best_step = best, _Adam(), size * _SMALLER, step
                continue
            if step and decided is not None and decided(errors):
                break
            if step > check_every and before[-1] > (1.0 - least_gain) * before[-2]:
                # more steps would hardly gain what they take
                break
        if step == steps:
            break
        every = min(max(some.n // enough_rows, 1), _MOST_EVERY)
        down = yield from some.gradient(at, sums, every, step % every, factor)
        yield True
        at = adam.step(at, down, size * min(1.0, 2.0 * (1.0 - step / steps) + _LAST_SIZE))
    return best, errors


def _looked_at(
    rows: Searched, n_parts: int, steps: int, check_every: int
) -> Iterator[tuple[int, bool, Searched]]:
    """Each step, whether it checks, and the rows it looks at: all, or the next part of them."""
    parts, turn = rows.parts(n_parts) if n_parts > 1 else [rows], 0
    for step in range(steps + 1):
        if step % check_every == 0 or step == steps:
            yield step, True, rows
        else:
            yield step, False, parts[turn % n_parts]
            turn += 1


def parts_of_many(n: int, m: int) -> int:
    """Into how many parts n rows are cut for a climb by m landmarks."""
    return max(min(n // (_OF_PART * m), _MOST_PARTS), 1 + (n >= _HALVED_FROM * m))


def rows_of_step(n: int, n_parts: int) -> int:
    """How many of n rows, cut into parts, a step looks at in the mean."""
    checks = 1.0 / _CHECK_EVERY
    return int(n * (checks + (1.0 - checks) / n_parts))


def steps_of_climb(n: int, steps: int, check_every: int = _CHECK_EVERY, n_parts: int = 1) -> int:
    """Steps of :func:`climb` on n rows from a point that is judged, at most."""
    checks, each = -(-steps // check_every), -(-n // n_parts)
    # each with the step that follows it
    of_checks, of_others = (steps_of_sums(rows) + steps_of_gradient(rows) + 2 for rows in (n, each))
    return checks * (_CHECK_STEPS + of_checks) + of_checks + (steps - checks) * of_others
