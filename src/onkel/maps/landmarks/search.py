"""The search for landmarks and widths: up the evidence, as far as held-out rows improve.

At first all landmarks share their widths. Where there are enough rows, a second search gives each
landmark widths of its own; they are kept if they predict the held-out rows better. With own widths
the penalty is Σ α², and no longer the norm of the kernel's own space. Smooth targets need that
norm: where errors are clearly larger without it, the steps would first have to make up for it, and
only the last search takes them. Held-out rows also choose the penalty λ, because the evidence
ignores that the landmarks were fitted to the targets.

The last search, when all rows are there, tries landmarks' own widths with fewer rows, and keeps
them only if they are better by a standard error. Then it draws some landmarks anew: a climb moves
landmarks, but not to rows far from all of them. Those that matter least go to rows that are
predicted badly, and all climb once more. Steps look at part of the rows for the dearest part of a
gradient. Where targets have next to no noise, that of the part would matter, and steps look at all.

Where a small search says that a whole one would gain next to nothing, it waits until the rows have
doubled (:mod:`onkel.maps.landmarks.small_search`).

Products take half of the time in float32. Under wide kernels its digits do not suffice:
similarities are near 1, and smooth targets lie in their small differences. So some rows held out
are predicted in both precisions. Where the errors differ by more than rounding may cost, all is
done in float64. That takes twice as long, so the small search must then gain twice as much, and a
standard error.
"""

from __future__ import annotations

from collections.abc import Generator
from functools import partial

import numpy as np

from onkel.maps.landmarks.climb import (
    ENOUGH_ROWS,
    Judged,
    better,
    climb,
    judged,
    parts_of_many,
    rows_of_step,
    steps_of_climb,
    steps_of_start,
)
from onkel.maps.landmarks.drawn_rows import (
    MOST_ROWS,
    Split,
    drawn,
    rows_to_learn,
    split,
    steps_of_drawing,
)
from onkel.maps.landmarks.evidence import Landmarks, Sums
from onkel.maps.landmarks.fitted import Units
from onkel.maps.landmarks.on_device import RowsOnDevice
from onkel.maps.landmarks.searched import LEAST_RIDGE, Rows, Searched, SearchedRows
from onkel.maps.landmarks.small_search import (
    Promises,
    SmallSearch,
    begin_small,
    promises,
    steps_of_small,
)
from onkel.numerics.devices import Device
from onkel.numerics.linalg import inverse_of_factor

# The share by which errors in float32 may be off.
_OFF = 0.003
# Where widths of landmarks' own begin with errors so many times as large, only the last search
# tries them.
_NEAR = 1.06
# A whole search in float64 takes twice as long. So a small one must gain twice the share of squared
# errors, and so many standard errors.
_EXACT_TIMES, _EXACT_DOUBT = 2.0, 1.0
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
# Of the squared errors their search must gain this share from check to check, or ends.
_GAIN_OF_OWN = 0.01
# Targets with next to no noise leave less than this share of their squares on rows held out. There
# gradients of the last search come from so many rows: those of fewer would be noisier than targets.
_NEXT_TO_NO_NOISE, _ROWS_WITHOUT_NOISE = 0.01, 8192
# In the last search: the share of landmarks that are drawn anew at its end, and of the steps for
# own widths in which all then climb once more.
_RENEWED, _CLIMBED_AGAIN = 0.25, 0.5


