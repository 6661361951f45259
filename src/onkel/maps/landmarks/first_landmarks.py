"""Which of the first rows become landmarks, where no search moves them afterwards.

By default they are the first B rows. Others may tell more: those that the rest predicts badly. With
rᵢ the error of a row when it is left out, and sᵢ the variance of that prediction, the rows with the
largest ‖rᵢ‖²/sᵢ are chosen. A Gaussian process of n rows gives both: for these rows they are αᵢ/Gᵢᵢ
and 1/Gᵢᵢ, with G = (K + λ diag(1/weight) + c)⁻¹ and α = G Y, and for the rows after them the usual
prediction and its variance. ‖rᵢ‖²/sᵢ is by how much the penalised squared error falls when row i is
learned.

What is hard to predict may be noise, or belong to a time that is over. So the first n rows try it:
as large a part of them become landmarks in both ways, all n are learned, and the rows after them
are predicted. The rows chosen must be better.

Source: Rasmussen & Williams 2006, section 5.4.2 (errors left out); the choice is ours.
"""

from __future__ import annotations

import math
from collections.abc import Generator

import numpy as np
from scipy.linalg import solve

from onkel.maps.landmarks.first_widths import CONSTANT, inverse_with_constant
from onkel.maps.landmarks.rational import kernel_columns

#: steps of :func:`best_rows`
STEPS = 4
# Added to the diagonal of a system of equations, as a share of it: rows may be alike.
_JITTER = 1e-10


def best_rows(
    X: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    theta: np.ndarray,
    n_fitted: int,
    m: int,
) -> Generator[bool, None, np.ndarray]:
    """Numbers (m,) of the scaled rows X (n, d) that become landmarks, in order.

    They are the first m, unless others predict Y (n, C) better, with θ = (log w, log λ). It takes
    :data:`STEPS` steps.
    """
    fitted, judged = slice(0, n_fitted), slice(n_fitted, None)
    hardness = _hardness(X, Y, weight, theta, n_fitted)
    yield True
    yield True
    few = min(m * n_fitted // len(X), n_fitted)
    errors = []
    for rows in (np.arange(few), _largest(hardness[fitted], few)):
        of = X[fitted], Y[fitted], weight[fitted]
        missed = Y[judged] - _predicted_over(X[rows], theta, *of, X[judged])
        errors.append(float(weight[judged] @ (missed**2).sum(axis=1)))
        yield True
    first, chosen = errors
    return _largest(hardness, m) if chosen < first else np.arange(m)


def _largest(values: np.ndarray, m: int) -> np.ndarray:
    """The places of the m largest values, in order."""
    return np.sort(np.argsort(-values, kind="stable")[:m])


def _hardness(
    X: np.ndarray, Y: np.ndarray, weight: np.ndarray, theta: np.ndarray, n: int
) -> np.ndarray:
    """‖rᵢ‖²/sᵢ of all rows, by the first n."""
    width, noise = np.exp(theta[:-1]), math.exp(theta[-1]) / weight
    room = np.empty((n, n)), np.empty((n, n))
    G = inverse_with_constant(kernel_columns(X[:n], X[:n], width), noise[:n], *room)
    alpha, of_later = G @ Y[:n], kernel_columns(X[n:], X[:n], width) + CONSTANT
    missed = Y[n:] - of_later @ alpha
    variance = 1.0 + CONSTANT + noise[n:] - ((of_later @ G) * of_later).sum(axis=1)
    squares = (alpha**2).sum(axis=1) / np.diag(G), (missed**2).sum(axis=1) / variance
    return np.concatenate(squares)


def _predicted_over(
    S: np.ndarray,
    theta: np.ndarray,
    X: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray,
    of: np.ndarray,
) -> np.ndarray:
    """Predictions (k, C) of rows ``of`` by ridge regression of rows X over landmarks S (m, d)."""
    width, ridge = np.exp(theta[:-1]), math.exp(theta[-1])
    K = kernel_columns(X, S, width) + CONSTANT
    weighted = (K * weight[:, None]).T
    R = weighted @ K + ridge * (kernel_columns(S, S, width) + CONSTANT)
    R.flat[:: len(R) + 1] *= 1.0 + _JITTER
    alpha = solve(R, weighted @ Y, assume_a="pos")
    return np.asarray((kernel_columns(of, S, width) + CONSTANT) @ alpha)
