"""Learning over landmarks that move with the rows (Si, Kumar & Li 2018, Algorithm 2, NOLANA)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onkel._dense import as_dense
from onkel.maps.adaptive_nystroem import Panel
from onkel.models import loops
from onkel.rules.base import RADIUS

if TYPE_CHECKING:
    from onkel.models.explicit import ExplicitModel

__all__ = ["carry", "learn"]


def learn(model: ExplicitModel, X: Any, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> None:
    """Learn the rows X (n, d) in order; P (n, K) gets the scores before each.

    A row that moves a landmark is learned over the landmarks it met (equation 11), then the
    weights are carried over (equation 12).
    """
    panel = Panel(model.map, as_dense(X), weight)  # type: ignore[arg-type]
    while not panel.done:
        rows = panel.walk()
        Z = panel.features()
        loops.learn_block(Z, y[rows], weight[rows], model.W, model.H, *model.how(), P[rows])
        T = panel.move()
        if T is not None:
            carry(model, T)


def carry(model: ExplicitModel, T: np.ndarray) -> None:
    """w ← T w, so that f stays what it was at the landmarks.

    AdaGrad's sums of squares go along as the diagonal of T diag(H) Tᵀ: T is close to a rotation.
    """
    model.W = np.ascontiguousarray(model.W.astype(np.float64) @ T.T, dtype=model.W.dtype)
    if model.H.size:
        model.H = np.ascontiguousarray(model.H.astype(np.float64) @ (T * T).T, model.H.dtype)
    if model.par[RADIUS] > 0.0:
        model.refresh_norm()
