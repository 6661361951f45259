"""What the default's parts are worth: ``python -m benchmarks.parts``.

The default learner, the same without trees while rows come, the same without trees and cells
(``pairs=False``), and the same without curves for columns with heavy tails. They predict and learn
the first 100 000 rows of shuffled data. One table has the metric, a second one seconds of one core.
"""

from __future__ import annotations

from benchmarks.timing import head, line, one_core  # first: it sets the threads

# isort: split
from collections.abc import Generator
from unittest.mock import patch

import numpy as np

from benchmarks.streams import shuffled
from onkel import StreamModel, algorithms, make, prequential
from onkel.datasets import info
from onkel.default import corrected_by_cells
from onkel.default.early_trees import GROWTHS
from onkel.evaluation.result import PrequentialResult
from onkel.maps.landmarks.fitted import TailCurves
from onkel.numerics.in_steps import finished

DATA = (
    "german", "spambase", "dna", "satimage", "usps", "letter", "shuttle", "a9a", "cod-rna",
    "ijcnn1", "covtype_sub93k", "poker_sub125k", "airlines_late", "housing", "abalone",
    "parkinsons", "cpusmall", "cadata", "casp",
)  # fmt: skip
N_ROWS = 100_000


def straight(X: np.ndarray) -> Generator[bool, None, TailCurves]:
    """In place of ``TailCurves.in_steps``: no curves."""
    yield True
    return TailCurves(*np.zeros((2, X.shape[1])))


def run(X: np.ndarray, y: np.ndarray, task: str, pairs: bool = True) -> PrequentialResult:
    """One pass of the default learner."""
    model = make(algorithms.DEFAULT, task, random_state=0, pairs=pairs)
    return prequential(StreamModel(model), (X, y), checkpoints="none")


def more(default: PrequentialResult, without: PrequentialResult) -> list[str]:
    """The metric without a part, and by what percent it is higher."""
    share = 100.0 * (without.value / max(default.value, 1e-300) - 1.0)
    return [without.metric.format(without.value), f"{share:+.1f}"]


def main() -> None:
    one_core()
    change, others = "change, %", ("no trees", "no trees, no cells")
    compared = others[0], change, others[1], change, "heavy", "straight", change
    head("data", "rows", "default", *compared)
    seconds: dict[str, list[str]] = {}
    for name in DATA:
        X, y = shuffled(name, N_ROWS, scaling="none", dtype="float32")
        task, heavy = info(name).task, int((finished(TailCurves.in_steps(X)).spread > 0.0).sum())
        default, no_pairs = run(X, y, task), run(X, y, task, pairs=False)
        with patch.object(corrected_by_cells, "n_early_trees", lambda *_: 0):
            no_trees = run(X, y, task) if len(y) > GROWTHS[0][1] else default
        curves = ["", ""]
        if heavy:
            with patch.object(TailCurves, "in_steps", straight):
                curves = more(default, run(X, y, task))
        values = [default.metric.format(default.value)]
        values += [*more(default, no_trees), *more(default, no_pairs)]
        line(name, f"{len(y):,}", *values, f"{heavy} of {X.shape[1]}", *curves)
        runs = default, no_trees, no_pairs
        seconds[name] = [f"{run.final.learn_seconds:.1f}" for run in runs]
    print()
    head("data", "s: default", *others)
    for name, found in seconds.items():
        line(name, *found)


if __name__ == "__main__":
    main()
