"""Probabilities of the default: log loss and calibration error, beside LightGBM's.

    python -m benchmarks.probabilities [--tables FOLDER] [--streams FOLDER] [--speed balanced]
        [--loss squared] [--keep FOLDER] [--rivals] [NAME ...]

Folders as for ``benchmarks.tables`` and ``benchmarks.intervals``. Each file is learned in one pass,
and every row is predicted before it is learned. The calibration error is the mean, over rows, of
|probability - share that was right| in 20 bins of the predicted class's probability.

``--keep``: what was predicted is kept there, and read the next time.
``--rivals``: LightGBM with its defaults is learned from the first four fifths, and asked for the
last one; install ``lightgbm`` and ``pandas`` first.
"""

from __future__ import annotations

from benchmarks.timing import head, line, one_core  # first: it sets the threads

# isort: split
import argparse
from pathlib import Path

import numpy as np

from benchmarks.ceilings import cut, lightgbm
from benchmarks.recorded import recorded, scores, scores_of_table
from benchmarks.tables import as_frame, sources
from onkel.default.calibration import Calibration
from papers.rows import find_streams

BINS = 20


def cells(own: np.ndarray, predicted: np.ndarray, right: np.ndarray) -> list[str]:
    """Mistakes in percent, log loss, calibration error.

    From the probabilities (n,) of each row's class and of the predicted one, and whether it was
    right.
    """
    bins = np.minimum((BINS * predicted).astype(int), BINS - 1)
    said, was = (np.bincount(bins, values) for values in (predicted, right))
    loss, apart = -np.log(own.clip(1e-15)).mean(), np.abs(said - was).sum() / len(own)
    return [f"{100 * (1 - right.mean()):.2f}", f"{loss:.4f}", f"{apart:.4f}"]


def show(name: str, s: np.ndarray, codes: np.ndarray, rival: list[str]) -> None:
    """A line: all rows, the last fifth, and the rival on the last fifth."""
    # before a second class has come, there is nothing to tell apart
    first = int((codes != codes[0]).argmax()) + 1
    s, codes = s[first:], codes[first:]
    told = Calibration().learn(s, codes, np.ones(len(codes)))
    right = ((s[:, 0] >= 0.0) if s.shape[1] == 1 else s.argmax(axis=1)) == codes
    values, last = (*told.T, right), cut(len(codes))
    shown = [*cells(*values), *cells(*(of[last:] for of in values)), *rival]
    line(name, f"{len(codes):,}", max(s.shape[1], 2), *shown)


def of_lightgbm(X: object, y: np.ndarray) -> list[str]:
    """The rival on the last fifth; nothing where it has not seen a class."""
    end = cut(len(y))
    model = lightgbm(classes=True).fit(X[:end], y[:end])
    if not set(y[end:]) <= set(model.classes_):
        return ["", "", ""]
    P, codes = model.predict_proba(X[end:]), np.searchsorted(model.classes_, y[end:])
    return cells(P[np.arange(len(codes)), codes], P.max(axis=1), P.argmax(axis=1) == codes)


def table_for_rival(path: Path, target: str) -> tuple[object, np.ndarray]:
    """Columns as categories and numbers, and the target."""
    import pandas as pd

    frame = as_frame(path, target)
    y = frame.pop(target).to_numpy()
    for name in frame:
        if not pd.api.types.is_numeric_dtype(frame[name]):
            frame[name] = frame[name].astype("category")
    return frame, y


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--streams", type=Path)
    parser.add_argument("--speed", default="balanced")
    parser.add_argument("--loss", default="squared", choices=("squared", "logistic"))
    parser.add_argument("--keep", type=Path, help="a folder for what was predicted")
    parser.add_argument("--rivals", action="store_true", help="LightGBM, too")
    options = parser.parse_args()
    one_core()
    params = {"speed": options.speed, "loss": options.loss}
    how = options.speed + ("" if options.loss == "squared" else f"-{options.loss}")
    measures = ("mistakes %", "log loss", "calibration error")
    theirs = [f"LightGBM: {name}" for name in measures] if options.rivals else []
    head("rows of", "rows", "classes", *measures, *(f"last fifth: {m}" for m in measures), *theirs)
    for name, target in sources(options.tables).items() if options.tables else ():
        path = options.tables / f"{name}.csv.gz"
        if options.names and name not in options.names:
            continue
        found = recorded(
            options.keep, f"{name}-table-{how}", scores_of_table, path, target, **params
        )
        if found:
            rival = of_lightgbm(*table_for_rival(path, target)) if options.rivals else []
            show(f"{name}, table", **found, rival=rival)
    for stream in find_streams(options.streams) if options.streams else ():
        if stream.task == "classification" and stream.name in (options.names or [stream.name]):
            X, y, _ = stream.read()
            found = recorded(options.keep, f"{stream.name}-{how}", scores, X, y, **params)
            rival = of_lightgbm(X, y) if options.rivals else []
            show(stream.name, **found, rival=rival)


if __name__ == "__main__":
    main()
