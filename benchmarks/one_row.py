"""One row a call, against River's linear models: ``python -m benchmarks.one_row [--rounds N]``.

Microseconds per ``learn_one`` and ``predict_one`` with 22 features, and the ratio to River's own
logistic regression in the same run. A ratio of 5 is the most we allow ourselves.
"""

from __future__ import annotations

from benchmarks.timing import one_core, seconds  # first: it sets the threads

# isort: split
import argparse

import numpy as np
from rich.console import Console
from rich.table import Table
from river import linear_model

from onkel import FOGDClassifier, NOGDClassifier, PAClassifier, RRFClassifier
from onkel.compat.river import RiverClassifier

N_FEATURES, WARM, ROWS = 22, 500, 2000
LINEAR = "River LogisticRegression"
MODELS = {
    LINEAR: linear_model.LogisticRegression,
    "River PAClassifier": linear_model.PAClassifier,
    "PA": lambda: RiverClassifier(PAClassifier()),
    "FOGD, D = 100": lambda: RiverClassifier(FOGDClassifier(n_components=100, loss="logistic")),
    "FOGD, D = 400": lambda: RiverClassifier(FOGDClassifier(n_components=400, loss="logistic")),
    "RRF, D = 100": lambda: RiverClassifier(RRFClassifier(n_components=100, loss="logistic")),
    "NOGD, B = 100, k = 20": lambda: RiverClassifier(NOGDClassifier(loss="logistic")),
}


def stream(n: int) -> list[tuple[dict[str, float], bool]]:
    X = np.random.default_rng(0).standard_normal((n, N_FEATURES))
    names = [f"feature {j}" for j in range(N_FEATURES)]
    return [(dict(zip(names, x.tolist(), strict=True)), bool(x[0] * x[1] > 0.0)) for x in X]


def learn(model, rows) -> None:
    for x, y in rows:
        model.learn_one(x, y)


def predict(model, rows) -> None:
    for x, _ in rows:
        model.predict_one(x)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    one_core()
    rows = stream(WARM + ROWS)
    models = {name: make() for name, make in MODELS.items()}
    for model in models.values():
        learn(model, rows[:WARM])
    taken = {
        call.__name__: seconds(
            {name: lambda m=model, f=call: f(m, rows[WARM:]) for name, model in models.items()},
            rounds,
        )
        for call in (learn, predict)
    }
    table = Table(title=f"One row a call, {N_FEATURES} features, median of {rounds} rounds")
    for column in ("model", "learn µs", "ratio", "predict µs", "ratio"):
        table.add_column(column, justify="left" if column == "model" else "right")
    for name in models:
        cells = []
        for times in taken.values():
            cells += [f"{1e6 * times[name] / ROWS:.1f}", f"{times[name] / times[LINEAR]:.2f}"]
        table.add_row(name, *cells)
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
