"""How far the widths of columns may part: priors compete, and rows that were not fitted choose.

Where few columns matter, a prior that holds the widths together hides them; where all matter, a
prior that lets them part follows noise. Which is which only other rows can tell. So widths are
fitted to the first rows under several priors, and each is judged by the rows after them. The best
take the place of the widths found so far if their squared errors are smaller by more than 2.5
standard errors. The fits that compete are rough. The best is fitted on, and that is kept where the
rows after them are predicted better for it.

A prior that lets columns part far has many local minima. Its fit begins where the columns that tell
something, alone or in a pair, are as wide as if there were no others, and the rest are narrower:
they may still come in. Where all columns tell something, only this prior competes: the other finds
nearly the same. A column tells something if one of the sums

    z = Σ wᵢ yᵢ φᵢ / √Σ (wᵢ yᵢ φᵢ)²

is larger than chance makes the largest of them all. y is a target less its mean; φ is the column,
which of eight parts of its values a row is in, or its product with a column (itself, too).

Source: z is the self-normalised sum of de la Peña, Lai & Shao 2009; the competition is ours.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
from scipy.special import ndtri

from onkel.maps.landmarks.climb import better
from onkel.maps.landmarks.first_widths import (
    ENOUGH,
    of_columns,
    predicted_by,
    prior_mean,
    steps_of_widths,
    widths_in_steps,
    work_of_widths,
)
from onkel.numerics.in_steps import together

# Variances of a column's own part, times the number of columns. The fit of the last begins at the
# columns that tell something.
_TOGETHER, _APART = 10.0, 30.0
# That of the last is at least this: of very many columns a few may be far from the others.
_LEAST_VARIANCE = 0.1
#: how many fits compete at most, steps of each, and further steps of the best, at most
N_FITS = 2
STEPS = 32
MORE_STEPS = 16
#: a fit ends at a step that gains less than this of log p: what smaller steps gain on the rows that
#: are fitted is mostly lost on those that judge. Only the best widths are fitted on.
ROUGHLY = 0.5
# X, Y and weight.
_Rows = tuple[np.ndarray, np.ndarray, np.ndarray]
# Parts of a column's values, of as many rows each.
_PARTS = 8
# The chance that any column seems to tell something where none does.
_CHANCE = 0.05
# Pairs are looked at of up to so many columns; of more, up to so many pairs of all targets.
_MOST_PAIRED, _MOST_PAIRS = 512, 1 << 22
# How much narrower than its prior a column begins that tells nothing, in log w.
_NARROWER = 1.0
# Standard errors by which other widths must be better than those found so far. They are the best of
# several, and there are few rows to judge by.
_STANDARD_ERRORS = 2.5


def best_widths(
    X: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    found: np.ndarray,
    n_fitted: int,
    groups: np.ndarray,
) -> Generator[bool, None, np.ndarray]:
    """The (log w, log λ) that predict scaled rows X[n_fitted:] best, from those before them.

    That is ``found``, unless the fit of another prior is clearly better. Takes about
    :func:`steps_of_best` steps.
    """
    fitted, judged = slice(0, n_fitted), slice(n_fitted, None)
    of = X[fitted], Y[fitted], weight[fitted]
    rows = X[judged], Y[judged], weight[judged]
    tells = np.bincount(groups, columns_that_tell(*of)) > 0
    apart = max(_APART, _LEAST_VARIANCE * len(tells))
    starts = [(_start(tells), apart)]
    if not tells.all():
        starts.append((prior_mean(len(tells)), _TOGETHER))
    yield True
    fits = [
        widths_in_steps(*of, of_columns(start, groups), STEPS, groups, apart, ROUGHLY)
        for start, apart in starts
    ]
    candidates = [found, *(yield from together(fits))]
    errors = []
    for theta in candidates:
        errors.append((yield from _judged(theta, of, rows)))
    best = int(np.argmin([error.sum() for error in errors]))
    if not better(errors[best], errors[0], _STANDARD_ERRORS):
        return found
    start, apart = candidates[best], starts[best - 1][1]
    more = widths_in_steps(*of, start, MORE_STEPS, groups, apart, ENOUGH, near=True)
    fitted_on = yield from more
    error = yield from _judged(fitted_on, of, rows)
    return fitted_on if error.sum() < errors[best].sum() else start


def _judged(theta: np.ndarray, of: _Rows, rows: _Rows) -> Generator[bool, None, np.ndarray]:
    """Squared errors (k,) on ``rows``, predicted by the rows ``of``."""
    X, Y, weight = rows
    missed = Y - predicted_by(theta, *of, X)
    # it takes as long as two usual steps
    yield True
    yield True
    return weight * (missed**2).sum(axis=1)


def steps_of_best() -> int:
    """Usual number of steps of :func:`best_widths`."""
    fits = N_FITS * steps_of_widths(STEPS) + steps_of_widths(MORE_STEPS)
    return 1 + fits + 2 * (N_FITS + 2)


def work_of_best(n: int) -> int:
    """About how many multiplications fits to n rows take, at most."""
    return work_of_widths(n, N_FITS * STEPS + MORE_STEPS)


def _start(tells: np.ndarray) -> np.ndarray:
    """Groups of columns that tell something as if they were alone; the others narrower."""
    start, alone = prior_mean(len(tells)), prior_mean(max(int(tells.sum()), 1))
    if tells.any() and not tells.all():
        start[:-1] = np.where(tells, alone[0], start[:-1] - _NARROWER)
    return start


def columns_that_tell(X: np.ndarray, Y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Which columns (d,) of scaled rows X (n, d) tell something about Y (n, C)."""
    n, d = X.shape
    targets = (weight[:, None] * (Y - weight @ Y / weight.sum())).T
    order, parts = X.argsort(axis=0, kind="stable"), np.arange(min(n, _PARTS)) * n // _PARTS
    paired = d <= _MOST_PAIRED or len(targets) * d * d <= _MOST_PAIRS
    looks = len(targets) * d * (len(parts) + 1.0 + 0.5 * (d + 1) * paired)
    most = np.zeros(d)
    for y in targets:
        sums = [np.add.reduceat(of[order], parts, axis=0) for of in (y, y * y)]
        z = [_in_units_of_chance(*sums), _in_units_of_chance(y @ X, (y * y) @ (X * X))[None]]
        if paired:
            A = X * y[:, None]
            z.append(_in_units_of_chance(A.T @ X, (A * A).T @ (X * X)))
        most = np.maximum(most, np.vstack(z).max(axis=0))
    return np.asarray(most > -ndtri(0.5 * _CHANCE / looks))


def _in_units_of_chance(sums: np.ndarray, squares: np.ndarray) -> np.ndarray:
    return np.abs(sums) / np.sqrt(np.where(squares > 0.0, squares, np.inf))
