"""CatBoost and LightGBM with their defaults: learned from the first four fifths of the rows.

Benchmarks compare the default learner with them. Install ``catboost`` and ``lightgbm`` first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

TEST = 0.2
SEED = 0


def cut(n_rows: int) -> int:
    """Where the last fifth begins."""
    return int(n_rows * (1 - TEST))


def error(predicted: np.ndarray, y: np.ndarray) -> float:
    """RMSE, or mistakes in percent where the targets are classes, on the last fifth.

    ``predicted``: of all rows, or of the last fifth alone.
    """
    y = np.asarray(y)[cut(len(y)) :]
    predicted = np.ravel(predicted)[-len(y) :]
    if y.dtype.kind != "f":
        return 100.0 * float(np.mean(predicted.astype(str) != y.astype(str)))
    return float(np.sqrt(np.mean((predicted - y) ** 2)))


def catboost(classes: bool, text: Sequence[str] = (), **more: Any) -> Any:
    """An unfitted model; ``text``: columns that are categories."""
    from catboost import CatBoostClassifier, CatBoostRegressor

    kind = CatBoostClassifier if classes else CatBoostRegressor
    # no folder of its own for logs
    quiet = {"verbose": 0, "allow_writing_files": False}
    return kind(random_seed=SEED, cat_features=list(text) or None, **quiet, **more)


def lightgbm(classes: bool, **more: Any) -> Any:
    """An unfitted model; it takes pandas' categorical columns as categories."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    return (LGBMClassifier if classes else LGBMRegressor)(verbose=-1, random_state=SEED, **more)
