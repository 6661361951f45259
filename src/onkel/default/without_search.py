"""The model of ``speed="fast"``: it never searches, and its last fit only grows trees.

For the last fit the model keeps some of its rows (:mod:`onkel.default.row_sample`). Landmarks,
widths and weights stay as they are. Labels of the first rows alone have chosen landmarks and
widths. So least squares can say what it would have predicted for a row without having learned it.
Cells learn anew without the rows held out.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from onkel.annotations import Matrix
from onkel.default.cells import PairCells, learn_in_stages
from onkel.default.corrected_by_cells import CorrectedModel
from onkel.default.early_trees import FirstRows
from onkel.default.held_out import HeldOut
from onkel.default.quick_trees import quick_trees
from onkel.default.row_sample import RowSample
from onkel.default.tree_part import FEWEST_ROWS, TreePart
from onkel.fields import Fields
from onkel.numerics.arrays import targets_of
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

    n_growths: ClassVar[int] = 1

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        #: None once parts of a stream are to be merged
        self.sample: RowSample | None = self._new_sample()

    def _new_sample(self) -> RowSample:
        return RowSample(_KEPT_BYTES * self.map.n_components**2, self.map.n_features_in_)

    def _learn_part(
        self, X: Matrix, y: np.ndarray, weight: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        found = super()._learn_part(X, y, weight)
        if self.sample is not None:
            self.sample.add(X, y, weight)
        return found

    def _first_kept(self) -> FirstRows | None:
        sample = self.sample
        return None if sample is None else FirstRows(sample.seen, sample.sure, sample.rows)

    def rows_kept(self) -> np.ndarray:
        return np.empty(0, np.int64) if self.sample is None else self.sample.seen - self.sample.born

    def fits_last(self) -> bool:
        """Whether :meth:`consolidate` may grow trees."""
        return self.ready and self.sample is not None and self.sample.count >= FEWEST_ROWS

    def change_rows_kept(self, columns: np.ndarray, values: np.ndarray) -> None:
        if self.sample is not None and self.fits_last():
            self.sample.replace(columns, values)
            self.undo_log.forget()

    def consolidate(self) -> None:
        if self.sample is None or not self.fits_last():
            return
        X, y, weight = self.sample.rows()
        Y, rng = targets_of(y, self.n_outputs), np.random.default_rng([self.seed, len(X), 2])
        held = np.sort(rng.choice(len(X), int(_HELD_OUT * len(X)), replace=False))
        rows = X, Y, weight, HeldOut.at_once(held, self._scores_left_out(X, Y, weight, held))
        matter = self.map.columns_that_matter()
        self._begin_anew()
        with working(f"growing trees on {len(X):,} rows kept"):
            self.trees: TreePart | None = quick_trees(
                *rows, matter, self.map.n_components, rng, self._forgetting[0]
            )
        self.undo_log.forget()

    def _scores_left_out(
        self, X: np.ndarray, Y: np.ndarray, weight: np.ndarray, held: np.ndarray
    ) -> np.ndarray:
        """Predictions of rows ``held`` without trees, by an f and cells that have not learned them.

        Cells fit single rows so closely that those which have learned them would leave trees no
        share. So new ones, in the same bins, learn the other rows.
        """
        R = self.residuals_left_out(X, Y, weight)
        others = np.delete(np.arange(len(X)), held)
        stages = [PairCells(of.bins, self.n_outputs, of.forgetting) for of in self.stages]
        learn_in_stages(stages, X[others], R[others], weight[others])
        P = Y[held] - R[held] + sum(stage.scores(X[held]) for stage in stages)
        return P if self.linear is None else P + self.linear.correction(X[held], P)

    def fix_map(self) -> None:
        super().fix_map()
        self.sample = None

    def add_output(self, position: int) -> None:
        if self.sample is not None:
            self.sample.add_class(position, from_signs=self.n_outputs == 1)
        super().add_output(position)

    def widen(self, n: int) -> None:
        super().widen(n)
        if self.sample is not None:
            self.sample.add_columns(n)
