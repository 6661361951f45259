"""What the default's parts are worth: ``python -m benchmarks.parts``.

The default learner, the same without cells of pairs of columns, and without curves for columns with
heavy tails; the first 100 000 rows of shuffled data, predicted before they are learned; the metric,
and seconds of one core.
"""

from __future__ import annotations

from benchmarks.timing import one_core  # first: it sets the threads

# isort: split
from unittest.mock import patch

import numpy as np

from benchmarks.streams import shuffled
from onkel import StreamModel, algorithms, make, prequential
from onkel.datasets import info
from onkel.evaluation.result import PrequentialResult
from onkel.maps.heavy_tails import TailCurves

DATA = (
    "german", "spambase", "dna", "satimage", "usps", "letter", "shuttle", "a9a", "cod-rna",
    "ijcnn1", "covtype_sub93k", "poker_sub125k", "airlines_late", "housing", "abalone",
    "parkinsons", "cpusmall", "cadata", "casp",
)  # fmt: skip
N_ROWS = 100_000


def straight(X: np.ndarray) -> TailCurves:
    """No curves."""
    return TailCurves(*np.zeros((2, X.shape[1])))


def run(X: np.ndarray, y: np.ndarray, task: str, pairs: bool = True) -> PrequentialResult:
    """One pass of the default learner."""
    model = make(algorithms.DEFAULT, task, random_state=0, pairs=pairs)
    return prequential(StreamModel(model), (X, y), checkpoints="none")


def more(default: PrequentialResult, without: PrequentialResult) -> list[str]:
    """The metric without a part, and by how much more that is."""
    share = 100.0 * (without.value / max(default.value, 1e-300) - 1.0)
    return [without.metric.format(without.value), f"{share:+.1f} %"]


def main() -> None:
    one_core()
    print(
        "| data | rows | default | without pairs | | heavy | straight | | seconds | without pairs |"
    )
    print("|---|---:|---:|" + "---:|" * 7)
    for name in DATA:
        X, y = shuffled(name, N_ROWS, scaling="none", dtype="float32")
        task, heavy = info(name).task, int((TailCurves.of(X).spread > 0.0).sum())
        default, without = run(X, y, task), run(X, y, task, pairs=False)
        curves = ["", ""]
        if heavy:
            with patch.object(TailCurves, "of", straight):
                curves = more(default, run(X, y, task))
        values = [default.metric.format(default.value), *more(default, without)]
        seconds = [f"{r.final.learn_seconds:.1f}" for r in (default, without)]
        cells = [*values, f"{heavy} of {X.shape[1]}", *curves, *seconds]
        print(f"| {name} | {len(y):,} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
