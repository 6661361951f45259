"""What memories share: the past of each group, experts over it, and when they look for a period."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from onkel.memory.experts import Mixture, new_mixture
from onkel.memory.groups import Groups, cut, grown, put_back
from onkel.memory.linear import begin
from onkel.state import inside


class Memory:
    """Groups, the past of each, and regressions over it that all groups share."""

    #: the fields of the past that each group has for itself
    _own: tuple[str, ...]
    past: Any

    def __init__(self, most: int) -> None:
        self.groups = Groups(most)

    def _reset(self) -> None:
        """Begin anew, with as many slots as there are."""
        raise NotImplementedError

    def _begin_experts(self, n_experts: int, shape: tuple[int, int], ridge: float) -> None:
        """Begin without rows; ``shape``: how many regressions there are, and their features."""
        self.mixture = new_mixture(n_experts)
        self.P, self.W = np.zeros((*shape, shape[1])), np.zeros(shape)
        for P in self.P:
            begin(P, ridge)

    def _rows_until_look(self) -> int:
        """Rows up to the next look at the past as a whole."""
        raise NotImplementedError

    def _parts(self, counts: np.ndarray) -> Iterator[tuple[slice, bool]]:
        """Parts of rows (n,) between two looks, and whether one is due after each."""
        if 0 < len(counts) < self._rows_until_look():
            yield slice(0, len(counts)), False
            return
        learned = np.cumsum(counts)
        done = 0
        while done < len(counts):
            due = (learned[done - 1] if done else 0) + self._rows_until_look()
            end = int(np.searchsorted(learned, due)) + 1
            yield slice(done, min(end, len(counts))), end <= len(counts)
            done = end

    def _find_room(
        self, keys: list[Any] | None, counts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Slots of rows, with room for them; see :meth:`Groups.learn`."""
        before = bool(self.groups.slots)
        found = self.groups.learn(keys, counts)
        if not before and self.groups.slots:
            self._reset()
        self._make_room()
        return found

    def _make_room(self) -> None:
        self.past = grown(self.past, self._own, self.groups.n_slots)

    @property
    def lasting(self) -> float:
        """In [0, 1]: how much of what is known now still holds a row later.

        It is the correlation of f's residuals, one row with the next.
        """
        agreed, size = self.past.fading
        return min(max(float(agreed / size), 0.0), 1.0) if size > 0.0 else 0.0

    def get_state(self) -> dict[str, Any]:
        """Named arrays from which ``set_state`` goes on bit for bit."""
        state = {"P": self.P, "W": self.W, **self.mixture._asdict()}
        state = {name: value.copy() for name, value in state.items()}
        past = cut(self.past, self._own, self.groups.n_slots)
        return {"groups": self.groups.get_state(), **state, **past}

    def _set_groups(self, state: dict[str, Any]) -> None:
        """Take the groups of a state, and begin anew with as many slots."""
        with inside(state, "groups") as groups:
            self.groups.set_state(groups)
        self._reset()

    def _put_back(self, state: dict[str, Any]) -> None:
        """The rest of a state that has been checked."""
        self.P, self.W = np.array(state["P"]), np.array(state["W"])
        put_back(self.past, self._own, state)
        self.mixture = Mixture(*(np.array(state[name]) for name in Mixture._fields))
