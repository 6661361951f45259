"""Rules that keep turning: ``python -m benchmarks.turning [--rows N] [--streams FOLDER]``.

A linear rule of six of ten normal columns, with noise, turns once around in so many rows; or it
stays. Each stream is learned by the default, by the default without the linear model that follows
it, and by River's linear model after its online scaler (logistic regression, or linear regression;
steps of 0.05 and 0.01). Then linear borders of two classes, of all columns, that stay, with noise
before the sign is taken; beside them stands recursive ridge regression. Errors are mistakes in
percent, or the RMSE, each row predicted before it is learned. With ``--streams`` also the recorded
streams of a folder, in the order of time, by the default with and without. One core.
"""

from __future__ import annotations

from benchmarks.timing import arguments, head, line  # first: it sets the threads

# isort: split
from pathlib import Path

import numpy as np

from benchmarks.earned import Rows, run
from onkel.default.corrected_by_cells import CorrectedModel
from onkel.exact.least_squares import RecursiveLeastSquares
from papers.rows import find_streams

#: rows in which a rule turns once around; 0: it stays
TURNS = (2_000, 10_000, 50_000, 0)


def turning(n: int, turn: int, task: str) -> Rows:
    """A rule whose weights move around in three planes; a tenth of the labels is wrong."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 10))
    angle = 2.0 * np.pi * np.arange(n) / turn if turn else np.zeros(n)
    planes = [np.cos(angle) * X[:, i] + np.sin(angle) * X[:, i + 1] for i in (0, 2, 4)]
    f = sum(planes) / np.sqrt(3.0)
    if task == "regression":
        return X, f + 0.3 * rng.standard_normal(n), task
    return X, ((f > 0.0) ^ (rng.random(n) < 0.1)).astype(int), task


def border(n: int, d: int, noise: float) -> Rows:
    """Two classes with a linear border, and noise of so many standard deviations."""
    rng = np.random.default_rng(0)
    X, w = rng.standard_normal((n, d)), rng.standard_normal(d)
    f = X @ w / np.linalg.norm(w)
    return X, (f + noise * rng.standard_normal(n) > 0.0).astype(int), "classification"


def of_ridge(rows: Rows) -> float:
    """The mistakes of recursive ridge regression."""
    X, y, _ = rows
    sums = RecursiveLeastSquares(X.shape[1] + 1, 1, 1.0, 1.0)
    Z, Y = np.column_stack([X, np.ones(len(X))]), 2.0 * y[:, None] - 1.0
    return 100.0 * float(np.mean((sums.learn(Z, Y, np.ones(len(X))) > 0.0) != (Y > 0.0)))


def of_river(rows: Rows) -> float:
    """The error of River's linear model."""
    from river import linear_model, optim, preprocessing

    X, y, task = rows
    values = task == "regression"
    if values:
        learner = linear_model.LinearRegression(optim.SGD(0.01))
    else:
        learner = linear_model.LogisticRegression(optim.SGD(0.05))
    model, losses = preprocessing.StandardScaler() | learner, 0.0
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        x = dict(enumerate(row))
        predicted = model.predict_one(x)
        losses += (predicted - label) ** 2 if values else predicted != label
        model.learn_one(x, label)
    return float((losses / len(y)) ** 0.5 if values else 100.0 * losses / len(y))


def with_and_without(rows: Rows) -> list[str]:
    """The errors of the default, with and without the model that follows the stream."""
    found = []
    for follows in (True, False):
        CorrectedModel.follows = follows
        found.append(f"{run(rows)[0]:.4g}")
    CorrectedModel.follows = True
    return found


def main() -> None:
    options = arguments(__doc__, {"streams": "a folder of recorded streams"}, rows=20_000)
    head("stream", "once around in", "default", "without", "linear model", left=2)
    for task in ("classification", "regression"):
        for turn in TURNS:
            rows = turning(options.rows, turn, task)
            around = f"{turn:,} rows" if turn else "it stays"
            line(task, around, *with_and_without(rows), f"{of_river(rows):.4g}")
    print()
    titles = "default", "without", "linear model", "ridge regression"
    head("columns", "noise", *titles, left=0)
    for d in (10, 50):
        for noise in (0.0, 0.3, 1.0):
            rows = border(options.rows, d, noise)
            others = (f"{of(rows):.4g}" for of in (of_river, of_ridge))
            line(str(d), f"{noise}", *with_and_without(rows), *others)
    if options.streams:
        print()
        head("stream", "rows", "default", "without")
        for stream in find_streams(Path(options.streams)):
            rows = stream.read(options.rows)
            line(stream.name, f"{len(rows[1]):,}", *with_and_without(rows))


if __name__ == "__main__":
    main()
