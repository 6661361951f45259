"""Rows before labels: a row is answered in time, though labels before it are still to be learned.

A learner that searches takes up to a twentieth of a second for one label, some hundred times in a
row. In order, the rows behind these labels would wait for seconds. Here they overtake them. The
labels wait, are learned in their order, and no more of them at a time than a row may wait for.
Where all events are likely to be learned in time they are taken in order, as far as they are.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from onkel.cli.live.backlog import Backlog
from onkel.serve.runs import BOTH, LABEL, kind_of, take_run

if TYPE_CHECKING:
    from onkel.serve.live import Aside, LiveModel

Label = Mapping[str, object]
Event = Mapping[str, object] | str
Answer = dict[str, object]

# Seconds that rows may wait for labels before them.
_PATIENCE = 0.01
# Seconds that labels learned at once should take: a turn of both, rows and labels, less what the
# rows took, at least and at most. How many they are at most.
_TURN, _LEAST, _AT_ONCE, _MOST_LABELS = 0.012, 0.003, 0.01, 256
# Of fewer events the time is mostly that of the call.
_FEW = 16


class RowsFirst:
    """The labels that wait to be learned by ``model``.

    Each takes along its row, which is not counted among the rows that may wait for labels. Of many
    labels most are in files in ``folder``.
    """

    def __init__(self, model: LiveModel, folder: str | Path = ".") -> None:
        self._model = model
        #: each with its row, if that waits
        self._labels: Backlog[tuple[Label, Aside | None]] = Backlog(folder, model.say)
        #: how many of them an id has
        self._ids: dict[Hashable, int] = {}
        #: seconds that an event by itself took, the last few times; the first ones load loops
        self._alone = deque([0.0] * 8, maxlen=8)
        #: when labels were learned last, and how many of a block a second
        self._learned, self._pace = 0.0, 1e6

    def __len__(self) -> int:
        return len(self._labels)

    @property
    def is_full(self) -> bool:
        """Whether labels are learned before another row is taken.

        Before the first label nothing can be predicted.
        """
        return bool(self._labels) and (self._labels.is_full or not self._model.model.n_rows)

    def take_in_order(self, events: Sequence[Event]) -> Iterator[Answer | None]:
        """The answers to events, after all labels before them."""
        while self._labels:
            self.learn()
        yield from self._model.take_all(events)

    def take_all(self, events: Sequence[Event], crowded: bool = False) -> Iterator[Answer | None]:
        """The answers to events; labels wait if they take long, and then have none.

        ``crowded``: more events have come already.
        """
        if not crowded and self._may_be_in_time(len(events)):
            by_kind = groupby(events, lambda event: kind_of(self._model, event))
            runs = deque((kind, list(group)) for kind, group in by_kind)
            if self._is_in_time(len(runs), len(events)):
                yield from self._in_order(runs)
                events = [event for _, run in runs for event in run]
        left = deque(events)
        while left:
            while self._labels and (self.is_full or self._must_wait(left[0])):
                self.learn()
            yield from self._answers(*self._next_rows(left))

    def _may_be_in_time(self, n: int) -> bool:
        """Whether n events and all labels that wait are learned without a fit.

        Nothing is fitted before the first label.
        """
        model = self._model.model
        return len(self._labels) + n <= (model.estimator.rows_before_fit() if model.n_rows else 1)

    def _is_in_time(self, n_runs: int, n: int) -> bool:
        """Whether all of them may be learned before rows wait long."""
        n += len(self._labels)
        return n == 1 or n_runs * median(self._alone) + n / self._pace <= _PATIENCE

    def _in_order(self, runs: deque[tuple[str, list[Event]]]) -> Iterator[Answer | None]:
        """The answers to the first events, after all labels before them, while there is time.

        Those of one kind are a run. The events that are left stay in ``runs``.
        """
        end = time.monotonic() + _PATIENCE
        while self._labels:
            self.learn()
        while runs and (began := time.monotonic()) < end:
            kind, events = runs.popleft()
            most = int(min(max((end - began) * self._pace, _FEW), _MOST_LABELS))
            run, rest = events[:most], events[most:]
            if rest:
                runs.appendleft((kind, rest))
            answers = list(take_run(self._model, kind, run))
            took = time.monotonic() - began
            if len(run) == 1:
                self._alone.append(took)
            elif len(run) >= _FEW and kind == BOTH:
                self._pace = len(run) / took
            yield from answers

    def _must_wait(self, event: Event, kind: str | None = None) -> bool:
        """Whether an event (of this kind) has to be taken after the labels before it.

        A label without an id is that of its own row, and an id may come again once its row has been
        learned.
        """
        if isinstance(event, str) or (kind or kind_of(self._model, event)) == LABEL:
            return False
        id = event.get(self._model.id)
        if id is None:
            return event.get(self._model.target) is not None
        return _as_id(id) in self._ids

    def _next_rows(
        self, left: deque[Event]
    ) -> tuple[list[Event], list[Label | None], list[tuple[Label, Aside | None]]]:
        """The next events to take, the label that came with each, and all labels among them."""
        model, now, own = self._model, list[Event](), list[Label | None]()
        labels: list[tuple[Label, Aside | None]] = []
        name, target, learned = model.id, model.target, model.model.n_rows
        # more would be forgotten before their labels, which may be here, are seen
        while left and len(now) < model.late.most and (learned or not now):
            event = left[0]
            kind = kind_of(model, event)
            if self._ids and self._must_wait(event, kind):
                break
            left.popleft()
            label: Label | None = None
            if not isinstance(event, str):
                if kind == LABEL:
                    labels.append((event, model.set_aside(_as_id(event[name]))))
                    self._count(event, 1)
                    continue
                if kind == BOTH and event[name] is not None:
                    event = dict(event)
                    label = {name: event[name], target: event.pop(target)}
                    labels.append((label, None))
                    self._count(label, 1)
            now.append(event)
            own.append(label)
        return now, own, labels

    def _answers(
        self,
        now: list[Event],
        own: list[Label | None],
        labels: list[tuple[Label, Aside | None]],
    ) -> Iterator[Answer | None]:
        """The answers to events; their labels wait from now."""
        model, refused = self._model, set[int]()
        coming = {_as_id(event.get(model.id)) for event in now if isinstance(event, Mapping)}
        # rows whose labels are here, too, displace none
        here = {_as_id(label[model.id]) for label, aside in labels if aside is None}
        n = len((coming & here) - {None})
        model.late.most += n
        for answer, label in zip(model.take_all(now), own, strict=True):
            if label is not None and "error" in (answer or {}):
                refused.add(id(label))
            yield answer
        model.late.most -= n
        for label, aside in labels:
            if id(label) in refused:
                # the row was refused, and its label with it
                self._count(label, -1)
            else:
                of_row = _as_id(label[model.id])
                self._labels.append((label, aside or model.set_aside(of_row)))

    def _count(self, label: Label, n: int) -> None:
        """Count the labels that wait of an id."""
        id = _as_id(label.get(self._model.id))
        self._ids[id] = self._ids.get(id, 0) + n
        if not self._ids[id]:
            del self._ids[id]

    def learn(self) -> int:
        """Learn the next labels: as many as take little time; how many they were.

        If a part of a search has to be made with the next one, some of it is made now, before that.
        """
        learner, began = self._model.model.estimator, time.monotonic()
        left = min(max(self._learned + _TURN - began, _LEAST), _AT_ONCE)
        cheap = learner.rows_before_fit()
        if not cheap and learner.fit_ahead():
            while time.monotonic() < began + left and learner.fit_ahead():
                pass
            self._learned = time.monotonic()
            return 0
        n = int(max(1.0, min(left * self._pace, cheap, _MOST_LABELS, len(self._labels))))
        taken = [self._labels.popleft() for _ in range(n)]
        labels = [label for label, _ in taken]
        for label, aside in taken:
            if aside is not None:
                self._model.bring_back(label[self._model.id], aside)
        deque(take_run(self._model, LABEL, labels), maxlen=0)
        self._learned = time.monotonic()
        if cheap:
            self._pace = n / (self._learned - began)
        for label in labels:
            self._count(label, -1)
        return n


def _as_id(value: object) -> Hashable:
    """What can be no id is None."""
    return value if isinstance(value, str | int | float) else None
