"""Speed against other libraries: ``python -m benchmarks.speed [--rows N] [--rounds N]``.

Each line is a ratio within one run on one core. onkel predicts every row before it learns it; the
peers are given the lighter work (mini-batches, and no prediction unless the line says so).
"""

from __future__ import annotations

from benchmarks.timing import arguments, rate, seconds  # first: it sets the threads

# isort: split

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import SGDClassifier

from benchmarks.streams import learn, nonlinear
from onkel import FOGDClassifier, NOGDClassifier, PAClassifier, RRFClassifier
from onkel.datasets import load

GAMMA = 1 / 44
MINI_BATCH = 256


def sklearn_stream(transformer, X, y, batch=MINI_BATCH, predict=False):
    """scikit-learn's explicit map and SGDClassifier.partial_fit over mini-batches."""
    model = SGDClassifier(random_state=0)
    transformer.fit(X[:1000])
    mistakes = 0
    for a in range(0, len(y), batch):
        Z = transformer.transform(X[a : a + batch])
        if predict and a:
            mistakes += int((model.predict(Z) != y[a : a + batch]).sum())
        model.partial_fit(Z, y[a : a + batch], classes=[0, 1])
    return mistakes / len(y)


def numpy_fogd(X, y):
    """FOGD as a plain NumPy loop: a yardstick for the speed of the machine."""
    rng, D = np.random.default_rng(0), 400
    U = rng.standard_normal((X.shape[1], D)).astype(np.float32) * np.float32(np.sqrt(2 * GAMMA))
    w = np.zeros(2 * D, np.float32)
    step = np.float32(0.5 / D)
    signs = 2.0 * y - 1.0
    for a in range(0, len(y), MINI_BATCH):
        angles = X[a : a + MINI_BATCH] @ U
        Z = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
        for z, label in zip(Z, signs[a : a + MINI_BATCH], strict=True):
            if label * (w @ z) < 1.0:
                w += np.float32(step * label) * z


class Report:
    """A table of lines: what, rows per second here and there, ratio, target."""

    def __init__(self) -> None:
        self.table = Table(title="Speed on one core, medians; ratios within this run")
        for name in ("learner", "onkel", "peer", "peer's rate", "ratio", "target"):
            self.table.add_column(name, justify="left" if name in ("learner", "peer") else "right")

    def ratio(self, learner, n, own, peer, n_peer, theirs, target) -> None:
        ratio = (n / own) / (n_peer / theirs)
        mark = "" if target is None else ("ok" if ratio >= target else "MISSED")
        goal = "" if target is None else f"{target:g}x {mark}"
        cells = (rate(n, own), peer, rate(n_peer, theirs), f"{ratio:.1f}x", goal)
        self.table.add_row(learner, *cells)

    def absolute(self, learner, n, own, target) -> None:
        mark = "ok" if n / own >= target else "MISSED"
        self.table.add_row(learner, rate(n, own), "", "", "", f"{rate(target, 1)} {mark}")


def against_sklearn(report: Report, n: int, rounds: int) -> None:
    """FOGD and NOGD against scikit-learn's maps with SGD."""
    X, y = nonlinear(n)
    few = 500

    def rbf(D):
        return RBFSampler(gamma=GAMMA, n_components=D, random_state=0)

    nystroem = Nystroem(gamma=GAMMA, n_components=200, random_state=0)
    times = seconds(
        {
            "fogd400": lambda: learn(
                FOGDClassifier(n_components=400, gamma=GAMMA, random_state=0), X, y
            ),
            "fogd1600": lambda: learn(
                FOGDClassifier(n_components=1600, gamma=GAMMA, random_state=0), X, y
            ),
            "nogd": lambda: learn(NOGDClassifier(n_components=200, rank=40, gamma=GAMMA), X, y),
            "sk800": lambda: sklearn_stream(rbf(800), X, y),
            "sk800p": lambda: sklearn_stream(rbf(800), X, y, predict=True),
            "sk3200": lambda: sklearn_stream(rbf(3200), X, y),
            "sknys": lambda: sklearn_stream(nystroem, X, y),
            "skrow": lambda: sklearn_stream(rbf(800), X[:few], y[:few], batch=1),
            "numpy": lambda: numpy_fogd(X, y),
        },
        rounds,
    )
    batch = "RBFSampler({}) + SGD, batches of 256"
    f400 = times["fogd400"]
    report.ratio("FOGD D=400", n, f400, batch.format(800), n, times["sk800"], 6)
    report.ratio("FOGD D=400", n, f400, "... with its predictions", n, times["sk800p"], None)
    report.ratio("FOGD D=400", n, f400, "... row by row", few, times["skrow"], 500)
    report.ratio("FOGD D=400", n, f400, "plain NumPy loop", n, times["numpy"], None)
    report.ratio("FOGD D=1600", n, times["fogd1600"], batch.format(3200), n, times["sk3200"], 4)
    peer = "Nystroem(200) + SGD, batches of 256"
    report.ratio("NOGD B=200 k=40", n, times["nogd"], peer, n, times["sknys"], 5)


def on_data(report: Report, rounds: int) -> None:
    """RRF on the papers' data."""
    for name, target in (("ijcnn1", 1e6), ("poker", 2e5)):
        try:
            data = load(name)
        except FileNotFoundError as error:
            report.table.add_row(f"RRF D=100, {name}", "", str(error), "", "", "")
            continue
        X, y = data.X.astype(np.float32), data.y
        times = seconds(
            {
                "rrf": lambda X=X, y=y: learn(
                    RRFClassifier(n_components=100, gamma=0.5, random_state=0), X, y
                ),
                "pa": lambda X=X, y=y: learn(PAClassifier(), X, y),
            },
            rounds,
        )
        report.absolute(f"RRF D=100, {name} ({len(y):,} rows)", len(y), times["rrf"], target)
        report.absolute(f"PA (linear), {name}", len(y), times["pa"], target)


def main() -> None:
    options = arguments(__doc__, rows=100_000, rounds=5)
    report = Report()
    against_sklearn(report, options.rows, options.rounds)
    on_data(report, options.rounds)
    Console(width=110).print(report.table)


if __name__ == "__main__":
    main()
