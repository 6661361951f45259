"""What following changes may cost: at most as much again as learning itself.

Work is counted, in multiplications (:meth:`onkel.maps.base.FeatureMap.work_of_fit`), and never
timed, so what is done does not depend on the machine. *Learning itself* is what a single model
would have taken for the rows so far, its searches included. All else is spent on following changes:
the rows and fits of challengers, and the fits of those that have taken over. A challenger begins
only when its fits can be paid, and it pays them at once. The searches of a model that has taken
over wait until they can be paid, and leave a quarter for challengers.
"""

from __future__ import annotations

from typing import Any

from onkel.maps.base import FeatureMap
from onkel.state import Whole, check

# Work is kept as a whole number.
_MOST = 2**62


class Spending:
    """Multiplications of learning itself, and of following changes."""

    def __init__(self) -> None:
        self.learned, self.followed = 0, 0

    def pay(self, work: int, share: float = 1.0) -> bool:
        """Pay, if following then costs at most ``share`` of learning; returns whether it did."""
        if self.followed + work > share * self.learned:
            return False
        self.followed += work
        return True

    def count_rows(self, unfitted: FeatureMap, start: int, end: int, challenged: bool) -> None:
        """Count rows ``start`` to ``end``; ``challenged``: a challenger has learned them, too."""
        rows = (end - start) * unfitted.work_of_row()
        self.learned += rows + work_of_fits(unfitted, start, end)
        if challenged:
            self.followed += rows

    def get_state(self) -> dict[str, Any]:
        """Both numbers."""
        return {"learned": self.learned, "followed": self.followed}

    def set_state(self, state: dict[str, Any]) -> None:
        """The inverse of :meth:`get_state`."""
        check(state, {"learned": Whole(high=_MOST), "followed": Whole(high=_MOST)})
        self.learned, self.followed = state["learned"], state["followed"]


def work_of_fits(feature_map: FeatureMap, start: int, end: int) -> int:
    """The work of all fits due after more than ``start`` and at most ``end`` rows."""
    work, last = 0, feature_map.warmup_rows()
    due = start
    while due < min(end, last):
        due = min(feature_map.next_fit(due), last)
        if due <= end and feature_map.fit_is_due(due):
            work += feature_map.work_of_fit(due)
    return work


def under_way(feature_map: FeatureMap, count: int, last: int) -> bool:
    """Whether a fit is being made ahead when ``count`` rows of ``last`` have come."""
    due = min(feature_map.next_fit(count), last)
    return feature_map.rows_of_fit(due) <= count < due


def work_begun(feature_map: FeatureMap, count: int, rows: int, last: int) -> int:
    """The work of the fits that begin while the next ``rows`` come.

    A fit that is made ahead may last longer. Then the span grows, by whole multiples of ``rows``,
    until the fit ends; fits that begin in the longer span count, too. No fit is due after ``last``.
    """
    work, end, due = 0, count + rows, count
    while due < last:
        due = min(feature_map.next_fit(due), last)
        if feature_map.rows_of_fit(due) > end:
            break
        work += feature_map.work_of_fit(due)
        end += -(-max(due - end, 0) // rows) * rows
    return work
