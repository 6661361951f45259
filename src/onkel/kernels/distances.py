"""Inner products and distances between rows, dense or CSR."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse


def squared_norms(X: Any) -> np.ndarray:
    if issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


def products(X: Any, S: np.ndarray, out: np.ndarray | None) -> np.ndarray:
    """X Sᵀ, in ``out`` if possible."""
    if out is None or not isinstance(X, np.ndarray):
        return np.asarray(X @ S.T)
    return np.matmul(X, S.T, out=out)


def squared_distances(X: Any, S: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Squared Euclidean distances (n, m) between the rows of X (dense or CSR) and S (dense)."""
    if isinstance(X, np.ndarray) and len(S):
        # centred: far from the origin the squares would cancel
        middle = S.mean(axis=0)
        X, S = X - middle, S - middle
    return squared_of_products(products(X, S, out), X, S)


def squared_of_products(P: np.ndarray, X: Any, S: np.ndarray) -> np.ndarray:
    """‖x - s‖² (n, m) from the inner products P = X Sᵀ, in place."""
    P *= -2.0
    P += squared_norms(X)[:, None]
    P += squared_norms(S)[None, :]
    return np.maximum(P, 0.0, out=P)
