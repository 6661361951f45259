"""Learned kernels: ``python -m benchmarks.learned_kernels [--pictures FOLDER]``.

Aligned features on a stream, the laws of RRF's frequencies, the stage times of each, and the bounds
of Nguyen et al. 2017 against measured errors. docs/results/learned-kernels.md shows all of this.
The paper's task of aligned features, shown there too, is ``python -m papers aligned.figure1``.
"""

from __future__ import annotations

from benchmarks.timing import one_core, rate, seconds  # first: it sets the threads

# isort: split
import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.learned_figures import bound_figure
from benchmarks.streams import nonlinear
from onkel import (
    AlignedClassifier,
    AlignedFourier,
    ExplicitKernelClassifier,
    ExplicitKernelRegressor,
    FOGDClassifier,
    StreamModel,
    make,
    prequential,
)
from onkel.datasets import load
from onkel.maps import ReparameterizedFeatures
from onkel.maps.alignment import aligned_weights
from papers.aligned import CANDIDATES, TRAIN, norm_task

DATA = ("ijcnn1", "cod-rna", "letter", "casp", "cadata")
SPECTRA = {"one Gaussian": "gaussian", "each frequency": "frequency", "mixture": "mixture"}
LAWS = {"one Gaussian": "rrf", "each frequency": "rrf-d", "mixture": "rrf-sm"}


