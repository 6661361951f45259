"""The gradient of the evidence by landmarks and widths, over rows in parts.

With the sums and α of :mod:`onkel.maps.landmarks.evidence`, and α fixed (variable projection):

    ∂E/∂K = -2 (Y - K α) αᵀ/σ² + 2 C K H⁻¹,   ∂E/∂K₀ = λ α αᵀ/σ² + C (λ H⁻¹ - K₀⁻¹).
"""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np

from onkel.annotations import DTypeLike
from onkel.maps.landmarks.evidence import PART_ROWS, STEP_ROWS, Landmarks, Sums, groups
from onkel.maps.landmarks.rational import (
    ThroughDistances,
    chain,
    chain_of,
    chain_with,
    through_distances,
)
from onkel.numerics.in_steps import finished, together
from onkel.numerics.linalg import cholesky_in_steps, inverse_of_factor
from onkel.numerics.threads import in_halves, scratch

# Rows of a step where there are only residuals to compute.
_MANY = 8192
# Steps beside those over rows.
_SOLVES = 4


class Gradient(NamedTuple):
    """∂E/∂S (m, d), ∂E/∂log w."""

    of_S: np.ndarray
    of_log_width: np.ndarray


def gradient(at: Landmarks, sums: Sums, X: np.ndarray, Y: np.ndarray, root: np.ndarray) -> Gradient:
    """The gradient of E at ``at``, with ``sums`` there, over the same rows; overwrites their K₀."""
    return finished(gradient_in_steps(at, sums, X, Y, root))


