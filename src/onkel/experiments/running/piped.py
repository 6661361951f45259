"""A learner behind its pipeline: what ``onkel learn`` does with the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.evaluation import prequential
from onkel.experiments.entry import Case
from onkel.experiments.running.learners import new_learner
from onkel.pipeline import StreamModel


def piped_model(case: Case, seed: int) -> StreamModel:
    """A fresh learner of a case in its pipeline."""
    return StreamModel(new_learner(case, seed), **(case.piped or {}))


def piped_loss(
    case: Case, X: np.ndarray, y: np.ndarray, seed: int, warm_up: bool
) -> tuple[float, float]:
    """Share of mistakes or mean squared error of one pass over the rows, and its seconds."""
    model: Any = piped_model(case, seed)
    result = prequential(model, (X, y), checkpoints="none", warm_up=warm_up)
    loss = result.value**2 if case.task == "regression" else result.value / 100.0
    return loss, result.final.learn_seconds
