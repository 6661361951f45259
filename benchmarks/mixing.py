"""What mixing weights costs: ``python -m benchmarks.mixing [--rows N] [--streams N] [--out FILE]``.

FOGD on nonlinear streams in one pass, and in parts that are mixed once at the end or after each of
eight rounds. Mistakes on new rows, by the number of parts; means over streams.
"""

from __future__ import annotations

import argparse
import copy

import numpy as np

from benchmarks.picture import over_budgets
from benchmarks.streams import nonlinear
from benchmarks.timing import head, line
from onkel import FOGDClassifier

PARTS = (1, 2, 4, 8, 16, 32, 64)
ROUNDS = 8
# rows that fix the map, and rows to predict
FIRST, NEW_ROWS = 1000, 20_000


def mixed(start: FOGDClassifier, X: np.ndarray, y: np.ndarray, parts: int) -> FOGDClassifier:
    """Copies of ``start`` learn a part each, and are merged."""
    learned = [
        copy.deepcopy(start).partial_fit(X[rows], y[rows])
        for rows in np.array_split(np.arange(len(y)), parts)
    ]
    whole = learned[0]
    for other in learned[1:]:
        whole.merge(other, since=start)
    return whole


def in_rounds(
    start: FOGDClassifier, X: np.ndarray, y: np.ndarray, parts: int, rounds: int
) -> FOGDClassifier:
    """Mixed after each round; the next round starts from the mix."""
    for rows in np.array_split(np.arange(len(y)), rounds):
        start = mixed(start, X[rows], y[rows], parts)
    return start


def mistakes(rows: int, seed: int) -> np.ndarray:
    """Percent on new rows, (parts, 2): mixed once, and after each round."""
    X, y = nonlinear(rows + NEW_ROWS, seed=seed)
    X, y, X_new, y_new = X[NEW_ROWS:], y[NEW_ROWS:], X[:NEW_ROWS], y[:NEW_ROWS]
    start = FOGDClassifier(n_components=400, gamma=1 / 44, random_state=seed)
    start.partial_fit(X[:FIRST], y[:FIRST]).fix_map()
    X, y = X[FIRST:], y[FIRST:]
    models = [(mixed(start, X, y, parts), in_rounds(start, X, y, parts, ROUNDS)) for parts in PARTS]
    return 100.0 * np.array([[np.mean(m.predict(X_new) != y_new) for m in two] for two in models])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--streams", type=int, default=10)
    parser.add_argument("--out", default="docs/images/mixing.png")
    options = parser.parse_args()
    found = np.mean([mistakes(options.rows, seed) for seed in range(options.streams)], axis=0)
    head("parts", "mixed once, %", "mixed in eight rounds, %", left=0)
    for parts, (once, often) in zip(PARTS, found, strict=True):
        line(parts, f"{once:.2f}", f"{often:.2f}")
    curves = [
        ("one pass", [found[0, 0]] * len(PARTS), "--"),
        ("mixed in eight rounds", found[:, 1].tolist(), "o-"),
        ("mixed once", found[:, 0].tolist(), "o-"),
    ]
    over_budgets(options.out, PARTS, curves, ("parts", "mistakes on new rows, %"))


if __name__ == "__main__":
    main()
