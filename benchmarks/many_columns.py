"""Tables of very many columns: ``python -m benchmarks.many_columns [--fast 1] [--rivals 1]``.

Seven tables made by formula, each of another kind. 4/5 of the rows are learned by ``fit``, the rest
predicted by the frozen model: mistakes in percent, or RMSE in standard deviations of the target.
``--fast 1``: ``speed="fast"`` alone. ``--rivals 1`` adds LightGBM and CatBoost with their defaults;
install both first.
"""

from __future__ import annotations

from benchmarks.timing import arguments, head, line  # first: it sets the threads

# isort: split
from collections.abc import Callable

import numpy as np

from benchmarks.ceilings import catboost, lightgbm
from benchmarks.useless import error, error_of

Made = tuple[np.ndarray, np.ndarray]


def _class_of(f: np.ndarray, rng: np.random.Generator, noise: float) -> np.ndarray:
    """The class by the sign of f in standard deviations, with normal noise."""
    f = (f - np.median(f)) / f.std()
    return np.where(f + noise * rng.standard_normal(len(f)) > 0.0, "above", "below")


def few_linear(n: int, d: int, rng: np.random.Generator) -> Made:
    """Ten of the columns matter, linearly."""
    X = rng.standard_normal((n, d))
    return X, _class_of(X[:, :10] @ rng.uniform(0.5, 1.5, 10), rng, 0.2)


def product(n: int, d: int, rng: np.random.Generator) -> Made:
    """The class is the sign of a product of two columns."""
    X = rng.standard_normal((n, d))
    return X, _class_of(X[:, 0] * X[:, 1], rng, 0.0)


def many_weak(n: int, d: int, rng: np.random.Generator) -> Made:
    """All columns matter a little, linearly."""
    X = rng.standard_normal((n, d))
    return X, _class_of(X @ rng.standard_normal(d), rng, 0.2)


def counts(n: int, d: int, rng: np.random.Generator) -> Made:
    """Words in texts of two overlapping kinds: Poisson counts, rarer the later their column."""
    often = 20.0 / (np.arange(d) + 10.0)
    tells = np.exp(0.5 * rng.standard_normal(d) * (rng.random(d) < 0.2))
    first = rng.random(n) < 0.5
    share = np.clip(0.5 + np.where(first, 0.3, -0.3) + 0.15 * rng.standard_normal(n), 0.0, 1.0)
    length = rng.gamma(4.0, 0.25, n)[:, None]
    X = rng.poisson(length * often * tells ** (2.0 * share[:, None] - 1.0)).astype(float)
    return X, np.where(first, "first", "second")


def flags(n: int, d: int, rng: np.random.Generator) -> Made:
    """Columns of zeros and ones, of which a tenth matters, and some only in pairs."""
    X = (rng.random((n, d)) < rng.uniform(0.02, 0.4, d)).astype(float)
    Z = (X - X.mean(axis=0))[:, : d // 10] @ rng.standard_normal(d // 10)
    return X, _class_of(Z / Z.std() + 2.0 * X[:, 0] * X[:, 1] - X[:, 2] * X[:, 3], rng, 0.2)


def redundant(n: int, d: int, rng: np.random.Generator) -> Made:
    """Noisy copies of thirty numbers, of which four matter: waves of these are the target."""
    L = rng.uniform(-1.0, 1.0, (n, 30))
    X = L[:, np.arange(d) % 30] * rng.uniform(0.5, 2.0, d) + 0.3 * rng.standard_normal((n, d))
    y = np.sin(3.0 * L[:, 0]) * L[:, 1] + 0.5 * np.cos(4.0 * L[:, 2]) + L[:, 3]
    return X, y + 0.1 * rng.standard_normal(n)


def heavy_noise(n: int, d: int, rng: np.random.Generator) -> Made:
    """Ten columns matter, one of them as a step and two as a product; the rest has heavy tails."""
    X = rng.standard_t(2.0, (n, d))
    X[:, :10] = rng.standard_normal((n, 10))
    y = X[:, :7] @ np.linspace(0.5, 1.5, 7) + 2.0 * (X[:, 7] > 0.5) + X[:, 8] * X[:, 9]
    return X, y + 0.3 * rng.standard_normal(n)


TABLES: tuple[Callable[[int, int, np.random.Generator], Made], ...] = (
    few_linear, product, many_weak, counts, flags, redundant, heavy_noise,
)  # fmt: skip


def main() -> None:
    doc = __doc__ or ""
    names = {"only": "names of some tables, by comma"}
    options = arguments(doc, names, rows=8000, d=1500, seed=0, rivals=0, fast=0)
    titles = ["fast", "s"] + ["default", "s"] * (not options.fast)
    titles += ["LightGBM", "CatBoost"] * bool(options.rivals)
    head("table", *titles)
    wanted = options.only.split(",") if options.only else [made.__name__ for made in TABLES]
    for made in TABLES:
        if made.__name__ not in wanted:
            continue
        X, y = made(options.rows, options.d, np.random.default_rng(options.seed))
        n, classes, cells = 4 * options.rows // 5, y.dtype.kind == "U", []
        for speed in ("fast", "balanced")[: 1 if options.fast else 2]:
            value, seconds = error(X, y, n, speed)
            cells += [f"{value:.3g}", f"{seconds:.0f}"]
        for rival in (lightgbm, catboost) if options.rivals else ():
            predicted = np.ravel(rival(classes).fit(X[:n], y[:n]).predict(X[n:]))
            cells.append(f"{error_of(predicted, y[n:], y.std() if not classes else 1.0):.3g}")
        line(made.__name__.replace("_", " "), *cells)


if __name__ == "__main__":
    main()
