"""How good probabilities are: log loss, and how often the predicted class was right by them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import softmax

from onkel.default.calibration import Calibration

_BINS = 20
_SMALLEST = 1e-15


class Probabilities:
    """Log loss and calibration of the probabilities predicted before each row was learned.

    Parameters
    ----------
    calibrated : bool
        The scores are those of a learner that calibrates them on the rows before; otherwise their
        softmax is the probability.

    Notes
    -----
    A class never seen before has no probability: its first row is left out.
    """

    def __init__(self, calibrated: bool) -> None:
        self.link = Calibration() if calibrated else None
        self.loss = 0.0
        self.n_rows = 0
        #: rows, right ones and summed probabilities of the predicted class, by that probability
        self.bins = np.zeros((_BINS, 3))

    def add(self, codes: np.ndarray, scores: np.ndarray, known: np.ndarray) -> None:
        """Scores (n, K) of rows of class ``codes`` (n,), when ``known`` (n,) classes were known."""
        told = np.flatnonzero((codes < known) & (known >= 2))
        if not len(told):
            return
        # rows with the same number of known classes are taken together
        for rows in np.split(told, np.flatnonzero(np.diff(known[told])) + 1):
            K = int(known[rows[0]])
            S, y = scores[rows, :K], codes[rows]
            p, right = self._probabilities(S, y), S.argmax(axis=1) == y
            self.loss -= float(np.log(p[:, 0].clip(min=_SMALLEST)).sum())
            self.n_rows += len(rows)
            at = (p[:, 1] * _BINS).astype(np.int64).clip(0, _BINS - 1)
            for column, values in enumerate((np.ones(len(rows)), right, p[:, 1])):
                self.bins[:, column] += np.bincount(at, weights=values, minlength=_BINS)

    def _probabilities(self, S: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Probabilities (n, 2) of the class that came and of the predicted one."""
        if self.link is not None:
            scores = S[:, 1:] - S[:, :1] if S.shape[1] == 2 else S
            return self.link.learn(np.ascontiguousarray(scores), y, np.ones(len(y)))
        P = softmax(S, axis=1)
        return np.column_stack([P[np.arange(len(y)), y], P.max(axis=1)])

    def summary(self) -> dict[str, Any]:
        """Log loss in nats per row; for each non-empty bin: rows, mean probability, share right."""
        filled = self.bins[self.bins[:, 0] > 0]
        return {
            "log_loss": self.loss / self.n_rows if self.n_rows else math.nan,
            "calibration": [
                {"rows": int(n), "told": told / n, "came": right / n}
                for n, right, told in filled.tolist()
            ],
        }

    def get_state(self) -> dict[str, Any]:
        """JSON-able."""
        link = self.link and {k: v.tolist() for k, v in self.link.get_state().items()}
        return {
            "loss": self.loss, "n_rows": self.n_rows, "bins": self.bins.tolist(), "link": link,
        }  # fmt: skip

    def set_state(self, state: dict[str, Any]) -> None:
        """The inverse of :meth:`get_state`."""
        self.loss, self.n_rows = state["loss"], state["n_rows"]
        self.bins = np.array(state["bins"])
        if self.link is not None:
            self.link.set_state({k: np.array(v) for k, v in state["link"].items()})
