"""River models over a StreamModel, which makes columns of texts, times and gaps itself."""

from __future__ import annotations

import copy
from typing import Any

from sklearn.base import clone

from onkel.compat.columns import Row
from onkel.compat.wrappers import Frame, Series
from onkel.pipeline import StreamModel
from onkel.pipeline.rows import Keys


class OverTables:
    """What the wrappers of a StreamModel share; it has a lock of its own."""

    _takes: Any

    def __init__(self, estimator: StreamModel, features: None = None, group: str | None = None):
        if features is not None:
            raise ValueError(
                f"features={features!r}: a StreamModel takes the columns that come; leave it out"
            )
        if not isinstance(estimator.estimator, self._takes):
            raise TypeError(
                f"River{self._takes.__name__[6:]} takes an onkel "
                f"{self._takes.__name__[6:].lower()}, not a "
                f"StreamModel of {type(estimator.estimator).__name__}"
            )
        self.estimator: Any = estimator
        self.features: Any = features
        self.group = group
        self.model: Any = copy.deepcopy(estimator) if estimator.n_rows else clone(estimator)
        # features come and go in River, in frames, too
        self.model.keys = Keys(estimator.missing or "gap", estimator.extra or "ignore")

    @property
    def _started(self) -> bool:
        return self.model.n_rows > 0

    def _known(self, x: Row) -> list[bool]:
        """Whether the model has learned each of the features."""
        encoder = self.model.encoder
        return [encoder is None or str(name) in encoder.kinds for name in x]

    def _to_learn(self, x: Row) -> Row:
        """A row whose new features are in the order of their names, whatever that of the dict."""
        if self._started and all(self._known(x)):
            return x
        return {name: x[name] for name in sorted(x, key=str)}

    def _to_predict(self, x: Row) -> Row:
        """A row with at least one feature that the model knows, if only as a gap."""
        if any(self._known(x)):
            return x
        return {next(iter(self.model.encoder.kinds)): None} | x

    def learn_one(self, x: Row, y: object, w: float = 1.0) -> None:
        """Learn one row; rows of a StreamModel have no weights."""
        if w != 1.0:
            raise ValueError(f"w={w!r}: a StreamModel learns rows of weight 1 only")
        if self.group is None:
            self.model.learn_one(self._to_learn(x), y)
        else:
            self.model.partial_fit([self._to_learn(x)], [y], group=self.group)

    def learn_many(self, X: Frame, y: Series) -> None:
        """Learn the rows of a frame in order."""
        self.model.partial_fit(X[sorted(X.columns, key=str)], y, group=self.group)
