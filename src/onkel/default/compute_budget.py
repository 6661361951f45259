"""What following changes may cost: at most as much again as learning itself.

Work is counted, in multiplications (:meth:`onkel.maps.base.FeatureMap.work_of_fit`), and never
timed, so what is done does not depend on the machine. *Learning itself* is what a single model
would have taken for the rows so far, its searches included. All else follows changes: the rows and
fits of challengers, and the fits of those that have taken over. A challenger begins only when the
budget covers its fits, and they are charged at once. It postpones the expensive search, because
most challengers never need one. After it has taken over, it searches as soon as the budget covers
that; searches leave a quarter of the budget for challengers.
"""

from __future__ import annotations

from typing import ClassVar

from onkel.default.loss_window import BIN_ROWS, PATIENCE
from onkel.explicit.model import ExplicitModel
from onkel.fields import Fields, Whole
from onkel.maps.base import FeatureMap
from onkel.state import Stateful

# The share of the budget that searches may take.
_FOR_SEARCHES = 0.75


class ComputeBudget(Stateful):
    """Multiplications that learning itself took, and those spent on following changes."""

    STATE: ClassVar[Fields] = {"learned": Whole(), "followed": Whole()}

    def __init__(self) -> None:
        self.learned: int = 0
        self.followed: int = 0

    @property
    def left(self) -> int:
        """Multiplications that may still be spent on following changes."""
        return self.learned - self.followed

    def charge(self, work: int, share: float = 1.0) -> bool:
        """Charge ``work`` and return True, or return False where the budget does not cover it.

        The budget is ``share`` of the work of learning.
        """
        if self.followed + work > share * self.learned:
            return False
        self.followed += work
        return True

    def count_rows(self, unfitted: FeatureMap, start: int, end: int, challenged: bool) -> None:
        """Count rows ``start`` to ``end``; ``challenged``: a challenger has learned them, too."""
        rows, fits = unfitted.work_between(start, end)
        self.learned += rows + fits
        if challenged:
            self.followed += rows

    # ---- fits and searches of a model that has taken over --------------------------------------

    def refit(self, model: ExplicitModel) -> None:
        """Fit the model's map once more, if the budget covers it; for maps that never search."""
        if model.warmup is not None and self.charge(model.map.work_of_fit(model.warmup.count)):
            model.refit()

    def search(self, model: ExplicitModel) -> None:
        """Let the model search while the next bin comes, if the budget covers it.

        The search it owes is due a little later, and is made while the rows up to then come.
        """
        feature_map, warmup = model.map, model.warmup
        assert warmup is not None
        due, seen = feature_map.next_fit(warmup.count, warmup.n_rows)
        if seen <= warmup.count < due:
            # that fit is being made
            return
        feature_map.postpone(False, warmup.count)
        work = _work_begun(feature_map, warmup.count, warmup.n_rows)
        if not self.charge(work, _FOR_SEARCHES):
            feature_map.postpone(True)


def postpones_search(unfitted: FeatureMap) -> bool:
    """Whether challengers postpone searches: only if first rows are kept longer than they are."""
    return unfitted.warmup_rows() > PATIENCE


def work_of_all_fits(feature_map: FeatureMap) -> int:
    """The work of all fits of a model that begins with this map."""
    return feature_map.work_between(0, feature_map.warmup_rows())[1]


def _work_begun(feature_map: FeatureMap, count: int, last: int) -> int:
    """The work of the fits that begin while the next :data:`BIN_ROWS` rows come.

    A fit that is made ahead may last longer. Then the span grows, by as many rows again, until the
    fit ends; fits that begin in the longer span count, too. No fit is due after ``last``.
    """
    work, end, due = 0, count + BIN_ROWS, count
    while due < last:
        due, seen = feature_map.next_fit(due, last)
        if seen > end:
            break
        work += feature_map.work_of_fit(due)
        end += -(-max(due - end, 0) // BIN_ROWS) * BIN_ROWS
    return work
