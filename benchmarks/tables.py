"""Tables as people publish them: the default beside CatBoost and LightGBM.

    python -m benchmarks.tables FOLDER [NAME ...] [--speed balanced] [--categories both] [--rivals]
    python -m benchmarks.tables FOLDER --learner krls --categories kernel

FOLDER holds ``NAME.csv.gz`` and ``SOURCES.json``, which names the target of each. Each file is
learned in one pass, by the path of ``onkel learn FILE --target y``; the diamonds, which are sorted
by price, in a seeded order. Mistakes in percent, or RMSE, on the last fifth of the rows, each
predicted before it is learned.

``--categories``: how text enters the kernel: by a feature for each value (``slots``), by the mean
of the target for the value (``statistics``), or by both, which is the default. ``none`` leaves text
columns out: what text costs in rows a second. ``kernel`` is for a learner that doesn't scale its
columns, such as ``krls``: two different values of a column are equally far apart, however rare they
are (a kernel of categories, a factor for each column whose values differ); with ``slots`` a rare
value is farther from the others.

``--rivals``: CatBoost and LightGBM with their defaults and native categories, learned from the
first four fifths in the same order and asked for the last one. They get what their users would give
them: text as categories, gaps as gaps, a date as its year, month, day, weekday and hour. Install
``catboost``, ``lightgbm`` and ``pandas`` first.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.ceilings import SEED, catboost, cut, error, lightgbm
from onkel.columns.column import CODE
from onkel.columns.encoding import Encoder
from onkel.columns.scaling import OnlineScaler

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
    known = json.loads((folder / "SOURCES.json").read_text())
    return {one["file"].split(".")[0]: one["target"] for one in known}


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


def learned(
    path: Path, target: str, learner: str, speed: str, categories: str = "both"
) -> tuple[np.ndarray, np.ndarray, float]:
    """Predictions before learning, targets, and rows a CPU second."""
    from onkel.cli.arguments import choose_task
    from onkel.cli.learn.options import LearnOptions
    from onkel.learners.factory import make_estimator
    from onkel.pipeline import StreamModel

    name = path.name.split(".")[0]
    options = LearnOptions(sources=[str(path)], target=target, **CATEGORIES[categories])
    shuffle = _SHUFFLED if name in SORTED else 0
    if categories == "none":
        kinds = options.open().encoder.kinds
        text = [column for column, kind in kinds.items() if kind == "text"]
        options = LearnOptions(sources=[str(path)], target=target, exclude=text)
    began = time.process_time()
    stream = options.open(shuffle=shuffle, random_state=SEED)
    model, predicted, ys = None, [], []
    for block in stream:
        if model is None:
            task, _ = choose_task(block.y, "auto")
            params = {"speed": speed} if learner == "okl" else {}
            estimator = make_estimator(learner, task, params)
            if "random_state" in estimator.get_params():
                estimator.set_params(random_state=SEED)
            model = StreamModel(estimator, encoder=stream.encoder)
            if categories.startswith("kernel"):
                model._statistics.scaler = EquallyFar(stream.encoder)
        predicted.append(model.learn(block))
        ys.append(block.y.astype(float) if model.task == "regression" else block.y)
    y = np.concatenate(ys)
    return np.concatenate(predicted), y, len(y) / (time.process_time() - began)


def rivals(path: Path, target: str) -> Iterator[tuple[str, float]]:
    """Name and error of each."""
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
    for name, model, rows in (
        ("CatBoost", catboost(classes, text), frame),
        ("LightGBM", lightgbm(classes), coded),
    ):
        model.fit(rows[:end], y[:end])
        yield name, error(model.predict(rows[end:]), y.to_numpy())


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
    parser.add_argument("--rivals", action="store_true", help="these alone")
    options = parser.parse_args()
    targets = sources(options.folder)
    for name in options.names or targets:
        path = options.folder / f"{name}.csv.gz"
        if options.rivals:
            for rival, value in rivals(path, targets[name]):
                print(f"{name:12} {rival:10} {value:10.4g}", flush=True)
            continue
        setting = options.speed if options.learner == "okl" else options.learner
        predicted, y, speed = learned(
            path, targets[name], options.learner, options.speed, options.categories
        )
        how = f"{setting:10} {options.categories:10}"
        print(
            f"{name:12} {how} {error(predicted, y):10.4g} {speed:8.0f} rows/s {len(y):8} rows",
            flush=True,
        )


if __name__ == "__main__":
    main()
