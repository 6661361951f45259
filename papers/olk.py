"""Regret of OLK and its two budgets against the best f in hindsight.

    R_T = Σ_{t≤T} ½(y_t - f_t(x_t))² - min_{‖f‖≤U} Σ_{t≤T} ½(y_t - f(x_t))²

on streams of independent rows: with noise on the targets, so that the best f has loss too, and
without. He & Kwok 2014 bound it by O(√T) for Algorithm 1, by O(T^((1+γ)/2)) where rows are stored
with probability t^-γ, and by O(√T) with a budget of order √T (here 2√T; and 2 T^(3/4), see
docs/results/regret.md).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh

from onkel import make
from onkel.kernels import Gaussian
from papers.cases import Case, Experiment, Picture, Rows

RADIUS, GAMMA, THINNING = 2.0, 1.0, 0.5
HORIZONS = tuple(2**k for k in range(6, 14))
NOISE = 0.5

_SHARED: dict[str, Any] = {
    "radius": RADIUS,
    "learning_rate": 1.0,
    "gamma": GAMMA,
    "epsilon": 0.0,
    "dtype": "float64",
}


@dataclass(frozen=True)
class Curve:
    """A learner, its parameters for the horizon T, and the exponent of its bound."""

    algorithm: str
    parameters: Callable[[int], dict[str, Any]]
    bound: float


_BOUND_GROWING = (1.0 + THINNING) / 2.0
CURVES = {
    "olk": Curve("olk", lambda T: {}, 0.5),
    "olk-growing": Curve("olk-growing", lambda T: {"thinning": THINNING}, _BOUND_GROWING),
    "olk-fixed, uniform": Curve(
        "olk-fixed", lambda T: {"budget": round(2 * T**0.5), "removal": "uniform"}, 0.5
    ),
    "olk-fixed, weighted": Curve(
        "olk-fixed", lambda T: {"budget": round(2 * T**0.5), "removal": "weighted"}, 0.5
    ),
    "olk-fixed, weighted, larger": Curve(
        "olk-fixed", lambda T: {"budget": round(2 * T**0.75), "removal": "weighted"}, 0.5
    ),
}


def stream(n_rows: int, seed: int, noise: float = NOISE) -> tuple[np.ndarray, np.ndarray]:
    """Rows X (n, 2) and targets y (n,): a smooth function and noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, (n_rows, 2))
    return X, np.sin(2.0 * X[:, 0]) * np.cos(X[:, 1]) + noise * rng.standard_normal(n_rows)


def coordinates(X: np.ndarray, n_landmarks: int = 400) -> np.ndarray:
    """Z (n, m) with κ(x, x') = z·z' to seven digits: a smooth kernel over dense rows."""
    S = X[:n_landmarks]
    values, Q = eigh(Gaussian().gram(S, S, GAMMA))
    large = values > 1e-10 * values[-1]
    return Gaussian().gram(X, S, GAMMA) @ (Q[:, large] / np.sqrt(values[large]))


def best_loss(Z: np.ndarray, y: np.ndarray, radius: float) -> float:
    """min over ‖f‖ ≤ U of Σ ½(y - f)², f = w·z over the rows' coordinates Z (n, m).

    (ZᵀZ + λI) w = Zᵀy for the λ at which ‖w‖ = U, or for λ near 0 if w then lies inside.
    """
    values, Q = eigh(Z.T @ Z)
    values = np.maximum(values, 0.0)
    b = Q.T @ (Z.T @ y)

    def squared_norm(penalty: float) -> float:
        return float(np.sum((b / (values + penalty)) ** 2))

    low, high = -25.0, 25.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if squared_norm(np.exp(middle)) > radius**2 else (low, middle)
    w = Q @ (b / (values + np.exp(high)))
    return 0.5 * float(np.sum((y - Z @ w) ** 2))


def regrets(
    curve: Curve, n_stream: int, horizons: tuple[int, ...] = HORIZONS, noise: float = NOISE
) -> tuple[np.ndarray, np.ndarray]:
    """A learner's regret and number of stored rows at the horizons, each in a run of its own.

    For one ``n_stream``, the stream of each horizon is the beginning of the longer ones.
    """
    X, y = stream(max(horizons), n_stream, noise)
    Z = coordinates(X)
    found, stored = np.empty(len(horizons)), np.empty(len(horizons))
    for j, T in enumerate(horizons):
        model = make(curve.algorithm, "regression", **_SHARED, **curve.parameters(T))
        if "random_state" in model.get_params():
            model.set_params(random_state=n_stream)
        before = model.predict_then_learn(X[:T], y[:T])
        found[j] = 0.5 * float(np.sum((y[:T] - before) ** 2)) - best_loss(Z[:T], y[:T], RADIUS)
        stored[j] = model.n_support_
    return found, stored


def slope(horizons: tuple[int, ...], regret: np.ndarray) -> float:
    """The exponent r of regret ~ T^r, fitted to the mean over the streams (streams, horizons)."""
    return float(np.polyfit(np.log(horizons), np.log(regret.mean(axis=0)), 1)[0])


def regret(case: Case, run: int) -> dict[str, Any]:
    """Regret, and rows stored, over the horizons on one stream."""
    curve = CURVES[case.parameters["curve"]]
    began = time.perf_counter()
    found, stored = regrets(curve, run, HORIZONS, case.parameters["noise"])
    seconds = time.perf_counter() - began
    common = {"value": float(found[-1]), "rate": slope(HORIZONS, found[None]), "seconds": seconds}
    curves = {"curve": [list(HORIZONS), found.tolist(), stored.tolist()]}
    return {**common, **curves, "rows": HORIZONS[-1], "comparable": True}


def _olk(take: str = "value") -> Iterator[Case]:
    for noise, panel in ((NOISE, "noisy targets"), (0.0, "targets without noise")):
        for name, curve in CURVES.items():
            yield Case(
                rows=Rows(""), algorithm=curve.algorithm, task="regression",
                label=f"{name}, r" if take == "rate" else name,
                metric="regret", measure="regret", parameters={"curve": name, "noise": noise},
                n_runs=5, step="prior", panel=panel, take=take,
            )  # fmt: skip


EXPERIMENTS = (
    Experiment(
        "olk.regret", "olk", "Regret against the best f of the ball",
        "Streams of T = 64, ..., 8 192 rows, five of each; the bounds are T^½, T^¾ (growing).",
        tuple(_olk()), (Picture("rows", "value", "rows T", "regret", log_x=True, log_y=True),),
    ),
    Experiment(
        "olk.rates", "olk", "Exponents of the regret",
        "The same runs: regret after T = 8 192 rows, and r of regret ~ T^r, fitted over T; the "
        "paper's r is ½, with a growing budget ¾.", (*_olk("rate"), *_olk()),
    ),
    Experiment(
        "olk.budget", "olk", "Growth of the stored rows",
        "The same runs: rows stored after T rows.", tuple(_olk()),
        (Picture("rows", "seconds", "rows T", "rows stored", log_x=True, log_y=True),),
    ),
)  # fmt: skip
