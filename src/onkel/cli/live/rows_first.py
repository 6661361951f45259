"""Rows before labels: a row is answered at once, though labels before it are still to be learned.

A learner that searches takes up to a twentieth of a second for one label, some hundred times in a
row. In order, the rows behind these labels would wait for seconds. Here they overtake them. The
labels wait, are learned in their order, and no more of them at a time than a row may wait for.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onkel.serve.live import LiveModel

Event = Mapping[str, object] | str
Answer = dict[str, object]

# Seconds that labels learned at once should take, and how many they are at most.
_AT_ONCE, _MOST_LABELS = 0.01, 64
# Labels that may wait before no more rows are read.
_MOST_BEHIND = 10_000


class RowsFirst:
    """The labels that wait to be learned by ``model``."""

    def __init__(self, model: LiveModel) -> None:
        self._model = model
        self._labels: deque[Event] = deque()
        #: seconds that a label took of late
        self._seconds = 0.0

    def __len__(self) -> int:
        return len(self._labels)

    @property
    def is_full(self) -> bool:
        """Whether labels are learned before another row is taken.

        Rows whose labels wait here are never the oldest of too many, which would be forgotten.
        Before the first label nothing can be predicted.
        """
        late, n = self._model.late, len(self._labels)
        full = n >= _MOST_BEHIND or late.n_waiting >= late.most // 2
        return n > 0 and (full or not self._model.model.n_rows)

    def take_all(self, events: Sequence[Event]) -> Iterator[Answer | None]:
        """The answers to rows and to what cannot be used; the labels wait."""
        left = deque(events)
        while left:
            while self.is_full:
                self.learn()
            now, labels = self._next_rows(left)
            for answer, label in zip(self._model.take_all(now), labels, strict=True):
                if label is not None and "error" in (answer or {}):
                    # the row was refused, and its label with it
                    self._labels.remove(label)
                yield answer

    def _next_rows(self, left: deque[Event]) -> tuple[list[Event], list[Event | None]]:
        """The next events to take, and the label that came with each; all labels wait from now."""
        model, now, own = self._model, list[Event](), list[Event | None]()
        label_names = model.label_names()
        most = max(model.late.most // 2, 1) if model.model.n_rows else 1
        while left and len(now) < most:
            event, label = left.popleft(), None
            if not isinstance(event, str):
                columns = event.keys() - {model.id}
                if columns and columns <= label_names:
                    self._labels.append(event)
                    continue
                y = event.get(model.target)
                if y is not None and event.get(model.id) is None:
                    event = "a row that brings its label needs an id, as rows are answered first"
                elif y is not None:
                    label = {model.id: event[model.id], model.target: y}
                    event = {name: event[name] for name in event if name != model.target}
                    self._labels.append(label)
            now.append(event)
            own.append(label)
        return now, own

    def learn(self) -> int:
        """Learn the next labels: as many as take little time, at least one; how many they were.

        One with which a part of a search is made takes by itself as long as a row may wait.
        """
        usual = _AT_ONCE / self._seconds if self._seconds else 1.0
        cheap = self._model.model.estimator.rows_before_fit()
        n = int(max(1.0, min(usual, cheap, _MOST_LABELS, len(self._labels))))
        labels = [self._labels.popleft() for _ in range(n)]
        began = time.monotonic()
        deque(self._model.take_all(labels), maxlen=0)
        self._seconds = (time.monotonic() - began) / n
        return n
