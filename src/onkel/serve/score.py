"""How well a live model does: its score and skill, in all and since the last report."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from onkel.evaluation.baselines import Baselines
from onkel.fields import Field, Fields, Listed, Number, Sizes, State, Text, Whole
from onkel.metrics import Score
from onkel.parameters import is_whole
from onkel.state import Part, Stateful

# Labels that are collected before they are scored: one by one would take longer than learning.
_BLOCK = 1024


class _Entries(Field):
    """Labels, each with what was predicted and how many labels had not come by then."""

    def check(self, value: Any, sizes: Sizes) -> str | None:
        entries = value if isinstance(value, list) else [value]
        three = all(isinstance(entry, list) and len(entry) == 3 for entry in entries)
        fine = three and all(is_whole(entry[2]) for entry in entries)
        return None if fine else "holds no score of a label"

    def saved(self, value: list[tuple[object, ...]]) -> list[list[object]]:
        return list(map(list, value))

    def loaded(self, value: list[list[object]]) -> list[tuple[object, ...]]:
        return list(map(tuple, value))


class LiveScore(Stateful):
    """The score of predictions made before their labels came.

    Skill is the share of the loss of the better baseline that the model avoids. A baseline
    knows the labels that had come when the row was predicted; of a row that waited for more than a
    block of labels it knows those before the block.
    """

    #: all but what was reported last
    STATE: ClassVar[Fields] = {
        "n_labels": Whole(),
        "_classes": Listed(Text(), None, into=lambda names: {n: k for k, n in enumerate(names)}),
        "_loss": Number(low=0.0, finite=False),
        "n_rows": Whole(),
        "sums": Listed(Number(low=0.0, finite=False), "metrics"),
        "_bounded": Whole(),
        "_inside": Whole(),
        "_width": Number(low=0.0, finite=False),
        "_waiting": _Entries(),
        "_baselines": Part(),
    }

    def __init__(self, task: str) -> None:
        self.task = task
        self.n_labels: int = 0
        self._baselines = Baselines(task)
        #: the code of each class
        self._classes: dict[str, int] = {}
        self._loss = 0.0
        self._all = Score(task)
        # intervals, and those with their label inside
        self._bounded = self._inside = 0
        # sum over the intervals with both ends
        self._width = 0.0
        # at the last report
        self._reported: _Sums | None = None
        # since the last block: (label, prediction, labels that had not come by its row)
        self._waiting: list[tuple[object, object, int]] = []

    def add(self, y: object, predicted: object, known: int, interval: Any = None) -> None:
        """Take in a label; ``known`` labels had come when its row was predicted.

        ``interval``: the bounds that were answered; None, or None in place of a bound, if there
        was none.
        """
        self.add_all([y], [predicted], [known], [interval])

    def add_all(
        self,
        labels: Sequence[object],
        predicted: Sequence[object],
        known: Iterable[int],
        intervals: Iterable[Any] = (),
    ) -> None:
        """Take in labels in their order, as `add` does."""
        for y, interval in zip(labels, intervals, strict=False):
            if interval is not None:
                low, high = interval
                self._bounded += 1
                if low is not None and high is not None:
                    self._width += high - low
                self._inside += (low is None or low <= y) and (high is None or y <= high)
        missing = [max(n - own, 0) for n, own in enumerate(known, self.n_labels)]
        entries = list(zip(labels, predicted, missing, strict=True))
        self.n_labels += len(entries)
        while entries:
            room = _BLOCK - len(self._waiting)
            self._waiting += entries[:room]
            del entries[:room]
            if len(self._waiting) == _BLOCK:
                self._take()

    def report(self) -> dict[str, Any]:
        """The metrics so far, and those ``recent`` since the last report; JSON-able.

        ``coverage`` is the share of labels inside the intervals, ``width`` their mean width.
        """
        now = self._now()
        found: dict[str, Any] = {"score": now._metrics(), "recent": now._metrics(self._reported)}
        n = now._baselines.n_scored
        baseline = float(now._baselines.sums.min()) if n else 0.0
        found["skill"] = 1.0 - now._loss / baseline if baseline > 0 else None
        self._reported = now._sums()
        return found

    def _now(self) -> LiveScore:
        """A copy in which all labels are scored.

        This one scores them in blocks that do not depend on when somebody asks, as sums over other
        blocks are rounded otherwise.
        """
        now = copy.copy(self)
        now._baselines, now._all = copy.deepcopy((self._baselines, self._all))
        now._classes = dict(self._classes)
        now._take()
        return now

    def _sums(self) -> _Sums:
        return _Sums(self.n_rows, tuple(self.sums), self._bounded, self._inside, self._width)

    def _metrics(self, since: _Sums | None = None) -> dict[str, float]:
        """Metrics of the labels since; None: of all."""
        sums = self._sums()
        since = since or _Sums(0, (0.0,) * len(sums.losses), 0, 0, 0.0)
        found = {}
        if n := sums.n_rows - since.n_rows:
            # the difference of sums may be rounded below 0
            means = [max(a - b, 0.0) / n for a, b in zip(sums.losses, since.losses, strict=True)]
            metrics = zip(self._all.metrics, means, strict=True)
            found = {metric.name: metric.finish(mean) for metric, mean in metrics}
        if bounded := sums.bounded - since.bounded:
            found["coverage"] = (sums.inside - since.inside) / bounded
            found["width"] = max(sums.width - since.width, 0.0) / bounded
        return found

    @property
    def n_rows(self) -> int:
        """Labels that are scored."""
        return self._all.n_rows

    @property
    def sums(self) -> list[float]:
        """The sum of each metric over them."""
        return list(self._all.sums.values())

    def state_sizes(self) -> Sizes:
        return {"metrics": len(self._all.metrics)}

    def set_fields(self, values: State) -> None:
        self._all.restore(values.pop("n_rows"), values.pop("sums"))
        super().set_fields(values)

    def state_is_set(self) -> None:
        self._reported = self._now()._sums()

    def _take(self) -> None:
        if not self._waiting:
            return
        labels, predicted, missing = zip(*self._waiting, strict=True)
        self._waiting = []
        if self.task == "classification":
            y = np.array(
                [self._classes.setdefault(str(v), len(self._classes)) for v in labels], float
            )
            p = np.array([self._classes.get(str(v), -1) for v in predicted], float)
            losses = (y != p).astype(float)
        else:
            y, p = np.array(labels, float), np.array(predicted, float)
            losses = np.square(y - p)
        # rows before the first label had no prediction
        scored = self._baselines.known(len(y), missing) > 0
        self._baselines.add(y, missing)
        self._loss += float(losses[scored].sum())
        self._all.add(y[scored], p[scored])


class _Sums(NamedTuple):
    """What has been scored by some time."""

    n_rows: int
    losses: tuple[float, ...]
    bounded: int
    inside: int
    width: float
