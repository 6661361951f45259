"""The model that predicts, and the challenger that takes its place once it is clearly better.

When the losses of the predictions rise (:mod:`onkel.default.loss_history`), a challenger begins
from nothing on the rows that follow, with widths and landmarks of its own, while the model goes on.
Once the challenger's last predictions are clearly better than the model's on the same rows, it
takes the model's place. A challenger that has not done so after ``PATIENCE`` rows is dropped, and
the next begins only when the losses rise by more.

Decisions fall on multiples of ``BIN_ROWS`` rows, never on the end of a block. All of this never
takes more work than learning itself (:mod:`onkel.default.spending`): where it would, the challenger
begins later, and the search of a model that has taken over waits
(:mod:`onkel.default.late_searches`).
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np

from onkel.default.comparing import Comparison
from onkel.default.late_searches import postpones, refit_if_paid, search_if_paid
from onkel.default.loss_history import BIN_ROWS, LossHistory
from onkel.default.open_bin import OpenBin
from onkel.default.spending import Spending, work_of_fits
from onkel.explicit.model import ExplicitModel
from onkel.losses import Loss
from onkel.maps.base import FeatureMap
from onkel.rules.base import Rule
from onkel.state import Array, Flag, Whole, check, inside, require

_CHANGES_KEPT = 64


class Beginning(NamedTuple):
    """What every model begins with: a map started, not fitted; a rule, a loss and epsilon."""

    map: FeatureMap
    parts: tuple[Rule, Loss, float]
    representation: type[ExplicitModel]

    def model(self, n_outputs: int) -> ExplicitModel:
        """A new model, f = 0, with the seed in use."""
        model = self.representation(copy.copy(self.map), *self.parts, n_outputs)
        model.seed = self.map.seed_
        return model


class Rivals:
    """Models of a common beginning, of which one predicts."""

    def __init__(self, beginning: Beginning, n_outputs: int) -> None:
        self.beginning = beginning
        self.current = beginning.model(n_outputs)
        self.challenger: ExplicitModel | None = None
        self.history = LossHistory()
        self.open_bin = OpenBin()
        #: losses of both since the challenger began
        self.comparison = Comparison()
        self.n_changes = 0
        #: whole bins so far, and how many there were at each of the last changes
        self.n_bins = 0
        self.changes: list[int] = []
        #: whether an alarm, and not a new column, made the challenger begin
        self.alarmed = False
        #: whether a new column still waits for its challenger, which could not be paid
        self.column_waits = False
        #: the work of learning and of following changes
        self.spending = Spending()

    def models(self) -> list[ExplicitModel]:
        """The one that predicts, and the challenger where there is one."""
        return [self.current] if self.challenger is None else [self.current, self.challenger]

    @property
    def waits_for_search(self) -> bool:
        """Whether the model that predicts took over, and may still search."""
        return self.n_changes > 0 and self._postpones and self.current.warmup is not None

    @property
    def _postpones(self) -> bool:
        return postpones(self.beginning.map)

    # ---- decisions -----------------------------------------------------------------------------

    def end_bin(self) -> bool:
        """End a bin; returns whether the challenger takes over."""
        losses = self.open_bin.close()
        self._count_work()
        self.history.add(losses[:, 0])
        taken = False
        if self.challenger is None:
            risen = self.history.risen()
            if risen or self.column_waits:
                self.challenge(alarmed=risen)
        else:
            self.comparison.add(losses)
            taken = self.comparison.better()
            if taken:
                self._take_over(self.challenger)
            elif self.comparison.too_long():
                # a new history: no alarm until the losses rise again, and by more
                self.challenger = None
                self.history = LossHistory(self.history.in_vain + int(self.alarmed))
        if self.waits_for_search:
            search_if_paid(self.current, self.spending)
        return taken

    def _count_work(self) -> None:
        """Count the work of a bin's rows."""
        start, end = self.n_bins * BIN_ROWS, (self.n_bins + 1) * BIN_ROWS
        self.spending.count_rows(self.beginning.map, start, end, self.challenger is not None)
        self.n_bins += 1

    def challenge(self, alarmed: bool) -> None:
        """Let a challenger begin, if its fits can be paid; else later."""
        challenger = self._begin_challenger()
        fits = work_of_fits(challenger.map, 0, challenger.map.warmup_rows())
        paid = self.spending.pay(fits)
        self.column_waits = not paid and (self.column_waits or not alarmed)
        if not paid:
            return
        self.challenger, self.alarmed = challenger, alarmed
        self.comparison = Comparison()
        self.open_bin.count_as_equal()

    def _begin_challenger(self) -> ExplicitModel:
        challenger = self.beginning.model(self.current.n_outputs)
        challenger.map.postpone(self._postpones)
        return challenger

    def _take_over(self, challenger: ExplicitModel) -> None:
        self.current, self.challenger = challenger, None
        self.history, self.column_waits = LossHistory(), False
        self.n_changes += 1
        self.changes = [*self.changes, self.n_bins][-_CHANGES_KEPT:]
        if not self._postpones:
            refit_if_paid(challenger, self.spending)

    def stay(self) -> None:
        """The model that predicts is to stay: forget the challenger and the losses."""
        self.challenger, self.history = None, LossHistory()
        self.open_bin, self.comparison = OpenBin(), Comparison()

    # ---- state ---------------------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        """Named arrays and scalars from which :meth:`set_state` goes on bit for bit."""
        state = {
            "n_outputs": self.current.n_outputs,
            "current": self.current.get_state(),
            "history": self.history.get_state(),
            "open_bin": self.open_bin.losses,
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
        """Take the state of rivals of the same map, rule and loss."""
        _check_numbers(state)
        with inside(state, "current") as current:
            self.current.set_state(current)
        self.challenger = None
        if "challenger" in state:
            self.challenger = self._begin_challenger()
            with inside(state, "challenger") as challenger:
                self.challenger.set_state(challenger)
            same = self.challenger.n_outputs == self.current.n_outputs
            require(same, "challenger: has another number of outputs than current")
        with inside(state, "spending") as spending:
            self.spending.set_state(spending)
        with inside(state, "history") as history:
            self.history.set_state(history)
        self.open_bin.losses = np.array(state["open_bin"])
        self.comparison.bins = np.array(state["compared"])
        self.n_changes, self.alarmed = state["n_changes"], bool(state["alarmed"])
        self.column_waits = bool(state["column_waits"])
        self.n_bins, self.changes = state["n_bins"], state["changes"].tolist()


def _check_numbers(state: dict[str, Any]) -> None:
    """Check what a state holds beside the states of the models, the history and the work."""
    pairs = Array(shape=("bins", 2), low=-1e300, high=1e300)
    rows = Array(shape=("rows", 2), low=-1e300, high=1e300)
    changes = Array(dtype=np.int64, shape=("changes",), low=1, high=2**58)
    fields = {"open_bin": rows, "compared": pairs, "n_changes": Whole(), "alarmed": Flag()}
    fields["column_waits"] = Flag()
    sizes = check(state, fields | {"n_bins": Whole(), "changes": changes})
    require(sizes["changes"] <= _CHANGES_KEPT, "changes: holds more than are kept")
    require(sizes["rows"] < BIN_ROWS, f"open_bin: holds {sizes['rows']} rows, a whole bin")
