"""What the last fit gains on tables of numbers, beside LightGBM, CatBoost and an RBF SVM.

    python -m benchmarks.last_fit [NAME ...] [--rows 30000] [--orders 1] [--rivals]

The first four fifths of the rows, in a seeded order, are learned, and the rest is predicted by the
frozen model: mistakes in percent, or the RMSE. *Before* is the default after ``partial_fit``,
*after* the same after ``consolidate()``; with the CPU seconds of both. ``--rivals``: LightGBM and
CatBoost with their defaults, and an RBF SVM (C = 10, columns and target standardised). Install
``catboost`` and ``lightgbm`` first.
"""

from __future__ import annotations

from benchmarks.timing import head, line, one_core  # first: it sets the threads

# isort: split
import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.ceilings import catboost, cut, error, lightgbm
from onkel import make
from onkel.algorithms import DEFAULT
from onkel.datasets import load

DATA = (
    "letter", "usps", "satimage", "parkinsons", "cpusmall", "cadata", "ijcnn1", "covtype_sub93k",
    "casp", "spambase", "dna",
)  # fmt: skip
N_ROWS = 30_000


def svm(classes: bool) -> Any:
    """An unfitted model over standardised columns, and target."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC, SVR

    model = make_pipeline(StandardScaler(), (SVC if classes else SVR)(C=10.0))
    if classes:
        return model
    return TransformedTargetRegressor(model, transformer=StandardScaler())


def defaults(X: np.ndarray, y: np.ndarray, task: str) -> Iterator[tuple[float, float]]:
    """Error and CPU seconds of the default, before the last fit and after it."""
    end, model = cut(len(y)), make(DEFAULT, task, random_state=0)
    began = time.process_time()
    for step in (lambda: model.partial_fit(X[:end], y[:end]), model.consolidate):
        step()
        seconds = time.process_time() - began
        yield error(model.predict(X[end:]), y), seconds
        began = time.process_time() - seconds


def rivals(X: np.ndarray, y: np.ndarray) -> Iterator[tuple[float, float]]:
    """Error and CPU seconds of each."""
    end, classes = cut(len(y)), y.dtype.kind != "f"
    kinds: tuple[Callable[..., Any], ...] = (lightgbm, catboost, svm)
    for kind in kinds:
        began = time.process_time()
        model = kind(classes).fit(X[:end], y[:end])
        seconds = time.process_time() - began
        yield error(model.predict(X[end:]), y), seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rows", type=int, default=N_ROWS)
    parser.add_argument("--orders", type=int, default=1)
    parser.add_argument("--rivals", action="store_true", help="LightGBM, CatBoost and an SVM, too")
    options = parser.parse_args()
    one_core()
    others = ("LightGBM", "CatBoost", "SVM") if options.rivals else ()
    head("data", "rows", "before", "after", *others, "seconds")
    for name in options.names or DATA:
        data = load(name, scaling="none")
        for seed in range(options.orders):
            order = np.random.default_rng(seed).permutation(len(data.y))[: options.rows]
            X, y = data.X[order].astype(np.float64), data.y[order]
            y = y.astype(np.float64) if data.task == "regression" else y.astype(str)
            found = list(defaults(X, y, data.task))
            if options.rivals:
                found += rivals(X, y)
            seconds = ", ".join(f"{seconds:.0f}" for _, seconds in found)
            line(name, f"{cut(len(y)):,}", *(f"{value:.4g}" for value, _ in found), seconds)


if __name__ == "__main__":
    main()
