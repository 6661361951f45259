"""Why a row was predicted so: what each column contributed to its score."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from onkel.errors import DataError
from onkel.learners.contributions import Score, contributions
from onkel.numerics.arrays import as_dense

if TYPE_CHECKING:
    from onkel.pipeline.block_model import BlockModel


@dataclass(frozen=True)
class Explanation:
    """What each column contributed to the prediction of one row; see `StreamModel.explain`."""

    #: the label, or the value in the target's own units
    prediction: object
    #: what is explained: the value, or the score of the predicted class
    score: float
    #: the mean of the same over a sample of the rows learned
    base: float
    #: by column, the largest first; ``base`` and they add up to ``score``, to rounding
    contributions: dict[str, float]
    #: the row's values by column, as far as it has them
    values: dict[str, object]
    #: of the predicted class, where the learner gives one
    probability: float | None = None

    def to_dict(self) -> dict[str, object]:
        """All of it as plain values."""
        return asdict(self)

    def __str__(self) -> str:
        width = max(map(len, self.contributions), default=0)
        lines = [f"{name:<{width}}  {value:+.4g}" for name, value in self.contributions.items()]
        return "\n".join([f"{self.prediction}: {self.base:.4g} on average, here {self.score:.4g}",
                          *lines])  # fmt: skip


def explained(model: BlockModel, X: np.ndarray, values: dict[str, object]) -> Explanation:
    """Explain the prediction of features X (1, d); ``values`` are those of the row."""
    Z, groups = model.sampled_by_column()
    if not len(Z):
        raise DataError(
            "the model keeps no rows to compare this one with: it has learned none, or rows have "
            "more than 131 072 features"
        )
    label, probability = model.predict_features(X)[0], None
    score: Score = model.predict_scaled
    if model.task == "classification":
        at = int(np.flatnonzero(model.estimator.classes_ == label)[0])

        def score(X: np.ndarray) -> np.ndarray:
            # the score of this class; with two classes there is one, that of the second
            scores = np.asarray(model.estimator.decision_function(X))
            if scores.ndim == 2:
                return scores[:, at]
            return scores if at else 0.0 - scores

        if hasattr(model.estimator, "predict_proba"):
            probability = float(model.proba_features(X)[0, at])
    row = as_dense(model.scaled(X))
    shares, base = contributions(score, row[0], Z, groups)
    encoder = model.encoder
    if encoder is None or encoder.n_vector is not None:
        numbers = range(len(groups))
        names = [f"column {j if encoder is None else encoder.column_of(j)}" for j in numbers]
    else:
        names = [column.name for column in encoder.columns]
    by_column = {names[j]: float(shares[j]) for j in np.argsort(-np.abs(shares), kind="stable")}
    return Explanation(label.item(), float(score(row)[0]), base, by_column, values, probability)
