"""Rows and labels that come on two topics: in which order a model takes them.

A label must not come before its row, or nothing waits for it. While rows are read that came long
ago, the topic of labels may be ahead by hours. So a label waits until the rows have been read up
to its time, as the broker stamped it.
"""

from __future__ import annotations

from collections import deque
from itertools import takewhile

from onkel.serve.brokers.door import Door, Message


class Reader:
    """Reads what a model takes next from a door: rows, and the labels that are due."""

    def __init__(self, door: Door, has_labels: bool) -> None:
        self._door = door
        self._has_labels = has_labels
        self._labels: deque[Message] = deque()
        # of each place, the time up to which its rows have been read
        self._times: dict[str, int] = {}

    def read(self, most: int, seconds: float) -> tuple[list[Message], list[Message], list[Message]]:
        """Labels older than the rows, rows, and labels that come after them; at most so many."""
        if not self._has_labels:
            return [], self._door.rows(most, seconds), []
        if len(self._labels) < most:
            # before the rows are: what a label belongs to is there by now
            self._labels.extend(self._door.labels(most - len(self._labels)))
        rows = self._door.rows(most, 0.0 if self._labels else seconds)
        self._times |= {row.place: row.time for row in rows}
        due = self._due()
        first = min((row.time for row in rows), default=0)
        older = list(takewhile(lambda label: label.time < first, due))
        return older, rows, due[len(older) :]

    def _due(self) -> list[Message]:
        """Labels whose rows have been read."""
        if not self._labels:
            return []
        behind = self._door.behind()
        read_to = min((self._times.get(place, -1) for place in behind), default=None)
        due = [*takewhile(lambda label: read_to is None or label.time < read_to, self._labels)]
        for _ in due:
            self._labels.popleft()
        return due
