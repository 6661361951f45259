"""Trees for ``speed="fast"``, which take a few seconds.

They are those of :mod:`onkel.default.last_trees`, with these differences:

- There are at most 300 trees in all, as many as are best alone. Those that were grown without the
  rows held out are kept. Only where they are few more are grown, from all rows, and averaged with
  them: that is worth more than further trees, which would be best beside the landmarks.
- Each time the edges of the bins are shifted at random, so that the mean has finer edges.
- Where few columns matter to the landmarks, trees that ask about these alone compete with trees
  that ask about all: rows held out choose. A column that only tells something together with another
  is else hidden by the many that tell nothing.
"""

from __future__ import annotations

import numpy as np

from onkel.default.boosting import (
    AT_ONCE,
    DEPTH,
    FEWEST_TREES,
    Binned,
    Task,
    Trees,
    boosted,
    judged,
    rate_of,
)
from onkel.default.held_out import HeldOut
from onkel.default.tree_part import TreePart

# Trees at most; their leaves hold up to so many times B² numbers (B landmarks).
_MOST_TREES, _NUMBERS = 300, 2
# Trees are grown so many times at most.
_MOST_TIMES = 8
# Trees without a gain for rows held out, after which no more are added.
_PATIENCE = 50
# Few columns are at most such a part of all.
_FEW = 0.25


def quick_trees(
    X: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    held: HeldOut,
    matter: np.ndarray,
    n_landmarks: int,
    rng: np.random.Generator,
    forgetting: float,
) -> TreePart | None:
    """Trees for rows X (n, d) and targets Y (n, K); None where they would not help.

    ``matter``: the columns that matter to the landmarks.
    """
    d, K = X.shape[1], Y.shape[1]
    part, weight = TreePart(K, forgetting), weight / weight.mean()
    most = min(_NUMBERS * n_landmarks**2 // (K << DEPTH), _MOST_TREES)
    if most < FEWEST_TREES:
        return None
    T, rate = part.begin(Y, weight), rate_of(most)

    def grow(
        columns: np.ndarray, n_trees: int, held: np.ndarray | None = None
    ) -> tuple[Trees, np.ndarray, Binned]:
        rows = Binned.of(X[:, columns], rng.random(len(columns)))
        task = Task(rows, T, weight, part.loss, n_trees, rate)
        if held is None:
            return boosted(task, rng), np.empty(0), rows
        (trees,), losses = judged(task, [rng], held, _PATIENCE)
        return trees, losses, rows

    few = len(matter) <= _FEW * d
    candidates = [np.arange(d), *([matter] if few else [])]
    grown = [grow(columns, most, held.rows) for columns in candidates]
    best = int(np.argmin([losses.min() for _, losses, _ in grown]))
    columns, (trees, losses, rows) = candidates[best], grown[best]
    n_trees = AT_ONCE * int(np.argmin(losses))
    part.judge(trees.sums(rows.bins[:, held.rows], n_trees), Y, weight, held)
    if not n_trees or part.share == 0.0:
        return None
    times = [(trees.first(n_trees), rows)]
    while len(times) < min(most // n_trees, _MOST_TIMES):
        more, _, rows = grow(columns, n_trees)
        times.append((more, rows))
    part.take([(one._replace(columns=columns[one.columns]), of.edges_at(one)) for one, of in times])
    return part