@contextmanager
def stage(times: dict[str, float], name: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    times[name] = times.get(name, 0.0) + time.perf_counter() - start


def batch_stages() -> Table:
    """Where ``AlignedFourier.fit`` spends its time."""
    X, y = norm_task(10, TRAIN, 0)
    X = X.astype(np.float32)
    best: dict[str, float] = {}
    for _ in range(4):
        times: dict[str, float] = {}
        m = AlignedFourier(200, CANDIDATES, gamma=0.5, random_state=0)
        with stage(times, "draw the candidates"):
            m.start(10, "float32")
            m.fit_first(X)
        signs = 2.0 * y[:, None] - 1.0
        for a in range(0, TRAIN, m.rows_at_once()):
            part = slice(a, a + m.rows_at_once())
            with stage(times, "their features"):
                phi = m.candidates_.all_features(X[part])
            with stage(times, "sums with the labels"):
                m.sums_.add(phi, signs[part], np.ones(len(phi)))
        v = m.sums_.squares(True)
        with stage(times, "solve for q"):
            aligned_weights(v, m._radius())
        m.solve()
        with stage(times, "transform with the 200 used"):
            m.transform(X)
        best = {k: min(t, best.get(k, np.inf)) for k, t in times.items()}
    table = Table(
        title=f"AlignedFourier, {TRAIN:,} rows x 10,\n{CANDIDATES:,} candidates, float32, one core"
    )
    table.add_column("stage")
    table.add_column("ms", justify="right")
    for name, duration in best.items():
        table.add_row(name, f"{1e3 * duration:.1f}")
    return table


def online_stages(n: int, rounds: int) -> Table:
    """Rows per second by stage: aligned features, while sought and after; the laws of RRF."""
    X, y = nonlinear(n)
    few = {"gamma": 1 / 44, "random_state": 0}
    models: dict[str, Any] = {
        "FOGD, D = 100": FOGDClassifier(n_components=100, **few),
        "aligned, 200 of 2 000, while it aligns": AlignedClassifier(n_align=None, **few),
        "aligned, after": AlignedClassifier(n_align=1024, **few),
    }
    for name, algorithm in LAWS.items():
        models[f"RRF, D = 100, {name}"] = make(algorithm, n_components=100, **few)
    for model in models.values():
        model.partial_fit(X[:4096], y[:4096], classes=[0, 1])
    saved = {name: model.get_state() for name, model in models.items()}
    tasks: dict[str, Callable[[], object]] = {}
    for name, model in models.items():
        cls = type(model)

        def learned(cls=cls, state=saved[name]):
            return learn_on(cls.from_state(state), X, y)

        tasks[f"{name}/features"] = lambda model=model: model.map_.transform(X)
        tasks[f"{name}/predict"] = lambda model=model: model.decision_function(X)
        tasks[f"{name}/learn"] = learned
    times = seconds(tasks, rounds)
    table = Table(title=f"{n:,} rows x 22, hinge, float32, one core")
    for head in ("learner", "features", "predict", "predict and learn"):
        table.add_column(head, justify="left" if head == "learner" else "right")
    for name in models:
        stages = [rate(n, times[f"{name}/{s}"]) for s in ("features", "predict", "learn")]
        table.add_row(name, *stages)
    return table


def learn_on(model: Any, X: np.ndarray, y: np.ndarray) -> Any:
    """Go on with a learner, in blocks."""
    for a in range(0, len(y), 4096):
        model.predict_then_learn(X[a : a + 4096], y[a : a + 4096])
    return model


def on_data() -> Table:
    """The papers' data, one pass, defaults; inputs and targets scaled online."""
    learners: dict[str, tuple[str, dict[str, Any]]] = {
        "200 plain": ("aligned", {"rho": 0.0}),
        "200 aligned": ("aligned", {}),
        "2,000 plain": ("aligned", {"rho": 0.0, "n_components": 2000}),
    } | {name: (algorithm, {}) for name, algorithm in LAWS.items()}
    table = Table(title="Mistakes in %, RMSE of regressions; defaults, one pass, seed 0")
    table.add_column("data")
    for head in learners:
        table.add_column(head, justify="right")
    for name in DATA:
        rows = load(name, scaling="none")
        order = np.random.default_rng(0).permutation(len(rows.y))
        X, y = rows.X[order].astype(np.float32), rows.y[order]
        cells = []
        for algorithm, params in learners.values():
            model = make(algorithm, rows.task, random_state=0, **params)
            result = prequential(StreamModel(model), (X, y), name=algorithm)
            cells.append(result.metric.format(result.value))
        table.add_row(name, *cells)
    return table


def exact_weights() -> Table:
    """Learned spectra against fixed ones, both with least-squares weights; three draws."""
    table = Table(title="Least squares, D = 100: mistakes in %, RMSE; mean of 3 orders and draws")
    columns = {"fixed": ("gaussian", 0.0)} | {name: (law, 0.01) for name, law in SPECTRA.items()}
    for head in ("data", *columns):
        table.add_column(head, justify="left" if head == "data" else "right")
    for name in ("ijcnn1", "letter", "casp"):
        rows = load(name, scaling="none")
        regression = rows.task == "regression"
        cls = ExplicitKernelRegressor if regression else ExplicitKernelClassifier
        values, speeds = [], []
        for law, eta in columns.values():
            found, took = [], 0.0
            for seed in range(3):
                order = np.random.default_rng(seed).permutation(len(rows.y))
                X, y = rows.X[order].astype(np.float32), rows.y[order]
                spectrum = ReparameterizedFeatures(100, learning_rate=eta, law=law)
                model = StreamModel(cls(spectrum, "least_squares", random_state=seed))
                start = time.perf_counter()
                found.append(prequential(model, (X, y), name=law))
                took += time.perf_counter() - start
            mean = float(np.mean([result.value for result in found]))
            values.append(found[0].metric.format(mean))
            speeds.append(rate(3 * len(rows.y), took))
        table.add_row(name, *values)
        table.add_row("  rows a second", *speeds)
    return table


def waves() -> Table:
    """A wave along one input, and a slanted one."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60_000, 5)).astype(np.float32)
    tasks = {
        "cos(2.5 x_1)": np.cos(2.5 * X[:, 0]),
        "cos(2 x_1 + x_2)": np.cos(2 * X[:, 0] + X[:, 1]),
    }
    table = Table(title="The sign of a wave, 60,000 rows: mistakes in % of the first, last 20,000")
    table.add_column("frequencies")
    for task in tasks:
        table.add_column(task, justify="right")
    for name, algorithm in ({"fixed (FOGD)": "fogd"} | LAWS).items():
        cells = []
        for wave in tasks.values():
            model = make(algorithm, n_components=100, random_state=0)
            wrong = model.predict_then_learn(X, wave > 0.0) != (wave > 0.0)
            cells.append(f"{100 * wrong[:20_000].mean():.1f}, {100 * wrong[-20_000:].mean():.1f}")
        table.add_row(name, *cells)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=50_000, help="that are timed")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pictures", type=Path, help="write the figures there")
    options = parser.parse_args()
    one_core()
    console = Console(width=110)
    if options.pictures:
        bound_figure(options.pictures / "rrf-bounds.png")
    console.print(batch_stages())
    console.print(online_stages(options.rows, options.rounds))
    console.print(waves())
    console.print(on_data())
    console.print(exact_weights())


if __name__ == "__main__":
    main()
