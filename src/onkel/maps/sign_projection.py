"""Signs of random projections: features that depend on angles alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from onkel.maps.base import FeatureMap
from onkel.parameters import whole


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
    random_state: Any = None

    def start(self, d: int, dtype: Any) -> None:
        whole(self, "n_components")
        super().start(d, dtype)

    @property
    def n_features_out_(self) -> int:
        return self.n_components

    def fit_first(self, X: np.ndarray) -> None:
        # row j of R comes from the seed and j, so later columns leave the first rows as they are
        draws = [np.random.default_rng([self.seed_, j]) for j in range(self.n_features_in_)]
        R = [draw.standard_normal(self.n_components) for draw in draws]
        self.directions_ = np.array(R, self.dtype_)

    def add_columns(self, n: int) -> int | None:
        self.n_features_in_ += n
        self.fit_first(np.empty((0, self.n_features_in_)))
        return None

    def features(self, X: Any, out: Any = None) -> np.ndarray:
        size = self.dtype_.type(self.n_components**-0.5)
        return np.where(np.asarray(X @ self.directions_) >= 0.0, size, -size)

    def set_state(self, state: dict[str, Any]) -> None:
        self.fit_first(np.empty((0, self.n_features_in_)))
