"""When widths and landmarks are learned, from how many rows, and how much work that is."""

from __future__ import annotations

import math
from functools import lru_cache

from onkel.annotations import DTypeLike
from onkel.maps.base import FeatureMap
from onkel.maps.landmarks.competing_widths import work_of_best
from onkel.maps.landmarks.first_widths import work_of_widths
from onkel.maps.landmarks.search import work_of_search
from onkel.numerics.arrays import next_power_of_two

#: widths are learned from up to so many first rows, all of which are landmarks there
FEW_ROWS = 512
#: at so many rows, those after the first FEW_ROWS choose how far the columns' widths may part; the
#: last _TO_CHOOSE come while the fits that compete are made
CHOICE_ROWS = 1024
_TO_CHOOSE = 64
# Searches begin at _ENOUGH_ROWS. With more rows than _SHORT_ROWS a fit of widths takes so long that
# it is made ahead, at powers of two only.
_ENOUGH_ROWS, _SHORT_ROWS = 1024, 256
# With more rows than _FULL_ROWS a search takes fewer steps; where a landmark has fewer than
# _FEW_EACH rows two thirds as many, as further ones follow noise.
_FULL_ROWS, _FEWEST_STEPS, _FEW_EACH = 65_536, 4, 3
# Steps of the last search, when all rows are there. Each looks at all of them, so it takes fewer
# with more rows than these.
_LAST_STEPS, _FULL_ROWS_AT_LAST = 48, 32_768
# While rows are few, or landmarks missing, a fit is due whenever 1/_LAG more rows have come; while
# fits of widths take long, and without searches, 1/_LAZY_LAG. A map that never searches has fits
# whenever 1/_SHORT_LAG more of the first rows have come: they add landmarks, and take little time.
_LAG, _SHORT_LAG, _LAZY_LAG = 16, 8, 4
# Up to _SHORT_ROWS rows a fit also learns widths when 1/_SHORT_LAG more rows have come. A fit of
# widths that is made ahead sees all but the last _TO_COME rows.
_TO_COME = 16
#: steps from the last widths found, at powers of two
# ... and between them: after two, rounding grows from fit to fit
FEW_STEPS, _BETWEEN_STEPS = 8, 3
# Work of a row beside its matrices (features, cells, calls), in multiplications of the same time.
_BESIDE = 1 << 15
# The share of the rows so far that a search sees: it is made while the others come.
_SEEN = 31 / 32
# After a search that was postponed, the next one waits until there are so many times as many rows.
_MORE_ROWS = 1.5
# Memory for the rows kept for the search, at most.
_KEPT_BYTES = 64 << 20


