"""Least squares over learned features, corrected by cells of columns and by trees.

Corrections are added to f in three stages:

    f(x) + a₀ s₀(x) + a₁ s₁(x) + a₂ s₂(x).

Each stage s learns the residuals of the stages before it; a is the share of s that has proved right
so far. s₀ has cells for columns and pairs of columns, and forgets as f does. s₁ and s₂ have cells
for single columns, in a few bins, and remember about 5 000 and 500 rows: they follow a stream that
changes slowly. On a steady stream their shares stay near 0.

A column that comes in mid-stream has no cells, and landmarks that stay are 0 there. So columns are
then chosen once more, by the rows since, for a fourth stage like s₀: it learns what the others
left.

Where there are more columns than landmarks, or where it predicts the first rows better than f, a
linear function of all columns is learned, too, and has a share in the sum
(:mod:`onkel.default.linear_part`). Then come trees: those that the first rows grow
(:mod:`onkel.default.early_trees`), then those of the last fit (:mod:`onkel.default.last_trees`).
Last come two linear models that follow the stream, where they are clearly right
(:mod:`onkel.default.linear_follower`).
"""

from __future__ import annotations

import copy
import math
from functools import partial
from itertools import zip_longest
from typing import Any, ClassVar, Self

import numpy as np

from onkel.annotations import Matrix
from onkel.default.bins import PairBins
from onkel.default.cells import PairCells, learn_in_stages
from onkel.default.cells_anew import CellsAnew
from onkel.default.column_choice import ColumnChoice
from onkel.default.early_trees import GROWTHS, FirstRows, Growth, n_early_trees
from onkel.default.linear_follower import LinearFollower
from onkel.default.linear_part import LinearPart
from onkel.default.tree_part import TreePart
from onkel.errors import MergeError
from onkel.explicit.features_ahead import Span
from onkel.explicit.model import ExplicitModel
from onkel.fields import Fields, require
from onkel.losses import Loss
from onkel.maps.base import FeatureMap
from onkel.maps.landmarks.fitted import Units
from onkel.maps.landmarks.learned import LearnedLandmarks
from onkel.merging import require_same
from onkel.numerics.arrays import as_dense, end_of_counted, targets_of
from onkel.numerics.threads import one_blas_thread
from onkel.rules.base import Rule
from onkel.rules.second_order import ExactScalars
from onkel.state import Part

# Cells hold up to so many times B² numbers (B landmarks): as many as least squares' two matrices.
_CELLS = 2
# Forgetting factors of the stages; that of f multiplies them. The last is for late columns.
_STAGE_FORGETTING = (1.0, 0.9998, 0.998, 1.0)
#: the stage of late columns
LATE = 3
# Rows that judge a linear part beside a new f: the last ones.
_JUDGING = 1024
# What may be there after the stages, in the order in which it is added, and what errors call it.
_PARTS = {"linear": "a linear part", "trees": "trees", "follower": "a linear follower"}


