"""A table of docs/results/index.md and the README's picture: ``python -m benchmarks.readme``.

Every algorithm with its defaults, the same for all data: the papers' rows, shuffled (seed 0), one
pass, inputs (and regression targets) standardised online but for ``okl``, which scales by itself.
The data are those of ``onkel datasets list``.
"""

from __future__ import annotations

from benchmarks.timing import arguments, head, line  # first: it sets the threads

# isort: split

import numpy as np

from onkel import StreamModel, make, prequential
from onkel.algorithms import ALGORITHMS
from onkel.datasets import load
from onkel.evaluation.curves import plot
from onkel.evaluation.result import PrequentialResult

DATA = ("ijcnn1", "cod-rna", "a9a", "letter", "usps", "satimage", "casp", "cadata")
NAMES = ("fogd", "nogd", "rrf", "krls", "okl", "pa")
PICTURE = "ijcnn1"


def run(data: str, name: str) -> PrequentialResult:
    rows = load(data, scaling="none")
    order = np.random.default_rng(0).permutation(len(rows.y))
    model = make(name, rows.task)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    X = rows.X[order].astype(np.float32)
    return prequential(StreamModel(model), (X, rows.y[order]), name=name)


def cell(result: PrequentialResult, best: bool) -> str:
    text = result.metric.format(result.value)
    return f"**{text}**" if best else text


def main() -> None:
    options = arguments(__doc__, {"picture": "write the curves of ijcnn1 there"})
    heads = [f"`{n}`" + (" (linear)" if ALGORITHMS[n].linear else "") for n in NAMES]
    head("data", "rows × columns", *heads, left=2)
    for data in DATA:
        results = [run(data, name) for name in NAMES]
        best = min(r.value for r in results)
        shape = load(data).X.shape
        cells = [cell(r, r.value == best) for r in results]
        line(data, f"{shape[0]:,} × {shape[1]}", *cells)
        if data == PICTURE:
            speeds = [f"{r.rows_per_second / 1e3:,.0f} k" for r in results]
            if options.picture:
                plot(results, options.picture, title="ijcnn1: 141 691 rows, one pass, defaults")
    line(f"*rows/s on {PICTURE}, one core*", "", *speeds)


if __name__ == "__main__":
    main()
