"""Maps without a kernel: the inputs themselves, and signs of random projections."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from onkel.annotations import DTypeLike, Matrix, Out, Seed
from onkel.maps.base import FeatureMap
from onkel.numerics.arrays import as_dense
from onkel.numerics.jit import jit
from onkel.parameters import whole


@dataclass(eq=False, repr=False)
class IdentityFeatures(FeatureMap):
    """z(x) = x, or [x, 1] with an intercept: the linear baseline of every table.

    Use it for a linear learner with any rule and loss, such as over thousands of sparse columns.

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

    def features(self, X: Matrix, out: Out = None) -> np.ndarray:
        Z = np.empty((X.shape[0], self.n_features_out_), self.dtype_) if out is None else out
        Z[:, : X.shape[1]] = as_dense(X)
        if self.fit_intercept:
            Z[:, -1] = 1.0
        return Z

    def row_features(self, X: np.ndarray) -> np.ndarray | None:
        return _row_features(X, self.n_features_out_)


@jit
def _row_features(X, m):
    Z = np.ones((1, m), X.dtype)
    for n in range(X.shape[1]):
        Z[0, n] = X[0, n]
    return Z


@dataclass(eq=False, repr=False)
class SignProjection(FeatureMap):
    """z(x) = sign(x·R)/√m with R (d, m) of independent N(0, 1).

    z(x)·z(x') estimates ``1 - 2θ/π`` for rows at an angle θ; lengths of rows play no part.

    Parameters
    ----------
    n_components : int, default=400
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    directions_ : ndarray of shape (d, n_components)
        R.

    Notes
    -----
    Source: Charikar 2002, section 3, after Goemans & Williamson 1995.
    """

    name = "sign_projection"
    n_components: int = 400
    random_state: Seed = None

    def start(self, d: int, dtype: DTypeLike) -> None:
        whole(self, "n_components")
        super().start(d, dtype)

    @property
    def n_features_out_(self) -> int:
        return self.n_components

    def fit_first(self, X: np.ndarray) -> None:
        # row j of R comes from the seed and j, so later columns leave the first rows as they are
        draws = [np.random.default_rng([self.seed_, j]) for j in range(self.n_features_in_)]
        R = [draw.standard_normal(self.n_components) for draw in draws]
        self.directions_: np.ndarray = np.array(R, self.dtype_)

    def add_columns(self, n: int) -> int | None:
        self.n_features_in_ += n
        self.fit_first(np.empty((0, self.n_features_in_)))
        return None

    def features(self, X: Matrix, out: Out = None) -> np.ndarray:
        size = self.dtype_.type(self.n_components**-0.5)
        return np.where(np.asarray(X @ self.directions_) >= 0.0, size, -size)

    def state_is_set(self) -> None:
        self.fit_first(np.empty((0, self.n_features_in_)))
