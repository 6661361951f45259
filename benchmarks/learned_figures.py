"""The figure of docs/results/learned-kernels.md: bounds by D."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from onkel.maps import ReparameterizedFeatures
from onkel.maps.bounds import pair_bound, uniform_bound

MEASURED, BOUND = "#0072B2", "#D55E00"
SIZES = (50, 100, 200, 400, 800, 1600, 3200, 6400)
SIGMA = np.array([2.0, 0.5])
LEVEL = 0.05


def rows(n: int) -> np.ndarray:
    """n rows of the unit disc, two of them at opposite ends: a diameter of 2."""
    rng = np.random.default_rng(0)
    angle, radius = rng.uniform(0, 2 * np.pi, n), np.sqrt(rng.uniform(0, 1, n))
    angle[:2], radius[:2] = (0.0, np.pi), 1.0
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def errors(D: int, X: np.ndarray, draws: int) -> np.ndarray:
    """\\|z(x)·z(x') - κ(x, x')\\| of all pairs, for independent noises: (draws, n, n)."""
    squared = (((X[:, None] - X[None]) * SIGMA) ** 2).sum(axis=-1)
    kernel = np.exp(-0.5 * squared)
    out = np.empty((draws, len(X), len(X)))
    for seed in range(draws):
        feature_map = ReparameterizedFeatures(D, gamma=0.5, random_state=seed).fit(X)
        feature_map.log_width_ = np.log(SIGMA)
        Z = feature_map.transform(X)
        out[seed] = np.abs(Z @ Z.T - kernel)
    return out


def smallest(bound, grid: np.ndarray) -> float:
    """The smallest ε of the grid whose bound is at most LEVEL; NaN where there is none."""
    enough = [epsilon for epsilon in grid if bound(epsilon) <= LEVEL]
    return float(enough[0]) if enough else float("nan")


def bound_figure(path: Path, draws: int = 200) -> None:
    """Left: how often a pair errs by ε. Right: the error of a pair and of all, by D."""
    figure = Figure(figsize=(9.0, 3.8), dpi=150, layout="constrained")
    left, right = figure.subplots(1, 2)
    X = rows(60)
    pairs = np.triu_indices(len(X), 1)
    D, epsilons = 200, np.linspace(0.0, 0.3, 61)
    found = errors(D, X, 4 * draws)[:, pairs[0], pairs[1]]
    often = np.array([(found >= e).mean(axis=0) for e in epsilons])
    left.fill_between(epsilons, often.min(axis=1), often.max(axis=1), color=MEASURED, alpha=0.2)
    left.plot(epsilons, often.mean(axis=1), color=MEASURED, label="measured (band: all pairs)")
    left.plot(epsilons, [pair_bound(e, D) for e in epsilons], color=BOUND, label="Lemma 1")
    left.set(xlabel="ε", ylabel=f"share of errors of at least ε, D = {D}", ylim=(1e-4, 1.3))
    left.set_yscale("log")
    grid = np.geomspace(0.005, 2.0 * np.linalg.norm(SIGMA), 2000)
    lemma = [smallest(lambda e, D=D: pair_bound(e, D), grid) for D in SIZES]
    theorem = [smallest(lambda e, D=D: uniform_bound(e, D, SIGMA, 2.0), grid) for D in SIZES]
    found_pair, found_all = [], []
    for D in SIZES:
        wrong = errors(D, X, draws)[:, pairs[0], pairs[1]]
        found_pair.append(np.quantile(wrong, 1 - LEVEL, axis=0).max())
        found_all.append(np.quantile(wrong.max(axis=1), 1 - LEVEL))
    right.loglog(SIZES, theorem, color=BOUND, marker="s", ms=4, label="Theorem 2, all pairs")
    right.loglog(SIZES, found_all, color=MEASURED, marker="s", ms=4, label="measured, all pairs")
    right.loglog(SIZES, lemma, color=BOUND, ls="--", marker="o", ms=4, label="Lemma 1, one pair")
    right.loglog(SIZES, found_pair, color=MEASURED, ls="--", marker="o", ms=4,
                 label="measured, the worst pair")  # fmt: skip
    right.set(xlabel="number of frequencies D", ylabel="error not exceeded in 95 % of draws")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="#dddddd", linewidth=0.6)
        axes.legend(frameon=False, fontsize=8)
    figure.savefig(path)
    for name, bound, measured in (("one pair", lemma, found_pair), ("all", theorem, found_all)):
        ratios = ", ".join(f"{b / m:.1f}" for b, m in zip(bound, measured, strict=True))
        print(f"bound / measured error, {name}, D = {', '.join(map(str, SIZES))}: {ratios}")
