"""The last fit of landmarks and widths, when all rows are there.

Searches come at powers of two. The last one sees all rows that are kept, and takes more steps. Then
rows held out by their time choose the penalty once more (:mod:`onkel.maps.landmarks.later_rows`).
Where rows are too few for a search, only widths are fitted: those of 512 rows compete with those of
other priors, or are fitted on to all rows.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from onkel.maps.landmarks.competing_widths import best_widths, steps_of_best
from onkel.maps.landmarks.drawn_rows import Split, predict_held_out, split
from onkel.maps.landmarks.evidence import Landmarks
from onkel.maps.landmarks.first_widths import ENOUGH, TOGETHER, steps_of_widths, widths_in_steps
from onkel.maps.landmarks.fitted import FittedLandmarks, Units, n_steps
from onkel.maps.landmarks.indicators import groups_of
from onkel.maps.landmarks.later_rows import with_best_penalty
from onkel.maps.landmarks.schedule import CHOICE_ROWS, FEW_ROWS
from onkel.maps.landmarks.search import improve, steps_of_search
from onkel.numerics.devices import Device

# Steps for the widths of few rows.
_STEPS = 32
# So many rows that no search has seen suffice to tell how good its landmarks are.
_ENOUGH_UNSEEN = 100


def fit_widths(
    fitted: FittedLandmarks, X: np.ndarray, V: np.ndarray, weight: np.ndarray, m: int
) -> Generator[bool, None, FittedLandmarks]:
    """The first m of few rows X (n, d), with widths that all of them with targets V (n, C) chose.

    It begins at those of ``fitted``, and takes about :func:`steps_of_fit` steps.
    """
    units, groups = (yield from Units.in_steps(X)), groups_of(X)
    few = slice(0, CHOICE_ROWS)
    at = fitted.in_units(units, units(X[:m]))
    found = np.append(at.log_width, at.log_ridge)
    yield True
    of, best = (units(X[few]), V[few], weight[few]), found
    if len(X) < CHOICE_ROWS:
        best = yield from best_widths(*of, found, FEW_ROWS, groups)
    if best is found:
        more = widths_in_steps(*of, found, _STEPS, groups, TOGETHER, ENOUGH, near=True)
        best = yield from more
    return FittedLandmarks(units, Landmarks(at.S, best[:-1], best[-1]))


def steps_of_fit(n: int, d: int) -> int:
    """Steps of :func:`fit_widths` for n rows of d columns, at most."""
    return n_steps(n, d) + 1 + steps_of_best() + steps_of_widths(_STEPS)


class LastSearch:
    """The search over all n rows kept, and the rows that it holds out.

    ``seed``: of what is drawn; ``seen``: how many of the first rows searches had learned before.
    Rows that none of them has seen are held out first.
    """

    def __init__(self, seed: int, n: int, seen: int) -> None:
        # of another draw than the search at as many rows
        self._rng: np.random.Generator = np.random.default_rng([seed, n, 1])
        self._held: Split = split(n, self._rng, seen)
        self._seen = seen

    def search(
        self,
        fitted: FittedLandmarks,
        X: np.ndarray,
        V: np.ndarray,
        weight: np.ndarray,
        steps: int,
        device: Device | None,
    ) -> Generator[bool, None, FittedLandmarks]:
        """What all rows X (n, d) with targets V (n, C) make of ``fitted``.

        It takes about :func:`steps_of_last_search` steps.
        """
        units = yield from Units.in_steps(X)
        at, how = fitted.in_units(units), (steps, self._rng, units)
        at = yield from improve([at], X, V, weight, *how, last=self._held, device=device)
        at = yield from with_best_penalty(at, self._held, X, V, weight, units)
        return FittedLandmarks(units, at)

    def predict_held_out(
        self, fitted: FittedLandmarks, X: np.ndarray, Y: np.ndarray, weight: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rows that the search, made on these, held out: predictions (k, C) by the others.

        Also which of them no search has learned from; all, where these are too few.
        """
        middle, held = np.average(Y, axis=0, weights=weight), self._held
        predicted = predict_held_out(fitted.at, held, X, Y - middle, weight, fitted.units)
        unseen = held.held >= self._seen
        if np.count_nonzero(unseen) < _ENOUGH_UNSEEN:
            unseen[:] = True
        return held.held, predicted + middle, unseen


def steps_of_last_search(n: int, d: int, fitted: FittedLandmarks, m: int, steps: int) -> int:
    """Steps of a last search by m landmarks on n rows of d columns, at most."""
    own = fitted.at.log_width.ndim == 2
    return n_steps(n, d) + steps_of_search(n, d, m, own, steps, last=True)
