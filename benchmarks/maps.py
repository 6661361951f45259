"""Cheaper maps, and where each pays off: ``python -m benchmarks.maps [--rounds N] [--rows N]``.

First the maps alone, d = 8 to 4096 columns and as many frequencies in each: time of a row, error
of the kernel (root mean square over pairs of rows, three seeds), numbers that the map keeps. Then
learners on real rows, with the time for features and the time for learning on them.
"""

from __future__ import annotations

from benchmarks.timing import arguments, rate, seconds  # first: it sets the threads

# isort: split
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from onkel import DoublySGDClassifier, FastfoodClassifier, FOGDClassifier
from onkel.datasets import load
from onkel.maps import FastfoodFeatures, FourierFeatures, RegeneratedFeatures
from onkel.streams import OnlineScaler

WIDTHS = (8, 32, 128, 256, 512, 1024, 2048, 4096)
ROWS, PAIRS, SEEDS = 512, 128, 3
DATA = (("ijcnn1", 2048), ("a9a", 2048), ("usps", 4096), ("mnist", 4096))


def feature_maps(D: int, gamma: float, seed: int) -> dict[str, Any]:
    """The maps by name."""
    params = {"gamma": gamma, "random_state": seed}
    return {
        "Fourier": FourierFeatures(D, **params),
        "orthogonal": FourierFeatures(D, orthogonal=True, **params),
        "Fastfood": FastfoodFeatures(D, **params),
        "regenerated": RegeneratedFeatures(D, **params),
    }


def numbers_kept(feature_map: Any) -> int:
    """Numbers in the state of a map."""
    return sum(v.size for v in feature_map.get_state().values() if isinstance(v, np.ndarray))


def kernel_errors(X: np.ndarray, D: int, gamma: float) -> dict[str, float]:
    """Root mean square error of z(x)·z(x') for each map."""
    squared = ((X[:, None].astype(np.float64) - X[None]) ** 2).sum(axis=-1)
    pairs = np.triu_indices(len(X), 1)
    errors: dict[str, list[float]] = {}
    for seed in range(SEEDS):
        for name, feature_map in feature_maps(D, gamma, seed).items():
            Z = feature_map.fit_transform(X).astype(np.float64)
            error = (Z @ Z.T - np.exp(-gamma * squared))[pairs]
            errors.setdefault(name, []).append(float((error**2).mean()))
    return {name: float(np.sqrt(np.mean(values))) for name, values in errors.items()}


def alone(rounds: int) -> Table:
    """Time, error and memory of the maps."""
    table = Table(title="d columns, D = max(d, 512) frequencies: µs a row, error of κ, numbers")
    table.add_column("d", justify="right")
    for name in feature_maps(1, 1.0, 0):
        table.add_column(name, justify="right")
    for d in WIDTHS:
        D, gamma = max(d, 512), 0.5 / d
        X = np.random.default_rng(0).standard_normal((ROWS, d)).astype(np.float32)
        maps = {name: m.fit(X) for name, m in feature_maps(D, gamma, 0).items()}
        out = np.empty((ROWS, 2 * D), np.float32)
        tasks = {name: lambda m=m, out=out, X=X: m.features(X, out) for name, m in maps.items()}
        times = seconds(tasks, rounds)
        errors = kernel_errors(X[:PAIRS], D, gamma)
        cells = []
        for name, m in maps.items():
            kept = f"{numbers_kept(m):,}"
            cells.append(f"{times[name] / ROWS * 1e6:.2f}  {errors[name]:.4f}  {kept}")
        table.add_row(str(d), *cells)
    return table


def learners(D: int) -> dict[str, Any]:
    """The learners by name, with their defaults except D."""
    return {
        "fogd": FOGDClassifier(n_components=D, random_state=0),
        "fogd, orthogonal": FOGDClassifier(n_components=D, orthogonal=True, random_state=0),
        "fastfood": FastfoodClassifier(n_components=D, random_state=0),
        "doubly-sgd": DoublySGDClassifier(n_components=D, random_state=0),
    }


def only_features(feature_map: Any, X: np.ndarray) -> None:
    """The features of all rows, in blocks as a learner makes them, and nothing else."""
    rows = max(32, feature_map.fewest_rows())
    out = np.empty((rows, feature_map.n_features_out_), np.float32)
    for a in range(0, len(X), rows):
        block = X[a : a + rows]
        feature_map.features(block, out[: len(block)])


def learning(n: int, rounds: int) -> Table:
    """Mistakes before learning, speed and stage times on real rows."""
    table = Table(title="One pass, inputs standardised online; seconds for features and for all")
    for head in ("data", "d", "D", "learner", "mistakes", "rows/s", "features s", "all s", "bytes"):
        table.add_column(head, justify="left" if head in ("data", "learner") else "right")
    for name, D in DATA:
        try:
            data = load(name)
        except FileNotFoundError as error:
            table.add_row(name, "", "", str(error))
            continue
        order = np.random.default_rng(0).permutation(len(data.y))[:n]
        X, y = np.asarray(data.X[order], np.float32), data.y[order]
        X = OnlineScaler().learn_transform(X)
        fitted = {k: m.fit(X[:512], y[:512]) for k, m in learners(D).items()}
        tasks: dict[str, Any] = {}
        for k, m in fitted.items():
            tasks[k] = lambda k=k, D=D, X=X, y=y: learners(D)[k].predict_then_learn(X, y)
            tasks[k + " map"] = lambda m=m, X=X: only_features(m.map_, X)
        times = seconds(tasks, rounds)
        for k, m in fitted.items():
            wrong = float((learners(D)[k].predict_then_learn(X, y) != y).mean())
            cells = (f"{100 * wrong:.2f} %", rate(len(y), times[k]))
            stages = (f"{times[k + ' map']:.2f}", f"{times[k]:.2f}")
            table.add_row(name, str(X.shape[1]), str(D), k, *cells, *stages, f"{m.nbytes_:,}")
    return table


def main() -> None:
    options = arguments(__doc__, rows=10_000, rounds=3)
    console = Console(width=130)
    console.print(alone(options.rounds))
    console.print(learning(options.rows, options.rounds))


if __name__ == "__main__":
    main()
