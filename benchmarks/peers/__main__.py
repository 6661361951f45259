"""Other libraries beside the default, on the same rows: error, speed and memory in one table.

    python -m benchmarks.peers [--data NAMES] [--rows N] [--learners NAMES] [--most SECONDS]

Rows come in one seeded order. Learners of one pass predict each row before they learn it; ceilings
learn the first four fifths as often as they like. The error is that of the last fifth: mistakes in
percent, or root mean squared error. All run on one thread with their own defaults, each in a
process of its own. Libraries that are not installed are named: ``pip install lightgbm catboost
vowpalwabbit capymoa river``.
"""

from __future__ import annotations

from benchmarks.timing import head, line, one_core  # first: it sets the threads

# isort: split
import argparse
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from benchmarks.peers import batch, online
from benchmarks.peers.measuring import Outcome, measure
from benchmarks.streams import shuffled
from onkel.evaluation.formatting import short

LIBRARIES = ("onkel", "scikit-learn", "river", "capymoa", "vowpalwabbit", "lightgbm", "catboost")
DATA = ("spambase", "a9a", "ijcnn1", "letter", "covtype_sub93k", "cpusmall", "cadata", "casp")


@dataclass(frozen=True)
class Peer:
    """A line of the table. ``two``: for two classes only."""

    name: str
    run: Callable[[np.ndarray, np.ndarray], np.ndarray]
    ceiling: bool = False
    two: bool = False


PEERS = (
    Peer("onkel: the default", online.onkel_with("okl")),
    Peer('onkel: speed="fast"', online.onkel_with("okl", speed="fast")),
    Peer("onkel: FOGD", online.onkel_with("fogd")),
    Peer("scikit-learn: SGD, Fourier features", online.sklearn_sgd),
    Peer("River: Hoeffding tree", online.river_with("hoeffding")),
    Peer("River: adaptive random forest", online.river_with("arf", n_models=10, seed=0)),
    Peer("CapyMOA: adaptive random forest", online.capymoa_arf),
    Peer("Vowpal Wabbit: linear", online.vowpal_linear),
    Peer("Vowpal Wabbit: --ksvm", online.vowpal_ksvm, two=True),
    Peer("scikit-learn: SVC, SVR", batch.sklearn_svm, ceiling=True),
    Peer("LightGBM", batch.lightgbm, ceiling=True),
    Peer("CatBoost", batch.catboost, ceiling=True),
)


def rows_of(name: str, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """The first rows of a data set in a seeded order, as in its file; classes 0, 1, ..."""
    X, y = shuffled(name, n_rows, scaling="none")
    return X, y if y.dtype.kind == "f" else np.unique(y, return_inverse=True)[1]


def outcome_of(peer: Peer, X: np.ndarray, y: np.ndarray, most: float) -> Outcome:
    """A cell, or why there is none."""
    if peer.two and (y.dtype.kind == "f" or y.max() > 1):
        return Outcome(why="for two classes only")
    return measure(peer.run, X, y, peer.ceiling, most)


def text_of(value: float) -> str:
    """Three or four digits; from 1 000 on whole numbers, with commas."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.2f}" if value >= 1 else f"{value:.4f}"


def _line(peer: Peer, found: dict[str, Outcome]) -> None:
    """One line of the table; cells without a number are dashes."""
    cells = [text_of(o.error) if not o.why else "–" for o in found.values()]
    good = [o for o in found.values() if not o.why]
    speed = short(statistics.median(o.rows_per_second for o in good)) if good else ""
    memory = f"{max(o.megabytes for o in good):,.0f}" if good else ""
    line(peer.name, "ceiling" if peer.ceiling else "one pass", *cells, speed, memory)


def versions() -> str:
    """Of the libraries that are installed."""
    found = []
    for name in LIBRARIES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=",".join(DATA), help="names, separated by commas")
    parser.add_argument("--learners", default="", help="parts of names, separated by commas")
    parser.add_argument("--rows", type=int, default=20_000, help="at most so many of each set")
    parser.add_argument("--most", type=float, default=600.0, help="seconds for one learner and set")
    options = parser.parse_args()
    one_core()
    asked = options.learners.lower().split(",")
    peers = [peer for peer in PEERS if any(part in peer.name.lower() for part in asked)]
    loaded = {name: rows_of(name, options.rows) for name in options.data.split(",")}
    head("learner", "", *loaded, "rows/s", "MB", left=2)
    line("rows", "", *(f"{len(y):,}" for _, y in loaded.values()), "", "")
    why: dict[str, list[str]] = {}
    for peer in peers:
        run = partial(outcome_of, peer, most=options.most)
        found = {name: run(X, y) for name, (X, y) in loaded.items()}
        _line(peer, found)
        for name, outcome in found.items():
            if outcome.why:
                why.setdefault(f"{peer.name}: {outcome.why}", []).append(name)
    print(f"\n{versions()}\n")
    for reason, names in why.items():
        print(f"- {reason} ({', '.join(names)})")


if __name__ == "__main__":
    main()
