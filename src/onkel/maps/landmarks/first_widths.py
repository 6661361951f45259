"""A width for every column, and the penalty, from a handful of rows: leave-one-out and a prior.

The rows X (n, d) are their own landmarks. With M = K + λ diag(1/weight) + c, K = κ(X, X) of widths
w, G = M⁻¹ and α = G Y, the leave-one-out error of row i is rᵢ = αᵢ/Gᵢᵢ. The objective is

    n/2 log Σᵢ weightᵢ ‖rᵢ‖² - log p(log w, log λ),

and the derivative of its sum Σ is G diag(u ∘ r) G - G u αᵀ, plus its transpose, with
uᵢ = weightᵢ rᵢ/Gᵢᵢ.

Unlike the evidence, leave-one-out errors do not assume Gaussian noise, which labels of two classes
do not have: there the evidence overfits. The prior is normal in log λ and log w. log w has a common
part and a part for each column. The latter's variance is ``apart``/d: with many columns each has
less room to differ. :mod:`onkel.maps.landmarks.competing_widths` chooses ``apart``.

Source: Rasmussen & Williams 2006, section 5.4.2 (leave-one-out errors and their gradient); the
prior is ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from typing import Any

import numpy as np

from onkel.maps.landmarks.rational import chain, kernel_columns, through_distances
from onkel.numerics.in_steps import paused
from onkel.numerics.linalg import (
    cholesky_upper,
    inverse_in_place,
    inverse_of_factor,
    whole_gram,
)
from onkel.numerics.threads import scratch

# Prior of log w, around the width that suits standardised rows, and of log λ.
_COMMON_STD = 0.4
#: variance of a column's own part, times the number of columns
TOGETHER = 2.0
_COMMON_SHIFT = -0.35
_RIDGE, _RIDGE_STD = 0.3, 1.0
#: prior variance of a constant; that of the kernel is 1
CONSTANT = 10.0
_RANGE = 4.0
_LEAST_ERROR = 1e-12
# The search ends at a step that gains less than this share of the objective.
_LEAST_GAIN = 1e-4
#: ... or at one that gains less than this of log p, where more is not worth its time
ENOUGH = 0.1
# L-BFGS-B knows no curvature before its first step. From widths that are near the best it goes so
# many standard errors, which are about 1/√n; from others so far.
_NEAR, _FAR = 2.5, 1.0
# How many gradients a search usually takes beyond one a step, and the pauses in each gradient.
_MORE_GRADIENTS, _PAUSES = 3, 3


def first_widths(
    X: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    start: np.ndarray,
    steps: int,
    groups: np.ndarray,
    apart: float = TOGETHER,
    enough: float = 0.0,
    near: bool = False,
    pause: Callable[[], None] | None = None,
) -> np.ndarray:
    """The best (log w, log λ) for scaled rows X (n, d) and targets Y (n, C).

    Up to ``steps`` steps of L-BFGS-B from ``start``; the prior variance of a column's own part is
    ``apart``/d. The columns of a group (:mod:`onkel.maps.landmarks.indicators`) count as one, and
    share their width. A step that gains less than ``enough`` of the objective is the last.
    ``near``: whether ``start`` was the best for most of the rows. ``pause`` is called in each
    gradient.
    """
    sizes = np.bincount(groups)
    middle = prior_mean(len(sizes))
    of_groups = np.append(np.bincount(groups, start[:-1]) / sizes, start[-1])
    # what loads and predicts needs none of it
    from scipy.optimize import minimize

    last: float | None = None
    # L-BFGS-B's first step is 1 long, so θ is asked for in these units
    unit = _NEAR / math.sqrt(len(X)) if near else _FAR

    def at(in_units: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal last
        value, slopes = objective(unit * in_units, X, Y, weight, groups, apart, pause)
        last = value if last is None else last
        return value, unit * slopes

    def stop_if_enough(intermediate_result: Any) -> None:
        nonlocal last
        assert last is not None
        gain, last = last - intermediate_result.fun, intermediate_result.fun
        if gain < enough:
            raise StopIteration

    low, high = (middle - _RANGE) / unit, (middle + _RANGE) / unit
    found = minimize(
        at,
        np.clip(of_groups / unit, low, high),
        jac=True,
        method="L-BFGS-B",
        callback=stop_if_enough,
        bounds=list(zip(low, high, strict=True)),
        options={"maxiter": steps, "ftol": _LEAST_GAIN},
    )
    return of_columns(unit * found.x, groups)


def of_columns(theta: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """(log w, log λ) of the columns, from those of their groups."""
    return np.append(theta[:-1][groups], theta[-1])


def widths_in_steps(
    X: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    start: np.ndarray,
    steps: int,
    groups: np.ndarray,
    apart: float = TOGETHER,
    enough: float = 0.0,
    near: bool = False,
) -> Generator[bool, None, np.ndarray]:
    """As :func:`first_widths`, in about :func:`steps_of_widths` steps."""
    of = X, Y, weight, start, steps, groups, apart, enough, near
    return paused(lambda pause: first_widths(*of, pause))


def steps_of_widths(steps: int) -> int:
    """Usual number of steps of :func:`widths_in_steps`."""
    return _PAUSES * (steps + _MORE_GRADIENTS)


def work_of_widths(n: int, steps: int) -> int:
    """About how many multiplications ``steps`` steps on n rows take: n³/2 each."""
    return steps * n**3 // 2


def prior_mean(d: int) -> np.ndarray:
    """(log w, log λ) before any row of d columns."""
    # standardised rows are √(2d) apart
    return np.append(np.full(d, _COMMON_SHIFT - 0.5 * math.log(2.0 * d)), math.log(_RIDGE))


def objective(
    theta: np.ndarray,
    X: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    groups: np.ndarray,
    apart: float = TOGETHER,
    pause: Callable[[], None] | None = None,
) -> tuple[float, np.ndarray]:
    """The objective at θ = (log w, log λ) of the groups of columns, and its gradient."""
    pause = pause or _go_on
    pause()
    n, width, ridge = len(X), np.exp(theta[:-1])[groups], math.exp(theta[-1])
    # the same memory for all evaluations: to clear new pages takes as long as to compute
    K, G, root = (scratch(f"widths: {name}", (n, n), np.float64) for name in ("K", "G", "root"))
    few, product = (scratch(f"widths: {name}", (n, n), np.float32) for name in ("few", "product"))
    kernel_columns(X, X, width, out=K)
    G = inverse_with_constant(K, ridge / weight, G, root)
    pause()
    own = np.diag(G).copy()
    alpha = G @ Y
    left_out = alpha / own[:, None]
    error = float(np.sum(weight @ left_out**2)) + _LEAST_ERROR * Y.size
    value = 0.5 * n * math.log(error / Y.size)
    u = weight[:, None] * left_out / own[:, None]
    Gu = G @ u
    # float32 suffices for a gradient; a matrix times its own transpose is half the work
    by = np.sqrt(np.sum(u * left_out, axis=1))
    largest = float(own.max() * by.max()) or 1.0
    np.multiply(G, (by / largest)[:, None], out=few, casting="same_kind")
    of_M = np.multiply(whole_gram(few, product), largest**2, out=G, dtype=np.float64)
    of_M -= np.matmul(0.5 * np.hstack([Gu, alpha]), np.hstack([alpha, Gu]).T, out=root)
    pause()
    scale = n / error
    of_ridge = scale * ridge * float(np.sum(np.diag(of_M) / weight))
    chain(of_M, K)
    of_width = scale * through_distances(of_M, X, X, width)[1]
    prior, of_prior = _prior(theta, apart)
    of_groups = np.bincount(groups, of_width)
    return value + prior, np.append(of_groups, of_ridge) + of_prior


def predicted_by(
    theta: np.ndarray, X: np.ndarray, Y: np.ndarray, weight: np.ndarray, of: np.ndarray
) -> np.ndarray:
    """Predictions (k, C) of scaled rows ``of`` (k, d) by rows X, all of which are landmarks."""
    width, n = np.exp(theta[:-1]), len(X)
    room = np.empty((n, n)), np.empty((n, n))
    alpha = (
        inverse_with_constant(kernel_columns(X, X, width), math.exp(theta[-1]) / weight, *room) @ Y
    )
    return np.asarray(kernel_columns(of, X, width) @ alpha + CONSTANT * alpha.sum(axis=0))


def _go_on() -> None:
    """No pause."""


def inverse_with_constant(
    K: np.ndarray, noise: np.ndarray, out: np.ndarray, room: np.ndarray
) -> np.ndarray:
    """(K + diag(noise) + c)⁻¹ in ``out``, by the inverse without the large constant c.

    ``room`` (n, n) is overwritten.
    """
    G = inverse_in_place(_with_noise(K, noise, out))
    if G is None:
        G = inverse_of_factor(cholesky_upper(_with_noise(K, noise, out)))
    ones = G.sum(axis=1)
    G -= np.multiply.outer(ones, ones / (1.0 / CONSTANT + ones.sum()), out=room)
    return G


def _with_noise(K: np.ndarray, noise: np.ndarray, out: np.ndarray) -> np.ndarray:
    np.copyto(out, K)
    out.flat[:: len(out) + 1] += noise
    return out


def _prior(theta: np.ndarray, apart: float) -> tuple[float, np.ndarray]:
    away = theta - prior_mean(len(theta) - 1)
    own = apart / (len(theta) - 1)
    common = away[:-1].sum() / (own / _COMMON_STD**2 + len(theta) - 1)
    of_width = (away[:-1] - common) / own
    of_ridge = away[-1] / _RIDGE_STD**2
    value = 0.5 * float(away[:-1] @ of_width + away[-1] * of_ridge)
    return value, np.append(of_width, of_ridge)
