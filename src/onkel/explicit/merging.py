"""What two explicit models must share to be merged: a settled map, the loss and the outputs."""

from __future__ import annotations

from typing import Any

from onkel.errors import MergeError
from onkel.losses import Loss
from onkel.merging import require_same


def require_settled(model: Any) -> None:
    """MergeError where the map of a model may still change."""
    if model.training is None:
        raise MergeError("nothing is fitted yet: learn a sample of the rows first")
    if not model.training.settled():
        raise MergeError(
            f"map {model.map.name!r} still changes while rows are learned; let it learn more "
            "rows first, or use one that stays, such as fourier or learned_landmarks"
        )


def require_alike(mine: Any, other: Any) -> None:
    """MergeError, naming the difference, unless ``mine`` can take in what ``other`` learned."""
    require_same("what they are", type(mine).__name__, type(other).__name__)
    for model in (mine, other):
        if model.training is None or model.warmup is not None or not model.training.settled():
            raise MergeError(
                f"map {mine.map.name!r} is still being fitted on first rows: let one model "
                "learn a sample and call fix_map(); then let each part learn with a copy of it"
            )
    require_same("the loss", Loss(mine.loss).name, Loss(other.loss).name)
    require_same("epsilon", mine.epsilon, other.epsilon)
    require_same("the number of outputs", mine.n_outputs, other.n_outputs)
    require_same("the map", mine.map.name, other.map.name)
    require_same("the seed", mine.seed, other.seed)
    require_same(f"the map {mine.map.name!r}", mine.map.get_state(), other.map.get_state())
    mine.weights.require_alike(other.weights)
