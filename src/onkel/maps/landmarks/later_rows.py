"""Rows held out that came long after those that predict them.

A frozen model is asked for rows of a long time to come. Rows held out at random have neighbours in
time among the others, and the very last rows are much like those just before them: where a stream
drifts, both are predicted better than what comes. So rows held out are predicted by rows from
before a cut alone. Where all rows are alike, this says the same as any other rows held out.

The penalty λ is chosen so at the end of the last search. Where rows drift, the search has mostly
chosen a λ that keeps to the middle of all rows, and landmarks say too little of what changed.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from onkel.maps.landmarks.climb import better
from onkel.maps.landmarks.drawn_rows import Split, drawn
from onkel.maps.landmarks.evidence import Landmarks
from onkel.maps.landmarks.fitted import Units
from onkel.maps.landmarks.searched import SearchedRows
from onkel.numerics.in_steps import finished

# The parts of the rows that come before a cut; fewer later rows held out than this say nothing.
_BEFORE, _ENOUGH = (0.5, 0.75), 1024
# Factors of λ that are tried. One must be better than λ by so many standard errors.
_FACTORS, _DOUBT = np.log([1.0, 4.0, 1 / 4, 1 / 16, 1 / 64]), 2.0


def later(of: Split, n: int, before: float) -> Split | None:
    """Rows held out after the part ``before`` of n rows, and all rows up to there.

    None where too few are held out.
    """
    known, cut = np.concatenate([of.learned, of.held]), int(before * n)
    part = Split(of.held[of.held >= cut], known[known < cut])
    return part if len(part.held) >= _ENOUGH else None


def with_best_penalty(
    at: Landmarks, of: Split, X: np.ndarray, Y: np.ndarray, weight: np.ndarray, units: Units
) -> Generator[bool, None, Landmarks]:
    """The same landmarks, with the λ by which later rows are predicted best."""
    errors: list[list[np.ndarray]] = [[] for _ in _FACTORS]
    tried = [at._replace(log_ridge=at.log_ridge + float(factor)) for factor in _FACTORS]
    for before in _BEFORE:
        part = later(of, len(X), before)
        if part is None:
            return at
        judge, learn = finished(drawn(part, X, Y, weight, units, exact=True))
        rows = SearchedRows(learn, judge, len(at.S))
        sums, K = finished(rows.sums(at)), rows.judging(at)
        yield False
        for one, found in zip(tried, errors, strict=True):
            factor = finished(sums.factor_in_steps(one.ridge))[0]
            found.append(rows.squares(K, sums.alpha(factor)) * judge.weight)
        yield False
    known = [np.concatenate(found) for found in errors]
    best = int(np.argmax([(known[0] - found).sum() for found in known]))
    return tried[best] if better(known[best], known[0], _DOUBT) else at
