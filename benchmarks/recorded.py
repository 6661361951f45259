"""What the default predicted of streams and tables, each row before it was learned; kept in files.

Trackers and links are then measured on the same forecasts, again and again, in seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from onkel import OnlineKernelClassifier, OnlineKernelRegressor, StreamModel
from onkel.cli.arguments import choose_task

Record = dict[str, np.ndarray]
_BLOCK = 64


def recorded(
    folder: Path | None, name: str, make: Callable[..., Record], *args: Any, **params: str
) -> Record:
    """The arrays of a file in ``folder``; made, and written there, if it is not there yet."""
    path = None if folder is None else folder / f"{name}.npz"
    if path is not None and path.exists():
        with np.load(path) as held:
            return dict(held)
    found = make(*args, **params)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, **found)
    return found


def values(X: np.ndarray, y: np.ndarray, **params: str) -> Record:
    """Forecasts p, targets y, and the model's own deviations std, those of its block's start."""
    model, p, std = OnlineKernelRegressor(**params), [], []
    y = y.astype(np.float64)
    for a in range(0, len(y), _BLOCK):
        rows = slice(a, a + _BLOCK)
        own = model.predict(X[rows], return_std=True)[1] if a else np.ones(len(y[rows]))
        std.append(np.where(own > 0.0, own, 1.0))
        p.append(model.predict_then_learn(X[rows], y[rows]))
    return {"p": np.concatenate(p), "y": y, "std": np.concatenate(std)}


def scores(X: np.ndarray, y: np.ndarray, **params: str) -> Record:
    """Scores s (n, 1 or K) and class codes."""
    predicted = OnlineKernelClassifier(**params).predictions_then_learn(X, y)
    return {"s": predicted.scores, "codes": np.searchsorted(predicted.classes, y)}


def scores_of_table(path: Path, target: str, **params: str) -> Record:
    """As `scores`, of a table; nothing of a regression."""
    model = StreamModel(OnlineKernelClassifier(**params))
    stream = model.open(path, target=target)
    model.adopt(stream)
    found, labels = [], []
    for block in stream:
        if not found and choose_task(block.y, "auto")[0] == "regression":
            return {}
        found.append(model.predictions_then_learn(block).scores)
        labels.append(block.y)
    return {
        "s": np.concatenate(found),
        "codes": np.searchsorted(model.classes_, np.concatenate(labels)),
    }
