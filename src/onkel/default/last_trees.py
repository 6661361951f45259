"""Trees that the last fit grows from all rows kept.

Rows held out of the landmarks and of the trees say how many trees there are. Of numbers they are as
many as are best beside the landmarks: more than are best alone, because a mix varies less with the
rows. Those rows that no fit has seen say how large the share of the trees is
(:mod:`onkel.default.tree_part`). The trees are then grown once more from all rows: the fewer they
are, the more times, and averaged.
"""

from __future__ import annotations

import numpy as np

from onkel.default.boosting import (
    AT_ONCE,
    DEPTH,
    FEWEST_TREES,
    Binned,
    Task,
    boosted,
    judged,
    rate_of,
)
from onkel.default.held_out import HeldOut
from onkel.default.losses import SQUARED
from onkel.default.tree_part import TreePart

# Trees at most; their leaves hold up to so many times B² numbers (B landmarks).
_MOST_TREES, _NUMBERS = 1000, 4
# So many growths are judged together; they end where so many trees have not made their mean better.
_JUDGED, _PATIENCE = 2, 100
# Trees are grown so many times at most, and averaged, while they are no more than so many together.
_MOST_TIMES, _MOST_AVERAGED = 4, 2000


def last_trees(
    X: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    held: HeldOut,
    n_landmarks: int,
    rng: np.random.Generator,
    forgetting: float,
) -> TreePart | None:
    """Trees for rows X (n, d) and targets Y (n, K); None where they would not help."""
    K, weight = Y.shape[1], weight / weight.mean()
    fitting = _NUMBERS * n_landmarks**2 // (K << DEPTH)
    most = min(fitting, _MOST_TREES)
    if most < FEWEST_TREES:
        return None
    part, rows = TreePart(K, forgetting), Binned.of(X)
    T = part.begin(Y, weight)
    task = Task(rows, T, weight, part.loss, most, rate_of(most))
    places, beside, rngs = held.parts(), beside_of(part, held), rng.spawn(_JUDGED)
    runs = [judged(task, rngs, held.rows[some], _PATIENCE, beside[some]) for some in places]
    checks = min(len(losses) for _, losses in runs)
    n_trees = AT_ONCE * int(np.argmin(sum(losses[:checks] for _, losses in runs)))
    F = np.empty((len(held.rows), K))
    for (growths, _), some in zip(runs, places, strict=True):
        bins = rows.bins[:, held.rows[some]]
        F[some] = sum(trees.sums(bins, n_trees) for trees in growths) / len(growths)
    part.judge(F, Y, weight, held)
    if not n_trees or part.share == 0.0:
        return None
    # from more rows, more trees
    n_trees = min(int(n_trees * len(Y) / (len(Y) - len(places[0]))), most)
    times = min(max(min(fitting, _MOST_AVERAGED) // n_trees, 1), _MOST_TIMES)
    grown = [boosted(task._replace(n_trees=n_trees), rng) for _ in range(times)]
    part.take([(trees, rows.edges_at(trees)) for trees in grown])
    return part


def beside_of(part: TreePart, held: HeldOut) -> np.ndarray:
    """The predictions (n_held, K) of rows held out, in the units of the trees, for numbers.

    Of classes, and where rows were not held out of all fits, they are NaN.
    """
    known = held.unseen & (part.loss == SQUARED)
    return np.where(known[:, None], (held.predictions - part.middle) / part.scale, np.nan)
