"""What a row and a move of NOLANA cost on usps, stage by stage: ``python -m benchmarks.nolana``.

The paper's tables and figures are repeated by ``python -m papers nolana.table1`` and so on.
"""

from __future__ import annotations

from benchmarks.timing import one_core, seconds  # first: it sets the threads

# isort: split
from typing import Any

import numpy as np

from onkel import ExplicitKernelClassifier
from onkel.datasets import load
from onkel.explicit.weights import regression
from onkel.maps import AdaptiveNystroem, NystroemFeatures
from onkel.maps.online_kmeans import SOLVERS, Panel
from onkel.rules import Gradient
from papers.rows import order
from papers.tables import markdown_table

M, R, GAMMA = 100, 80, 0.008


def moving(threshold: float) -> AdaptiveNystroem:
    return AdaptiveNystroem(M, R, gamma=GAMMA, threshold=threshold, weighted=False)


def stages() -> str:
    """What a row and a move cost on usps, m = 100, r = 80."""
    data = load("usps", subset="all", dtype="float32")
    places = order(len(data.y), 0)
    X, y = np.ascontiguousarray(data.X[places]), data.y[places]
    n = len(y)
    m = moving(80.0).fit(X)
    still = moving(1e9)
    W, weight = np.zeros((10, R)), np.ones(n)
    E, q = m._lifted(m._gram()), 3
    P = m.projection_.astype(float)
    Phi = E @ P

    def walked(features: bool) -> None:
        for a in range(0, n, 512):
            panel = Panel(far, X[a : a + 512], weight[a : a + 512])
            panel.next_rows()
            if features:
                panel.features()

    far = still.fit(X[:200])
    plain = NystroemFeatures(M, R, gamma=GAMMA).fit(X)

    def learned(kind: Any) -> None:
        model = ExplicitKernelClassifier(map=kind, rule=Gradient(16.0, 0.2), loss="logistic")
        model.predict_then_learn(X, y)

    tasks = {
        "look": lambda: walked(False),
        "features": lambda: walked(True),
        "plain features": lambda: [plain.features(X[a : a + 512]) for a in range(0, n, 512)],
        "learner": lambda: learned(still),
        "plain learner": lambda: learned(NystroemFeatures(M, R, gamma=GAMMA)),
        "kernel": lambda: m._gram(),
        "regression": lambda: regression(Phi, Phi, 1e-6) @ W.T,
        **{name: lambda f=f: f(E, q, P, 2) for name, f in SOLVERS.items()},
    }
    times = {name: 1e6 * t for name, t in seconds(tasks, 9).items()}
    lines = [
        ["a row: distances and nearest landmark", f"{times['look'] / n:.2f}", ""],
        ["a row: these and features", f"{times['features'] / n:.2f}",
         f"{times['plain features'] / n:.2f}"],
        ["a row, learned, no move", f"{times['learner'] / n:.2f}",
         f"{times['plain learner'] / n:.2f}"],
        ["a move: κ(S, S)", f"{times['kernel']:.0f}", ""],
        *([f"a move: the factor, {name}", f"{times[name]:.0f}", ""] for name in SOLVERS),
        ["a move: equation 12", f"{times['regression']:.0f}", ""],
    ]  # fmt: skip
    ratio = times["learner"] / times["plain learner"]
    note = f"A row without a move costs {ratio:.2f}x one of plain Nyström."
    head = ["stage, microseconds", "NOLANA", "plain Nyström"]
    table = markdown_table(head, lines, left=head[:1])
    return f"## Stages: usps, m = 100, r = 80\n\n{table}\n\n{note}"


if __name__ == "__main__":
    one_core()
    print(stages())
