"""Memory of a target that is one of K classes.

Every class k has features: the score f_k of a timeless model, whether k came last, or a period
ago, how often it follows the last class, whether the run of that class goes on at its length, how
frequent k has been at five rates, and how wrong f_k has been. A softmax of weights that all classes
share learns from them by online Newton steps, with and without forgetting: what is learned of one
class serves all. With f itself, f sharpened, and the last class they are the experts of one
mixture of probabilities (:mod:`onkel.memory.experts`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.memory import class_loops as loops
from onkel.memory.checking import check_like
from onkel.memory.experts import Mixture, new_mixture
from onkel.memory.groups import GROUP_WINDOW, Groups, cut, grown, put_back
from onkel.memory.linear import begin
from onkel.memory.period import N_PERIODS, WINDOW, find_periods, rows_until_search
from onkel.state import inside

# What each group has of its own.
_OWN = loops.Past._fields[:6]


class ClassMemory:
    """What the labels so far say about the next row's class, in bounded memory and time.

    Scores are those of least squares on indicators: near 1 for the class, near 0 for the others.
    Blocks don't matter, and a row of weight 0 is not remembered. With ``keys``, one a row, each
    group has a past of its own, of its last 32 rows, without a period; how classes follow one
    another, and what follows from a past, is learned from all. The ``most`` groups seen last are
    kept.
    """

    #: columns of the past of each class that a second model may learn from
    n_columns = loops.N_COLUMNS

    def __init__(self, n_classes: int, most: int = 1) -> None:
        self.groups = Groups(most)
        self._reset(n_classes)

    def _reset(self, K: int) -> None:
        n, levels = self.groups.n_slots, len(loops.RATES)
        followed = K if K <= loops.MOST_FOLLOWED else 0
        self.past = loops.Past(
            np.zeros((n, GROUP_WINDOW if self.groups.slots else WINDOW), np.int64),
            np.zeros((n, K)),
            np.zeros((n, levels, K)),
            np.zeros((n, levels, K)),
            np.zeros((n, K)),
            np.zeros((n, 2), np.int64),
            np.zeros((followed, followed)),
            np.zeros((2, loops.N_COUNTED)),
            np.zeros(N_PERIODS, np.int64),
            np.zeros(1, np.int64),
            np.zeros(2),
        )
        self.mixture = new_mixture(loops.N_EXPERTS)
        shape = len(loops.SIZES), loops.N_FEATURES
        self.P, self.W = np.zeros((*shape, loops.N_FEATURES)), np.tile(loops.FIRST_WEIGHTS, (3, 1))
        for P in self.P:
            begin(P, loops.RIDGE)

    @property
    def n_classes(self) -> int:
        """K."""
        return int(self.past.before.shape[1])

    @property
    def n_rows(self) -> int:
        """Rows so far."""
        return int(self.past.total[0])

    # ---- learning ------------------------------------------------------------------------------

    def learn(
        self, F: np.ndarray, codes: np.ndarray, weight: np.ndarray, keys: list[Any] | None = None
    ) -> np.ndarray:
        """Learn rows in order: timeless scores F (n, K), class codes (n,), weights (n,).

        Returns (n, 2 + n_columns, K), what was known before each row's label: probabilities with
        memory, those of an expert that has none, and columns of the past.
        """
        out = np.empty((len(F), 2 + self.n_columns, F.shape[1]))
        learned = np.cumsum(weight > 0.0)
        slots, fresh = self._find_room(keys, weight > 0.0)
        done = 0
        while done < len(F):
            before = learned[done - 1] if done else 0
            until = rows_until_search(int(self.past.total[0]))
            end = int(np.searchsorted(learned, before + until)) + 1
            part = slice(done, min(end, len(F)))
            model = slots[part], fresh[part], self.past, self.mixture, self.P, self.W
            loops.learn(F[part], codes[part], weight[part], *model, out[part])
            if end <= len(F):
                self._search()
            done = end
        return out

    def _find_room(
        self, keys: list[Any] | None, counts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Slots of rows, with room for them; see :meth:`Groups.learn`."""
        before = bool(self.groups.slots)
        found = self.groups.learn(keys, counts)
        if not before and self.groups.slots:
            self._reset(self.n_classes)
        self.past = grown(self.past, _OWN, self.groups.n_slots)
        return found

    def _search(self) -> None:
        """Look for the period in the classes that are remembered; groups have none."""
        if self.groups.slots:
            return
        rows, codes = int(self.past.total[0]), self.past.codes[1]
        codes = codes[:rows] if rows < WINDOW else codes
        codes = np.roll(codes, -(rows % WINDOW)) if rows >= WINDOW else codes
        self.past.periods[:] = find_periods((codes[:, None] == np.unique(codes)).astype(float))

    # ---- prediction ----------------------------------------------------------------------------

    def predict(self, F: np.ndarray, keys: list[Any] | None = None) -> np.ndarray:
        """As :meth:`learn`, for rows of unknown labels, were each the next."""
        out = np.empty((len(F), 2 + self.n_columns, F.shape[1]))
        slots = self.groups.find(keys, len(F))
        loops.predict(F, slots, self.past, self.mixture, self.W, out)
        return out

    @property
    def lasting(self) -> float:
        """In [0, 1]: how much of what is known now still holds a row later.

        It is the correlation of f's residuals, one row with the next.
        """
        agreed, size = self.past.fading
        return min(max(float(agreed / size), 0.0), 1.0) if size > 0.0 else 0.0

    # ---- the rest ------------------------------------------------------------------------------

    def add_class(self, position: int) -> None:
        """Make room for a class never seen."""
        past = self.past
        past.codes[past.codes >= position] += 1
        followed = past.followed
        if self.n_classes + 1 > loops.MOST_FOLLOWED:
            followed = np.zeros((0, 0))
        else:
            followed = np.insert(np.insert(followed, position, 0.0, axis=0), position, 0.0, axis=1)
        per_class = ("before", "levels", "residual_levels", "residuals")
        wide = {a: np.insert(getattr(past, a), position, 0.0, axis=-1) for a in per_class}
        self.past = past._replace(followed=followed, **wide)

    def get_state(self) -> dict[str, Any]:
        """Named arrays from which :meth:`set_state` goes on bit for bit."""
        state = {"P": self.P, "W": self.W, **self.mixture._asdict()}
        state = {name: value.copy() for name, value in state.items()}
        past = cut(self.past, _OWN, self.groups.n_slots)
        return {"groups": self.groups.get_state(), **state, **past}

    def set_state(self, state: dict[str, Any]) -> None:
        """Take the state of another memory of as many classes."""
        with inside(state, "groups") as groups:
            self.groups.set_state(groups)
        self._reset(self.n_classes)
        indices = {"codes": (-1, self.n_classes - 1), "periods": (0, WINDOW)}
        check_like(state, self.get_state(), indices)
        self.P, self.W = np.array(state["P"]), np.array(state["W"])
        put_back(self.past, _OWN, state)
        self.mixture = Mixture(*(np.array(state[name]) for name in Mixture._fields))
