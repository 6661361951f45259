"""Merge models of parts of a stream, together with their columns."""

from __future__ import annotations

from typing import Self

from onkel.errors import MergeError
from onkel.merging import require_same
from onkel.model.transaction import locked
from onkel.pipeline.block_model import BlockModel
from onkel.pipeline.statistics import is_fitted


class MergeableModel(BlockModel):
    """A model whose columns, scales and map can be fixed, so that others merge into it."""

    @locked
    def fix_map(self) -> Self:
        """Fix columns, categories, scales and the learner's map.

        Copies of the model can then learn parts of a stream separately and be merged. A new column
        is left out. A new category shares a statistic with others and gets no feature of its own.
        Gaps are filled with the means so far. The target means of categories continue to learn. For
        the learner, see its ``fix_map``. This cannot be undone.

        Raises
        ------
        MergeError
            The learner cannot be merged, or has learned too little for a map; the error says why.
        """
        if not is_fitted(self.estimator):
            raise MergeError("the model has learned no rows: let it learn a sample first")
        self.estimator.fix_map()
        self._fix_columns()
        return self

    @locked
    def merge(self, other: Self, *, since: Self | None = None) -> Self:
        """Add what another model has learned, as if one model had learned the rows of both.

        Counts and sums of the target by category are added, and so are the gaps of each column. For
        the rest, see ``merge`` of the learner. Columns and targets must have been scaled alike: fix
        the map first.

        Parameters
        ----------
        other : StreamModel
            With the same columns and parameters; it is not changed.
        since : StreamModel, optional
            The model that both started from; its rows are counted once. By default both learned
            different rows.

        Raises
        ------
        MergeError
            They differ in columns, categories, scales, or in what the learner requires. The error
            names the first difference; nothing has been changed.
        """
        for one in (other,) if since is None else (other, since):
            self._require_alike(one)
        self.estimator.merge(other.estimator, since=None if since is None else since.estimator)
        self._inputs.take_in(other._inputs, None if since is None else since._inputs)
        self._feedback.take_in(other._feedback, None if since is None else since._feedback)
        self._sample.take_in(other._sample, None if since is None else since._sample)
        return self

    def _require_alike(self, other: Self) -> None:
        require_same("what they are", type(self).__name__, type(other).__name__)
        require_same("the scaling", self.scaler.mode, other.scaler.mode)
        require_same("whether the map is fixed", self.map_fixed, other.map_fixed)
        self._inputs.require_alike(other._inputs)
        kept = [] if self.scaler.mode == "none" else ["scaler"]
        scales = [model._statistics.get_state() for model in (self, other)]
        for name in [*kept, "target_scaler"]:
            require_same("the scales", *(scale.get(name) for scale in scales))
