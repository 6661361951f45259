"""What the last fit gains on tables of numbers, beside LightGBM, CatBoost and an RBF SVM.

    python -m benchmarks.last_fit [NAME ...] [--rows 30000] [--orders 1] [--rivals] [--patience S]
    python -m benchmarks.last_fit NAME ... --parts

NAME: a file of the folder ONKEL_DATA. The first four fifths of its rows, in a seeded order, are
learned, and the rest is predicted by the frozen model: mistakes in percent, or the RMSE, and CPU
seconds, both as means over the orders. *Before* is the default after ``partial_fit``, *after* the
same after ``consolidate()``. ``fit`` does both, and knows the classes from the first row on.
``--rivals``: LightGBM and CatBoost with their defaults, and an RBF SVM (C = 10, columns and target
standardised), each on one thread. Install ``catboost`` and ``lightgbm`` first. One that took more
than ``--patience`` CPU seconds for a set learns no other order of it. ``--kept FILE`` takes the
rivals' numbers of an order from that file, and appends those that it lacks. Each order is told on
the error stream, and the last line says on how many sets *after* is ahead of all three.
``--parts``: in place of rivals the default's landmarks alone, without cells and trees, after a last
fit of their own, and scikit-learn's boosted trees of one question each and of up to six.
"""

from __future__ import annotations

from benchmarks.timing import head, line, one_core  # first: it sets the threads

# isort: split
import argparse
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.ceilings import catboost, cut, error, lightgbm
from benchmarks.streams import file_rows
from onkel import make
from onkel.algorithms import DEFAULT

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


def frozen(model: Any, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Error and CPU seconds of a model that learns the first four fifths."""
    end, began = cut(len(y)), time.process_time()
    model.fit(X[:end], y[:end])
    seconds = time.process_time() - began
    return error(model.predict(X[end:]), y), seconds


def defaults(X: np.ndarray, y: np.ndarray, task: str) -> Iterator[tuple[float, float]]:
    """Error and CPU seconds of the default, before the last fit and after it."""
    end, model = cut(len(y)), make(DEFAULT, task, random_state=0)
    began = time.process_time()
    for step in (lambda: model.partial_fit(X[:end], y[:end]), model.consolidate):
        step()
        seconds = time.process_time() - began
        yield error(model.predict(X[end:]), y), seconds
        began = time.process_time() - seconds


def rivals(X: np.ndarray, y: np.ndarray, waits: list[bool]) -> Iterator[tuple[float, float]]:
    """Error and CPU seconds of each that is waited for; NaN for the others."""
    classes = y.dtype.kind != "f"
    kinds: tuple[Callable[..., Any], ...] = (lightgbm, partial(catboost, thread_count=1), svm)
    for kind, waited in zip(kinds, waits, strict=True):
        yield frozen(kind(classes), X, y) if waited else (np.nan, np.nan)


def parts(X: np.ndarray, y: np.ndarray, task: str) -> Iterator[tuple[float, float]]:
    """Error and CPU seconds of landmarks alone, and of trees of one question and of up to six."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    yield frozen(make(DEFAULT, task, random_state=0, pairs=False), X, y)
    classes, numbers = HistGradientBoostingClassifier, HistGradientBoostingRegressor
    trees = numbers if task == "regression" else classes
    for depth in (1, 6):
        yield frozen(trees(max_depth=depth, max_iter=200, random_state=0), X, y)


def in_order(
    name: str, seed: int, n_rows: int, waits: list[bool], kept: Path | None, in_parts: bool
) -> tuple[int, np.ndarray]:
    """Number of rows learned; errors and CPU seconds (2, n_models) of one order."""
    X, y = file_rows(name, seed, n_rows)
    task = "regression" if y.dtype.kind == "f" else "classification"
    found = list(defaults(X, y, task))
    found += parts(X, y, task) if in_parts else ()
    if waits:
        key = f"{name} {seed} {n_rows} "
        lines = kept.read_text().splitlines() if kept and kept.exists() else []
        known = [line[len(key) :].split() for line in lines if line.startswith(key)]
        if known:
            found += zip(*np.reshape(known[0], (2, -1)).astype(float), strict=True)
        else:
            found += (of_rivals := list(rivals(X, y, waits)))
            if kept:
                values = (f"{value:.8g}" for value in np.transpose(of_rivals).flat)
                with kept.open("a") as file:
                    print(key + " ".join(values), file=file)
    both = np.transpose(found)
    print(name, seed, *(f"{value:.5g}" for value in both.flat), file=sys.stderr, flush=True)
    return cut(len(y)), both


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rows", type=int, default=N_ROWS)
    parser.add_argument("--orders", type=int, default=1)
    others = parser.add_mutually_exclusive_group()
    others.add_argument("--rivals", action="store_true", help="LightGBM, CatBoost and an SVM, too")
    others.add_argument("--parts", action="store_true", help="landmarks and trees, each alone")
    parser.add_argument("--kept", type=Path, help="file of the rivals' numbers")
    parser.add_argument("--patience", type=float, default=np.inf, help="seconds for a rival")
    options = parser.parse_args()
    one_core()
    names = ("LightGBM", "CatBoost", "SVM") if options.rivals else ()
    alone = ("landmarks alone", "trees of one question", "of six") if options.parts else ()
    head("data", "rows", "before", "after", *alone, *names, "seconds")
    ahead = []
    for name in options.names or DATA:
        waits, orders = [True] * len(names), []
        for seed in range(options.orders):
            n, found = in_order(name, seed, options.rows, waits, options.kept, options.parts)
            orders.append(found)
            waits = [not seconds > options.patience for seconds in orders[0][1, 2 : 2 + len(names)]]
        errors, seconds = np.nanmean(orders, axis=0)
        cells = (f"{value:.4g}" for value in errors)
        line(name, f"{n:,}", *cells, ", ".join(f"{value:.0f}" for value in seconds))
        ahead.append(errors[1] < min(errors[2:], default=np.inf))
    if options.rivals:
        print(f"\nAhead of all three on {sum(ahead)} of {len(ahead)}.")


if __name__ == "__main__":
    main()
