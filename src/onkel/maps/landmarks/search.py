"""The search for landmarks and widths: up the evidence, as far as held-out rows improve.

At first all landmarks share their widths. Where there are enough rows, a second search gives each
landmark widths of its own; they are kept if they predict the held-out rows better. With own widths
the penalty is Σ α², and no longer the norm of the kernel's own space. Smooth targets need that
norm: where errors are clearly larger without it, the steps would first have to make up for it, and
only the last search takes them. Held-out rows
also choose the penalty λ, because the evidence ignores that the landmarks were fitted to the
targets. The last search, when all rows are there, tries landmarks' own widths with fewer rows, and
keeps them only if they are better by a standard error. Then it draws some landmarks anew: a climb
moves landmarks, but not to rows far from all of them. Those that matter least go to rows that are
predicted badly, and all climb once more.

A search takes several times as long as learning its rows, and on many streams it gains nothing. How
much the last one gained does not tell how much the next one will. A small search does: a few steps
of every other landmark on some of the rows. Where that gains next to nothing, the search waits
until the rows have doubled. It takes less than a tenth of the time. Where the labels before are
known when a row is predicted, what they tell is no gain
(:mod:`onkel.maps.landmarks.labels_before`).

Products take half of the time in float32. Under wide kernels its digits do not suffice:
similarities are near 1, and smooth targets lie in their small differences. So some rows held out
are predicted in both precisions. Where the errors differ by more than rounding may cost, all is
done in float64. That takes twice as long, so the small search must then gain twice as much, and a
standard error, and ends early where it gains nothing.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from onkel.annotations import DTypeLike
from onkel.maps.landmarks.climb import CHECK_STEPS, Judged, climb, judged, steps_of_climb
from onkel.maps.landmarks.evidence import Landmarks, Sums, steps_of_sums
from onkel.maps.landmarks.fitted import Units
from onkel.maps.landmarks.labels_before import (
    N_BEFORE,
    left_of_last,
    rows_before,
    squares_left,
    steps_of_last,
)
from onkel.maps.landmarks.labels_before import STEPS as STEPS_BEFORE
from onkel.maps.landmarks.on_device import RowsOnDevice
from onkel.maps.landmarks.searched import LEAST_RIDGE, Rows, Searched, SearchedRows
from onkel.numerics.devices import Device
from onkel.numerics.in_steps import finished
from onkel.numerics.linalg import inverse_of_factor

#: a search looks at this many rows at most, drawn at random
MOST_ROWS = 65_536
# A fifth of them are held out, up to a limit.
_HELD_OUT, _MOST_HELD_OUT = 0.2, 4096
# Numbers that are scaled in a step.
_NUMBERS = 1 << 18
# The precisions of a search, and the share by which errors in the first may be off.
_DTYPE, _EXACT, _OFF = np.float32, np.float64, 0.003
# Widths of landmarks' own are not tried where they begin with errors so many times as large: in a
# small search, and in a whole one that is not the last.
_FAR, _NEAR = 1.25, 1.06
# A whole search in float64 takes twice as long. So a small one must gain twice the share of squared
# errors, and so many standard errors.
_EXACT_TIMES, _EXACT_DOUBT = 2.0, 1.0


class Split(NamedTuple):
    """The numbers of the rows that are held out, and of those to learn from."""

    held: np.ndarray
    learned: np.ndarray


def split(n: int, rng: np.random.Generator, seen: int | None = None) -> Split:
    """A split of n rows at random.

    For a last search ``seen`` says how many rows those before it have seen. Half of the rows held
    out are then the last ones: what comes next may differ from what came. The other half are first
    those that no search has seen: the landmarks that it begins with were not fitted to them.
    """
    order, held = rng.permutation(n), _held_out(n)
    if seen is not None:
        last = order >= n - held // 2
        new = ~last & (order >= seen)
        order = np.concatenate([order[last], order[new], order[~last & ~new]])
    return Split(order[:held], order[held:MOST_ROWS])


def drawn(
    of: Split,
    X: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    units: Units,
    exact: bool = False,
) -> Generator[bool, None, tuple[Rows, Rows]]:
    """Rows to judge by and to learn from, in units; each step scales some rows."""
    dtype = _EXACT if exact else _DTYPE
    judge, learn = yield from _scaled(list(of), X, Y, weight, units, dtype)
    return judge, learn


def _scaled(
    numbers: list[np.ndarray],
    X: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    units: Units,
    dtype: DTypeLike,
) -> Generator[bool, None, list[Rows]]:
    """The rows of these numbers in units; each step scales some."""
    found = []
    for rows in numbers:
        scaled = np.empty((len(rows), X.shape[1]), dtype)
        for some in _some_rows(len(rows), X.shape[1]):
            scaled[some] = units(X[rows[some]])
            yield True
        found.append(Rows(scaled, Y[rows].astype(dtype), weight[rows].astype(dtype)))
    return found


def predict_held_out(
    at: Landmarks, of: Split, X: np.ndarray, Y: np.ndarray, weight: np.ndarray, units: Units
) -> np.ndarray:
    """Predictions (k, C) of the rows held out, by the others."""
    judge, learn = finished(drawn(of, X, Y, weight, units, exact=True))
    rows = SearchedRows(learn, judge, len(at.S))
    sums = finished(rows.sums(at))
    factor = finished(sums.factor_in_steps(at.ridge))[0]
    return np.asarray(rows.judging(at) @ sums.alpha(factor))


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


# A search of so many rows a landmark is dear: it is left out where the labels before tell nearly
# all of the last rows. Without the first searches f would be so bad that other models begin.
_DEAR = 6
# Points at which a search may begin.
_MOST_STARTS = 2
# The least λ of the last search: targets without noise want one near 0; but float64 must still be
# able to factor H, whose largest eigenvalue may be a million.
_LEAST_RIDGE_AT_LAST = 1e-6
# Rows per landmark from which on widths of each landmark's own are tried.
_OWN_FROM = 15
# The same in the last search, and by how many standard errors they must then be better.
_OWN_FROM_AT_LAST, _STANDARD_ERRORS = 8, 1.0
# These are more parameters, and take so many times as many steps.
_OWN_STEPS = 2
_OWN_RIDGE = 0.1
# Of the squared errors their search must gain this share from check to check, or ends.
_GAIN_OF_OWN = 0.02
# In the last search: the share of landmarks that are drawn anew at its end, and of the steps for
# own widths in which all then climb once more.
_RENEWED, _CLIMBED_AGAIN = 0.25, 0.5
# A small search: one landmark and one row in so many, at least so many rows to learn from and to be
# judged by, and its steps.
_ONE_IN, _SMALL_ROWS, _SMALL_HELD_OUT, _SMALL_STEPS = 2, 4096, 1024, 8
# After so many steps it may already be decided.
_DECIDED = 4


def improve(
    starts: list[Landmarks],
    X: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    steps: int,
    rng: np.random.Generator,
    units: Units,
    last: bool = False,
    of: Split | None = None,
    least_gain: float = 0.0,
    labels_before: bool = False,
    device: Device | None = None,
) -> Generator[bool, None, Landmarks]:
    """Up to ``steps`` Adam steps up the evidence of four fifths of the rows X (n, d), Y (n, C).

    The search for landmarks' own widths takes twice as many. Landmarks are in the units that
    ``units`` converts rows to. The search begins at the best of ``starts`` and returns the point
    with the smallest squared error on the other fifth, which is held out. ``last``: no other search
    follows, and some landmarks are drawn anew at its end. ``of``: the rows held out, where ``rng``
    does not choose them. Where a small search gains less than the share ``least_gain`` of the
    squared errors, in float64 twice that, the first of ``starts`` is returned; with
    ``labels_before`` what the labels of the rows before tell is no gain. ``device``: where products
    over all rows are made, other than in the processor. It is a generator, in about
    :func:`steps_of_search` steps.
    """
    of = of or split(len(X), rng)
    judge, learn = yield from drawn(of, X, Y, weight, units)
    m = len(starts[0].S)
    least = _LEAST_RIDGE_AT_LAST if last else LEAST_RIDGE
    rows = (
        RowsOnDevice(learn, judge, device, least)
        if device
        else SearchedRows(learn, judge, m, least)
    )
    tried = _tries_own(len(X), m, last)
    small = yield from _small(starts[0], rows, _DTYPE)
    exact = yield from _small(starts[0], rows, _EXACT)
    small_doubt = 0.0
    if abs(small.begun.error - exact.begun.error) > _OFF * exact.begun.error:
        small, rows = exact, rows.few(len(learn.X), len(judge.X), m, _EXACT)
        small_doubt, least_gain = _EXACT_DOUBT, _EXACT_TIMES * least_gain
    if least_gain:
        before: list[Rows] = []
        if labels_before:
            few, dtype = len(small.rows.judging_weight), small.sums.K.dtype
            parts = X, Y, weight, units, dtype
            if rows.n >= _DEAR * m:
                last_rows = np.arange(len(X) - few, len(X))
                early = learn.chosen(of.learned < last_rows[0]).first(small.rows.n, dtype)
                known = yield from _scaled(rows_before(last_rows), *parts)
                if (yield from left_of_last(small.begun.at, early, known)).nearly_all_of_last:
                    return starts[0]
            before = yield from _scaled(rows_before(of.held[:few]), *parts)
        if not (yield from _promises(small, tried, least_gain, small_doubt, before)):
            return starts[0]
    found = yield from _search(starts, rows, steps, tried, last)
    return (yield from _climb_again(found, rows, steps, rng)) if last else found


def _tries_own(n: int, m: int, last: bool) -> bool:
    return (_OWN_FROM_AT_LAST if last else _OWN_FROM) * m <= n


def steps_of_search(n: int, d: int, m: int, own: bool, steps: int, last: bool = False) -> int:
    """Steps of a search by m landmarks on n rows of d columns, at most.

    ``own``: whether they have widths of their own already; ``last``: of the last search.
    """
    own_steps = int(_OWN_STEPS * steps)
    climbs = [own_steps] if own else [steps, own_steps] if _tries_own(n, m, last) else [steps]
    rows = rows_to_learn(n)
    few = _small_rows(rows)
    # the small search begins in both precisions, and with landmarks' own widths
    small = (len(climbs) + 1) * steps_of_climb(few, _SMALL_STEPS, _DECIDED)
    small += 3 * _steps_of_start(few)
    # what the labels before tell of the last rows; of others, where it begins and where it ends
    small += 2 * (N_BEFORE + 1) * len(_some_rows(_small_held_out(few), d)) + steps_of_last(few)
    small += 2 * STEPS_BEFORE + steps_of_sums(few) + 1
    # landmarks' own widths have a start of their own
    begun = (_MOST_STARTS + 1) * _steps_of_start(rows)
    if last:
        # before and after some are drawn anew
        begun += 2 * _steps_of_start(rows)
        climbs.append(_steps_again(steps))
    of_all = small + begun + sum(steps_of_climb(rows, each) for each in climbs)
    return steps_of_drawing(n, d) + of_all


def _steps_of_start(n: int) -> int:
    return CHECK_STEPS + steps_of_sums(n)


def _steps_again(steps: int) -> int:
    return int(_CLIMBED_AGAIN * _OWN_STEPS * steps)


def work_of_search(n: int, m: int, steps: int, last: bool = False) -> int:
    """About how many multiplications a search of ``steps`` steps by m landmarks on n rows takes.

    They are those of least squares, in float64: one in float32 takes less than half of the time.
    """
    own = int(_OWN_STEPS * steps) if _tries_own(n, m, last) else 0
    again = _steps_again(steps) if last else 0
    return (steps + own + again) * (min(n, MOST_ROWS) // 4 + m // 2) * m**2


def _search(
    starts: list[Landmarks], rows: Searched, steps: int, tried: bool, last: bool
) -> Generator[bool, None, Landmarks]:
    """The best point; where ``tried``, landmarks' own widths are searched for, too.

    The ``last`` search takes them only if they are better by a standard error. Others leave the
    search for them where it hardly gains any more.
    """
    begun, own_steps = [], int(_OWN_STEPS * steps)
    doubt, least_gain = (_STANDARD_ERRORS, 0.0) if last else (0.0, _GAIN_OF_OWN)
    for start in starts:
        sums = yield from rows.sums(start)
        begun.append((yield from judged(start, sums, rows)))
    best = min(begun, key=lambda start: start.error)
    common = best.at.log_width.ndim == 1
    # those of the start before are overwritten
    known = sums if best is begun[-1] else None
    least = 0.0 if common else least_gain
    found, errors = yield from climb(
        best, rows, steps if common else own_steps, known, least_gain=least
    )
    if common and tried:
        owning = _owning(found)
        sums = yield from rows.sums(owning)
        begins = yield from judged(owning, sums, rows)
        if last or begins.error <= _NEAR * errors.sum():
            of = begins, rows, own_steps, sums
            own, own_errors = yield from climb(*of, least_gain=least_gain)
            if _better(own_errors, errors, doubt):
                return own
    return found


def _owning(at: Landmarks) -> Landmarks:
    """The same point, from which each landmark may have widths of its own."""
    return Landmarks(at.S, np.tile(at.log_width, (len(at.S), 1)), math.log(_OWN_RIDGE))


def _climb_again(
    found: Landmarks, rows: Searched, steps: int, rng: np.random.Generator
) -> Generator[bool, None, Landmarks]:
    """The better of ``found`` and of where a climb from it ends, with some landmarks drawn anew."""
    sums = yield from rows.sums(found)
    now = yield from judged(found, sums, rows)
    renewed = _renewed(now, sums, rows, rng)
    yield True
    steps, beaten = _steps_again(steps), float(now.errors.sum())
    other, errors = yield from climb(renewed, rows, steps, to_beat=beaten)
    return other if _better(errors, now.errors, 0.0) else found


def _renewed(now: Judged, sums: Sums, rows: Searched, rng: np.random.Generator) -> Landmarks:
    """The point, with rows that it predicts badly in the place of the landmarks that matter least.

    Without landmark j the penalised squared error J would be larger by Σ α_j²/(H⁻¹)_jj. The larger
    the error of a row, the more likely it is drawn. It takes the widths of the landmark most like
    it.
    """
    at, alpha = now.at, sums.alpha(now.factor)
    matters = (alpha**2).sum(axis=1) / inverse_of_factor(now.factor).diagonal()
    leave = np.argsort(matters)[: min(int(_RENEWED * len(at.S)), rows.n)]
    sizes = np.sqrt(rows.residual_squares(sums, alpha))
    # any row may be drawn, also where all errors are 0
    sizes += 0.1 * sizes.mean() + np.finfo(np.float64).tiny
    chosen = rng.choice(rows.n, len(leave), replace=False, p=sizes / sizes.sum())
    X, K = rows.features(sums, chosen)
    S, log_width = at.S.copy(), at.log_width
    S[leave] = X
    if log_width.ndim == 2:
        log_width = log_width.copy()
        log_width[leave] = at.log_width[K.argmax(axis=1)]
    return Landmarks(S, log_width, at.log_ridge)


class _Small(NamedTuple):
    """A small search: its rows, their sums where it begins, and that point."""

    rows: Searched
    sums: Sums
    begun: Judged


def _small_rows(n: int) -> int:
    """Rows of a small search among n: what well-placed landmarks still gain shows on many only."""
    return min(n, max(n // _ONE_IN, _SMALL_ROWS))


def _small_held_out(some: int) -> int:
    return max(_SMALL_HELD_OUT, some // 4)


def _small(at: Landmarks, rows: Searched, dtype: DTypeLike) -> Generator[bool, None, _Small]:
    """The small search from every other landmark of ``at``, in this precision."""
    width = at.log_width if at.log_width.ndim == 1 else at.log_width[::_ONE_IN]
    at = at._replace(S=at.S[::_ONE_IN], log_width=width)
    some = _small_rows(rows.n)
    few = rows.few(some, _small_held_out(some), len(at.S), dtype)
    sums = yield from few.sums(at)
    return _Small(few, sums, (yield from judged(at, sums, few)))


def _promises(
    small: _Small, tried: bool, least_gain: float, doubt: float, before: list[Rows]
) -> Generator[bool, None, bool]:
    """Whether a small search gains this share of the squared errors on rows held out.

    It must also gain ``doubt`` standard errors. ``before``: those rows and the ones before them,
    where labels that are known do not count as gained.
    """
    few, sums, begun = small
    left = None
    if before:
        left = yield from squares_left(begun.at, sums.alpha(begun.factor), before)
        if left.nearly_all:
            return False

    def gains(errors: np.ndarray) -> bool:
        enough = bool(errors.sum() <= (1.0 - least_gain) * begun.errors.sum())
        return enough and _better(errors, begun.errors, doubt)

    def decided(errors: np.ndarray) -> bool:
        # where steps are dear, those that have gained nothing are not followed by others
        return gains(errors) or (doubt > 0.0 and bool(errors.sum() >= begun.errors.sum()))

    found, errors = yield from climb(begun, few, _SMALL_STEPS, sums, _DECIDED, decided)
    if begun.at.log_width.ndim == 1 and tried and not gains(errors):
        owning = _owning(found)
        sums = yield from few.sums(owning)
        begins = yield from judged(owning, sums, few)
        if begins.error <= _FAR * begun.error:
            found, errors = yield from climb(begins, few, _SMALL_STEPS, sums, _DECIDED, decided)
    if left is None or not left.telling or not gains(errors):
        return gains(errors)
    sums = yield from few.sums(found)
    factor, _ = yield from sums.factor_in_steps(found.ridge)
    then = yield from squares_left(found, sums.alpha(factor), before)
    return left.left - then.left >= least_gain * left.of_f


def _better(errors: np.ndarray, others: np.ndarray, doubt: float) -> bool:
    """Whether errors are smaller than the others by so many standard errors of their difference."""
    gains = others - errors
    return bool(gains.sum() > doubt * math.sqrt(len(gains)) * gains.std())
