"""Models of parts of a stream, with their columns, that become one model."""

from __future__ import annotations

from typing import Any, Self

from onkel.errors import MergeError
from onkel.merging import require_same
from onkel.model.lock import locked
from onkel.pipeline.block_model import BlockModel
from onkel.pipeline.statistics import is_fitted


class MergeableModel(BlockModel):
    """A model whose columns, scales and map can be fixed, and that takes in others like it."""

    @locked
    def fix_map(self) -> Self:
        """Keep columns, categories, scales and the learner's map as they are from now on.

        Then copies of the model can learn parts of a stream apart, and be merged. A new column is
        left out; a new category shares a statistic with others, and has no feature of its own; gaps
        are filled with the means so far. The means of the target by category go on. Scales and
        learner: see ``fix_map`` of the learner. There is no way back.

        Raises
        ------
        MergeError
            The learner cannot be merged, or has learned too little for a map: why.
        """
        if not is_fitted(self.estimator):
            raise MergeError("the model has learned no rows: let it learn a sample first")
        self.estimator.fix_map()
        self._fix_columns()
        return self

    @locked
    def merge(self, other: Any, since: Any = None) -> Self:
        """Take in what another model has learned, as if one had learned the rows of both.

        Counts and sums of the target by category add, and so do the gaps of each column; the rest
        is as ``merge`` of the learner has it. Scaled columns and targets must have been scaled
        alike: fix the map first.

        Parameters
        ----------
        other : StreamModel
            Of the same columns and parameters. It is left as it is.
        since : StreamModel, optional
            The model that both went on from: rows that it had learned are counted once. Left out,
            no row was learned by both.

        Raises
        ------
        MergeError
            They differ in columns, categories, scales, or in what the learner asks for (the first
            difference is named). Nothing has been changed.
        """
        for one in (other,) if since is None else (other, since):
            self._require_alike(one)
        self.estimator.merge(other.estimator, since=None if since is None else since.estimator)
        self._inputs.take_in(other._inputs, None if since is None else since._inputs)
        if len(other._recent.X):
            self._recent.add(other._recent.X)
        return self

    def _require_alike(self, other: Any) -> None:
        require_same("what they are", type(self).__name__, type(other).__name__)
        require_same("the scaling", self.scaler.mode, other.scaler.mode)
        require_same("whether the map is fixed", self.map_fixed, other.map_fixed)
        self._inputs.require_alike(other._inputs)
        scales = [model._statistics.get_state() for model in (self, other)]
        if self.scaler.mode == "none":
            scales = [{"target_scaler": scale["target_scaler"]} for scale in scales]
        require_same("the scales", *scales)
