"""Scaling that draws in heavy tails (``"auto"``) against plain standardising, by default learners.

    python -m benchmarks.tails FOLDER [FOLDER ...] [--rows 20000]

Each file ``NAME.parquet`` of the folders, with one of the names below and a target column ``y``, is
learned in one pass. A folder with a ``SOURCES.json`` holds streams in the order of time; the files
of others are learned in a seeded order. Prints mistakes in percent, or RMSE: standard, then auto.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from onkel.learners.factory import make_estimator
from onkel.pipeline import StreamModel

NAMES = ("spambase", "shuttle", "cpusmall", "cadata", "kddcup99_10pct", "nomao", "insects_gradual",
         "occupancy", "bank_additional", "beijing_pm25")  # fmt: skip
LEARNERS = ("fogd", "rrf", "krls")


def rows(path: Path, most: int) -> tuple[np.ndarray, np.ndarray, str]:
    """Numbers, targets and task of a file."""
    frame = pd.read_parquet(path)
    in_time = (path.parent / "SOURCES.json").exists()
    order = np.arange(len(frame)) if in_time else np.random.default_rng(0).permutation(len(frame))
    frame = frame.iloc[order[:most]]
    y = frame.pop("y").to_numpy()
    task = "classification" if len(np.unique(y)) < 30 else "regression"
    X = np.nan_to_num(frame.select_dtypes("number").to_numpy(np.float64))
    return X, y if task == "regression" else np.unique(y, return_inverse=True)[1], task


def error(learner: str, scaling: str, X: np.ndarray, y: np.ndarray, task: str) -> float:
    """Of one pass, each row predicted before it is learned."""
    model = StreamModel(make_estimator(learner, task, {}, 0), scaling=scaling)
    predicted = model.predict_then_learn(X, y)
    if task == "classification":
        return 100.0 * float(np.mean(predicted != y))
    return float(np.sqrt(np.mean((predicted - y) ** 2)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--rows", type=int, default=20_000)
    options = parser.parse_args()
    print("| data | " + " | ".join(LEARNERS) + " |")
    print("|---|" + "--:|" * len(LEARNERS))
    for name in NAMES:
        for path in (folder / f"{name}.parquet" for folder in options.folders):
            if path.exists():
                read = rows(path, options.rows)
                cells = [
                    " → ".join(f"{error(a, how, *read):.4g}" for how in ("standard", "auto"))
                    for a in LEARNERS
                ]
                print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
