"""The theorems' regret: its comparator is the best, its losses are the papers', its bounds hold."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from onkel import make
from onkel.kernels import Gaussian
from papers import EXPERIMENTS, Result, bounds
from papers.figures import draw
from papers.headlines import headlines
from papers.olk import coordinates
from papers.registry import LAYOUTS

CASES = [
    case for name in ("lsokl.regret", "nolana.regret")
    for case in EXPERIMENTS[name].cases if case.take == "value"
]  # fmt: skip


def test_hinge_losses():
    rng = np.random.default_rng(0)
    P, y = rng.standard_normal((20, 3)), rng.integers(3, size=20)
    naive = [
        max(0.0, *(1.0 - p[k] + p[s] for s in range(3) if s != k))
        for p, k in zip(P, y, strict=True)
    ]
    np.testing.assert_allclose(bounds.hinge(P, y), naive)
    two, signs = P[:, :1], 2.0 * (y > 0) - 1.0
    np.testing.assert_allclose(
        bounds.hinge(two, (y > 0).astype(int)), np.maximum(0.0, 1.0 - signs * two[:, 0])
    )


@pytest.mark.parametrize("m", [2, 3])
def test_the_comparator_is_the_best_in_hindsight(m):
    X, y = bounds.stream(80, 0, m)
    Z = coordinates(X)[:, :12]
    w = cp.Variable((1 if m == 2 else m, 12))
    P = Z @ w.T
    if m == 2:
        losses = cp.pos(1 - cp.multiply(2.0 * y - 1.0, P[:, 0]))
    else:
        own = np.eye(m)[y]
        losses = cp.max(P + 1 - own, axis=1) - cp.sum(cp.multiply(P, own), axis=1)
    least = 0.5 * bounds.PENALTY * cp.sum_squares(w) + cp.sum(losses) / 80
    wanted = cp.Problem(cp.Minimize(least)).solve(cp.CLARABEL)
    found = bounds.best(Z, y)
    value = 0.5 * bounds.PENALTY * (found**2).sum() + bounds.hinge(Z @ found.T, y).mean()
    assert value == pytest.approx(wanted, rel=1e-3)


def test_the_norm_of_a_model_over_stored_rows():
    """While NOGD collects landmarks, ‖f‖² = αᵀ K α over the rows it has stored."""
    X, y = bounds.stream(12, 0, 2)
    model = make("nogd", n_components=20, gamma=bounds.GAMMA, learning_rate=0.01, dtype="float64")
    # steps so small that every row is within the margin, and stored
    model.partial_fit(X, y, classes=[0, 1])
    alpha, K = model.coef_[0], Gaussian().gram(X, X, bounds.GAMMA)
    assert bounds._squared_norm(model, X) == pytest.approx(alpha @ K @ alpha)


def test_a_bound_is_a_column_and_a_line():
    """It is printed beside the regret, and drawn with it."""
    entry = EXPERIMENTS["nolana.regret"]
    common = {"n_rows": 128, "seconds": (1.0,), "values": (3.0,)}
    curve = tuple(map(np.array, ([64, 128], [2.0, 3.0], [20.0, 30.0])))
    results = [Result(case=case, curve=curve, **common) for case in entry.cases]
    assert all(f"| {case.label} |" in LAYOUTS["cells"].markdown(results) for case in entry.cases)
    (figure,) = draw(entry, results)
    heights = [line.get_ydata().tolist() for line in figure.axes[0].get_lines()]
    assert heights == [[2.0, 3.0], [20.0, 30.0]]
    common = headlines("nolana", {entry.name: results})
    assert "regret 3, growing as T^0.58; bound 3, 1 times" in common


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.panel)
def test_the_bounds_hold(case, monkeypatch):
    monkeypatch.setattr(bounds, "HORIZONS", (64, 128))
    report = bounds.bounded(case, 0)
    (_, regrets, limits) = report["curve"]
    assert report["value"] == regrets[-1] > 0.0
    assert report["bound"] == limits[-1]
    assert all(regret < limit for regret, limit in zip(regrets, limits, strict=True))
