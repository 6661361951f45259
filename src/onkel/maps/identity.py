"""The identity map: a linear model of the inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel._dense import as_dense
from onkel.maps.base import FeatureMap

__all__ = ["IdentityFeatures"]


class IdentityFeatures(FeatureMap):
    """z(x) = x, or [x, 1] with an intercept: the linear learner every table compares with.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Append a feature that is always 1.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel.maps import IdentityFeatures
    >>> IdentityFeatures().fit_transform(np.array([[2.0, 3.0]]))
    array([[2., 3., 1.]])
    """

    name = "identity"

    def __init__(self, fit_intercept: bool = True) -> None:
        self.fit_intercept = fit_intercept

    def add_columns(self, n: int) -> int | None:
        self.n_features_in_ += n
        return self.n_features_in_ - n

    @property
    def n_features_out_(self) -> int:
        return self.n_features_in_ + bool(self.fit_intercept)

    def features(self, X: Any, out: np.ndarray | None = None) -> np.ndarray:
        Z = np.empty((X.shape[0], self.n_features_out_), self.dtype_) if out is None else out
        Z[:, : X.shape[1]] = as_dense(X)
        if self.fit_intercept:
            Z[:, -1] = 1.0
        return Z
