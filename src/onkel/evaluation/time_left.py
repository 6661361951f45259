"""How long a run still takes, by what its rows and its fits took so far.

Rows go on at the speed of the last ones. A search between them takes as long as thousands of rows,
and the next one, on twice the rows, takes twice as long. When fits are due, and how much work each
of them is at most, is known beforehand. A unit of the work to come is expected to take as long as
one of the work so far did on average. That includes searches which ended early, because they
promised no gain: as many of those to come may do so. The last fit never ends early, so its units
are expected to take as long as those of the slowest large fit.
"""

from __future__ import annotations

from onkel.model.contract import WorkOfFits

_RECENT = 10.0
"""The speed of rows is that of so many seconds."""
_FEWEST = 0.25
"""Seconds of rows from which on there is a speed."""
_LARGE = 0.125
"""A large fit is at least this share of the work so far."""


class TimeLeft:
    """Seconds left, asked after every block. Compiling is on none of its clocks."""

    def __init__(self) -> None:
        self._marks: list[tuple[float, int]] = []
        #: seconds of all fits, the same at the block before, and their work then
        self._fitting, self._fitting_before = 0.0, 0.0
        self._work_before = 0.0
        #: work of the fits of each block, and seconds for a unit of it
        self._fits: list[tuple[float, float]] = []

    def fitted(self, seconds: float) -> None:
        """A fit, or a part of one, took so long."""
        self._fitting += seconds

    def begin(self, now: float, rows: int, work: float) -> None:
        """A run began then, with a model of so many rows whose fits were so much work."""
        if not self._marks:
            self._marks.append((now, rows))
            self._work_before = work

    def after(
        self,
        now: float,
        rows: int,
        total: float | None,
        work: WorkOfFits,
        fits_last: bool = False,
    ) -> float | None:
        """Seconds for the rows up to ``total``, and for a last fit then; None while unknown.

        ``work``: of the fits so far, and of those to come up to there.
        """
        self._count_fits(work.so_far)
        self._marks.append((now - self._fitting, rows))
        while len(self._marks) > 2 and self._marks[-1][0] - self._marks[1][0] > _RECENT:
            self._marks.pop(0)
        (began, first), (ended, last) = self._marks[0], self._marks[-1]
        if total is None or last == first or ended - began < _FEWEST:
            return None
        of_rows = max(total - rows, 0) * (ended - began) / (last - first)
        of_last = work.last if fits_last else 0.0
        if not work.to_come and not of_last:
            return of_rows
        # those of the first block are many and small: most of their time is no work
        fits = self._fits[1:]
        if not fits:
            return None
        work_of_all = sum(done for done, _ in fits)
        usual = sum(done * pace for done, pace in fits) / work_of_all
        large = [pace for done, pace in fits if done >= _LARGE * work_of_all]
        return of_rows + work.to_come * usual + of_last * max(large, default=usual)

    def _count_fits(self, so_far: float) -> None:
        if so_far < self._work_before:
            # a model that began anew has taken over
            self._work_before = 0.0
        done = so_far - self._work_before
        if done:
            self._fits.append((done, (self._fitting - self._fitting_before) / done))
        self._work_before, self._fitting_before = so_far, self._fitting
