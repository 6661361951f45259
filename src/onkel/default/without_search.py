"""The model of ``speed="fast"``: it never searches; trees are grown early, and by its last fit.

Trees that the first rows grow go on learning (:mod:`onkel.default.early_trees`). The last fit puts
others in their place. For those the model keeps some of its rows (:mod:`onkel.default.row_sample`).
Landmarks, widths and weights stay as they are. No label but those of the first rows has chosen
them, so least squares gives what it would have predicted for a row without that row. Cells learn
anew without the rows held out.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from onkel.annotations import Matrix
from onkel.default.cells import PairCells, learn_in_stages
from onkel.default.corrected_by_cells import CorrectedModel
from onkel.default.early_trees import BEGIN_AT, GROWN_BY, EarlyTrees, n_early_trees
from onkel.default.held_out import HeldOut
from onkel.default.quick_trees import quick_trees
from onkel.default.row_sample import RowSample
from onkel.default.tree_part import FEWEST_ROWS
from onkel.explicit.model import ExplicitModel
from onkel.fields import Fields
from onkel.numerics.arrays import end_of_counted, targets_of
from onkel.numerics.notices import working
from onkel.state import Part

# The share of the rows kept that is held out.
_HELD_OUT = 1 / 6
# Bytes of the rows kept, times B² (B landmarks).
_KEPT_BYTES = 64


class ModelWithoutSearch(CorrectedModel):
    """A :class:`CorrectedModel` over landmarks that stay after the first rows."""

    STATE: ClassVar[Fields] = {
        **CorrectedModel.STATE,
        "sample": Part(lambda of: of._new_sample(), anew=True, optional=True),
    }

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        #: None once parts of a stream are to be merged
        self.sample: RowSample | None = self._new_sample()
        #: trees that are grown while rows come: no state, they can always begin again
        self.growing: EarlyTrees | None = None

    def _new_sample(self) -> RowSample:
        return RowSample(_KEPT_BYTES * self._n_landmarks**2, self.map.n_features_in_)

    def learn_apart(
        self, X: Matrix, y: np.ndarray, weight: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        if self.sample is None:
            return super().learn_apart(X, y, weight)
        seen = self.sample.seen
        rows = next((due - seen for due in (GROWN_BY, BEGIN_AT) if seen < due), len(y) + 1)
        end = end_of_counted(weight, 0, rows)
        P, added = super().learn_apart(X[:end], y[:end], weight[:end])
        self.sample.add(X[:end], y[:end], weight[:end])
        if seen < BEGIN_AT:
            self._grow_early(self.sample)
        if end == len(y):
            return P, added
        rest = self.learn_apart(X[end:], y[end:], weight[end:])
        return np.concatenate([P, rest[0]]), np.concatenate([added, rest[1]])

    def succeed(self, before: Self) -> None:
        """As :meth:`ExplicitModel.succeed`; its trees go on until others are grown.

        They have to prove right anew.
        """
        if self.trees is None and before.trees is not None and before.trees.leaves is not None:
            self.trees = before.trees
            self.trees.sums = np.zeros_like(self.trees.sums)

    def _grow_early(self, sample: RowSample) -> None:
        """Grow trees from the first rows, as far as is due now."""
        n_trees, seen = n_early_trees(self._n_landmarks, self.n_outputs), sample.seen
        fitted_last = self.trees is not None and self.trees.leaves is None
        if fitted_last or not n_trees or seen < GROWN_BY or not sample.keeps_all(BEGIN_AT):
            return
        if self.growing is None:
            X, y, weight = (part[:GROWN_BY] for part in sample.rows())
            rows = X, targets_of(y, self.n_outputs), weight
            rng = np.random.default_rng([self.seed, GROWN_BY, 4])
            self.growing = EarlyTrees(*rows, n_trees, rng, self._forgetting[0])
        self.growing.advance(seen)
        if seen == BEGIN_AT:
            self.trees, self.growing = self.growing.finish(), None

    def rows_kept(self) -> np.ndarray:
        return np.empty(0, np.int64) if self.sample is None else self.sample.seen - self.sample.born

    def fits_last(self) -> bool:
        """Whether :meth:`consolidate` may grow trees."""
        return self.ready and self.sample is not None and self.sample.count >= FEWEST_ROWS

    def change_rows_kept(self, columns: np.ndarray, values: np.ndarray) -> None:
        if self.sample is not None and self.fits_last():
            self.sample.replace(columns, values)

    def consolidate(self) -> None:
        if self.sample is None or not self.fits_last():
            return
        X, y, weight = self.sample.rows()
        Y, rng = targets_of(y, self.n_outputs), np.random.default_rng([self.seed, len(X), 2])
        held = np.sort(rng.choice(len(X), int(_HELD_OUT * len(X)), replace=False))
        rows = X, Y, weight, HeldOut.at_once(held, self._scores_left_out(X, Y, weight, held))
        matter = self.map.columns_that_matter()  # type: ignore[attr-defined]
        with working(f"growing trees on {len(X):,} rows kept"):
            self.trees = quick_trees(*rows, matter, self._n_landmarks, rng, self._forgetting[0])
            self.growing = None
        self.undo_log.forget()

    def _scores_left_out(
        self, X: np.ndarray, Y: np.ndarray, weight: np.ndarray, held: np.ndarray
    ) -> np.ndarray:
        """Predictions of rows ``held`` without trees, by an f and cells that have not learned them.

        Cells fit single rows so closely that those which have learned them would leave trees no
        share. So new ones, in the same bins, learn the other rows.
        """
        R = self.residuals_left_out(X, Y - ExplicitModel.scores(self, X), weight)
        others = np.delete(np.arange(len(X)), held)
        stages = [PairCells(of.bins, self.n_outputs, of.forgetting) for of in self.stages]
        learn_in_stages(stages, X[others], R[others], weight[others])
        P = Y[held] - R[held] + sum(stage.scores(X[held]) for stage in stages)
        return P if self.linear is None else P + self.linear.correction(X[held], P)

    def fix_map(self) -> None:
        super().fix_map()
        self.sample = self.growing = None
        if self.trees is not None:
            self.trees.leaves = None

    def add_output(self, position: int) -> None:
        if self.sample is not None:
            self.sample.add_class(position, from_signs=self.n_outputs == 1)
            self.growing = None
        super().add_output(position)

    def widen(self, n: int) -> None:
        super().widen(n)
        if self.sample is not None:
            self.sample.add_columns(n)
            self.growing = None

    def state_is_set(self) -> None:
        super().state_is_set()
        self.growing = None
