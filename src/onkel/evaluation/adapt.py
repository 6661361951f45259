"""Stream models and estimators, blocks and pairs of arrays: all the same to a run."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from onkel.errors import DataError

__all__ = ["Rows", "as_block", "learn_block", "model_bytes", "task_of"]


class Rows(NamedTuple):
    """A block made from a pair of arrays."""

    X: Any
    y: Any
    start: int
    late: int = 0


def task_of(model: Any) -> str:
    """Task of a model or an estimator."""
    task = getattr(model, "task", None)
    if task is None:
        from sklearn.base import is_regressor

        task = "regression" if is_regressor(model) else "classification"
    return str(task)


def model_bytes(model: Any) -> int:
    """Bytes of a model's state, 0 if it does not tell."""
    return int(getattr(model, "nbytes", None) or getattr(model, "nbytes_", 0) or 0)


def as_block(block: Any, start: int) -> Any:
    """A block as it is, a pair (X, y) as a block that begins at row ``start``.

    Raises
    ------
    DataError
        Without a target.
    ValueError
        For a single row.
    """
    if not hasattr(block, "start"):
        block = Rows(block[0], block[1], start)
    if block.y is None:
        raise DataError("name the column to learn with target= (on the command line --target)")
    if isinstance(block.X, dict) or np.ndim(block.y) == 0:
        raise ValueError(
            "blocks of rows (X, y) are expected, not single rows (x, y): open those with "
            "onkel.open_stream"
        )
    return block


def learn_block(model: Any, block: Any) -> np.ndarray:
    """Predictions before each row was learned, of a StreamModel or an estimator."""
    if hasattr(model, "learn"):
        return model.learn(block)
    new = block.X.shape[1] - getattr(model, "n_features_in_", block.X.shape[1])
    if 0 < new <= getattr(block, "late", 0) and hasattr(model, "add_columns"):
        model.add_columns(new)
    return model.predict_then_learn(block.X, block.y)
