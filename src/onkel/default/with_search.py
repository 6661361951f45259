"""The model of the default: it searches for landmarks, and its last fit begins anew with the rest.

The last fit begins with the map, which is fitted to all rows kept. Cells and a linear part that has
won know what the former fit left. So cells learn anew what this one leaves, and the last rows judge
the linear part. Then trees are grown (:mod:`onkel.default.last_trees`). The rows that the last
search held out judge them. Before the first search all rows do, in folds, because no target has
chosen the landmarks.
"""

from __future__ import annotations

import numpy as np

from onkel.default.cells import PairCells
from onkel.default.corrected_by_cells import LATE, CorrectedModel
from onkel.default.held_out import HeldOut
from onkel.default.last_trees import last_trees
from onkel.default.tree_part import FEWEST_ROWS, TreePart
from onkel.numerics.arrays import targets_of
from onkel.numerics.notices import working

# Rows that choose columns and bins of cells anew.
_BINNED_ROWS = 4096


class ModelWithSearch(CorrectedModel):
    """A :class:`CorrectedModel` whose landmarks are searched for, above all in a last fit."""

    def consolidate(self) -> None:
        super().consolidate()
        if self.warmup is None:
            return
        X, y, weight = self.warmup.rows()
        Y, searched = targets_of(y, self.n_outputs), self.map.searches_last(len(X))
        if searched and self._chosen_stage == LATE:
            self._begin_cells_anew(X, Y, weight)
        self._judge_linear()
        rng = np.random.default_rng([self.seed, len(X), 2])
        held = self._held_out(X, Y, weight, searched, rng)
        if held is None:
            return
        if self.linear is not None and self.linear.won:
            held.predictions[:] += self.linear.correction(X[held.rows], held.predictions)
        self._begin_anew()
        with working(f"growing trees on all {len(X):,} rows kept"):
            of = self.map.n_components, rng, self._forgetting[0]
            self.trees: TreePart | None = last_trees(X, Y, weight, held, *of)
        self.undo_log.forget()

    def _begin_cells_anew(self, X: np.ndarray, Y: np.ndarray, weight: np.ndarray) -> None:
        """Let cells learn what the last fit left of all rows X (n, d), in a random order.

        So their share is that of rows of any time. Each row is left out of the fit that predicts
        it. The stages that forget have followed the residuals of the former fit.
        """
        rng, n = np.random.default_rng([self.seed, len(X), 3]), len(X)
        some = rng.choice(n, min(n, _BINNED_ROWS), replace=False)
        cells = self._begun_cells(X[some], Y[some], self._forgetting[0])
        order = rng.permutation(n)
        R = self.residuals_left_out(X, Y, weight)
        cells.learn(X[order], R[order], weight[order])
        # cells of columns that came late are among the new ones
        self.stages: list[PairCells] = [cells, *self.stages[1:LATE]]
        for stage in self.stages[1:]:
            stage.withdraw()

    def _held_out(
        self,
        X: np.ndarray,
        Y: np.ndarray,
        weight: np.ndarray,
        searched: bool,
        rng: np.random.Generator,
    ) -> HeldOut | None:
        """Rows that judge trees; None where these are not grown."""
        if searched:
            return HeldOut.at_once(*self.map.predict_held_out(X, Y, weight))
        if not self.map.search_steps or len(X) < FEWEST_ROWS:
            return None
        Z = np.asarray(self.map.features(X), np.float64)
        return HeldOut.by_least_squares(Z, Y, weight, self.penalty, rng)
