"""Kernels κ(x, s) of rows and stored rows, as graphs."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from onkel.export.graph import Builders, Value
from onkel.kernels import (
    Cauchy,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern32,
    Matern52,
    Periodic,
    Polynomial,
    RationalQuadratic,
)


def kernel_values(kernel: Kernel, X: Value, S: np.ndarray, gamma: float) -> Value:
    """κ(X, S), (n, m), of rows X (n, d) and stored rows S (m, d), in X's precision."""
    values: Value = KERNELS.of(kernel)(kernel, X, S.astype(X.dtype), gamma)
    return values


def _squared_distances(X: Value, S: np.ndarray) -> Value:
    # centred on S: far from the origin the squares would cancel
    middle = S.mean(axis=0)
    X, S = X - middle, S - middle
    own = (X * X).sum(axis=1, keep=True)
    squared = X @ (-2.0 * S.T) + own + np.einsum("ij,ij->i", S, S)
    return squared.graph.node("Max", squared, 0.0)


def _over_columns(X: Value, S: np.ndarray, term: Callable[[Value], Value], product: bool) -> Value:
    """The sum or product, over the columns, of a function of the differences (n, m)."""
    total: Value | None = None
    for j in range(S.shape[1]):
        one = term(X.columns([j]) - S[:, j])
        total = one if total is None else total * one if product else total + one
    assert total is not None
    return total


def _cauchy(kernel: Cauchy, X: Value, S: np.ndarray, gamma: float) -> Value:
    factors = _over_columns(X, S, lambda delta: delta * delta * gamma + 1.0, True)
    return factors.of("Reciprocal")


def _matern32(kernel: Matern32, X: Value, S: np.ndarray, gamma: float) -> Value:
    s = (_squared_distances(X, S) * (6.0 * gamma)).of("Sqrt")
    return (s + 1.0) * (-s).of("Exp")


def _matern52(kernel: Matern52, X: Value, S: np.ndarray, gamma: float) -> Value:
    squared = _squared_distances(X, S) * (10.0 * gamma)
    s = squared.of("Sqrt")
    return (squared / 3.0 + s + 1.0) * (-s).of("Exp")


def _periodic(kernel: Periodic, X: Value, S: np.ndarray, gamma: float) -> Value:
    def squared_sine(delta: Value) -> Value:
        sine = (delta * (math.pi / kernel.period)).of("Sin")
        return sine * sine

    return (_over_columns(X, S, squared_sine, False) * (-4.0 * gamma)).of("Exp")


KERNELS = Builders(
    "kernel",
    "onkel.export.kernels.KERNELS",
    "(kernel, X, S, gamma)",
    {
        Gaussian: lambda _, X, S, gamma: (_squared_distances(X, S) * -gamma).of("Exp"),
        Laplacian: lambda _, X, S, gamma: (
            _over_columns(X, S, lambda delta: delta.of("Abs"), False) * -gamma
        ).of("Exp"),
        Cauchy: _cauchy,
        RationalQuadratic: lambda kernel, X, S, gamma: (
            (_squared_distances(X, S) * (gamma / kernel.shape) + 1.0) ** -kernel.shape
        ),
        Matern32: _matern32,
        Matern52: _matern52,
        Polynomial: lambda kernel, X, S, gamma: (
            (X @ S.T * gamma + kernel.coef0) ** float(kernel.degree)
        ),
        Linear: lambda _, X, S, gamma: X @ S.T,
        Periodic: _periodic,
    },
)
