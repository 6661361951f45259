"""How long a run still takes, by what its rows and its fits took so far.

Rows go on at the speed of the last ones. A search between them takes as long as hundreds or
thousands of rows, and the next one, on twice the rows, takes twice as long. When fits are due, and
how much work each of them is, is known beforehand. So the work of those to come takes, unit by
unit, what the work of those so far took.
"""

from __future__ import annotations

_RECENT = 10.0
"""The speed of rows is that of so many seconds."""
_FEWEST = 1.0
"""Seconds of rows from which on there is a speed."""


class TimeLeft:
    """Seconds left, asked after every block. Compiling is on none of its clocks."""

    def __init__(self) -> None:
        self._fitting = 0.0
        self._work = 0.0
        self._last_work: float | None = None
        self._marks: list[tuple[float, int]] = []

    def fitted(self, seconds: float) -> None:
        """A fit, or a part of one, took so long."""
        self._fitting += seconds

    def begin(self, work: float) -> None:
        """A run begins with a model whose fits so far were so much work."""
        if self._last_work is None:
            self._last_work = work

    def after(
        self, now: float, rows: int, total: float | None, work: tuple[float, float]
    ) -> float | None:
        """Seconds for the rows up to ``total``; None while unknown.

        ``work``: of the fits so far, and of those that are due up to there.
        """
        so_far, to_come = work
        if self._last_work is None or so_far < self._last_work:
            # a model that began anew has taken over
            self._last_work = 0.0
        self._work += so_far - self._last_work
        self._last_work = so_far
        self._marks.append((now - self._fitting, rows))
        while len(self._marks) > 2 and self._marks[-1][0] - self._marks[1][0] > _RECENT:
            self._marks.pop(0)
        (began, first), (ended, last) = self._marks[0], self._marks[-1]
        if total is None or last == first or ended - began < _FEWEST:
            return None
        of_rows = max(total - rows, 0) * (ended - began) / (last - first)
        if not to_come:
            return of_rows
        return of_rows + to_come * self._fitting / self._work if self._work else None
