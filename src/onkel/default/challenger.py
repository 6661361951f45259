"""A model that is replaced by a new one when its stream has changed.

When the losses of the predictions rise (:mod:`onkel.default.loss_window`), a challenger begins from
nothing on the rows that follow, with widths and landmarks of its own, while the model goes on. Once
the challenger's last predictions are clearly better than the model's on the same rows, it takes the
model's place. A challenger that has not done so after ``PATIENCE`` rows is dropped, and the next
begins only when the losses rise by more. A challenger also begins when a column comes in
mid-stream: fixed landmarks, which are 0 there, barely use a new column.

Trees that a model grows early (:mod:`onkel.default.early_trees`) are left out of the comparison: a
model that begins has none yet.

Decisions fall on multiples of ``BIN_ROWS`` rows, never on the end of a block. All of this never
takes more work than learning itself (:mod:`onkel.default.compute_budget`): where it would, the
challenger begins later, and the search of a model that has taken over waits. On a steady stream all
this costs nothing but the losses.

Source: background learners as in Gomes et al. 2017 (adaptive random forests), with one model
instead of a hundred trees; the test is the two-sample one of Bifet & Gavaldà 2007.
"""

from __future__ import annotations

import copy
import math
from typing import ClassVar, Self

import numpy as np

from onkel.annotations import Matrix
from onkel.default.compute_budget import ComputeBudget, postpones_search, work_of_all_fits
from onkel.default.loss_window import (
    BIN_ROWS,
    FIRST_BINS,
    LARGEST_LOSS,
    Comparison,
    LossHistory,
    LossWindow,
)
from onkel.default.rows_before import RowsBefore
from onkel.errors import MergeError
from onkel.explicit.model import ExplicitModel
from onkel.fields import Array, Fields, Flag, Sizes, State, Whole, require
from onkel.losses import Loss
from onkel.maps.base import FeatureMap
from onkel.merging import require_same
from onkel.model.contract import WorkOfFits
from onkel.model.warmup import Warmup
from onkel.numerics.arrays import targets_of
from onkel.rules.base import Rule, RuleKind
from onkel.state import Part, Stateful

_CHANGES_KEPT = 64


