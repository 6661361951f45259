"""Probabilities of the default: log loss and calibration error, beside LightGBM's.

    python -m benchmarks.probabilities [--tables FOLDER] [--streams FOLDER] [--speed balanced]
        [--loss squared] [--keep FOLDER] [--rivals] [NAME ...]

Folders as for ``benchmarks.tables`` and ``benchmarks.intervals``. Each file is learned in one pass,
and every row is predicted before it is learned. The calibration error is the mean, over rows, of
|probability - share that was right| in 20 bins of the predicted class's probability. *by chance*:
its mean if each row were right with exactly the probability that was given.

``--keep``: what was predicted is kept there, and read the next time.
``--rivals``: LightGBM with its defaults, in two ways. It is learned from the first four fifths, and
asked for the last one. And it is learned anew from all rows before, at row 500 and each time that
there are half as many again, and asked for the rows up to the next time; both count on these rows,
without those whose class it had not seen. Install ``lightgbm`` and ``pandas`` first.
"""

from __future__ import annotations

from benchmarks.timing import head, line, one_core  # first: it sets the threads

# isort: split
import argparse
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.ceilings import cut, lightgbm
from benchmarks.recorded import Record, recorded, scores, scores_of_table
from benchmarks.tables import as_frame, sources
from onkel.default.calibration import Calibration
from papers.rows import find_streams

BINS = 20
#: rows from which LightGBM is first learned
FIRST = 500


def cells(own: np.ndarray, predicted: np.ndarray, right: np.ndarray) -> list[str]:
    """Mistakes in percent, log loss, calibration error.

    From the probabilities (n,) of each row's class and of the predicted one, and whether it was
    right.
    """
    loss = -np.log(own.clip(1e-15)).mean()
    return [f"{100 * (1 - right.mean()):.2f}", f"{loss:.4f}", f"{apart(predicted, right):.4f}"]


def apart(predicted: np.ndarray, right: np.ndarray) -> float:
    """The calibration error."""
    bins = np.minimum((BINS * predicted).astype(int), BINS - 1)
    said, was = (np.bincount(bins, values) for values in (predicted, right))
    return float(np.abs(said - was).sum() / len(predicted))


def by_chance(predicted: np.ndarray) -> str:
    """The mean calibration error of probabilities that are right."""
    rng = np.random.default_rng(0)
    errors = [apart(predicted, 1.0 * (rng.random(len(predicted)) < predicted)) for _ in range(20)]
    return f"{np.mean(errors):.4f}"


def show(name: str, s: np.ndarray, codes: np.ndarray, past: Record, last_fifth: list[str]) -> None:
    """A line: all rows, the last fifth, and the rival on the last fifth and from the past."""
    # before a second class has come, there is nothing to tell apart
    first = int((codes != codes[0]).argmax()) + 1
    predicted = Calibration().learn(s[first:], codes[first:], np.ones(len(codes) - first))
    right = ((s[:, 0] >= 0.0) if s.shape[1] == 1 else s.argmax(axis=1)) == codes
    values = np.column_stack([np.pad(predicted, ((first, 0), (0, 0))), right])
    last = values[first + cut(len(codes) - first) :]
    shown = [*cells(*values[first:].T), by_chance(values[first:, 1])]
    shown += [*cells(*last.T), by_chance(last[:, 1]), *last_fifth]
    if past:
        asked = np.isfinite(past["own"])
        theirs = (past[key][asked] for key in ("own", "predicted", "right"))
        shown += [*cells(*values[asked].T), *cells(*theirs)]
    line(name, f"{len(codes) - first:,}", max(s.shape[1], 2), *shown)


def lightgbm_of_the_past(X: Any, y: np.ndarray) -> Record:
    """Of each row: the probabilities of its class and of the predicted one, whether it is right.

    NaN where it was not asked, or had not seen the class.
    """
    own, predicted, right = np.full((3, len(y)), np.nan)
    start = FIRST
    while start < len(y):
        end = min(len(y), start * 3 // 2)
        if len(np.unique(y[:start])) > 1:
            model = lightgbm(classes=True).fit(X[:start], y[:start])
            P, places = (
                model.predict_proba(X[start:end]),
                {c: k for k, c in enumerate(model.classes_)},
            )
            codes = np.array([places.get(label, -1) for label in y[start:end]])
            own[start:end] = np.where(codes < 0, np.nan, P[np.arange(end - start), codes])
            predicted[start:end], right[start:end] = P.max(axis=1), P.argmax(axis=1) == codes
        start = end
    return {"own": own, "predicted": predicted, "right": right}


def of_lightgbm(X: object, y: np.ndarray) -> list[str]:
    """The rival on the last fifth; nothing where it has not seen a class."""
    end = cut(len(y))
    model = lightgbm(classes=True).fit(X[:end], y[:end])
    if not set(y[end:]) <= set(model.classes_):
        return ["", "", ""]
    P, codes = model.predict_proba(X[end:]), np.searchsorted(model.classes_, y[end:])
    return cells(P[np.arange(len(codes)), codes], P.max(axis=1), P.argmax(axis=1) == codes)


def _rivals(options: argparse.Namespace, name: str, X: Any, y: np.ndarray) -> dict[str, Any]:
    if not options.rivals:
        return {"past": {}, "last_fifth": []}
    past = recorded(options.keep, f"{name}-lightgbm", lightgbm_of_the_past, X, y)
    return {"past": past, "last_fifth": of_lightgbm(X, y)}


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
    theirs = []
    if options.rivals:
        whose = ("last fifth, LightGBM", f"from row {FIRST}", f"from row {FIRST}, LightGBM")
        theirs = [f"{of}: {name}" for of in whose for name in measures]
    ours = (*measures, "by chance")
    head("rows of", "rows", "classes", *ours, *(f"last fifth: {m}" for m in ours), *theirs)
    for name, target in sources(options.tables).items() if options.tables else ():
        path = options.tables / f"{name}.csv.gz"
        if options.names and name not in options.names:
            continue
        found = recorded(
            options.keep, f"{name}-table-{how}", scores_of_table, path, target, **params
        )
        if found:
            show(
                f"{name}, table",
                **found,
                **_rivals(options, f"{name}-table", *table_for_rival(path, target)),
            )
    for stream in find_streams(options.streams) if options.streams else ():
        if stream.task == "classification" and stream.name in (options.names or [stream.name]):
            X, y, _ = stream.read()
            found = recorded(options.keep, f"{stream.name}-{how}", scores, X, y, **params)
            show(stream.name, **found, **_rivals(options, stream.name, X, y))


if __name__ == "__main__":
    main()