class FitSchedule(FeatureMap):
    """A map that learns widths from few rows and searches landmarks from more.

    Searches can be postponed for as long as the first rows are kept.
    """

    postponed_: bool

    n_components: int
    n_warmup: int
    search_steps: int
    search_budget: float
    #: whether the widths were learned from labels
    _taught: bool
    #: True where the usual prior holds widths together, and no other competes: once rows have
    #: chosen it, or where there is no time for more
    _together: bool | None

    def start(self, d: int, dtype: DTypeLike) -> None:
        super().start(d, dtype)
        #: whether fits do not search now
        self.postponed_ = False
        # whether a search was postponed and is owed, and at how many rows postponing ended
        self._owing, self._resumed = False, 0
        self._together = None

    def postpone(self, on: bool, rows: int = 0) -> None:
        """While ``on``, fits do not search, and learn widths only at few rows, at powers of two.

        When postponing ends after ``rows`` rows, the search owed is due after 1/31 more rows.
        """
        self.postponed_ = on
        if self._owing:
            self._resumed = rows

    def begin_beside(self, other: FeatureMap) -> None:
        assert isinstance(other, FitSchedule)
        self._together = other._together

    def spare_work(self) -> None:
        """No fits compete, and the first rows have fewer fits."""
        self._together = True

    def warmup_rows(self) -> int:
        fitting = _KEPT_BYTES // (self.n_features_in_ * self.dtype_.itemsize)
        kept = min(self.n_warmup, 2 ** int(math.log2(max(fitting, self.n_components, 2))))
        return max(kept, min(self.n_components, self.n_warmup))

    def next_fit(self, n: int, last: int) -> tuple[int, int]:
        due = min(self._due_after(n), last)
        return due, self.rows_of_fit(due)

    def _due_after(self, n: int) -> int:
        """Powers of two; at few rows, and until all landmarks are there, also some between."""
        if self._owing and self._owed_by(n + 1):
            return self._owed_at
        doubled = next_power_of_two(n)
        if self.postponed_ and n >= self._settled:
            return max(self.warmup_rows(), doubled)
        searches = not self.postponed_ and self.search_steps > 0
        if n >= max(self.n_components, FEW_ROWS if searches else 0):
            return doubled
        lag = _LAG if searches and not _SHORT_ROWS <= n < FEW_ROWS else _LAZY_LAG
        if not self.search_steps and n < _SHORT_ROWS:
            lag = _SHORT_LAG
        part = max(doubled // (2 * lag), 1)
        return (n // part + 1) * part

    def fit_is_due(self, n: int) -> bool:
        """False where landmarks and widths would stay as they are."""
        return not ((self.postponed_ and n > self._settled) or self._just_searched(n))

    @property
    def _settled(self) -> int:
        """Rows from which on nothing changes without a search."""
        return max(self.n_components, FEW_ROWS)

    @property
    def _owed_at(self) -> int:
        """When a postponed fit is due: the last 32nd of its rows come while it is made."""
        return self._resumed + max(int(self._resumed * (1.0 / _SEEN - 1.0)), 1)

    @property
    def _often(self) -> int:
        """Rows up to which widths are learned not only at powers of two."""
        # so early only a map that spares work is known to hold widths together
        return _SHORT_ROWS if self._steps and not self._together else 0

    @property
    def _steps(self) -> int:
        return 0 if self.postponed_ else self.search_steps

    def rows_of_fit(self, due: int) -> int:
        """Fewer than ``due`` where a fit takes long: it is made while the others come."""
        if self._owing and self._owed_by(due):
            return min(self._resumed, due)
        if self.chooses(due):
            return due - _TO_CHOOSE
        if self._searches(due) and self._due(due):
            return int(due * _SEEN)
        # of the others only the widths of FEW_ROWS rows are learned ahead
        return due - _TO_COME if due == FEW_ROWS < self.warmup_rows() else due

    def _due(self, n: int) -> bool:
        """Whether a fit at n rows learns widths; if not, it only adds landmarks."""
        if n & (n - 1) == 0 or n == self.warmup_rows() or self._owed_by(n):
            return True
        return n <= self._often and n % max(next_power_of_two(n) // (2 * _SHORT_LAG), 1) == 0

    def chooses(self, due: int) -> bool:
        """Whether fits of widths compete at ``due`` rows."""
        if self._together:
            return False
        late = due > CHOICE_ROWS and (not self._taught or self._owed_by(due))
        return (due == CHOICE_ROWS or late) and self.n_features_in_ > 1 and not self.postponed_

    def _seen_by_searches(self, n: int) -> int:
        """How many of n rows searches have seen."""
        due = next_power_of_two(n) // 2
        if self._just_searched(due):
            return self._resumed
        return self.rows_of_fit(due) if due >= self._first_search else 0

    def _owed_by(self, due: int) -> bool:
        """Whether the fit due at ``due`` rows is one that was postponed."""
        return self._owing and not self.postponed_ and due <= self._owed_at

    def _searches(self, due: int) -> bool:
        """Whether a fit due at so many rows may search."""
        if due < self._first_search or self.postponed_:
            return False
        if self._resumed and self._just_searched(due):
            return False
        return self._steps_for(int(due * _SEEN)) > 0

    def _just_searched(self, due: int) -> bool:
        """Whether a postponed search has seen nearly all of the rows that are there by then."""
        searched = self._owed_at >= self._first_search and not self._owed_by(due)
        return searched and due < _MORE_ROWS * self._resumed

    @property
    def _first_search(self) -> int:
        return max(_ENOUGH_ROWS, 2 * self.n_components)

    def work_of_row(self) -> int:
        """About how many multiplications learning a row takes."""
        return (self.n_components + 1) ** 2 + _BESIDE

    def work_of_fit(self, due: int) -> int:
        work, seen = due * self.work_of_row(), self.rows_of_fit(due)
        if self._due(due) and (due <= FEW_ROWS or self._owed_by(due)):
            work += work_of_widths(min(seen, FEW_ROWS), self._steps_of_widths(due))
        if self.chooses(due):
            work += work_of_best(FEW_ROWS)
        if self._due(due) and self._searches(due):
            work += work_of_search(seen, self.n_components, self._steps_for(seen))
        return work

    def work_of_last_fit(self, n: int) -> int:
        if not self.search_steps or n < self._first_search:
            # a fit of widths to few rows takes a second
            return 0
        steps = self._steps_at_last(n)
        return n * self.work_of_row() + work_of_search(n, self.n_components, steps, last=True)

    def work_between(self, start: int, end: int, last: int | None = None) -> tuple[int, int]:
        last = self.warmup_rows() if last is None else last
        work, due = 0, start
        while due < min(end, last):
            due = min(self._due_after(due), last)
            if due <= end and self.fit_is_due(due):
                work += self.work_of_fit(due)
        return (end - start) * self.work_of_row(), work

    def _steps_of_widths(self, due: int) -> int:
        """Steps from the last widths found."""
        doubled = due & (due - 1) == 0
        return FEW_STEPS if doubled or self._owed_by(due) else _BETWEEN_STEPS

    def _steps_for(self, n: int) -> int:
        """Steps of a search that sees n rows: those that the ones before it leave of the budget."""
        # after a postponed search none was made before
        first = n if self._owing else self._first_search
        budget = self.search_budget * self.work_of_row()
        return _steps_in_budget(n, first, self.n_components, self._steps, budget)

    def _steps_at_last(self, n: int) -> int:
        """Steps of the last search, which sees n rows."""
        return _fewer(max(self.search_steps, _LAST_STEPS), n, _FULL_ROWS_AT_LAST)


@lru_cache(maxsize=256)  # each block asks it of the rows that are due next
def _steps_in_budget(n: int, first: int, m: int, steps: int, budget: float) -> int:
    """Steps of a search that sees n rows, when searches were due from ``first`` rows on.

    All of them together take at most ``budget`` multiplications a row.
    """
    if not steps:
        return 0
    due, spent = next_power_of_two(first - 1), 0
    while True:
        # those before saw fewer rows than were due
        seen = int(due * _SEEN) if due < n else n
        left = budget * seen - spent
        of_step = work_of_search(seen, m, 1)
        wanted = steps if seen >= _FEW_EACH * m else 2 * steps // 3
        covered = min(_fewer(wanted, seen), int(left // of_step))
        covered = covered if covered >= _FEWEST_STEPS else 0
        if due >= n:
            return covered
        spent += work_of_search(seen, m, covered)
        due *= 2


def _fewer(steps: int, n: int, full: int = _FULL_ROWS) -> int:
    """Steps of a search of n rows, for as much work as ``steps`` on at most ``full`` rows."""
    return int(max(steps * min(full, n) // n, _FEWEST_STEPS))
