"""The last class again, where classes seldom change and it has been right more often.

Probabilities that are good in squared error may still name the wrong class more often than the last
class does. On rows where both name different classes, it is counted who was right. Where the last
class was right for 95 % of all rows, and the probabilities do not lead, its probability and the
largest one are exchanged. Where classes change more often the probabilities are good enough, and
the count would follow noise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.state import Whole, check, require

# The last class is followed if it was right for this share of the rows, and there were so many.
_SELDOM_CHANGES, _FEWEST_ROWS = 0.95, 32


class LastClass:
    """Who was right more often: the class that the probabilities name, or the last class."""

    def __init__(self) -> None:
        #: rows, those for which the last class was right, and how far it leads
        self.rows, self.right, self.lead = 0, 0, 0

    def learn(
        self, P: np.ndarray, came_last: np.ndarray, codes: np.ndarray, weight: np.ndarray
    ) -> np.ndarray:
        """Learn rows in order: probabilities P (n, K), the class before as indicators (n, K).

        Returns P with what is exchanged by the rows before each.
        """
        counted, known = weight > 0.0, came_last.any(axis=1)
        at, last = np.arange(len(P)), came_last.argmax(axis=1)
        right = counted & known & (last == codes)
        wins = right.astype(int) - (counted & known & (P.argmax(axis=1) == codes))
        rows, of_last = _before(self.rows, counted), _before(self.right, right)
        lead = _before(self.lead, wins)
        out = _exchanged(P, last, known & _follows(rows[at], of_last[at], lead[at]))
        self.rows, self.right, self.lead = int(rows[-1]), int(of_last[-1]), int(lead[-1])
        return out

    def learn_alone(self, weight: np.ndarray) -> None:
        """Learn rows of the only class so far."""
        rows = int(np.count_nonzero(weight > 0.0))
        self.rows, self.right = self.rows + rows, self.right + rows

    def predict(self, P: np.ndarray, came_last: np.ndarray) -> np.ndarray:
        """P (n, K) with what is exchanged, were each row the next."""
        follows = _follows(*(np.array([n]) for n in (self.rows, self.right, self.lead)))
        return _exchanged(P, came_last.argmax(axis=1), follows & came_last.any(axis=1))

    def get_state(self) -> dict[str, Any]:
        """Named numbers."""
        return {"rows": self.rows, "right": self.right, "lead": self.lead}

    def set_state(self, state: dict[str, Any]) -> None:
        """The inverse of :meth:`get_state`."""
        check(state, {"rows": Whole(), "right": Whole(), "lead": Whole(low=-(2**62))})
        require(state["right"] <= state["rows"], f"right: {state['right']} of {state['rows']} rows")
        self.rows, self.right, self.lead = (int(state[n]) for n in ("rows", "right", "lead"))


def _before(start: int, added: np.ndarray) -> np.ndarray:
    """Sums before each row, and behind the last, (n + 1,)."""
    return start + np.concatenate([[0], np.cumsum(added)])


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
