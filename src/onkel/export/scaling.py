"""The current running statistics of features, as a graph."""

from __future__ import annotations

import numpy as np

from onkel.columns.running import AWAY, HEAVY, MEAN, SQUARES
from onkel.columns.scaling import OnlineScaler
from onkel.export.functions import asinh, where
from onkel.export.graph import Value


def scaled(scaler: OnlineScaler, X: Value) -> Value:
    """Rows X (n, d) as :meth:`OnlineScaler.transform` scales them."""
    if scaler.mode == "none":
        return X
    center, factor = scaler.affine()
    raw = X.to(np.float64)
    if scaler.sparse_:
        return (raw * factor).to(X.dtype)
    Z = (raw - center) * factor
    if scaler.mode == "auto":
        Z = _drawn_in(scaler, raw, Z)
    if scaler.n_late_:
        late = np.arange(scaler.n_features_in_) >= scaler.n_features_in_ - scaler.n_late_
        # a 0 means that the row lacks the column
        lacks = X.graph.node("And", X.graph.node("Equal", raw, 0.0, dtype=bool), late, dtype=bool)
        Z = where(lacks, 0.0, Z)
    return Z.to(X.dtype)


def _drawn_in(scaler: OnlineScaler, X: Value, Z: Value) -> Value:
    """Z with its heavy-tailed columns drawn in."""
    tails, rows = scaler.tails_, scaler.rows_of_columns()
    heavy = tails[HEAVY] > 0.0
    if not heavy.any():
        return Z
    one = np.ones(len(heavy))
    away = tails[AWAY] / rows
    spread = np.sqrt(tails[SQUARES] / rows)
    # 0 where nothing has varied
    inside = np.divide(one, away, out=0.0 * one, where=away > 0.0)
    outside = np.divide(one, spread, out=0.0 * one, where=spread > 0.0)
    u = asinh((X - scaler.center_) * inside)
    drawn = (u - tails[MEAN]) * outside
    return where(X.graph.constant(heavy), drawn, Z)
