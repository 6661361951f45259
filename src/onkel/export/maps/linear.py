"""Features without a kernel: the inputs themselves, and signs of projections."""

from __future__ import annotations

from onkel.export.functions import concat, filled
from onkel.export.graph import Value
from onkel.maps import IdentityFeatures, SignProjection


def identity(feature_map: IdentityFeatures, X: Value) -> Value:
    """x, or [x, 1]."""
    return concat(X, filled(X, 1.0, 1)) if feature_map.fit_intercept else X


def sign_projection(feature_map: SignProjection, X: Value) -> Value:
    """sign(x·R)/√m."""
    size = feature_map.n_components**-0.5
    sides = (X @ feature_map.directions_ >= 0.0).to(X.dtype)
    return sides * (2.0 * size) - size
