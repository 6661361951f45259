"""The identity map: a linear model of the inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from onkel.maps.base import FeatureMap
from onkel.numerics.arrays import as_dense
from onkel.numerics.jit import jit


@dataclass(eq=False, repr=False)
class IdentityFeatures(FeatureMap):
    """z(x) = x, or [x, 1] with an intercept: the linear baseline of every table.

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

    fit_intercept: bool = True

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

    def row_features(self, X: np.ndarray) -> np.ndarray | None:
        return _row_features(X, self.n_features_out_)  # type: ignore[no-any-return]


@jit
def _row_features(X, m):
    Z = np.ones((1, m), X.dtype)
    for n in range(X.shape[1]):
        Z[0, n] = X[0, n]
    return Z
