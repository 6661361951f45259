"""Tables as people publish them: the default beside CatBoost and LightGBM.

    python -m benchmarks.tables FOLDER [NAME ...] [--speed balanced] [--categories both] [--rivals]
    python -m benchmarks.tables FOLDER --learner krls --categories kernel
    python -m benchmarks.tables FOLDER NAME --seed 1

FOLDER holds ``NAME.csv.gz`` and ``SOURCES.json``, which names the target of each, and the task
where the target does not show it (:mod:`benchmarks.r_tables` makes such a folder). Each file is
learned in one pass, by the path of ``onkel learn FILE --target y``; the diamonds, which are sorted
by price, in a seeded order. Errors are mistakes in percent, or RMSE, on the last fifth of the rows:

- *prequential*: each row is predicted before it is learned;
- *frozen*: the model of the first four fifths, after the last fit that ``onkel learn`` ends with,
  predicts them all, each by itself.

The seconds are CPU seconds: of learning the first four fifths, of the last fit, and of predicting
the last one.

``--categories``: how text enters the kernel: by a feature for each value (``slots``), by the mean
of the target for the value (``statistics``), or by both, which is the default. ``none`` leaves text
columns out: what text costs in rows a second. ``kernel`` is for a learner that doesn't scale its
columns, such as ``krls``: two different values of a column are equally far apart, however rare they
are (a kernel of categories, a factor for each column whose values differ); with ``slots`` a rare
value is farther from the others.

``--seed``: of the learner; the order of the diamonds stays.

``--rivals``: CatBoost and LightGBM with their defaults and native categories, beside the default:
each on one thread, learned from the first four fifths in the same order. They get what their users
would give them: text as categories, gaps as gaps, a date as its year, month, day, weekday and hour.
Install ``catboost``, ``lightgbm`` and ``pandas`` first.
"""

from __future__ import annotations

from benchmarks.timing import head, line, one_core  # first: it sets the threads

# isort: split
import argparse
import copy
import gzip
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.ceilings import SEED, catboost, cut, error, lightgbm
from onkel.columns.column import CODE
from onkel.columns.encoding import Encoder
from onkel.columns.scaling import OnlineScaler
from onkel.streams.blocks import rows_of

SORTED = {"diamonds"}
CATEGORIES: dict[str, dict[str, Any]] = {
    "both": {},
    "slots": {"statistics": False},
    "statistics": {"max_categories": 0},
    "none": {},
    "kernel": {"statistics": False},
    "kernel+": {},
}
_SHUFFLED = 1_000_000


def sources(folder: Path) -> dict[str, str]:
    """Target by the name of the table."""
    return {name: one["target"] for name, one in _listed(folder).items()}


def _listed(folder: Path) -> dict[str, dict[str, Any]]:
    """What is known of each table, by its name."""
    known = json.loads((folder / "SOURCES.json").read_text())
    return {one["file"].removesuffix(".csv.gz"): one for one in known}


