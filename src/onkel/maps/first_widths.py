"""A width for every column, and the penalty, from a handful of rows: errors left out and a prior.

The rows X (n, d) are their own landmarks. With M = K + λ diag(1/weight) + c, K = κ(X, X) of widths
w, and G = M⁻¹, α = G Y, the row i is missed by rᵢ = αᵢ/Gᵢᵢ when it is left out. Minimised is

    n/2 log Σᵢ weightᵢ ‖rᵢ‖² - log p(log w, log λ),

    ∂Σ/∂M = G diag(u ∘ r) G - G u αᵀ, and its transpose, with uᵢ = weightᵢ rᵢ/Gᵢᵢ.

Unlike the evidence, errors left out do not take labels for numbers with Gaussian noise: of two
classes it believed too much. The prior is normal in log λ, and in log w, with a common part and a
part of each column of variance 2/d, as many columns have less room to differ in.

Source: Rasmussen & Williams 2006, section 5.4.2 (errors left out and their gradient); the prior is
ours.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize

from onkel._linalg import cholesky_upper, inverse_of_factor
from onkel.maps.rational import chain, kernel_columns, through_distances

__all__ = ["first_widths", "objective", "prior_mean"]

# Prior: log w around that of standardised rows, and log λ.
_COMMON_STD = 0.4
_OWN_VARIANCE = 2.0
_COMMON_SHIFT = -0.35
_RIDGE, _RIDGE_STD = 0.3, 1.0
# The prior variance of a constant, of which κ's is 1.
_CONSTANT = 10.0
_RANGE = 4.0
_LEAST_ERROR = 1e-12
# A step that gains less, as a share of the objective, is the last one.
_LEAST_GAIN = 1e-4


def first_widths(
    X: np.ndarray, Y: np.ndarray, weight: np.ndarray, start: np.ndarray, steps: int
) -> np.ndarray:
    """(log w, log λ) most probable after the rows X (n, d), which are scaled, and Y (n, C).

    As far as ``steps`` steps from ``start`` lead.
    """
    middle = prior_mean(X.shape[1])
    found = minimize(
        objective,
        np.clip(start, middle - _RANGE, middle + _RANGE),
        args=(X, Y, weight),
        jac=True,
        method="L-BFGS-B",
        bounds=list(zip(middle - _RANGE, middle + _RANGE, strict=True)),
        options={"maxiter": steps, "ftol": _LEAST_GAIN},
    )
    return np.asarray(found.x)


def prior_mean(d: int) -> np.ndarray:
    """(log w, log λ) before any row of d columns."""
    # standardised rows are √(2d) apart
    return np.append(np.full(d, _COMMON_SHIFT - 0.5 * math.log(2.0 * d)), math.log(_RIDGE))


def objective(
    theta: np.ndarray, X: np.ndarray, Y: np.ndarray, weight: np.ndarray
) -> tuple[float, np.ndarray]:
    """What is minimised, of θ = (log w, log λ), and its gradient."""
    n, width, ridge = len(X), np.exp(theta[:-1]), math.exp(theta[-1])
    K = kernel_columns(X, X, width)
    # symmetric: LAPACK may have it by columns
    M = (K + _CONSTANT).T
    M.flat[:: n + 1] += ridge / weight
    G = inverse_of_factor(cholesky_upper(M))
    own = np.diag(G)
    alpha = G @ Y
    left_out = alpha / own[:, None]
    error = float(np.sum(weight @ left_out**2)) + _LEAST_ERROR * Y.size
    value = 0.5 * n * math.log(error / Y.size)
    u = weight[:, None] * left_out / own[:, None]
    root, Gu = G * np.sqrt(np.sum(u * left_out, axis=1)), G @ u
    # a matrix times its own transpose is half the work
    of_M = root @ root.T
    of_M -= 0.5 * np.hstack([Gu, alpha]) @ np.hstack([alpha, Gu]).T
    scale = n / error
    of_ridge = scale * ridge * float(np.sum(np.diag(of_M) / weight))
    chain(of_M, K)
    of_width = scale * through_distances(of_M, X, X, width)[1]
    prior, of_prior = _prior(theta)
    return value + prior, np.append(of_width, of_ridge) + of_prior


def _prior(theta: np.ndarray) -> tuple[float, np.ndarray]:
    away = theta - prior_mean(len(theta) - 1)
    own = _OWN_VARIANCE / (len(theta) - 1)
    common = away[:-1].sum() / (own / _COMMON_STD**2 + len(theta) - 1)
    of_width = (away[:-1] - common) / own
    of_ridge = away[-1] / _RIDGE_STD**2
    value = 0.5 * float(away[:-1] @ of_width + away[-1] * of_ridge)
    return value, np.append(of_width, of_ridge)