def gradient_in_steps(
    at: Landmarks,
    sums: Sums,
    X: np.ndarray,
    Y: np.ndarray,
    root: np.ndarray,
    every: int = 1,
    first: int = 0,
    factor: np.ndarray | None = None,
    share: float = 1.0,
) -> Generator[bool, None, Gradient]:
    """As :func:`gradient`, in :func:`steps_of_gradient` steps; with the ``factor`` if known.

    2 C K H⁻¹ takes most of the time. With ``every`` > 1 it is estimated from one part in ``every``
    of the rows: parts ``first``, ``first`` + ``every``, ...; rows must be in random order. Where
    the rows are a ``share`` of all, they stand for all of them; ``sums`` are then theirs.
    """
    at = standing_for_all(at, share)
    solved, K0_inv = yield from solved_at(at, sums, factor, X.dtype)
    parts = [part for some in groups(len(X)) for part in some]
    residuals = yield from _residuals(sums, solved.alpha.astype(X.dtype), Y, root, parts)
    squares = sum(float(np.vdot(r, r)) for r in residuals)
    noise = share * solved.noise(squares, sum(r.size for r in residuals))
    of_weights = solved.of_weights(len(X), sum(len(X[part]) for part in parts[first::every]))
    of_residual = solved.of_residuals(noise)
    through = ThroughDistances(at.S, np.exp(at.log_width))

    def of_part(number: int) -> Any:
        part = parts[number]
        through_K = of_weights if number % every == first else None
        G = _of_distances(sums.K[part], residuals[number], root[part], of_residual, through_K)
        return through.of_rows(G, X[part])

    # each half has its share of the expensive parts
    of_step = max(STEP_ROWS // PART_ROWS, 2 * every)
    for found in in_halves(of_part, len(parts), of_step):
        for of_rows in found:
            through.add(of_rows)
        yield True
    return with_penalty(through, at, sums, solved, K0_inv, noise)


def standing_for_all(at: Landmarks, share: float) -> Landmarks:
    """The point for a ``share`` of the rows, which stand for all of them.

    All have 1/share times their KᵀK, so the penalty is λ·share; σ² is then σ²·share, too.
    """
    return at._replace(log_ridge=at.log_ridge + math.log(share))


class Solved(NamedTuple):
    """α, H⁻¹ in the precision of the rows, and λ tr(αᵀ K₀ α)."""

    alpha: np.ndarray
    H_inv: np.ndarray
    penalty: float

    def noise(self, squares: float, size: int) -> float:
        """σ² = J/(n C), from ‖Y - K α‖² of ``size`` residuals."""
        return max((squares + self.penalty) / size, 1e-12)

    def of_weights(self, n: int, seen: int) -> np.ndarray:
        """What K is multiplied by in ∂E/∂K: 2 C H⁻¹, where ``seen`` of n rows stand for all."""
        number = self.H_inv.dtype.type
        return np.asarray(number(2.0 * self.alpha.shape[1] * n / seen) * self.H_inv)

    def of_residuals(self, noise: float) -> np.ndarray:
        """What residuals are multiplied by in ∂E/∂K: -2 αᵀ/σ²."""
        return np.asarray((-2.0 / noise * self.alpha.T).astype(self.H_inv.dtype))


def solved_at(
    at: Landmarks, sums: Sums, factor: np.ndarray | None, dtype: DTypeLike
) -> Generator[bool, None, tuple[Solved, np.ndarray | None]]:
    """α and H⁻¹ at a point, with the ``factor`` of H if known, and K₀⁻¹ where widths are common."""
    works: list[Generator[bool, None, Any]] = [
        _solved(at, sums, factor, dtype),
        _inverse_of_penalty(at, sums.K0, dtype),
    ]
    solved, K0_inv = yield from together(works)
    return solved, K0_inv


def _solved(
    at: Landmarks, sums: Sums, factor: np.ndarray | None, dtype: DTypeLike
) -> Generator[bool, None, Solved]:
    if factor is None:
        factor, _ = yield from sums.factor_in_steps(at.ridge)
        yield True
    alpha, H_inv = sums.alpha(factor), inverse_of_factor(factor.astype(dtype))
    yield True
    return Solved(alpha, H_inv, at.ridge * float(np.sum(alpha * (sums.K0 @ alpha))))


def _inverse_of_penalty(
    at: Landmarks, K0: np.ndarray, dtype: DTypeLike
) -> Generator[bool, None, np.ndarray | None]:
    if at.log_width.ndim == 2:
        return None
    factor, _ = yield from cholesky_in_steps(K0)
    yield True
    return inverse_of_factor(factor.astype(dtype))


def with_penalty(
    through: ThroughDistances,
    at: Landmarks,
    sums: Sums,
    solved: Solved,
    K0_inv: np.ndarray | None,
    noise: float,
) -> Gradient:
    """The whole gradient, from what comes through the rows; overwrites K₀."""
    of_S, of_width = through.slopes()
    if K0_inv is None:
        return Gradient(of_S, of_width)
    alpha, K0 = solved.alpha, sums.K0
    G = at.ridge / noise * (alpha @ alpha.T)
    G += alpha.shape[1] * (at.ridge * solved.H_inv - K0_inv)
    chain(G, K0)
    through_S, through_width = through_distances(G, at.S, at.S, np.exp(at.log_width))
    return Gradient(of_S + 2.0 * through_S, of_width + through_width)


def steps_of_gradient(n: int) -> int:
    """Steps of :func:`gradient_in_steps` for n rows, at most."""
    return -(-n // STEP_ROWS) + -(-n // _MANY) + _SOLVES


def _of_distances(
    K: np.ndarray,
    r: np.ndarray,
    root: np.ndarray,
    of_residual: np.ndarray,
    of_weights: np.ndarray | None,
) -> np.ndarray:
    """∂E/∂‖·‖² (n, m) of a part of the rows; through the residuals only without ``of_weights``."""
    G = scratch("of distances", K.shape, K.dtype)
    if root.size:
        r = r * root
    if of_weights is not None:
        np.matmul(K * root**2 if root.size else K, of_weights, out=G)
    if r.shape[1] == 1:
        if of_weights is None:
            chain_of(r, of_residual, K, G)
        else:
            chain_with(G, r, of_residual, K)
        return G
    if of_weights is None:
        np.matmul(r, of_residual, out=G)
    else:
        G += np.matmul(r, of_residual, out=scratch("of residuals", K.shape, K.dtype))
    chain(G, K)
    return G


def _residuals(
    sums: Sums, alpha: np.ndarray, Y: np.ndarray, root: np.ndarray, parts: list[slice]
) -> Generator[bool, None, list[np.ndarray]]:
    """√weight·(Y - K α) of each part."""

    def of_part(number: int) -> np.ndarray:
        part = parts[number]
        r = Y[part] - sums.K[part] @ alpha
        return r * root[part] if root.size else r

    all_found = []
    for found in in_halves(of_part, len(parts), _MANY // PART_ROWS):
        all_found += found
        yield True
    return all_found