class CorrectedModel(ExplicitModel):
    """f(x) + Σ a s(x): see :mod:`onkel.default.cells`.

    The parameters are those of :class:`onkel.explicit.model.ExplicitModel`; the rule is least
    squares.
    """

    STATE: ClassVar[Fields] = {
        **ExplicitModel.STATE,
        "stages": Part(
            lambda of: (PairCells(PairBins.none(), of.n_outputs, a) for a in of._forgetting),
            each="stage",
        ),
        "choice": Part(
            lambda of: ColumnChoice(1, of.map.n_features_in_, of.map.dtype_, of.n_outputs),
            anew=True,
            among="choice",
            optional=True,
        ),
        "linear": Part(
            lambda of: LinearPart(Units.none(0), of.n_outputs, of._forgetting[0]),
            anew=True,
            optional=True,
        ),
        "trees": Part(
            lambda of: TreePart(of.n_outputs, of._forgetting[0]), anew=True, optional=True
        ),
        # files of before have neither
        "follower": Part(
            lambda of: LinearFollower(Units.none(0), of.n_outputs, of._forgetting[0]),
            anew=True,
            optional=True,
        ),
        "growth": Part(lambda of: Growth(of.n_growths), anew=True, optional=True),
    }

    map: LearnedLandmarks

    #: how many times the first rows grow trees, at most
    n_growths: ClassVar[int] = len(GROWTHS)
    #: whether a linear model follows the stream
    follows: ClassVar[bool] = True

    def __init__(
        self, feature_map: FeatureMap, rule: Rule, loss: Loss, epsilon: float, n_outputs: int
    ) -> None:
        super().__init__(feature_map, rule, loss, epsilon, n_outputs)
        self.stages: list[PairCells] = [PairCells(PairBins.none(), n_outputs)]
        #: None once columns are chosen, and where there will be none
        self.choice: ColumnChoice | None = self._begun_choice()
        #: None where it is not needed, and until it is known whether it is
        self.linear: LinearPart | None = None
        #: None until columns are chosen, and where it would be too large
        self.follower: LinearFollower | None = None
        #: None before they are grown, and where those of the last fit do not help
        self.trees: TreePart | None = None
        self.growth: Growth = Growth(self.n_growths)
        #: cells that begin anew: of the copy that learns over a new fit of the map
        self.cells_anew: CellsAnew | None = None

    # ---- learning ------------------------------------------------------------------------------

    def learn(self, X: Matrix, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        P, added = self.learn_apart(X, y, weight)
        return P + added

    def learn_apart(
        self, X: Matrix, y: np.ndarray, weight: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """As :meth:`ExplicitModel.learn_apart`.

        The second part is that of early trees, and of what follows the stream.
        """
        P, added = self._learn_some(X, y, weight)
        n = len(P)
        if n == len(y):
            return P, added
        rest = self.learn_apart(X[n:], y[n:], weight[n:])
        return np.concatenate([P, rest[0]]), np.concatenate([added, rest[1]])

    def _learn_some(
        self, X: Matrix, y: np.ndarray, weight: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """As :meth:`learn_apart`, of as many rows as until trees may grow; then these grow."""
        left = self.growth.rows_left(self._first_rows()) if self.growth.goes_on else math.inf
        if left == math.inf:
            return self._learn_part(X, y, weight)
        end = end_of_counted(weight, 0, int(left))
        found = self._learn_part(X[:end], y[:end], weight[:end])
        first = self._first_kept()
        if first is not None:
            n_trees = n_early_trees(self.map.n_components, self.n_outputs)
            more = n_trees, self.n_outputs, self.seed, self._forgetting[0]
            self.trees = self.growth.grown(first, self.trees, *more)
        return found

    def _first_rows(self) -> FirstRows | None:
        """The rows that trees grow from; None where none grow."""
        fitted_last = self.trees is not None and self.trees.leaves is None
        none = fitted_last or not n_early_trees(self.map.n_components, self.n_outputs)
        return None if none else self._first_kept()

    def _first_kept(self) -> FirstRows | None:
        warmup = self.warmup
        return None if warmup is None else FirstRows(warmup.count, warmup.n_rows - 1, warmup.rows)

    def rows_before_anew(self) -> float:
        return self.growth.rows_before_second(self._first_rows())

    def learn_ahead(
        self, X: Matrix, y: np.ndarray, weight: np.ndarray
    ) -> tuple[Any, np.ndarray, np.ndarray]:
        """As :meth:`ExplicitModel.learn_ahead`: of as many rows as until other parts may begin."""
        end = len(y) if self.choice is None else end_of_counted(weight, 0, self.choice.left)
        parts = copy.deepcopy((self.trees, self.follower))
        return parts, *self._learn_some(X[:end], y[:end], weight[:end])

    def go_back(
        self, parts: Any, X: Matrix, y: np.ndarray, weight: np.ndarray, P: np.ndarray
    ) -> None:
        self.trees, self.follower = parts
        # P has in it what stages and linear part say; they do not go on
        self.stages, self.linear = [], None
        if self.trees is not None and self.trees.leaves is None:
            self.trees = None
        self._correct(X, targets_of(y, self.n_outputs), weight, P.copy(), np.zeros(P.shape))

    def succeed(self, before: Self) -> None:
        """As :meth:`ExplicitModel.succeed`; its trees go on until others are grown.

        They have to prove right anew. What follows the stream goes on; means begin anew.
        """
        self.follower = before.follower or self.follower
        if self.follower is not None:
            self.follower.rows = 0
        if self.trees is None and before.trees is not None and before.trees.leaves is not None:
            self.trees = before.trees
            self.trees.begin_share()

    def _learn_part(
        self, X: Matrix, y: np.ndarray, weight: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        Y = targets_of(y, self.n_outputs)
        if self.choice is None and self.training is not None and self.cannot_diverge:
            return self._learn_beside(X, y, weight, Y)
        P, done = super().learn(X, y, weight), 0
        added = np.zeros(P.shape)
        while self.choice is not None and done < len(P):
            due = self.choice.rows_before_next()
            end = end_of_counted(weight, done, due)
            part = slice(done, end)
            first = self.stages[: self._chosen_stage]
            P[part] += learn_in_stages(first, X[part], Y[part] - P[part], weight[part])
            R = Y[part] - P[part]
            self._correct(X[part], Y[part], weight[part], P[part], added[part], len(first))
            self.choice.keep(as_dense(X[part]), y[part], weight[part], R)
            if np.count_nonzero(weight[part]) == due:
                self._choose()
            done = end
        self._correct(X[done:], Y[done:], weight[done:], P[done:], added[done:])
        return P, added

    def _learn_beside(
        self, X: Matrix, y: np.ndarray, weight: np.ndarray, Y: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """f learns the next rows while another thread corrects its predictions of these."""
        P, added = np.zeros(Y.shape), np.zeros(Y.shape)

        def correct(start: int, rows: Span) -> None:
            some = slice(start + rows[0], start + rows[1])
            self._correct(X[some], Y[some], weight[some], P[some], added[some])

        with one_blas_thread(len(y)):
            for rows in self.between_fits(X, y, weight):
                assert self.training is not None
                then = partial(correct, rows.start)
                self.training.learn_block(X[rows], y[rows], weight[rows], P[rows], then)
        return P, added

    def _correct(
        self,
        X: Matrix,
        Y: np.ndarray,
        weight: np.ndarray,
        P: np.ndarray,
        added: np.ndarray,
        n_done: int = 0,
    ) -> None:
        """Add the corrections to f in P (n, K), stage by stage, and learn what each left of Y.

        ``n_done``: stages whose corrections are in P. Those of trees whose leaves learn, and of
        what follows the stream, go to ``added`` (n, K).
        """
        P += learn_in_stages(self.stages[n_done:], X, Y - P, weight)
        X = as_dense(X)
        if self.linear is not None:
            P += self.linear.learn(X, Y, P, weight)
        if self.trees is not None:
            to = P if self.trees.leaves is None else added
            to += self.trees.learn(X, Y, P, weight)
        if self.follower is not None:
            added += self.follower.learn(X, Y, P + added, weight)

    def _choose(self) -> None:
        """Choose columns and bins anew, and learn the rows kept again.

        Columns are chosen by what they say about the targets, because the residuals of so few rows
        are mostly noise. When the map is fitted anew before all these rows have come, the cells go
        on as they are.
        """
        assert self.choice is not None
        rows, at = self.choice.rows(), self._chosen_stage
        cells = self._begun_cells(rows.X, rows.Y, self._forgetting[at])
        cells.learn(rows.X, rows.R, rows.weight)
        self.stages[at:] = [cells]
        if at == 0 and self.linear is None and rows.X.shape[1] <= self.map.n_components:
            self.linear = LinearPart.won_by(rows, self._forgetting[0])
        if self.choice.complete:
            self._end_choice()

    @property
    def _chosen_stage(self) -> int:
        """The stage that columns are chosen for: s₀ until the later stages begin."""
        return 0 if len(self.stages) < LATE else LATE

    def _begun_choice(self) -> ColumnChoice | None:
        return ColumnChoice.begun(self.map.n_features_in_, self.map.dtype_, self.n_outputs)

    def _end_choice(self) -> None:
        """Keep the columns and bins as they are, and begin the later stages."""
        assert self.choice is not None
        of = self.choice.rows(), self.map.n_components, self._forgetting[0]
        self.choice = None
        if self._chosen_stage == 0:
            self.linear = self.linear or LinearPart.of_many(*of)
            if self.follows:
                # also in the place of what went on from a model before: rows of now are nearer
                self.follower = LinearFollower.of_first_rows(*of) or self.follower
            few, later = self.stages[0].bins.alone(), self._forgetting[1:LATE]
            self.stages += [PairCells(few, self.n_outputs, forgetting) for forgetting in later]

    # ---- cells after a fit ---------------------------------------------------------------------

    def corrections_anew(self) -> CellsAnew | None:
        """Cells s₀ that learn what f leaves, once their columns are chosen."""
        if len(self.stages) < LATE or not len(self.stages[0].bins.pairs):
            return None
        assert self.training is not None
        self.cells_anew = CellsAnew(self.stages[0], self.training)
        return self.cells_anew

    def _go_on_as(self, new: Self) -> None:
        super()._go_on_as(new)
        cells = None if new.cells_anew is None else new.cells_anew.cells
        if cells is not None:
            self.stages[0] = cells
        if new.training is not None and self.choice is None:
            # while columns are chosen, f learns a whole block before the linear part does
            self._judge_linear()

    def _judge_linear(self) -> None:
        """Let the last rows say what the linear part is worth beside f, which is a new one."""
        if self.linear is not None and self.linear.won and self.warmup is not None:
            X, y, weight = (of[-_JUDGING:] for of in self.warmup.rows())
            Y = targets_of(y, self.n_outputs)
            R = self.residuals_left_out(X, Y, weight)
            self.linear.judge_anew(X, Y, Y - R, weight)

    def _begin_anew(self) -> None:
        """What the last fit replaces begins anew."""
        self.growth.begin_again()
        if self.follower is not None:
            self.follower.begin_share()

    def _begun_cells(self, X: np.ndarray, Y: np.ndarray, forgetting: float) -> PairCells:
        """Cells that have learned nothing, in bins that rows X with targets Y choose."""
        K = self.n_outputs
        most = _CELLS * self.map.n_components**2 // (K + 1)
        return PairCells(PairBins.of(X, Y, most), K, forgetting)

    @property
    def _forgetting(self) -> list[float]:
        """The forgetting factor of each stage."""
        return [ExactScalars.of(self.par).forgetting * factor for factor in _STAGE_FORGETTING]

    # ---- models of several parts ---------------------------------------------------------------

    def fix_map(self) -> None:
        super().fix_map()
        self.growth.begin_again()
        if self.trees is not None:
            self.trees.leaves = None
        if self.choice is not None:
            self._end_choice()

    def require_alike(self, other: Self) -> None:
        super().require_alike(other)
        bins = ([stage.bins.get_state() for stage in model.stages] for model in (self, other))
        for mine, own in zip_longest(*bins):
            require_same("the bins of the cells", mine, own)
        if self.choice is not None or other.choice is not None:
            raise MergeError("the bins of the cells are still being chosen: call fix_map() first")
        for name, what in _PARTS.items():
            mine, own = getattr(self, name), getattr(other, name)
            require_same(f"whether they have {what}", mine is not None, own is not None)
            if mine is not None:
                mine.require_alike(own)

    def take_in(self, other: Self, origin: Self | None) -> None:
        super().take_in(other, origin)
        known = [None] * len(self.stages) if origin is None else origin.stages
        for stage, own, before in zip(self.stages, other.stages, known, strict=True):
            stage.take_in(own, before)
        for name in _PARTS:
            mine = getattr(self, name)
            if mine is not None:
                mine.take_in(getattr(other, name), getattr(origin, name, None))

    # ---- the rest of a model -------------------------------------------------------------------

    def score_row(self, X: np.ndarray) -> np.ndarray:
        return self.scores(X)[0]

    def learn_row(self, X: np.ndarray, y: float, weight: float) -> None:
        self.learn(X, np.array([y]), np.array([weight]))

    @property
    def _parts(self) -> list[LinearPart | TreePart | LinearFollower]:
        """What is there after the stages, in the order in which it is added."""
        return [part for name in _PARTS if (part := getattr(self, name)) is not None]

    def scores(self, X: Matrix) -> np.ndarray:
        """f(x) + Σ a s(x) of each row, (n, K) in float64."""
        P = sum((stage.scores(X) for stage in self.stages), super().scores(X))
        for part in self._parts:
            P = P + part.correction(X, P)
        return P

    def variance(self, X: Matrix) -> np.ndarray:
        """Predictive variance (n,) of f, times the share of squared errors that cells leave.

        A linear part that has won knows better how large the errors are.
        """
        left = math.prod(part.left for part in (*self.stages, *self._parts))
        if self.linear is not None and self.linear.noise and self.weights.matrix is not None:
            later = math.prod(part.left for part in self._parts if part is not self.linear)
            left = later * self.linear.noise / (self.weights.matrix.noise or 1.0)
        return super().variance(X) * left

    def add_output(self, position: int) -> None:
        if self.choice is not None:
            self.choice.add_class(position, from_signs=self.n_outputs == 1)
        super().add_output(position)
        self.growth.begin_again()
        for part in (*self.stages, *self._parts):
            part.add_output(position)

    def add_columns(self, n: int) -> None:
        """As :meth:`widen`; columns are then chosen once more, by the rows from now on.

        Where landmarks are still to be searched for, they will use the columns.
        """
        super().add_columns(n)
        if self.choice is None and self.warmup is None:
            self.choice = self._begun_choice()

    def widen(self, n: int) -> None:
        super().widen(n)
        self.growth.begin_again()
        if self.choice is not None:
            self.choice.add_columns(n)

    def state_is_set(self) -> None:
        super().state_is_set()
        self.growth = self.growth or Growth(self.n_growths)
        d = self.map.n_features_in_
        for i, stage in enumerate(self.stages):
            known = bool((stage.bins.columns < d).all())
            require(known, f"stage_{i}/bins/columns: names a column that rows do not have")
        for name in ("linear", "follower"):
            part = getattr(self, name)
            fits = part is None or len(part.middle) <= d
            require(fits, f"{name}/middle: has more columns than rows have")


class SecondModel(CorrectedModel):
    """A :class:`CorrectedModel` for what another one leaves, which grows trees and follows.

    Its cells hardly matter, so they go on as they are after a fit.
    """

    n_growths: ClassVar[int] = 0
    follows: ClassVar[bool] = False

    def corrections_anew(self) -> None:
        return None