class RestartingModel(Stateful):
    """One or two explicit models, one of which predicts; the interface is that of a single model.

    Every model, of the class ``representation``, begins with a copy of the map, which is started
    and not fitted.
    """

    STATE: ClassVar[Fields] = {
        "n_outputs": Whole(size="n_outputs"),
        "n_changes": Whole(),
        "n_bins": Whole(),
        "changes": Array(np.int64, ("changes",), low=1, high=2**58),
        "alarmed": Flag(),
        "column_waits": Flag(),
        "current": Part(),
        "challenger": Part(optional=True, begin=lambda model: model._begin_challenger()),
        "budget": Part(),
        "history": Part(),
        "window": Part(),
        "comparison": Part(),
        "before": Part(lambda model: model._no_rows(), anew=True, optional=True),
    }

    def __init__(
        self,
        feature_map: FeatureMap,
        rule: Rule,
        loss: Loss,
        epsilon: float,
        n_outputs: int,
        representation: type[ExplicitModel] = ExplicitModel,
    ) -> None:
        self.unfitted: FeatureMap = feature_map
        self.parts: tuple[Rule, Loss, float] = (rule, loss, epsilon)
        self.representation = representation
        self.n_outputs: int = n_outputs
        #: the model that predicts
        self.current: ExplicitModel = self._new_model(n_outputs)
        self.challenger: ExplicitModel | None = None
        self.history: LossHistory = LossHistory()
        self.window: LossWindow = LossWindow()
        #: losses of both since the challenger began
        self.comparison: Comparison = Comparison()
        self.budget: ComputeBudget = ComputeBudget()
        self.n_changes: int = 0
        #: whole bins so far, and how many there were at each of the last changes
        self.n_bins: int = 0
        self.changes: np.ndarray = np.empty(0, np.int64)
        #: whether an alarm, and not a new column, made the challenger begin
        self.alarmed: bool = False
        #: whether a new column still waits for its challenger, which the budget did not cover
        self.column_waits: bool = False
        #: rows of the models before, for the last fit
        self.before: RowsBefore | None = None
        # the work of a challenger that spares fits, once a whole one was refused; 0: not known. An
        # alarm asks for it at every bin, and to count it takes as long as to learn some rows
        self._least_work: int = 0
        #: whether the model stays, whatever the losses: parts of a stream are to be merged
        self.fixed: bool = False

    def _new_model(self, n_outputs: int) -> ExplicitModel:
        """A model with f = 0 and the seed in use."""
        model = self.representation(copy.copy(self.unfitted), *self.parts, n_outputs)
        model.seed = self.unfitted.seed_
        return model

    def models(self) -> list[ExplicitModel]:
        """The one that predicts, and the challenger where there is one."""
        return [self.current] if self.challenger is None else [self.current, self.challenger]

    # ---- learning ------------------------------------------------------------------------------

    @property
    def rows_at_once(self) -> int:
        """As many rows as are learned in well under a second: signals wait for their end."""
        return self.current.rows_at_once

    def row_to_learn(self, X: np.ndarray) -> None:
        """None: no compiled call alone learns a row, as its loss counts, too."""

    def learn_row(self, X: np.ndarray, y: float, weight: float) -> None:
        """Learn the one row of X (1, d)."""
        self.learn(X, np.array([y]), np.array([weight]))

    def learn(self, X: Matrix, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Learn the rows in order; returns the scores (n, K) before each was learned."""
        if self.fixed:
            return self.current.learn(X, y, weight)
        P, losses = np.zeros((len(y), self.n_outputs)), np.zeros((len(y), 2))
        Q, done, known, first, parts = np.zeros(P.shape), 0, 0, 0, None
        while done < len(y):
            # where nothing is to be decided, the model learns the rest of the block at once
            alone = self.challenger is None and not self.waits_for_search
            end = len(y) if alone else self.window.end_of_bin(weight, done)
            if known < end:
                rows, first = slice(known, end), known
                of = X[rows], y[rows], weight[rows]
                if end - known > BIN_ROWS - len(self.window.losses):
                    # another model may begin amid these rows, and take over amid them
                    parts, own, added = self.current.learn_ahead(*of)
                    end = known + len(own)
                else:
                    own, added = self.current.learn_apart(*of)
                rows, known = slice(known, end), end
                losses[rows, 0] = self.losses(own, y[rows])
                Q[rows], P[rows] = own, own + added
            rows = slice(done, end)
            if self.challenger is not None:
                own, _ = self.challenger.learn_apart(X[rows], y[rows], weight[rows])
                losses[rows, 1] = self.losses(own, y[rows])
            for bin_end, whole in self.window.add(losses[rows], weight[rows]):
                former = self.current
                if self._end_bin(whole):
                    if end < known:
                        # the former model's work on the rows after these is void
                        again = slice(first, end)
                        former.go_back(parts, X[again], y[again], weight[again], Q[again])
                        known = end
                    self.current.succeed(former)
                if alone and self.challenger is not None:
                    # it learns the rows after these
                    end, self.window = done + bin_end, LossWindow()
                    break
            done = end
        return P

    def losses(self, P: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The loss of each row, in the same unit whether two classes are one output or two."""
        targets, one = targets_of(y, self.n_outputs), P.shape[1] == 1
        if self.current.rule.kind == RuleKind.NEWTON:
            signs = targets if one else 2.0 * targets - 1.0
            of_outputs = np.logaddexp(0.0, -signs * P).sum(axis=1)
            return np.asarray(of_outputs if one else 0.5 * of_outputs)
        squares = np.sum((P - targets) ** 2, axis=1)
        return np.asarray(0.5 * squares if one else squares)

    def _end_bin(self, losses: np.ndarray) -> bool:
        """Decide at the end of a bin of these losses; returns whether the challenger takes over."""
        taken, rows, challenged = False, self.n_bins * BIN_ROWS, self.challenger is not None
        self.budget.count_rows(self.unfitted, rows, rows + BIN_ROWS, challenged)
        self.n_bins += 1
        if self.history.waiting == FIRST_BINS:
            self.history.choose_unit(losses)
        # in units sums of squares are finite; here, as every bin of every block comes this way
        unit = self.history.unit or 1.0
        losses = np.minimum(losses, LARGEST_LOSS * unit) / unit
        risen = self.history.add(losses[:, 0])
        if self.challenger is None:
            if risen or self.column_waits:
                self.challenge(alarmed=risen)
        else:
            self.comparison.add(losses)
            taken = self.comparison.better(self.history.worth)
            if taken:
                self._keep_rows(self.challenger.warmup)
                self.current, self.challenger = self.challenger, None
                self.history.begin_again(in_vain=0)
                self.column_waits = False
                self.n_changes += 1
                self.changes = np.append(self.changes, self.n_bins)[-_CHANGES_KEPT:]
                if not postpones_search(self.unfitted):
                    self.budget.refit(self.current)
            elif self.comparison.too_long():
                # no alarm until the losses rise again, and by more
                self.challenger = None
                self.history.begin_again(self.history.in_vain + int(self.alarmed))
        if self.waits_for_search:
            self.budget.search(self.current)
        return taken

    def _keep_rows(self, of_new: Warmup | None) -> None:
        """Keep some of the rows that only the models before the new one have learned."""
        if of_new is not None and postpones_search(self.unfitted):
            began, size = self.n_bins * BIN_ROWS - of_new.count, self.unfitted.warmup_rows()
            before = self.before or self._no_rows()
            self.before = before.followed(self.current.warmup, began, size, self.seed)

    def _no_rows(self) -> RowsBefore:
        return RowsBefore(self.unfitted.n_features_in_, self.unfitted.dtype_)

    @property
    def waits_for_search(self) -> bool:
        """Whether the model that predicts took over, and may still search."""
        took_over = self.n_changes > 0 and self.current.warmup is not None
        return took_over and postpones_search(self.unfitted)

    def challenge(self, alarmed: bool) -> None:
        """Let a challenger begin, if the budget covers its fits; else later.

        After an alarm it may do without fits that only compete: a change cannot wait for them.
        """
        if alarmed and self._least_work > self.budget.left:
            # refused before, and still not covered
            return
        challenger = self._begin_challenger()
        covered = self.budget.charge(work_of_all_fits(challenger.map))
        if alarmed and not covered:
            challenger.map.spare_work()
            self._least_work = work_of_all_fits(challenger.map)
            covered = self.budget.charge(self._least_work)
        self.column_waits = not covered and (self.column_waits or not alarmed)
        if not covered:
            return
        self.challenger, self.alarmed = challenger, alarmed
        self.comparison = Comparison()
        self.window.count_as_equal()

    def _begin_challenger(self) -> ExplicitModel:
        challenger = self._new_model(self.n_outputs)
        challenger.map.begin_beside(self.current.map)
        challenger.map.postpone(postpones_search(self.unfitted))
        return challenger

    def work_of_fits(self, rows: int) -> WorkOfFits:
        """As of the model that predicts; challengers cannot be foreseen."""
        return self.current.work_of_fits(rows)

    def rows_before_fit(self) -> float:
        """As of all models; where one may take over or begin a search, the rest of the bin."""
        decided = self.challenger is not None or self.waits_for_search
        rest = BIN_ROWS - len(self.window) - 1 if decided else math.inf
        return min(rest, *(model.rows_before_fit() for model in self.models()))

    def fit_ahead(self) -> bool:
        return any(model.fit_ahead() for model in self.models())

    def rows_kept(self) -> np.ndarray:
        """As of all models, one after the other; before them, rows from before the last change."""
        n_rows = self.n_bins * BIN_ROWS + len(self.window)
        before = [] if self.before is None else [n_rows - self.before.born]
        return np.concatenate([*before, *(model.rows_kept() for model in self.models())])

    def change_rows_kept(self, columns: np.ndarray, values: np.ndarray) -> None:
        """As of the model that predicts, and of rows from before the last change."""
        n_before = 0 if self.before is None else self.before.count
        if self.current.fits_last():
            n = n_before + len(self.current.rows_kept())
            self.current.change_rows_kept(columns, values[n_before:n])
            if self.before is not None:
                self.before.replace(columns, values[:n_before])

    def rows_before_anew(self) -> float:
        """As of the model that predicts."""
        return self.current.rows_before_anew()

    def consolidate(self) -> None:
        """The model that predicts fits once more on all rows it keeps, or on those before, too."""
        model, own = self.current, self.current.warmup
        before = self.before if model.ready else None
        if own and before and before.tell(own, model.map.features, model.penalty, self.n_outputs):
            model.warmup = before.and_own(own, self.seed)
        try:
            model.consolidate()
        finally:
            # also where a signal breaks the fit off
            model.warmup = own

    # ---- what a single model has, too ----------------------------------------------------------

    @property
    def changed_at(self) -> list[int]:
        """Rows learned when a new model took over, the last 64 times."""
        return [int(bins) * BIN_ROWS for bins in self.changes]

    @property
    def map(self) -> FeatureMap:
        """The map of the model that predicts."""
        return self.current.map

    @property
    def coef(self) -> np.ndarray:
        """The weights of the model that predicts."""
        return self.current.coef

    @property
    def cannot_diverge(self) -> bool:
        """Whether the model that predicts cannot diverge."""
        return self.current.cannot_diverge

    @property
    def seed(self) -> int:
        """The seed of every random choice."""
        return self.current.seed

    @seed.setter
    def seed(self, value: int) -> None:
        self.unfitted.seed_ = value
        for model in self.models():
            model.seed = value

    def scores(self, X: Matrix) -> np.ndarray:
        """f(x) of each row, (n, K) in float64."""
        return self.current.scores(X)

    def score_row(self, X: np.ndarray) -> np.ndarray:
        """f(x) of the one row of X (1, d), (K,)."""
        return self.current.score_row(X)

    def variance(self, X: Matrix) -> np.ndarray:
        """Predictive variance (n,)."""
        return self.current.variance(X)

    def add_output(self, position: int) -> None:
        """Make room for a class with zero scores at ``position``."""
        if self.before is not None:
            self.before.add_class(position, from_signs=self.n_outputs == 1)
        for model in self.models():
            model.add_output(position)
        self.n_outputs = self.current.n_outputs

    def add_columns(self, n: int) -> None:
        """Take rows with n columns more; a challenger begins, unless a fit is still to come."""
        if self.fixed:
            self.widen(n)
            return
        self._widen_rows(n)
        for model in self.models():
            model.add_columns(n)
        if all(model.ready and model.warmup is None for model in self.models()):
            self.challenge(alarmed=False)

    def widen(self, n: int) -> None:
        """Take rows with n columns more, and go on."""
        self._widen_rows(n)
        for model in self.models():
            model.widen(n)

    def _widen_rows(self, n: int) -> None:
        self.unfitted.add_columns(n)
        self._least_work = 0
        if self.before is not None:
            self.before.add_columns(n)

    # ---- models of several parts ---------------------------------------------------------------

    def fix_map(self) -> None:
        """Keep the model that predicts: no other begins from now on."""
        self.current.fix_map()
        self.fixed = True
        self.challenger, self.before, self.history = None, None, LossHistory()
        self.window, self.comparison = LossWindow(), Comparison()

    def require_alike(self, other: Self) -> None:
        """MergeError, naming the difference, unless :meth:`take_in` can take in ``other``."""
        require_same("what they are", type(self).__name__, type(other).__name__)
        if not (self.fixed and other.fixed):
            raise MergeError(
                "a learner that may begin anew does not merge: let one learn a sample and call "
                "fix_map(); then let each part learn with a copy of it"
            )
        self.current.require_alike(other.current)

    def take_in(self, other: Self, origin: Self | None) -> None:
        """Add what ``other`` learned since both were ``origin`` (None: since the first row)."""
        self.current.take_in(other.current, None if origin is None else origin.current)

    # ---- state ---------------------------------------------------------------------------------

    def state_sizes(self) -> Sizes:
        return {"n_outputs": self.n_outputs}

    def check_state(self, state: State, sizes: Sizes) -> None:
        require(sizes["changes"] <= _CHANGES_KEPT, "changes: holds more than are kept")
