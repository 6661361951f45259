"""Learning that leaves the range of floating point: noticed, undone, and told with its row."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from onkel.errors import DivergenceError

if TYPE_CHECKING:
    from onkel.models.base import Model

__all__ = ["diverged", "learn_guarded"]

# A model that is large is copied for calls of so many rows only: in a smaller one, where the copy
# would cost more than the learning, divergence is told but not undone.
_ENOUGH_ROWS = 32
# The parts that were chosen, which never change; and the map, which is copied by itself, since the
# estimator and its model hold the same one.
_SHARED = frozenset({"map", "kernel", "rule", "budget"})


def diverged(row: int) -> DivergenceError:
    """The error of a row that makes a model diverge."""
    return DivergenceError(
        "learning this row makes the model diverge (its scores are no longer finite numbers); try "
        "a smaller learning_rate, another loss, or scaled features and targets",
        row=row,
    )


def learn_guarded(model: Model, X: Any, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """``model.learn``; a row after which the model would not be finite is refused.

    Raises
    ------
    DivergenceError
        With the row. The rows before it have been learned.
    """
    if _cannot_diverge(model):
        return model.learn(X, y, weight)
    before = _copied(model, X.shape[0])
    with np.errstate(over="ignore", invalid="ignore"):
        P = model.learn(X, y, weight)
        if np.isfinite(P).all() and _is_finite(model):
            return P
        bad = np.flatnonzero(~np.isfinite(P).all(axis=1))
        row = int(bad[0]) if bad.size else X.shape[0] - 1
        while before is not None:
            _restore(before)
            if row == 0:
                break
            model.learn(X[:row], y[:row], weight[:row])
            if _is_finite(model):
                break
            # the score was infinite for what the row before did to the weights
            row -= 1
    raise diverged(row)


def _cannot_diverge(model: Any) -> bool:
    """Ridge regression on bounded features: finite for all rows that have finite squares."""
    feature_map = getattr(model, "map", None)
    return feature_map is not None and model.rule.kind.exact and bool(feature_map.bounded)


def _is_finite(model: Any) -> bool:
    if not model.ready:
        return True
    weights = [getattr(model, name) for name in ("W", "A", "carried") if hasattr(model, name)]
    feature_map: Any = getattr(model, "map", None)
    if feature_map is not None and feature_map.learns:
        weights += feature_map.moving().values()
    return all(np.isfinite(values.sum()) for values in weights)


def _only_weights_move(model: Any) -> bool:
    """Features are fixed (but for widths), and no matrix goes with the weights."""
    explicit = hasattr(model, "map") and model.warmup is None
    if not explicit or model.map.grows or model.map.moves:
        return False
    return model.matrix is None


Copies = list[tuple[Any, dict[str, Any], bool]]


def _copied(model: Any, n: int) -> Copies | None:
    """What learning can change: a few vectors while the features stay, else all there is."""
    feature_map: Any = getattr(model, "map", None)
    if _only_weights_move(model):
        weights = {name: getattr(model, name).copy() for name in ("W", "H", "state")}
        return [(model, weights, False), (feature_map, feature_map.moving(), False)]
    if n < _ENOUGH_ROWS and model.warmup is None:
        return None
    parts = [model] if feature_map is None else [model, feature_map]
    return [(part, _deep(part.__dict__), True) for part in parts]


def _restore(copies: Copies) -> None:
    for part, kept, all_of_it in copies:
        kept = _deep(kept)
        if all_of_it:
            part.__dict__.clear()
        part.__dict__.update(kept)


def _deep(attributes: dict[str, Any]) -> dict[str, Any]:
    """A deep copy, but for what learning leaves as it is."""
    return {k: v if k in _SHARED else copy.deepcopy(v) for k, v in attributes.items()}
