"""The default learner against River's adaptive random forest: ``python -m benchmarks.arf``.

The same rows in the same order, every row predicted before it is learned, one after the other on
one core, in CPU seconds. Both have their defaults; the default learner also runs without its search
(``speed="fast"``), with its own number of landmarks and with 200. The forest is given its rows as
dicts, made beforehand and not timed. Shuffled data (seed 0) are cut to the first ``--rows``. The
streams that change are those of ``onkel.datasets.drift_stream``, with 2·``--rows`` rows and a new
concept every quarter of them.
"""

from __future__ import annotations

from benchmarks.timing import arguments, head, line  # first: it sets the threads

# isort: split
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.streams import shuffled
from onkel import StreamModel, algorithms, make, prequential
from onkel.datasets import drift_stream, load

SHUFFLED = ("cod-rna", "ijcnn1", "letter", "covtype_sub93k")
DRIFTING = ("abrupt", "gradual", "recurring")
IN_TIME = "airlines_late"
VARIANTS: dict[str, dict[str, Any]] = {
    f"`{algorithms.DEFAULT}`": {},
    "fast": {"speed": "fast"},
    "fast, 200": {"speed": "fast", "n_components": 200},
}

Rows = tuple[np.ndarray, np.ndarray]


def streams(n_rows: int) -> Iterator[tuple[str, Rows]]:
    """Names and rows; first those on which the default must beat the forest."""
    for name in SHUFFLED:
        yield name, shuffled(name, n_rows, scaling="none", dtype="float32")
    for kind in DRIFTING:
        blocks = list(drift_stream(kind, 2 * n_rows, period=n_rows // 2))
        yield (
            f"{kind} drift",
            (np.concatenate([b.X for b in blocks]), np.concatenate([b.y for b in blocks])),
        )
    rows = load(IN_TIME, scaling="none", order="time", dtype="float32")
    yield f"{IN_TIME}, in time", (rows.X[:n_rows], rows.y[:n_rows])


def of_default(rows: Rows, **params: Any) -> tuple[float, float]:
    """Mistakes in percent and rows a CPU second of the default learner."""
    X, y = rows
    prequential(StreamModel(make(algorithms.DEFAULT, **params)), (X[:2000], y[:2000]))  # compiles
    model = StreamModel(make(algorithms.DEFAULT, **params))
    began = time.process_time()
    result = prequential(model, rows, checkpoints="none", warm_up=False)
    return result.value, len(y) / (time.process_time() - began)


def of_forest(rows: Rows, values: bool = False) -> tuple[float, float]:
    """The same of River's forest with its defaults (ten trees, ADWIN).

    ``values``: of its forest for regression, with the RMSE.
    """
    from river.forest import ARFClassifier, ARFRegressor

    X, y = rows
    dicts: list[dict[int, Any]] = [dict(enumerate(x)) for x in X.astype(float).tolist()]
    labels = y.tolist()
    model, losses = (ARFRegressor if values else ARFClassifier)(seed=0), 0.0
    began = time.process_time()
    for x, label in zip(dicts, labels, strict=True):
        predicted = model.predict_one(x)
        losses += (predicted - label) ** 2 if values else predicted != label
        model.learn_one(x, label)
    speed = len(y) / (time.process_time() - began)
    return (losses / len(y)) ** 0.5 if values else 100.0 * losses / len(y), speed


def main() -> None:
    options = arguments(__doc__, rows=20_000)
    heads = [*VARIANTS, "forest", "forest: rows/s", *(f"{name}: ×" for name in VARIANTS)]
    head("stream", "rows", *heads)
    for stream, rows in streams(options.rows):
        found = [of_default(rows, **params) for params in VARIANTS.values()]
        forest, speed = of_forest(rows)
        values = [*(value for value, _ in found), forest]
        cells = [f"**{v:.2f} %**" if v == min(values) else f"{v:.2f} %" for v in values]
        cells += [f"{speed:,.0f}", *(f"{rate / speed:.1f}" for _, rate in found)]
        line(stream, f"{len(rows[1]):,}", *cells)


if __name__ == "__main__":
    main()
