"""The curve of a run as it grows: sums over the rows so far, and a row at every checkpoint."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar, NamedTuple

import numpy as np

from onkel.evaluation.result import CurveRow
from onkel.fields import Column, Fields, Group, Listed, Number, Sizes, State, Whole
from onkel.metrics import Metric
from onkel.state import Part, Stateful

_WHOLE = ("n_rows", "n_scored", "model_bytes", "untimed_rows")
_REAL = ("loss", "loss_since_last", "learn_seconds", "seconds")
_COLUMNS: Fields = {
    **dict.fromkeys(_WHOLE, Column(np.int64, ("rows",), low=0)),
    **dict.fromkeys(_REAL, Column(np.float64, ("rows",), low=0)),
}
"""The columns of a saved curve, besides its metrics."""


class Marks(NamedTuple):
    """Numbers of rows with a checkpoint: powers of two, and multiples of ``every``."""

    powers: bool
    every: int | None

    def between(self, low: int, high: int) -> list[int]:
        """Those in (low, high]."""
        marks = set()
        if self.powers:
            marks |= {1 << k for k in range(low.bit_length(), high.bit_length())}
        if self.every:
            marks |= set(range((low // self.every + 1) * self.every, high + 1, self.every))
        return sorted(marks)

    def parts(self, start: int, n: int) -> list[tuple[int, int]]:
        """Split the n rows after ``start`` so that each mark ends a part; (begin, end) of each."""
        marks = self.between(start, start + n) if n else []
        ends = [at - start for at in marks]
        return list(pairwise([0, *(end for end in ends if end < n), n]))


@dataclass
class _Totals(Stateful):
    """Sums over the rows so far; all that a resumed run needs to continue its curve."""

    STATE: ClassVar[Fields] = {
        "n_rows": Whole(),
        "n_scored": Whole(),
        "sums": Listed(Number(low=0.0), "metrics"),
        "last_scored": Whole(),
        "last_loss": Number(low=0.0),
        "learn_seconds": Number(),
        "seconds": Number(),
        "untimed_rows": Whole(),
    }

    def state_sizes(self) -> Sizes:
        return {"metrics": len(self.sums)}

    n_rows: int = 0
    n_scored: int = 0
    sums: list[float] = field(default_factory=list)
    last_scored: int = 0
    last_loss: float = 0.0
    learn_seconds: float = 0.0
    seconds: float = 0.0
    untimed_rows: int = 0


class GrowingCurve(Stateful):
    """The rows of a curve so far, and the sums from which it continues.

    It has a row at each of the ``marks``. ``measure`` gives the seconds of the run so far, and the
    model's bytes; ``watch`` is called with every row of the curve as it comes.
    """

    def __init__(
        self,
        metrics: Sequence[Metric],
        marks: Marks,
        measure: Callable[[], tuple[float, int]],
        watch: Callable[[CurveRow], None],
    ) -> None:
        self.metrics: Sequence[Metric] = metrics
        self.marks: Marks = marks
        self._measure, self._watch = measure, watch
        self.rows: list[CurveRow] = []
        self.totals: _Totals = _Totals(sums=[0.0] * len(metrics))

    def add(self, losses: Sequence[np.ndarray], n: int, spent: float) -> None:
        """Take in n rows that took ``spent`` seconds to learn.

        ``losses``: of each metric, those (m,) of the last m of the rows. Only these are scored.
        """
        totals = self.totals
        values = [np.concatenate([[0.0], np.cumsum(loss)]) for loss in losses]
        unscored = n - len(losses[0])
        before = totals.sums
        for at in self.marks.between(totals.n_rows, totals.n_rows + n):
            i = at - totals.n_rows
            m = max(i - unscored, 0)
            if totals.n_scored + m == 0:
                continue  # there is no score yet
            sums = [b + float(v[m]) for b, v in zip(before, values, strict=True)]
            self._checkpoint(at, totals.n_scored + m, sums, totals.learn_seconds + spent * i / n)
        totals.sums = [b + float(v[-1]) for b, v in zip(before, values, strict=True)]
        totals.n_rows += n
        totals.n_scored += n - unscored
        totals.learn_seconds += spent

    def close(self) -> None:
        """End the curve at the rows so far."""
        if not self.rows or self.rows[-1].n_rows != self.totals.n_rows:
            t = self.totals
            self._checkpoint(t.n_rows, t.n_scored, t.sums, t.learn_seconds)

    def _checkpoint(
        self, n_rows: int, n_scored: int, sums: list[float], learn_seconds: float
    ) -> None:
        totals = self.totals
        loss = sums[0] / n_scored if n_scored else math.nan
        since = n_scored - totals.last_scored
        seconds, model_bytes = self._measure()
        row = CurveRow(
            n_rows=n_rows,
            n_scored=n_scored,
            loss=loss,
            loss_since_last=(sums[0] - totals.last_loss) / since if since else loss,
            metrics={
                metric.name: metric.finish(total / n_scored) if n_scored else math.nan
                for metric, total in zip(self.metrics, sums, strict=True)
            },
            learn_seconds=learn_seconds,
            seconds=seconds,
            model_bytes=model_bytes,
            untimed_rows=totals.untimed_rows,
        )
        totals.last_scored, totals.last_loss = n_scored, sums[0]
        self.rows.append(row)
        self._watch(row)

    def state_fields(self) -> Fields:
        values = Column(shape=("rows",), finite=False)
        metrics = Group(dict, dict.fromkeys([metric.name for metric in self.metrics], values))
        return {"totals": Part(), "_curve": Group(dict, {**_COLUMNS, "metrics": metrics})}

    @property
    def _curve(self) -> State:
        """The rows that have a score, by columns."""
        flat = [row.flat() for row in self.rows if row.n_scored]
        metrics = {m.name: [row[m.name] for row in flat] for m in self.metrics}
        return {**{n: [row[n] for row in flat] for n in _COLUMNS}, "metrics": metrics}

    def set_fields(self, values: State) -> None:
        columns, metrics = values["_curve"], values["_curve"].pop("metrics")
        scores = zip(*metrics.values(), strict=True)
        columns["metrics"] = [dict(zip(metrics, score, strict=True)) for score in scores]
        of_rows = zip(*columns.values(), strict=True)
        self.rows = [CurveRow(**dict(zip(columns, row, strict=True))) for row in of_rows]
