"""Learning over landmarks that move with the rows (Si, Kumar & Li 2018, Algorithm 2, NOLANA)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg.lapack import dposv

from onkel._dense import as_dense
from onkel.maps.adaptive_nystroem import Panel
from onkel.rules.base import RADIUS

if TYPE_CHECKING:
    from onkel.models.explicit import ExplicitModel

__all__ = ["carry", "learn", "regression"]


def learn(model: ExplicitModel, X: Any, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> None:
    """Learn the rows X (n, d) in order; P (n, K) gets the scores before each.

    A row that moves a landmark is learned over the landmarks it met (equation 11), then the
    weights are carried over (equation 12).
    """
    panel = Panel(model.map, as_dense(X), weight)  # type: ignore[arg-type]
    while not panel.done:
        rows = panel.walk()
        model.learn_features(panel.features(), y[rows], weight[rows], P[rows])
        moved = panel.move()
        if moved is not None:
            carry(model, *moved)


def carry(model: ExplicitModel, before: np.ndarray, after: np.ndarray) -> None:
    """Carry all that belongs to features over to the new ones, known at the landmarks, (B, k).

    Weights: w ← T w, so that f stays what it was there (equation 12). AdaGrad's sums of squares go
    along as the diagonal of T diag(H) Tᵀ: T is close to a rotation. The sums of least squares go
    as if the rows before had had the features A z, A the regression of the new on the old.
    """
    theta: float = model.map.theta  # type: ignore[attr-defined]
    if model.matrix is not None:
        model.W = model.matrix.change_features(regression(before, after, theta).T)
        return
    T = regression(after, before, theta)
    model.W = np.ascontiguousarray(model.W.astype(np.float64) @ T.T, dtype=model.W.dtype)
    if model.H.size:
        model.H = np.ascontiguousarray(model.H.astype(np.float64) @ (T * T).T, model.H.dtype)
    if model.par[RADIUS] > 0.0:
        model.refresh_norm()


def regression(X: np.ndarray, Y: np.ndarray, theta: float) -> np.ndarray:
    """The B of least ‖Y - X B‖² + θ ‖B‖²."""
    A = X.T @ X
    # θ = 0 is the limit of small ones
    A.flat[:: len(A) + 1] += max(theta, 1e-14 * np.trace(A))
    _, B, failed = dposv(A, X.T @ Y)
    return np.eye(len(A)) if failed else B
