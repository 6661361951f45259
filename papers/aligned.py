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
        "aligned.figure1", "aligned", "Test errors by dimension",
        "10 000 rows, 20 000 candidates, ρ = 0.005 N, ridge regression over the features with a "
        "weight, over the 100 with the largest, and over as many plain ones; 3 draws.",
        tuple(_aligned()), (Picture("x", "value", "dimension d", "test error, %"),),
    ),
)  # fmt: skip
