"""Memory of a target that is one of K classes.

Every class k has features: the score f_k of a timeless model, whether k came last, or a period
ago, how often it follows the last class, whether the run of that class goes on at its length, how
frequent k has been at five rates, and how wrong f_k has been. Softmax regressions, whose weights
all classes share, learn from them by online Newton steps, with and without forgetting: what is
learned about one class serves all. Together with f itself, f sharpened and the last class they are
the experts of one mixture of probabilities (:mod:`onkel.memory.experts`). :class:`LastClass` looks
at the class that is named in the end.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

import numpy as np

from onkel.fields import Fields, Sizes, State, Whole, require
from onkel.memory import class_loops as loops
from onkel.memory.past import GROUP_WINDOW, N_PERIODS, WINDOW, Memory, find_periods
from onkel.memory.regressions import MANY_CLASSES
from onkel.numerics.arrays import inserted
from onkel.state import Stateful

# The last class is followed if it was right for this share of the rows, and there were so many.
_SELDOM_CHANGES, _FEWEST_ROWS = 0.95, 32


class ClassMemory(Memory):
    """What the labels so far say about the next row's class, in bounded memory and time.

    Scores are those of least squares on indicators: near 1 for the class, near 0 for the others.
    Blocks don't matter, and a row of weight 0 is not remembered. With ``keys``, one for each row,
    every group has its own past: its last 32 rows, without a period. How classes follow one
    another, and what follows from a past, is learned from all groups. The ``most`` groups seen last
    are kept.
    """

    #: columns of the past of each class that a second model may learn from
    n_columns: int = loops.N_COLUMNS
    _own = loops.Past._fields[:6]
    past: loops.Past
    n_classes: int

    def __init__(self, n_classes: int, most: int = 1) -> None:
        super().__init__(most)
        self._begin(n_classes)

    def _reset(self) -> None:
        self._begin(self.n_classes)

    def _begin(self, K: int) -> None:
        n, levels = self.groups.n_slots, len(loops.RATES)
        self.n_classes = K
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
        self._begin_experts(loops.N_EXPERTS, (len(loops.SIZES), loops.N_FEATURES), loops.RIDGE)
        self.W[:] = loops.FIRST_WEIGHTS

    # ---- learning ------------------------------------------------------------------------------

    def learn(
        self,
        F: np.ndarray,
        codes: np.ndarray,
        weight: np.ndarray,
        keys: list[Hashable] | None = None,
    ) -> np.ndarray:
        """Learn rows in order: timeless scores F (n, K), class codes (n,), weights (n,).

        Returns (n, 2 + n_columns, K), what was known before each row's label: probabilities with
        memory, those of an expert without memory, and columns of the past.
        """
        out = np.empty((len(F), 2 + self.n_columns, F.shape[1]))
        slots, fresh, parts = self._arranged(keys, weight > 0.0)
        G = np.empty((loops.N_FEATURES,) * 2) if F.shape[1] >= MANY_CLASSES else None
        for part, look in parts:
            model = slots[part], fresh[part], self.past, self.mixture, self.P, self.W, G
            loops.learn(F[part], codes[part], weight[part], *model, out[part])
            if look:
                self._search()
        return out

    def _search(self) -> None:
        """Look for the period in the classes that are remembered; groups have none."""
        if self.groups.slots:
            return
        rows, codes = int(self.past.total[0]), self.past.codes[1]
        codes = codes[:rows] if rows < WINDOW else codes
        codes = np.roll(codes, -(rows % WINDOW)) if rows >= WINDOW else codes
        self.past.periods[:] = find_periods((codes[:, None] == np.unique(codes)).astype(float))

    # ---- prediction ----------------------------------------------------------------------------

    def predict(self, F: np.ndarray, keys: list[Hashable] | None = None) -> np.ndarray:
        """What :meth:`learn` would return for rows of unknown labels, were each the next."""
        out = np.empty((len(F), 2 + self.n_columns, F.shape[1]))
        slots = self.groups.find(keys, len(F))
        loops.predict(F, slots, self.past, self.mixture, self.W, out)
        return out

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
        wide = {a: inserted(getattr(past, a), position) for a in per_class}
        self.past = past._replace(followed=followed, **wide)
        self.n_classes += 1

    def _indices(self) -> dict[str, tuple[int, int]]:
        return {**super()._indices(), "codes": (-1, self.n_classes - 1)}


class LastClass(Stateful):
    """The last class again, where classes seldom change and it has been right more often.

    Probabilities that are good in squared error may still name the wrong class more often than the
    last class does. On rows where both name different classes, it is counted who was right. Where
    the last class was right for 95 % of all rows, and the probabilities do not lead, its
    probability and the largest one are exchanged. Where classes change more often the probabilities
    are good enough, and the count would follow noise.
    """

    STATE: ClassVar[Fields] = {"rows": Whole(), "right": Whole(), "lead": Whole(low=-(2**62))}

    def __init__(self) -> None:
        #: rows, those for which the last class was right, and how far it leads
        self.rows: int = 0
        self.right: int = 0
        self.lead: int = 0

    def learn(
        self, P: np.ndarray, came_last: np.ndarray, codes: np.ndarray, weight: np.ndarray
    ) -> np.ndarray:
        """Learn rows in order: probabilities P (n, K), the class before as indicators (n, K).

        Returns P with what is exchanged by the rows before each.
        """
        counted, known = weight > 0.0, came_last.any(axis=1)
        last = came_last.argmax(axis=1)
        right = counted & known & (last == codes)
        wins = right.astype(int) - (counted & known & (P.argmax(axis=1) == codes))
        # sums before each row, and behind the last
        counts = np.array([[self.rows], [self.right], [self.lead]])
        added = np.cumsum(np.stack([counted, right, wins]).astype(np.int64), axis=1)
        sums = np.concatenate([counts, counts + added], axis=1)
        self.rows, self.right, self.lead = sums[:, -1].tolist()
        return _exchanged(P, last, known & _follows(*sums[:, :-1]))

    def learn_alone(self, weight: np.ndarray) -> None:
        """Learn rows of the only class so far."""
        rows = int(np.count_nonzero(weight > 0.0))
        self.rows, self.right = self.rows + rows, self.right + rows

    def predict(self, P: np.ndarray, came_last: np.ndarray) -> np.ndarray:
        """P (n, K) with what is exchanged, were each row the next."""
        follows = _follows(*(np.array([n]) for n in (self.rows, self.right, self.lead)))
        return _exchanged(P, came_last.argmax(axis=1), follows & came_last.any(axis=1))

    def check_state(self, state: State, sizes: Sizes) -> None:
        require(state["right"] <= state["rows"], f"right: {state['right']} of {state['rows']} rows")


def _follows(rows: np.ndarray, right: np.ndarray, lead: np.ndarray) -> np.ndarray:
    return (rows >= _FEWEST_ROWS) & (right >= _SELDOM_CHANGES * rows) & (lead >= 0)


def _exchanged(P: np.ndarray, last: np.ndarray, where: np.ndarray) -> np.ndarray:
    """P with the largest probability and the last class's exchanged in some rows."""
    rows = np.flatnonzero(where)
    if not len(rows):
        return P
    top, last, P = P[rows].argmax(axis=1), last[rows], P.copy()
    P[rows, top], P[rows, last] = P[rows, last], P[rows, top]
    return P