def improve(
    starts: list[Landmarks],
    X: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    steps: int,
    rng: np.random.Generator,
    units: Units,
    wanted: Promises | None = None,
    last: Split | None = None,
    device: Device | None = None,
) -> Generator[bool, None, Landmarks]:
    """Up to ``steps`` Adam steps up the evidence of four fifths of the rows X (n, d), Y (n, C).

    The search for landmarks' own widths takes twice as many. Landmarks are in the units that
    ``units`` converts rows to. The search begins at the best of ``starts`` and returns the point
    with the smallest squared error on the other fifth, which is held out. ``wanted``: what a small
    search must promise, in float64 twice that; otherwise the first of ``starts`` is returned. It
    learns whether this search gains what was promised. ``last``: the rows held out, where no other
    search follows; then some landmarks are drawn anew at the end. ``device``: where products over
    all rows are made, other than in the processor. It is a generator, in about
    :func:`steps_of_search` steps.
    """
    of, is_last = last or split(len(X), rng), last is not None
    judge, learn = yield from drawn(of, X, Y, weight, units)
    m = len(starts[0].S)
    least = _LEAST_RIDGE_AT_LAST if is_last else LEAST_RIDGE
    if device:
        rows: Searched = RowsOnDevice(learn, judge, device, least)
    else:
        rows = SearchedRows(learn, judge, m, least)
    tried = _tries_own(len(X), m, is_last)
    small = yield from begin_small(starts[0], rows, learn.X.dtype)
    exact = yield from begin_small(starts[0], rows, np.float64)
    times, doubt = 1.0, 0.0
    if abs(small.begun.error - exact.begun.error) > _OFF * exact.begun.error:
        small, rows = exact, rows.few(len(learn.X), len(judge.X), m, np.float64)
        times, doubt = _EXACT_TIMES, _EXACT_DOUBT
    promised = 0.0
    if wanted:
        more = (X, Y, weight, units) if wanted.labels_before else None
        # the first search for landmarks' own widths may gain what those before did not
        new = tried and not _tries_own(len(X) // 2, m, is_last)
        least_gain = times * wanted.least(new)
        promised = yield from promises(small, least_gain, doubt, m, tried, of, learn, more)
        if not promised:
            return starts[0]
    if not is_last:
        found, gained = yield from _search(starts, rows, steps, tried)
        if wanted:
            wanted.learn(promised, gained)
        return found
    enough = _ROWS_WITHOUT_NOISE if _next_to_no_noise(small, judge) else ENOUGH_ROWS
    found, _ = yield from _search(starts, rows, steps, tried, enough, last=True)
    return (yield from _climb_again(found, rows, steps, enough, rng))


def _next_to_no_noise(small: SmallSearch, judge: Rows) -> bool:
    """Whether every other landmark already predicts rows held out nearly as they are."""
    few = judge.first(len(small.rows.judging_weight), judge.Y.dtype)
    squares = float(few.weight @ (few.Y**2).mean(axis=1))
    return small.begun.error < _NEXT_TO_NO_NOISE * squares


def _tries_own(n: int, m: int, last: bool) -> bool:
    return (_OWN_FROM_AT_LAST if last else _OWN_FROM) * m <= n


def steps_of_search(n: int, d: int, m: int, own: bool, steps: int, last: bool = False) -> int:
    """Steps of a search by m landmarks on n rows of d columns, at most.

    ``own``: whether they have widths of their own already; ``last``: of the last search.
    """
    own_steps = int(_OWN_STEPS * steps)
    climbs = [own_steps] if own else [steps, own_steps] if _tries_own(n, m, last) else [steps]
    rows = rows_to_learn(n)
    small = steps_of_small(rows, d, m, len(climbs))
    # landmarks' own widths have a start of their own
    begun = (_MOST_STARTS + 1) * steps_of_start(rows)
    if last:
        # before and after some are drawn anew
        begun += 2 * steps_of_start(rows)
        climbs.append(_steps_again(steps))
    n_parts = _n_parts(rows, m, last)
    of_all = small + begun + sum(steps_of_climb(rows, each, n_parts=n_parts) for each in climbs)
    return steps_of_drawing(n, d) + of_all


def _steps_again(steps: int) -> int:
    return int(_CLIMBED_AGAIN * _OWN_STEPS * steps)


def work_of_search(n: int, m: int, steps: int, last: bool = False) -> int:
    """About how many multiplications a search of ``steps`` steps by m landmarks on n rows takes.

    They are those of least squares, in float64: one in float32 takes less than half of the time.
    """
    own = int(_OWN_STEPS * steps) if _tries_own(n, m, last) else 0
    again = _steps_again(steps) if last else 0
    n = min(n, MOST_ROWS)
    rows = rows_of_step(n, _n_parts(n, m, last))
    return (steps + own + again) * (rows // 4 + m // 2) * m**2


def _n_parts(n: int, m: int, last: bool) -> int:
    """Steps of the last search always look at all rows: its time is small beside all before."""
    return 1 if last else parts_of_many(n, m)


def _search(
    starts: list[Landmarks],
    rows: Searched,
    steps: int,
    tried: bool,
    enough_rows: int = ENOUGH_ROWS,
    last: bool = False,
) -> Generator[bool, None, tuple[Landmarks, float]]:
    """The best point, and by which share its squared errors are below those of the first start.

    Where ``tried``, landmarks' own widths are searched for, too.

    The ``last`` search takes them only if they are better by a standard error. Others leave the
    search for them where it hardly gains any more.
    """
    begun, own_steps = [], int(_OWN_STEPS * steps)
    n_parts = _n_parts(rows.n, len(starts[0].S), last)
    climbed = partial(climb, n_parts=n_parts, enough_rows=enough_rows)
    doubt, least_gain = (_STANDARD_ERRORS, 0.0) if last else (0.0, _GAIN_OF_OWN)
    for start in starts:
        sums = yield from rows.sums(start)
        begun.append((yield from judged(start, sums, rows)))
    best = min(begun, key=lambda start: start.error)
    common = best.at.log_width.ndim == 1
    # those of the start before are overwritten
    known = sums if best is begun[-1] else None
    least = 0.0 if common else least_gain
    found, errors = yield from climbed(
        best, rows, steps if common else own_steps, known, least_gain=least
    )
    if common and tried:
        owning = found.owning()
        sums = yield from rows.sums(owning)
        begins = yield from judged(owning, sums, rows)
        if last or begins.error <= _NEAR * errors.sum():
            of = begins, rows, own_steps, sums
            own, own_errors = yield from climbed(*of, least_gain=least_gain)
            if better(own_errors, errors, doubt):
                found, errors = own, own_errors
    return found, 1.0 - float(errors.sum()) / (begun[0].error or 1.0)


def _climb_again(
    found: Landmarks, rows: Searched, steps: int, enough_rows: int, rng: np.random.Generator
) -> Generator[bool, None, Landmarks]:
    """The better of ``found`` and of where a climb from it ends, with some landmarks drawn anew."""
    sums = yield from rows.sums(found)
    now = yield from judged(found, sums, rows)
    renewed = _renewed(now, sums, rows, rng)
    yield True
    steps, beaten = _steps_again(steps), float(now.errors.sum())
    other, errors = yield from climb(renewed, rows, steps, to_beat=beaten, enough_rows=enough_rows)
    return other if better(errors, now.errors, 0.0) else found


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
