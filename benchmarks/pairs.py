"""What the cells of pairs of columns are worth: ``python -m benchmarks.pairs``.

The default learner with and without them, the first 100 000 rows of shuffled data, predicted
before they are learned; the metric, and seconds of one core.
"""

from __future__ import annotations

from benchmarks.timing import one_core  # first: it sets the threads

# isort: split
import numpy as np

from benchmarks.streams import shuffled
from onkel import StreamModel, algorithms, make, prequential
from onkel.datasets import info
from onkel.evaluation.result import PrequentialResult

DATA = (
    "german", "spambase", "dna", "satimage", "letter", "a9a", "cod-rna", "ijcnn1", "covtype_sub93k",
    "poker_sub125k", "airlines_late", "housing", "abalone", "cpusmall", "cadata", "casp",
)  # fmt: skip
N_ROWS = 100_000


def run(X: np.ndarray, y: np.ndarray, task: str, pairs: bool) -> PrequentialResult:
    """One pass of the default learner."""
    model = make(algorithms.DEFAULT, task, random_state=0, pairs=pairs)
    return prequential(StreamModel(model), (X, y), checkpoints="none")


def main() -> None:
    one_core()
    print("| data | rows | without | with pairs | less | seconds without | with |")
    print("|---|---:|" + "---:|" * 5)
    for name in DATA:
        X, y = shuffled(name, N_ROWS, scaling="none", dtype="float32")
        without, both = (run(X, y, info(name).task, pairs) for pairs in (False, True))
        less = 100.0 * (1.0 - both.value / max(without.value, 1e-300))
        values = [r.metric.format(r.value) for r in (without, both)]
        seconds = [f"{r.final.learn_seconds:.1f}" for r in (without, both)]
        cells = [*values, f"{less:.1f} %", *seconds]
        print(f"| {name} | {len(y):,} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
