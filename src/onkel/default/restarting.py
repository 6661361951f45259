"""A model that is replaced by a new one when its stream has changed.

When the losses of the predictions rise (:mod:`onkel.default.loss_history`), a challenger begins
from nothing on the rows that follow, with widths and landmarks of its own, while the model goes on.
Once the challenger's last predictions are clearly better than the model's on the same rows, it
takes the model's place. A challenger that has not done so after ``PATIENCE`` rows is dropped, and
the next begins only when the losses rise by more. Until it has taken over, its map postpones the
expensive search. On a steady stream this costs nothing but the losses.

A challenger also begins when a column comes in mid-stream: fixed landmarks, which are 0 there,
barely use a new column. Decisions fall on multiples of ``BIN_ROWS`` rows, never on the end of a
block.

All of this never takes more work than learning itself (:mod:`onkel.default.spending`): where it
would, the challenger begins later, and the search of a model that has taken over waits.

Source: background learners as in Gomes et al. 2017 (adaptive random forests), with one
model instead of a hundred trees; the test is the two-sample one of Bifet & Gavaldà 2007.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from onkel.default.comparing import PATIENCE, Comparison
from onkel.default.loss_history import BIN_ROWS, LossHistory, losses_of
from onkel.default.spending import Spending, under_way, work_begun, work_of_fits
from onkel.errors import MergeError
from onkel.explicit.model import ExplicitModel
from onkel.losses import Loss
from onkel.maps.base import FeatureMap
from onkel.merging import require_same
from onkel.rules.base import Rule
from onkel.state import Array, Flag, Whole, check, inside, require

_CHANGES_KEPT = 64
#: the share of what may be spent that searches may take
_FOR_SEARCHES = 0.75


class RestartingModel:
    """Explicit models over maps of their own, one of which predicts; the interface is a model's.

    Parameters
    ----------
    feature_map : FeatureMap
        Started, not fitted: every model begins with a copy.
    rule, loss, epsilon, n_outputs
        As of :class:`onkel.explicit.model.ExplicitModel`.
    representation : type
        What the models are: :class:`~onkel.explicit.model.ExplicitModel` or made like it.
    """

    def __init__(
        self,
        feature_map: FeatureMap,
        rule: Rule,
        loss: Loss,
        epsilon: float,
        n_outputs: int,
        representation: type[ExplicitModel] = ExplicitModel,
    ) -> None:
        self.unfitted = feature_map
        self.parts = rule, loss, epsilon
        self.representation = representation
        self.current = self._begin(n_outputs)
        self.challenger: ExplicitModel | None = None
        self.history = LossHistory()
        #: losses of model and challenger on the rows since the last whole bin
        self.open_bin = np.zeros((0, 2))
        #: both since the challenger began
        self.comparison = Comparison()
        self.n_changes = 0
        #: whole bins so far, and those after which the last changes came
        self.n_bins = 0
        self.changes: list[int] = []
        #: whether it was an alarm, and not a new column, that the challenger began at
        self.alarmed = False
        #: whether a column has come whose challenger could not begin yet
        self.column_waits = False
        #: the work of learning and of following changes
        self.spending = Spending()
        #: whether the model stays, whatever the losses: parts of a stream are to be merged
        self.fixed = False

    @property
    def changed_at(self) -> list[int]:
        """Rows learned when a new model took over, the last 64 times."""
        return [bins * BIN_ROWS for bins in self.changes]

    @property
    def map(self) -> FeatureMap:
        """The map of the model that predicts."""
        return self.current.map

    @property
    def coef(self) -> np.ndarray:
        """The weights of the model that predicts."""
        return self.current.coef

    @property
    def n_outputs(self) -> int:
        """Number of outputs K."""
        return self.current.n_outputs

    @property
    def cannot_diverge(self) -> bool:
        """As of the model that predicts."""
        return self.current.cannot_diverge

    @property
    def seed(self) -> int:
        """What every random choice comes from."""
        return self.current.seed

    @seed.setter
    def seed(self, value: int) -> None:
        self.unfitted.seed_ = value
        for model in self._models():
            model.seed = value

    def _begin(self, n_outputs: int) -> ExplicitModel:
        """f = 0, of the seed that is in use."""
        model = self.representation(copy.copy(self.unfitted), *self.parts, n_outputs)
        model.seed = self.unfitted.seed_
        return model

    # ---- prediction ----------------------------------------------------------------------------

    def scores(self, X: Any) -> np.ndarray:
        """f(x) of each row, (n, K) in float64."""
        return self.current.scores(X)

    def score_row(self, X: np.ndarray) -> np.ndarray:
        """f(x) of the one row of X (1, d), (K,)."""
        return self.current.score_row(X)

    def variance(self, X: Any) -> np.ndarray:
        """Predictive variance (n,)."""
        return self.current.variance(X)

    # ---- learning ------------------------------------------------------------------------------

    def learn_row(self, X: np.ndarray, y: float, weight: float) -> None:
        """Learn the one row of X (1, d)."""
        self.learn(X, np.array([y]), np.array([weight]))

    def learn(self, X: Any, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Learn the rows in order; returns the scores (n, K) before each was learned."""
        if self.fixed:
            return self.current.learn(X, y, weight)
        if self.challenger is None and len(y) < BIN_ROWS - len(self.open_bin):
            # within a bin nothing is decided
            P = self.current.learn(X, y, weight)
            self._note_losses(P, None, y, weight)
            return P
        P, known = np.zeros((len(y), self.current.n_outputs)), 0
        for start, end in self._bins(weight):
            if known < end:
                # where nothing is to be decided, the model learns the rest of the block at once
                alone = self.challenger is None and not self._decides_on_searches()
                stop = len(y) if alone else end
                rows = slice(known, stop)
                P[rows], known = self.current.learn(X[rows], y[rows], weight[rows]), stop
            rows = slice(start, end)
            Q = None
            if self.challenger is not None:
                Q = self.challenger.learn(X[rows], y[rows], weight[rows])
            self._note_losses(P[rows], Q, y[rows], weight[rows])
            if len(self.open_bin) == BIN_ROWS and self._close():
                # the new model learns the rows after these; the former model's work is void
                known = end
        return P

    def _note_losses(
        self, P: np.ndarray, Q: np.ndarray | None, y: np.ndarray, weight: np.ndarray
    ) -> None:
        """Put the losses of scores P, and of a challenger's Q, of rows that count in the bin."""
        losses = np.zeros((len(y), 2))
        losses[:, 0] = losses_of(self.current, P, y)
        if Q is not None:
            losses[:, 1] = losses_of(self.current, Q, y)
        self.open_bin = np.concatenate([self.open_bin, losses[weight > 0.0]])

    def _bins(self, weight: np.ndarray) -> Iterator[tuple[int, int]]:
        """Where the rows' bins begin and end."""
        ends = np.flatnonzero(weight > 0.0)[BIN_ROWS - len(self.open_bin) - 1 :: BIN_ROWS] + 1
        cuts = [0, *ends.tolist(), len(weight)]
        return ((a, b) for a, b in pairwise(cuts) if a < b)

    def _close(self) -> bool:
        """End a bin: whether the challenger takes over."""
        losses, self.open_bin = self.open_bin, np.zeros((0, 2))
        self._count_work()
        self.history.add(losses[:, 0])
        taken = False
        if self.challenger is None:
            risen = self.history.risen()
            if risen or self.column_waits:
                self._challenge(alarmed=risen)
        else:
            self.comparison.add(losses)
            taken = self.comparison.better()
            if taken:
                self._take_over(self.challenger)
            elif self.comparison.too_long():
                # a new history: no alarm until the losses rise again, and by more
                self.challenger = None
                self.history = LossHistory(self.history.in_vain + int(self.alarmed))
        if self._decides_on_searches():
            self._decide_on_searches()
        return taken

    def _count_work(self) -> None:
        """Of the rows of a bin."""
        start, end = self.n_bins * BIN_ROWS, (self.n_bins + 1) * BIN_ROWS
        rows = BIN_ROWS * self.unfitted.work_of_row()
        self.spending.learned += rows + work_of_fits(self.unfitted, start, end)
        if self.challenger is not None:
            self.spending.followed += rows
        self.n_bins += 1

    def _challenge(self, alarmed: bool) -> None:
        """Let a challenger begin, if its fits can be paid; else later."""
        challenger = self._begin_challenger(self.current.n_outputs)
        fits = work_of_fits(challenger.map, 0, challenger.map.warmup_rows())
        paid = self.spending.pay(fits)
        self.column_waits = not paid and (self.column_waits or not alarmed)
        if not paid:
            return
        self.challenger, self.alarmed = challenger, alarmed
        self.comparison = Comparison()
        # for the open bin's rows, which it has not seen, it counts as equal
        self.open_bin[:, 1] = self.open_bin[:, 0]

    def _begin_challenger(self, n_outputs: int) -> ExplicitModel:
        challenger = self._begin(n_outputs)
        challenger.map.postpone(self._postpones)
        return challenger

    @property
    def _postpones(self) -> bool:
        """Whether searches are postponed: they can be as long as the first rows are kept."""
        return self.unfitted.warmup_rows() > PATIENCE

    def _take_over(self, challenger: ExplicitModel) -> None:
        self.current, self.challenger = challenger, None
        self.history, self.column_waits = LossHistory(), False
        self.n_changes += 1
        self.changes = [*self.changes, self.n_bins][-_CHANGES_KEPT:]
        if challenger.warmup is None or self._postpones:
            return
        if self.spending.pay(challenger.map.work_of_fit(challenger.warmup.count)):
            challenger.refit()

    def _decides_on_searches(self) -> bool:
        """Whether the model that predicts took over, and may still search."""
        return self.n_changes > 0 and self._postpones and self.current.warmup is not None

    def _decide_on_searches(self) -> None:
        """Let the model that has taken over search while the next bin comes, if that can be paid.

        What it owes is due a little later, and made while those rows come.
        """
        feature_map, warmup = self.current.map, self.current.warmup
        assert warmup is not None
        if under_way(feature_map, warmup.count, warmup.n_rows):
            return
        feature_map.postpone(False, warmup.count)
        work = work_begun(feature_map, warmup.count, BIN_ROWS, warmup.n_rows)
        if not self.spending.pay(work, _FOR_SEARCHES):
            feature_map.postpone(True)

    # ---- models of several parts ---------------------------------------------------------------

    def fix_map(self) -> None:
        """Keep the model that predicts: no other begins from now on."""
        self.current.fix_map()
        self.fixed, self.challenger, self.history = True, None, LossHistory()
        self.open_bin, self.comparison = np.zeros((0, 2)), Comparison()

    def require_alike(self, other: Any) -> None:
        """MergeError, naming the difference, unless :meth:`take_in` can take in ``other``."""
        require_same("what they are", type(self).__name__, type(other).__name__)
        if not (self.fixed and other.fixed):
            raise MergeError(
                "a learner that may begin anew cannot be merged: let one learn a sample and call "
                "fix_map(); then let each part learn with a copy of it"
            )
        self.current.require_alike(other.current)

    def take_in(self, other: Any, origin: Any) -> None:
        """Add what ``other`` learned since both were ``origin`` (None: since the first row)."""
        self.current.take_in(other.current, None if origin is None else origin.current)

    # ---- the rest of a model -------------------------------------------------------------------

    def add_output(self, position: int) -> None:
        """Make room for a class with zero scores at ``position``."""
        for model in self._models():
            model.add_output(position)

    def add_columns(self, n: int) -> None:
        """Take rows with n columns more; a challenger begins, unless a fit is still to come."""
        self.widen(n)
        fixed = all(model.ready and model.warmup is None for model in self._models())
        if fixed and not self.fixed:
            self._challenge(alarmed=False)

    def widen(self, n: int) -> None:
        """Take rows with n columns more, and go on."""
        self.unfitted.add_columns(n)
        for model in self._models():
            model.add_columns(n)

    def _models(self) -> list[ExplicitModel]:
        return [self.current] if self.challenger is None else [self.current, self.challenger]

    def get_state(self) -> dict[str, Any]:
        """Named arrays and scalars from which :meth:`set_state` goes on bit for bit."""
        state = {
            "n_outputs": self.current.n_outputs,
            "current": self.current.get_state(),
            "history": self.history.get_state(),
            "open_bin": self.open_bin,
            "compared": self.comparison.bins,
            "n_changes": self.n_changes,
            "n_bins": self.n_bins,
            "changes": np.array(self.changes, dtype=np.int64),
            "alarmed": self.alarmed,
            "column_waits": self.column_waits,
            "spending": self.spending.get_state(),
        }
        if self.challenger is not None:
            state["challenger"] = self.challenger.get_state()
        return state

    def set_state(self, state: dict[str, Any]) -> None:
        """Take the state of a model of the same map, rule and loss."""
        pairs = Array(shape=("bins", 2), low=-1e300, high=1e300)
        rows = Array(shape=("rows", 2), low=-1e300, high=1e300)
        changes = Array(dtype=np.int64, shape=("changes",), low=1, high=2**58)
        fields = {"open_bin": rows, "compared": pairs, "n_changes": Whole(), "alarmed": Flag()}
        fields["column_waits"] = Flag()
        sizes = check(state, fields | {"n_bins": Whole(), "changes": changes})
        require(sizes["changes"] <= _CHANGES_KEPT, "changes: holds more than are kept")
        require(sizes["rows"] < BIN_ROWS, f"open_bin: holds {sizes['rows']} rows, a whole bin")
        with inside(state, "current") as current:
            self.current.set_state(current)
        self.challenger = None
        if "challenger" in state:
            self.challenger = self._begin_challenger(self.current.n_outputs)
            with inside(state, "challenger") as challenger:
                self.challenger.set_state(challenger)
            same = self.challenger.n_outputs == self.current.n_outputs
            require(same, "challenger: has another number of outputs than current")
        with inside(state, "spending") as spending:
            self.spending.set_state(spending)
        with inside(state, "history") as history:
            self.history.set_state(history)
        self.open_bin = np.array(state["open_bin"])
        self.comparison.bins = np.array(state["compared"])
        self.n_changes, self.alarmed = state["n_changes"], bool(state["alarmed"])
        self.column_waits = bool(state["column_waits"])
        self.n_bins, self.changes = state["n_bins"], state["changes"].tolist()
