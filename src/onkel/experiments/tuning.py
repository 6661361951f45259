"""The papers' search on a user's own rows: a grid on a random part, judged on the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from onkel.evaluation.processes import jobs_for
from onkel.experiments.data import part_of
from onkel.experiments.search import Point, mean_loss, race

_LEAST, _MOST = 1000, 10_000


@dataclass(frozen=True)
class Tuned:
    """What a search found.

    Attributes
    ----------
    point : dict
        The best of the grid; empty if all diverged.
    n_searched, n_others : int
        Rows that were searched, and that were not.
    value, default : float
        Share of mistakes or root mean squared error of one pass over the other rows, each
        predicted before it is learned: at the best point, and without a search.
    """

    point: Point
    n_searched: int
    n_others: int
    value: float
    default: float


def part_for_search(n_rows: int, share: float) -> np.ndarray:
    """Places of the rows to search on: a random share, 1 000 to 10 000, at most half of all."""
    wanted = min(max(_LEAST, int(share * n_rows)), _MOST, n_rows // 2)
    return part_of(n_rows, 1.0, wanted)


def jobs_of(n_rows: int, share: float, n_points: int, jobs: int | None) -> int:
    """Processes for a search: ``jobs``, or else one per core if there is enough to do."""
    return jobs_for(len(part_for_search(n_rows, share)) * n_points, jobs)


def tune(
    X: Any,
    y: np.ndarray,
    new_model: Callable[[Point], Any],
    points: Iterable[Point],
    *,
    classes: bool,
    share: float = 0.1,
    jobs: int = 1,
) -> Tuned:
    """Search a grid on a random part of the rows, and measure the best point on all others.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
    y : ndarray of shape (n,)
    new_model : callable
        Parameters -> a fresh model with ``learn(block)``.
    points : iterable of dict
        The grid.
    classes : bool
        Whether mistakes are counted; else errors are squared.
    share : float, default=0.1
        Share of the rows to search on.
    jobs : int, default=1
        Processes, of one thread each.

    Raises
    ------
    ValueError
        There are fewer than 4 rows.
    """
    if len(y) < 4:
        raise ValueError(f"{len(y)} rows are too few to search on some and measure on the others")
    part = part_for_search(len(y), share)
    others = np.setdiff1d(np.arange(len(y)), part)

    def loss(point: Point, most: float) -> float:
        return mean_loss(new_model(point), X[part], y[part], classes, most)

    best, _ = race(points, loss, jobs)
    found = [mean_loss(new_model(point), X[others], y[others], classes) for point in (best, {})]
    value, default = found if classes else np.sqrt(found).tolist()
    return Tuned(best, len(part), len(others), value, default)
