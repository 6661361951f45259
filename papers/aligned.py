"""The aligned kernel's own task (Sinha & Duchi 2016): x ~ N(0, I), y = sign(‖x‖ - √d).

Of the candidates those with a weight are kept. Ridge regression learns over all of these, over the
100 with the largest weights, and over equal numbers of plain random features.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from onkel import AlignedFourier, ExplicitKernelClassifier
from onkel.rules import LeastSquares
from papers.cases import Case, Experiment, Picture, Rows

TRAIN, TEST, CANDIDATES, FEW = 10_000, 1_000, 20_000, 100
# λ = 1e-3 per row
_RIDGE = 1e-3 * TRAIN


def norm_task(d: int, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """x ~ N(0, I), y = sign(‖x‖ - √d)."""
    X = np.random.default_rng([seed, d]).standard_normal((n, d))
    return X, np.linalg.norm(X, axis=1) > np.sqrt(d)


def _ridge_error(Z: np.ndarray, y: np.ndarray) -> float:
    """Test error in percent of ridge regression over the features Z of training and test rows."""
    model = ExplicitKernelClassifier(map="identity", rule=LeastSquares(_RIDGE))
    model.fit(Z[:TRAIN], y[:TRAIN])
    return 100.0 * (1.0 - model.score(Z[TRAIN:], y[TRAIN:]))


def alignment(case: Case, run: int) -> dict[str, Any]:
    """All four errors of one draw, and how many features have a weight."""
    X, y = norm_task(case.parameters["d"], TRAIN + TEST, run)
    shared: dict[str, Any] = {"gamma": 0.5, "centered": False, "random_state": run}
    began = time.perf_counter()
    # the paper's ρ = 0.005 N
    aligned = AlignedFourier(CANDIDATES, CANDIDATES, rho=0.005 * CANDIDATES, **shared)
    Z = aligned.fit(X[:TRAIN], y[:TRAIN]).transform(X)
    found = {"used": Z.shape[1], "aligned": _ridge_error(Z, y)}
    largest = np.sort(np.argsort(-aligned.weights_, kind="stable")[:FEW])
    few = Z[:, largest] / np.sqrt(aligned.weights_[largest].sum())
    found["aligned, few"] = _ridge_error(few, y)
    for name, D in (("plain", Z.shape[1]), ("plain, few", FEW)):
        plain = AlignedFourier(D, D, rho=0.0, **shared).fit(X[:TRAIN], y[:TRAIN])
        found[name] = _ridge_error(plain.transform(X), y)
    seconds = time.perf_counter() - began
    return {**found, "value": found["aligned"], "seconds": seconds, "rows": TRAIN,
            "comparable": True}  # fmt: skip


def chosen(case: Case, run: int) -> dict[str, Any]:
    """Where the chosen features of two columns lie, by their weights q: Figure 1(a).

    ``length``: the mean of ‖ω‖; ``offset``: the mean distance of b from 0 or π; ``axis``: the
    direction ±a with the largest Σ q (a·ω)², in degrees; ``turn``: the mean angle between ω and it.
    """
    X, y = norm_task(2, TRAIN, run)
    began = time.perf_counter()
    aligned = AlignedFourier(CANDIDATES, CANDIDATES, rho=0.005 * CANDIDATES, gamma=0.5,
                             centered=False, random_state=run).fit(X, y)  # fmt: skip
    seconds = time.perf_counter() - began
    W, q = aligned.frequencies_, aligned.weights_ / aligned.weights_.sum()
    b = np.mod(aligned.offsets_, np.pi)
    axis = np.linalg.eigh((W * q) @ W.T)[1][:, -1]
    length = np.linalg.norm(W, axis=0)
    turn = np.degrees(np.arccos(np.minimum(np.abs(axis @ W) / length, 1.0)))
    found = {
        "length": float(q @ length), "offset": float(q @ np.minimum(b, np.pi - b)),
        "axis": float(np.mod(np.degrees(np.arctan2(axis[1], axis[0])), 180.0)),
        "turn": float(q @ turn),
    }  # fmt: skip
    return {**found, "value": found["length"], "seconds": seconds, "rows": TRAIN,
            "comparable": True}  # fmt: skip


def _chosen() -> Iterator[Case]:
    for take, label in (("length", "‖ω‖"), ("offset", "|b - 0 or π|"), ("turn", "turn"),
                        ("axis", "axis")):  # fmt: skip
        yield Case(
            rows=Rows(""), algorithm="aligned", label=label, take=take, parameters={"d": 2},
            measure="chosen", n_runs=10, step="authors", panel="sign(‖x‖ - √2)",
        )  # fmt: skip


def _aligned() -> Iterator[Case]:
    for take in ("plain", "aligned", "plain, few", "aligned, few"):
        for d in range(2, 16):
            yield Case(
                rows=Rows(""), algorithm="aligned", label=take.replace("few", "100"), take=take,
                parameters={"d": d}, measure="alignment", n_runs=3, step="authors", x=float(d),
                panel="sign(‖x‖ - √d)",
            )  # fmt: skip


EXPERIMENTS = (
    Experiment(
        "aligned.figure1a", "aligned", "The chosen features in two dimensions",
        "The same task with d = 2, 10 draws; means by the features' weights. The paper shows one "
        "draw, where ω lies near (1, 1) and (-1, -1), of length √2, and the offsets near 0 and π. "
        "Here length and offsets are the same in all draws; the axis is another in each, as the "
        "task has none.",
        tuple(_chosen()),
    ),
    Experiment(
        "aligned.figure1", "aligned", "Test errors by dimension",
        "10 000 rows, 20 000 candidates, ρ = 0.005 N, ridge regression over the features with a "
        "weight, over the 100 with the largest, and over as many plain ones; 3 draws.",
        tuple(_aligned()), (Picture("x", "value", "dimension d", "test error, %"),),
    ),
)  # fmt: skip
