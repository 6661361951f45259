"""NOGD's first phase: kernel learning until the support set is full, then features over it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onkel._dense import as_dense
from onkel.models import loops

if TYPE_CHECKING:
    from onkel.maps.nystroem import NystroemFeatures
    from onkel.models.explicit import ExplicitModel

__all__ = ["freeze", "learn"]


def learn(model: ExplicitModel, X: Any, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> int:
    """Learn rows over the support set; freezes it when it is full. Returns the rows done."""
    m: NystroemFeatures = model.map  # type: ignore[assignment]
    rows = as_dense(X)
    size, n = len(model.support), len(rows)
    panel = np.zeros((n, m.budget + n), m.dtype_)
    if size:
        panel[:, :size] = m.kernel_rows(rows, model.support)
    panel[:, m.budget :] = m.kernel_rows(rows, rows)
    index = np.arange(m.budget)
    q = np.asarray(m.kernel_diagonal(rows), dtype=np.float64)
    done, new_size = loops.grow_block(panel, q, size, index, y, weight, model.W, *model.how(), P)
    model.support = np.concatenate([model.support, rows[index[size:new_size] - m.budget]])
    if done == n:
        return n
    freeze(model)
    # the row that found the set full was scored by the kernel model and is learned over its
    # features: what the authors' program does, to the digit
    Z = np.ascontiguousarray(m.features(rows[: done + 1]))
    c = np.empty(model.n_outputs)
    loops.learn_row(Z, done, -1.0, y[done], weight[done], model.W, model.H, *model.how(), P, c)
    model.refresh_norm()
    return int(done) + 1


def freeze(model: ExplicitModel) -> None:
    """From coefficients α over the support set to weights w₀ = α V Λ^½ over its features."""
    m: NystroemFeatures = model.map  # type: ignore[assignment]
    alpha = model.coef.astype(np.float64)
    model.W = np.ascontiguousarray((alpha @ m.set_landmarks(model.support)).astype(m.dtype_))
    model.support = model.support[:0]
    model.state[loops.SCALE] = 1.0
    model.refresh_norm()
