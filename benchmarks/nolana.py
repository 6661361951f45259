"""Si, Kumar & Li 2018 repeated: ``python -m benchmarks.nolana [PART ...] > docs/nolana.md``.

Parts: table1 (usps, over ε), table2 (accuracy and RMSE), figure1 (solvers), figure3 (error of the
kernel), stages (what a row and a move cost). ``--figures FOLDER`` draws the two figures, too.
"""

from __future__ import annotations

from benchmarks.timing import one_core, seconds  # first: it sets the threads

# isort: split
import argparse
import itertools
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from onkel import ExplicitKernelClassifier, ExplicitKernelRegressor
from onkel.datasets import load
from onkel.experiments.formats import markdown_table
from onkel.experiments.runner import order
from onkel.explicit.weights import regression
from onkel.maps import AdaptiveNystroem, FourierFeatures, IdentityFeatures, NystroemFeatures
from onkel.maps.landmarks.factors import SOLVERS
from onkel.maps.landmarks.panel import Panel
from onkel.rules import AdaGrad, Gradient, PassiveAggressive, Rule


@dataclass(frozen=True)
class Setting:
    """A data set of Table 2, and the steps found for it on orders that are not reported."""

    m: int
    gamma: float
    threshold: float
    loss: str
    gradient: Gradient
    adagrad: AdaGrad
    published: dict[str, float]
    weighted: bool = False

    @property
    def r(self) -> int:
        return round(0.8 * self.m)

    def moving(self, **more: Any) -> AdaptiveNystroem:
        params = {"gamma": self.gamma, "threshold": self.threshold, "weighted": self.weighted}
        return AdaptiveNystroem(self.m, self.r, **(params | more))

    def first(self) -> NystroemFeatures:
        return NystroemFeatures(self.m, self.r, gamma=self.gamma)

    def fourier(self, d: int) -> FourierFeatures:
        """As many frequencies as fit into md + mr numbers."""
        return FourierFeatures((self.m * d + self.m * self.r) // d, gamma=self.gamma)


SETTINGS = {
    "cpusmall": Setting(
        20, 1.0, 0.05, "squared", Gradient(0.4), AdaGrad(0.3),
        {"pa": 15.83, "nogd": 8.30, "fogd": 7.60, "nolana": 7.08},
    ),
    "usps": Setting(
        100, 0.008, 80.0, "logistic", Gradient(16.0, 0.2), AdaGrad(2.0),
        {"pa": 80.01, "nogd": 90.52, "fogd": 89.52, "nolana": 92.07},
    ),
    "ijcnn1": Setting(
        100, 0.4, 1.0, "hinge", Gradient(4.0, 0.2), AdaGrad(0.3),
        {"pa": 89.84, "nogd": 93.58, "fogd": 94.00, "nolana": 93.65}, weighted=True,
    ),
    "covtype": Setting(
        200, 1.0, 2.0, "logistic", Gradient(4.0, 0.2), AdaGrad(0.3),
        {"pa": 68.78, "nogd": 68.84, "fogd": 69.95, "nolana": 71.51},
    ),
}  # fmt: skip


def rows(name: str, run: int) -> tuple[np.ndarray, np.ndarray]:
    """X and y in the order of a run; all rows; class 2 of covtype against the others."""
    data = load(name, subset="all", dtype="float32")
    y = (data.y == 2).astype(int) if name == "covtype" else data.y
    places = order(len(y), run)
    return np.ascontiguousarray(data.X[places]), y[places]


def measure(name: str, feature_map: Any, rule: Rule, loss: str, run: int) -> tuple[Any, ...]:
    """Accuracy in percent (RMSE in the target's units), seconds, and the learner, of one pass."""
    X, y = rows(name, run)
    regression = name == "cpusmall"
    cls = ExplicitKernelRegressor if regression else ExplicitKernelClassifier
    model = cls(map=feature_map, rule=rule, loss=loss, random_state=run)
    classes = {} if regression else {"classes": np.unique(y)}
    begin = time.perf_counter()
    before = model.predict_then_learn(X, y, **classes)
    took = time.perf_counter() - begin
    value = 99.0 * np.sqrt(np.mean((before - y) ** 2)) if regression else 100 * np.mean(before == y)
    return float(value), took, model


def markdown(head: list[str], lines: list[list[Any]]) -> str:
    rows = [[str(cell) for cell in line] for line in lines]
    return markdown_table(head, rows, left=head[:1])


def table1(runs: int, figures: Path | None) -> str:
    """Accuracy, time and number of moves over ε."""
    s, thresholds = SETTINGS["usps"], (0, 25, 50, 100, 200, 300)
    found: dict[int, list[list[float]]] = {e: [] for e in thresholds}
    for run in range(runs):
        for e in thresholds:
            one, took, model = measure("usps", s.moving(threshold=e), s.gradient, s.loss, run)
            other = measure("usps", s.moving(threshold=e), s.adagrad, s.loss, run)[0]
            found[e].append([one, other, took, model.map_.n_moves_])
    means = {e: np.mean(values, axis=0) for e, values in found.items()}
    lines = [
        ["accuracy, gradient (%)", *(f"{means[e][0]:.2f}" for e in thresholds)],
        ["accuracy, AdaGrad (%)", *(f"{means[e][1]:.2f}" for e in thresholds)],
        ["time, gradient (s)", *(f"{means[e][2]:.2f}" for e in thresholds)],
        ["number of moves", *(f"{means[e][3]:.0f}" for e in thresholds)],
        ["*paper: accuracy (%)*", "92.00", "91.91", "92.14", "90.91", "90.27", "90.52"],
        ["*paper: time (s)*", "30.43", "25.98", "20.57", "9.67", "5.91", "5.75"],
        ["*paper: number of updates*", "9298", "7742", "5523", "1262", "23", "0"],
    ]
    head = ["ε", *map(str, thresholds)]
    return f"## Table 1: usps, m = 100, r = 80 over ε (orders: {runs})\n\n{markdown(head, lines)}"


def table2(runs: int, figures: Path | None) -> str:
    """All learners at equal memory, md + mr numbers."""
    lines = []
    for name, s in SETTINGS.items():
        d = rows(name, 0)[0].shape[1]
        pa_loss = "epsilon_insensitive" if s.loss == "squared" else "hinge"
        learners = {
            "pa": (IdentityFeatures(), PassiveAggressive(), pa_loss),
            "nogd": (s.first(), s.gradient, s.loss),
            "fogd": (s.fourier(d), s.gradient, s.loss),
            "nolana": (s.moving(), s.gradient, s.loss),
            "ada": (s.moving(), s.adagrad, s.loss),
        }
        line = [f"{name}{', RMSE' if s.loss == 'squared' else ', %'}", f"{s.m}", s.loss]
        for key, how in learners.items():
            print(name, key, file=sys.stderr)
            values = [measure(name, *how, run)[0] for run in range(runs)]
            line.append(f"{np.mean(values):.2f} ± {np.std(values, ddof=1) if runs > 1 else 0:.2f}")
            if key in s.published:
                line[-1] += f" ({s.published[key]:.2f})"
        lines.append(line)
    head = ["data", "m", "loss", "PA", "NOGD", "FOGD", "NOLANA", "NOLANA, AdaGrad's step"]
    return f"## Table 2: ours (the paper's) (orders: {runs})\n\n{markdown(head, lines)}"


def figure1(runs: int, figures: Path | None) -> str:
    """Time over the rows of usps by solver, ε = 50; the solvers take turns, eighth by eighth."""
    X, y = rows("usps", 0)
    s, marks = SETTINGS["usps"], np.linspace(0, len(y), 9).astype(int)
    curves = {solver: [0.0] for solver in ("randomized", "rank_two", "scratch")}
    models = {}
    for solver in curves:
        kind = s.moving(threshold=50.0, solver=solver)
        models[solver] = ExplicitKernelClassifier(map=kind, rule=s.gradient, loss=s.loss)
    right = dict.fromkeys(curves, 0)
    for a, b in itertools.pairwise(marks):
        for solver, model in models.items():
            begin = time.perf_counter()
            before = model.predict_then_learn(X[a:b], y[a:b], classes=None if a else np.unique(y))
            curves[solver].append(curves[solver][-1] + time.perf_counter() - begin)
            right[solver] += int((before == y[a:b]).sum())
    draw(figures, "nolana-figure1.png", marks, curves, "rows of usps", "seconds")
    lines = [
        [solver.replace("_", "-"), *(f"{t:.1f}" for t in took[2::2]),
         f"{100 * right[solver] / len(y):.2f} %"]
        for solver, took in curves.items()
    ]  # fmt: skip
    head = ["solver", *map(str, marks[2::2]), "accuracy"]
    return f"## Figure 1: seconds after so many rows of usps, ε = 50\n\n{markdown(head, lines)}"


def kernel_error(X: np.ndarray, Z: np.ndarray, gamma: float) -> float:
    """‖G - Z Zᵀ‖ / ‖G‖, by blocks of rows."""
    wrong = whole = 0.0
    norms = np.einsum("ij,ij->i", X, X)
    for a in range(0, len(X), 1000):
        G = norms[a : a + 1000, None] + norms - 2.0 * (X[a : a + 1000] @ X.T)
        np.exp(-gamma * np.maximum(G, 0.0, out=G), out=G)
        whole += float(np.square(G).sum(dtype=float))
        G -= Z[a : a + 1000] @ Z.T
        wrong += float(np.square(G).sum(dtype=float))
    return float(np.sqrt(wrong / whole))


def figure3(runs: int, figures: Path | None) -> str:
    """Error of the kernel matrix at equal memory."""
    lines = []
    for name, budgets in {
        "cpusmall": (10, 20, 40, 80),
        "usps": (50, 100, 200),
        "covtype": (50, 100, 200),
    }.items():
        X = rows(name, 0)[0][:10_000]
        s, curves = SETTINGS[name], {"OANA": [], "NOGD": [], "FOGD": []}
        threshold = {"cpusmall": 0.02, "usps": 80.0, "covtype": 1.0}[name]
        for m in budgets:
            at = Setting(m, s.gamma, threshold, s.loss, s.gradient, s.adagrad, {}, True)
            fourier = at.fourier(X.shape[1]).set_params(random_state=0)
            for key, feature_map in zip(curves, (at.moving(), at.first(), fourier), strict=True):
                curves[key].append(kernel_error(X, feature_map.fit(X).transform(X), s.gamma))
            lines.append([name, m, *(f"{curve[-1]:.4f}" for curve in curves.values())])
        draw(figures, f"nolana-figure3-{name}.png", budgets, curves, f"m, {name}", "error")
    head = ["data", "m", "OANA", "NOGD", "FOGD"]
    return f"## Figure 3: ‖G - Ḡ‖ / ‖G‖ at md + mr numbers\n\n{markdown(head, lines)}"


def stages(runs: int, figures: Path | None) -> str:
    """What a row and a move cost on usps, m = 100, r = 80."""
    X, y = rows("usps", 0)
    s, n = SETTINGS["usps"], len(y)
    m = s.moving().fit(X)
    still = s.moving(threshold=1e9)
    W, weight = np.zeros((10, s.r)), np.ones(n)
    E, q = m._lifted(m._gram()), 3
    P = m.projection_.astype(float)
    Phi = E @ P

    def walked(features: bool) -> None:
        for a in range(0, n, 512):
            panel = Panel(far, X[a : a + 512], weight[a : a + 512])
            panel.walk()
            if features:
                panel.features()

    far = still.fit(X[:200])
    plain = s.first().fit(X)
    learner: Any = lambda kind: ExplicitKernelClassifier(map=kind, rule=s.gradient, loss=s.loss)  # noqa: E731
    tasks = {
        "look": lambda: walked(False),
        "features": lambda: walked(True),
        "plain features": lambda: [plain.features(X[a : a + 512]) for a in range(0, n, 512)],
        "learner": lambda: learner(still).predict_then_learn(X, y),
        "plain learner": lambda: learner(s.first()).predict_then_learn(X, y),
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
    return f"## Stages: usps, m = 100, r = 80\n\n{markdown(head, lines)}\n\n{note}"


def draw(folder: Path | None, file: str, x: Any, curves: dict[str, Any], xl: str, yl: str) -> None:
    """A figure of the curves."""
    if folder is None:
        return
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5, 3.2), layout="constrained")
    for label, values in curves.items():
        axes.plot(x, values, marker="o", label=label)
    axes.set(xlabel=xl, ylabel=yl, ylim=(0, None))
    axes.legend()
    figure.savefig(folder / file, dpi=110)


PARTS = {f.__name__: f for f in (table1, table2, figure1, figure3, stages)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--figures", type=Path)
    options = parser.parse_args()
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"no part {unknown.pop()!r}; there are {', '.join(PARTS)}")
    one_core()
    for name in options.parts or PARTS:
        print(PARTS[name](options.runs, options.figures), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
