"""Have the losses of a stream risen? Recent rows are compared with those before them."""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.explicit.model import ExplicitModel
from onkel.rules.base import RuleKind
from onkel.state import Array, Whole, check

#: rows of a bin: losses are summed over them
BIN_ROWS = 64
_MOST_BINS = 128
# A model's first rows are left out: their losses are high while it learns.
_FIRST_BINS = 4
_FEWEST_BINS = 8
_RECENT = (1, 2, 4, 8, 16, 32)
# Standard errors that raise an alarm: one false alarm in millions of rows. Each alarm that was in
# vain raises the threshold.
_ALARM, _MORE, _MOST = 5.0, 2.5, 15.0
# A single loss is capped at so many times the mean so far: an outlier is no change.
_LARGEST = 25.0


class LossHistory:
    """Sums and squares of the losses of the last bins of :data:`BIN_ROWS` rows.

    ``in_vain`` counts the alarms since the last change that led to no better model.
    """

    def __init__(self, in_vain: int = 0) -> None:
        self.sums = np.zeros((0, 2))
        self.waiting = _FIRST_BINS
        self.in_vain = in_vain

    def add(self, losses: np.ndarray) -> None:
        """One bin of losses (BIN_ROWS,) ≥ 0."""
        if self.waiting:
            self.waiting -= 1
            return
        if len(self.sums):
            mean = float(self.sums[:, 0].sum()) / (len(self.sums) * BIN_ROWS)
            losses = np.minimum(losses, _LARGEST * mean) if mean > 0.0 else losses
        self.sums = np.concatenate([self.sums, [[losses.sum(), losses @ losses]]])[-_MOST_BINS:]

    def risen(self) -> bool:
        """True where the mean loss of the last 1, 2, 4, ... or 32 bins is far above that before."""
        alarm = min(_ALARM + _MORE * self.in_vain, _MOST)
        for recent in _RECENT:
            if len(self.sums) < recent + _FEWEST_BINS:
                break
            if _standard_errors(self.sums[-recent:], self.sums[:-recent]) > alarm:
                return True
        return False

    def get_state(self) -> dict[str, Any]:
        """The sums, the number of first bins still to leave out, and the alarms in vain."""
        return {"sums": self.sums, "waiting": self.waiting, "in_vain": self.in_vain}

    def set_state(self, state: dict[str, Any]) -> None:
        """The inverse of :meth:`get_state`."""
        sums = Array(shape=("bins", 2), low=0.0, high=1e150)
        check(state, {"sums": sums, "waiting": Whole(high=_FIRST_BINS), "in_vain": Whole()})
        self.sums, self.waiting = np.array(state["sums"]), state["waiting"]
        self.in_vain = state["in_vain"]


def _standard_errors(recent: np.ndarray, before: np.ndarray) -> float:
    means, errors = [], []
    for bins in (recent, before):
        n = len(bins) * BIN_ROWS
        mean = bins[:, 0].sum() / n
        means.append(mean)
        errors.append(max(bins[:, 1].sum() / n - mean**2, 0.0) / n)
    spread = float(np.sqrt(sum(errors)))
    return float(means[0] - means[1]) / spread if spread > 0.0 else 0.0


def losses_of(model: ExplicitModel, P: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The loss of each row, in the same unit whether two classes are one output or two."""
    targets, one = model.targets(y), P.shape[1] == 1
    if model.rule.kind == RuleKind.NEWTON:
        signs = targets if one else 2.0 * targets - 1.0
        of_outputs = np.logaddexp(0.0, -signs * P).sum(axis=1)
        return np.asarray(of_outputs if one else 0.5 * of_outputs)
    squares = np.sum((P - targets) ** 2, axis=1)
    return np.asarray(0.5 * squares if one else squares)
