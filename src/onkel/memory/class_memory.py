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
from onkel.memory.linear import begin
from onkel.memory.period import N_PERIODS, WINDOW, find_periods, rows_until_search


class ClassMemory:
    """What the labels so far say about the next row's class, in bounded memory and time.

    Scores are those of least squares on indicators: near 1 for the class, near 0 for the others.
    Blocks don't matter, and a row of weight 0 is not remembered.
    """

    #: columns of the past of each class that a second model may learn from
    n_columns = loops.N_COLUMNS

    def __init__(self, n_classes: int) -> None:
        K, levels = n_classes, len(loops.RATES)
        followed = K if K <= loops.MOST_FOLLOWED else 0
        self.past = loops.Past(
            np.zeros(WINDOW, np.int64),
            np.zeros(K),
            np.zeros((levels, K)),
            np.zeros((levels, K)),
            np.zeros((followed, followed)),
            np.zeros((2, loops.N_COUNTED)),
            np.zeros(2, np.int64),
            np.zeros(N_PERIODS, np.int64),
            np.zeros(K),
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
        return len(self.past.before)

    # ---- learning ------------------------------------------------------------------------------

    def learn(self, F: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Learn rows in order: timeless scores F (n, K), class codes (n,), weights (n,).

        Returns (n, 2 + n_columns, K), what was known before each row's label: probabilities with
        memory, those of an expert that has none, and columns of the past.
        """
        out = np.empty((len(F), 2 + self.n_columns, F.shape[1]))
        learned = np.cumsum(weight > 0.0)
        done = 0
        while done < len(F):
            before = learned[done - 1] if done else 0
            until = rows_until_search(int(self.past.rows[0]))
            end = int(np.searchsorted(learned, before + until)) + 1
            part = slice(done, min(end, len(F)))
            model = self.past, self.mixture, self.P, self.W
            loops.learn(F[part], codes[part], weight[part], *model, out[part])
            if end <= len(F):
                self._search()
            done = end
        return out

    def _search(self) -> None:
        """Look for the period in the classes that are remembered."""
        rows = int(self.past.rows[0])
        codes = self.past.codes[:rows] if rows < WINDOW else self.past.codes
        codes = np.roll(codes, -(rows % WINDOW)) if rows >= WINDOW else codes
        self.past.periods[:] = find_periods((codes[:, None] == np.unique(codes)).astype(float))

    # ---- prediction ----------------------------------------------------------------------------

    def predict(self, F: np.ndarray) -> np.ndarray:
        """As :meth:`learn`, for rows of unknown labels, were each the next."""
        out = np.empty((len(F), 2 + self.n_columns, F.shape[1]))
        loops.predict(F, self.past, self.mixture, self.W, out)
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
        self.past = past._replace(
            before=np.insert(past.before, position, 0.0),
            levels=np.insert(past.levels, position, 0.0, axis=1),
            residual_levels=np.insert(past.residual_levels, position, 0.0, axis=1),
            followed=followed,
            residuals=np.insert(past.residuals, position, 0.0),
        )

    def get_state(self) -> dict[str, Any]:
        """Named arrays from which :meth:`set_state` goes on bit for bit."""
        state = {"P": self.P, "W": self.W, **self.past._asdict(), **self.mixture._asdict()}
        return {name: value.copy() for name, value in state.items()}

    def set_state(self, state: dict[str, Any]) -> None:
        """Take the state of another memory of as many classes."""
        indices = {"codes": (-1, self.n_classes - 1), "periods": (0, WINDOW)}
        check_like(state, self.get_state(), indices)
        self.P, self.W = np.array(state["P"]), np.array(state["W"])
        self.past = loops.Past(*(np.array(state[name]) for name in loops.Past._fields))
        self.mixture = Mixture(*(np.array(state[name]) for name in Mixture._fields))
