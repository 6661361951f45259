"""Ceilings: learners that see the first four fifths as often as they like, then predict the last.

Each takes rows X (n, d) and targets y (n,), and gives predictions of the last fifth.
"""

from __future__ import annotations

import numpy as np

from benchmarks import ceilings
from benchmarks.peers.online import scaled, target_scale


def lightgbm(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """LightGBM with its defaults on one thread."""
    end = ceilings.cut(len(y))
    model = ceilings.lightgbm(y.dtype.kind != "f", n_jobs=1)
    return model.fit(X[:end], y[:end]).predict(X[end:])


def catboost(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """CatBoost with its defaults on one thread."""
    end = ceilings.cut(len(y))
    model = ceilings.catboost(y.dtype.kind != "f", thread_count=1)
    return model.fit(X[:end], y[:end]).predict(X[end:])


def sklearn_svm(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """SVC or SVR with their defaults; columns scaled by the first four fifths, targets too."""
    from sklearn.svm import SVC, SVR

    end, classes = ceilings.cut(len(y)), y.dtype.kind != "f"
    X = scaled(X, end)
    if classes:
        return SVC().fit(X[:end], y[:end]).predict(X[end:])
    centre, spread = target_scale(y, end)
    return SVR().fit(X[:end], (y[:end] - centre) / spread).predict(X[end:]) * spread + centre
