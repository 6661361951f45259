"""What a learner predicts of rows before it learns them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from onkel.numerics.arrays import decide


class Predictions(NamedTuple):
    """Predictions of rows, each made before the row was learned.

    ``scores`` are those of a classifier: (n, 1) for two classes, else (n, n_classes), in the order
    of ``classes``. ``alone``: values (n,) as predicted without a memory of the targets before. None
    where there are none.
    """

    predictions: np.ndarray
    scores: np.ndarray | None = None
    classes: np.ndarray | None = None
    alone: np.ndarray | None = None


class Forecast(NamedTuple):
    """Labels or values (n,) of rows that come next, and probabilities (n, K) if there are any."""

    predictions: np.ndarray
    probabilities: np.ndarray | None = None

    def none(self) -> Forecast:
        """The same of no rows."""
        shares = self.probabilities
        return Forecast(self.predictions[:0], None if shares is None else shares[:0])


def attach_predictions(error: Any, found: Predictions) -> None:
    """Let what breaks off a block say what was predicted of the rows that were learned."""
    error.predictions, error.scores, error.classes, error.alone = found


def predictions_of(error: BaseException) -> Predictions | None:
    """What was predicted of the rows that were learned before an error; None: it does not say."""
    made = getattr(error, "predictions", None)
    if made is None:
        return None
    of: Any = error
    return Predictions(made, of.scores, of.classes, of.alone)


class Part(NamedTuple):
    """Scores (n, K) of rows before they were learned, and the classes known at the time."""

    scores: np.ndarray
    classes: np.ndarray


def in_classes(P: np.ndarray, known: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Scores P for the ``known`` classes as scores (n, 1 or n_classes) for all ``classes`` of now.

    A class not known then gets 0. When a third class comes, the single score p of two becomes
    -p/2 and p/2.
    """
    if len(known) == len(classes) or len(classes) <= 2:
        return P
    out = np.zeros((len(P), len(classes)))
    if len(known) >= 2:
        columns = np.searchsorted(classes, known)
        out[:, columns] = P * np.array([-0.5, 0.5]) if len(known) == 2 else P
    return out


def joined(parts: list[Predictions]) -> Predictions:
    """The predictions of consecutive parts, as one."""
    if len(parts) == 1:
        return parts[0]
    predictions, last = np.concatenate([part.predictions for part in parts]), parts[-1]
    scores = [
        in_classes(part.scores, part.classes, last.classes)
        for part in parts
        if part.scores is not None and part.classes is not None and last.classes is not None
    ]
    if len(scores) < len(parts):
        alone = [part.alone for part in parts if part.alone is not None]
        whole = len(alone) == len(parts)
        return Predictions(predictions, alone=np.concatenate(alone) if whole else None)
    return Predictions(predictions, np.concatenate(scores), last.classes)


def chained(parts: list[np.ndarray], none: np.ndarray) -> np.ndarray:
    """Parts of rows as one array; ``none`` where there are none."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else none


def labels_of(out: list[Part], classes: np.ndarray) -> np.ndarray:
    """The labels (n,) predicted of parts."""
    return chained([known[decide(P, len(known))] for P, known in out if len(P)], classes[:0])


def scores_of(out: list[Part], classes: np.ndarray) -> np.ndarray:
    """Scores (n, 1 or n_classes) of parts, in the classes known now."""
    scores = [in_classes(P, known, classes) for P, known in out]
    return chained(scores, np.zeros((0, max(1, len(classes)))))
