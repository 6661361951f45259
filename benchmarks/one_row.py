"""One row a call, as in a service: ``python -m benchmarks.one_row [--rows N] [--learners A,B]``.

Each row, a dict, is predicted and then learned; with `LateLabels` its label comes ten rows later.
Microseconds of each call: the median of CPU time, and the median, the 99th and the 99.9th
percentile of time passed. "own" is the median CPU time of the learner alone, with the row ready as
an array (late labels are predicted by `predict_next`): what the median takes more is what columns
and bookkeeping cost. River's pipelines see the same rows in the same run.
"""

from __future__ import annotations

from benchmarks.timing import arguments, head, line  # first: it sets the threads

# isort: split
import gc
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from river import compose, forest, linear_model, preprocessing

import onkel
from onkel import LateLabels, StreamModel

WARM, LATE = 3000, 10
LEARNERS: dict[str, dict[str, Any]] = {
    "pa": {},
    "krls": {"n_components": 100},
    "okl fast": {"speed": "fast"},
    "okl": {},
}
Rows = list[tuple[dict[str, Any], str]]


def numbers(n: int) -> Rows:
    """Ten columns of numbers."""
    X = np.random.default_rng(0).standard_normal((n, 10))
    names = [f"number {j}" for j in range(X.shape[1])]
    return [
        (dict(zip(names, x.tolist(), strict=True)), "up" if x[0] * x[1] > 0 else "down") for x in X
    ]


def mixed(n: int) -> Rows:
    """Twelve columns of numbers, and ten of text with 3 to 300 values."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, 12))
    sizes = [3, 4, 5, 8, 12, 20, 40, 80, 150, 300]
    T = np.stack([rng.integers(0, size, n) for size in sizes], axis=1)
    rows = []
    for x, t in zip(X.tolist(), T.tolist(), strict=True):
        row: dict[str, Any] = {f"number {j}": value for j, value in enumerate(x)}
        row |= {f"text {j}": f"value {value}" for j, value in enumerate(t)}
        rows.append((row, "up" if x[0] + t[0] > 1 else "down"))
    return rows


def river(kind: str) -> Any:
    """River's logistic regression or adaptive random forest, with what mixed columns need."""
    scaled = compose.SelectType(int, float) | preprocessing.StandardScaler()
    coded = compose.SelectType(str) | preprocessing.OneHotEncoder()
    if kind == "logistic":
        return (scaled + coded) | linear_model.LogisticRegression()
    return forest.ARFClassifier(seed=0)


def timed(*calls: Callable[[], object]) -> list[tuple[int, int]]:
    """Nanoseconds of each call: passed, and of CPU time."""
    taken = []
    for call in calls:
        cpu = time.thread_time_ns()
        start = time.perf_counter_ns()
        call()
        passed = time.perf_counter_ns() - start
        taken.append((passed, time.thread_time_ns() - cpu))
    return taken


def show(name: str, taken: list[list[tuple[int, int]]], own: list[float]) -> None:
    """Print a line of the table."""
    cells = []
    for (passed, cpu), alone in zip(np.array(taken).transpose(1, 2, 0) / 1e3, own, strict=True):
        shares = [np.median(cpu), *np.percentile(passed, [50, 99, 99.9])]
        cells += ["" if np.isnan(alone) else f"{alone:.0f}", *(f"{share:.0f}" for share in shares)]
    line(name, *cells)


def alone(model: StreamModel, rows: Rows, *, late: bool) -> list[float]:
    """Median microseconds of CPU time of the learner alone: to predict, and to learn, a row."""
    learner = model.estimator
    X = [model.scaled(model._one_row.features(x, model.encoder, model.settings)) for x, _ in rows]
    taken = [
        timed(
            lambda x=x: learner.predict_next(x, LATE) if late else learner.predict(x),
            lambda x=x, y=y: learner.partial_fit(x, [y]),
        )
        for x, (_, y) in zip(X, rows, strict=True)
    ]
    predict, learn = np.median(np.array(taken)[:, :, 1], axis=0) / 1e3
    return [float(predict), float(learn)]


def run(rows: Rows, learners: dict[str, dict[str, Any]]) -> None:
    """Print the table of one kind of rows."""
    times = ("CPU p50", "p50", "p99", "p99.9")
    head(
        "model", "own", *(f"predict {times[0]}", *times[1:]), "own", f"learn {times[0]}", *times[1:]
    )
    nothing = [np.nan, np.nan]
    for name, parameters in learners.items():
        warm, timed_rows = rows[:WARM], rows[WARM:]
        model = StreamModel(onkel.make(name.split()[0], **parameters))
        model.partial_fit([x for x, _ in warm], [y for _, y in warm])
        taken = []
        for x, y in timed_rows:
            taken.append(timed(lambda: model.predict_one(x), lambda: model.learn_one(x, y)))  # noqa: B023
        show(name, taken, alone(model, timed_rows, late=False))
        late, taken = LateLabels(model), []
        for t, (x, _) in enumerate(timed_rows):
            before = timed_rows[t - LATE][1]
            calls = [lambda: late.predict(t, x)]  # noqa: B023
            if t >= LATE:
                calls.append(lambda: late.learn(t - LATE, before))  # noqa: B023
            taken.append(timed(*calls))
        show(f"{name}, late labels", taken[LATE:], alone(model, timed_rows, late=True))
    for kind in ("logistic", "forest") if len(learners) == len(LEARNERS) else ():
        pipeline = river(kind)
        for x, y in rows[:WARM]:
            pipeline.learn_one(x, y == "up")
        taken = [
            timed(
                lambda x=x, pipeline=pipeline: pipeline.predict_one(x),
                lambda x=x, y=y, pipeline=pipeline: pipeline.learn_one(x, y == "up"),
            )
            for x, y in rows[WARM:]
        ]
        show(f"River {kind}", taken, nothing)


def main() -> None:
    known = ",".join(LEARNERS)
    options = arguments(
        __doc__ or "", {"learners": f"some of {known}; River's only with all"}, rows=3000
    )
    learners = {name: LEARNERS[name] for name in (options.learners or known).split(",")}
    gc.collect()
    gc.freeze()
    for make in (numbers, mixed):
        print(f"\n{(make.__doc__ or '').rstrip('.')}: microseconds a call\n")
        run(make(WARM + options.rows), learners)


if __name__ == "__main__":
    main()