class EquallyFar(OnlineScaler):
    """Numbers are scaled; the features of text stay 0 or 1."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__("auto")
        self.encoder = encoder

    def learn_transform(self, X: Any) -> Any:
        scaled = super().learn_transform(X)
        columns = self.encoder.columns
        text = [
            feature
            for feature, (k, part) in enumerate(self.encoder.layout.features[: X.shape[1]])
            if columns[k].kind == "text" and part != CODE
        ]
        scaled[:, text] = X[:, text]
        return scaled


class Measured(NamedTuple):
    """Rows, errors, and CPU seconds of learning four fifths, the last fit, predicting one fifth."""

    n_rows: int
    prequential: float
    frozen: float
    seconds: tuple[float, ...]


def measured(
    path: Path, target: str, task: str, learner: str, speed: str, categories: str, seed: int
) -> Measured:
    """Learn a table in one pass; a copy is frozen after the first four fifths."""
    from onkel.cli.arguments import choose_task
    from onkel.cli.learn.options import LearnOptions
    from onkel.learners.factory import make_estimator
    from onkel.pipeline import StreamModel

    options = LearnOptions(sources=[str(path)], target=target, **CATEGORIES[categories])
    if categories == "none":
        kinds = options.open().encoder.kinds
        text = [column for column, kind in kinds.items() if kind == "text"]
        options = LearnOptions(sources=[str(path)], target=target, exclude=text)
    n_rows = sum(block.n_rows for block in options.open())
    shuffle = _SHUFFLED if path.name.split(".")[0] in SORTED else 0
    stream = options.open(shuffle=shuffle, random_state=SEED)
    model, end = None, cut(n_rows)
    before, after, ys, seconds = [], [], [], np.zeros(3)
    for block in _cut_at(stream, end):
        if model is None:
            task, _ = choose_task(block.y, task)
            params = {"speed": speed} if learner == "okl" else {}
            estimator = make_estimator(learner, task, params)
            if "random_state" in estimator.get_params():
                estimator.set_params(random_state=seed)
            model = StreamModel(estimator, encoder=stream.encoder)
            if categories.startswith("kernel"):
                model._statistics.scaler = EquallyFar(stream.encoder)
        if block.start == end:
            frozen, began = copy.deepcopy(model), time.process_time()
            frozen.consolidate()
            seconds[1] = time.process_time() - began
        if block.start >= end:
            began = time.process_time()
            # columns that begin later are values that the frozen model doesn't know
            after.append(frozen.predict_features(block.X[:, : frozen.encoder.n_features]))
            seconds[2] += time.process_time() - began
        began = time.process_time()
        before.append(model.learn(block))
        seconds[0] += time.process_time() - began if block.start < end else 0.0
        ys.append(block.y.astype(float) if model.task == "regression" else block.y)
    y = np.concatenate(ys)
    errors = (error(np.concatenate(found), y) for found in (before, after))
    return Measured(n_rows, *errors, tuple(seconds))


def _cut_at(stream: Any, end: int) -> Iterator[Any]:
    """The blocks of a stream; one begins at row ``end``."""
    for block in stream:
        inside = end - block.start
        if 0 < inside < block.n_rows:
            yield rows_of(block, slice(inside))
            block = rows_of(block, slice(inside, None))._replace(start=end)
        yield block


def rivals(path: Path, target: str) -> Iterator[Measured]:
    """CatBoost, then LightGBM."""
    import pandas as pd

    frame = as_frame(path, target)
    y = frame.pop(target)
    end = cut(len(y))
    text = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    classes = not pd.api.types.is_numeric_dtype(y)
    y = y if classes else y.astype(float)
    for name in text:
        frame[name] = frame[name].astype(object).where(frame[name].notna(), "missing").astype(str)
    coded = frame.assign(**{name: frame[name].astype("category") for name in text})
    for model, rows in (
        (catboost(classes, text, thread_count=1), frame),
        (lightgbm(classes, n_jobs=1), coded),
    ):
        began = time.process_time()
        model.fit(rows[:end], y[:end])
        fitted = time.process_time()
        found = error(model.predict(rows[end:]), y.to_numpy())
        seconds = fitted - began, time.process_time() - fitted
        yield Measured(len(y), np.nan, found, seconds)


def as_frame(path: Path, target: str) -> Any:
    """The table as a careful user of pandas would have it."""
    import pandas as pd

    with gzip.open(path, "rt", encoding="utf-8-sig") as file:
        separator = ";" if ";" in file.readline() else ","
    frame = pd.read_csv(path, sep=separator, na_values=["?"], encoding="utf-8-sig")
    frame = frame[frame[target].notna()]
    if path.name.split(".")[0] in SORTED:
        frame = frame.sample(frac=1, random_state=SEED)
    for name in frame:
        if name.lower() in ("date", "date_time"):
            day = frame[name].iloc[len(frame) // 2].split("/")[0]
            first = name == "date" and len(day) <= 2
            when = pd.to_datetime(frame.pop(name), dayfirst=first, format="mixed")
            for part in ("year", "month", "day", "weekday", "hour", "minute"):
                frame[part] = getattr(when.dt, part)
    return frame


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--learner", default="okl")
    parser.add_argument("--speed", default="balanced")
    parser.add_argument("--categories", default="both", choices=list(CATEGORIES))
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--rivals", action="store_true", help="CatBoost and LightGBM, too")
    options = parser.parse_args()
    one_core()
    tables, others = _listed(options.folder), ("CatBoost", "LightGBM") if options.rivals else ()
    titles = "prequential", "frozen", "s: learn", "last fit", "predict"
    head(
        "table", "rows", *titles, *(title for name in others for title in (name, "s: fit, predict"))
    )
    for name in options.names or tables:
        path, target = options.folder / f"{name}.csv.gz", tables[name]["target"]
        task = tables[name].get("task", "auto")
        how = options.learner, options.speed, options.categories, options.seed
        own = measured(path, target, task, *how)
        seconds = (f"{value:.2g}" for value in own.seconds)
        cells = [f"{own.prequential:.4g}", f"{own.frozen:.4g}", *seconds]
        for rival in rivals(path, target) if others else ():
            cells += [f"{rival.frozen:.4g}", ", ".join(f"{value:.2g}" for value in rival.seconds)]
        line(name, f"{own.n_rows:,}", *cells)


if __name__ == "__main__":
    main()
