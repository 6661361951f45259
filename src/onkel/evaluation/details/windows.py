"""The losses of a run in windows of equal length, at most 128 of them."""

from __future__ import annotations

from typing import Any

import numpy as np

_MOST = 128
_FIRST_WIDTH = 16


class Windows:
    """Sums of losses, and of the baselines' losses, in windows that double as rows come."""

    def __init__(self) -> None:
        self.width = _FIRST_WIDTH
        self.n_rows = 0
        self.sums = np.zeros((_MOST, 3))

    def add(self, losses: np.ndarray) -> None:
        """Losses (n, 3) of the next rows."""
        while self.n_rows + len(losses) > _MOST * self.width:
            paired = self.sums[0::2] + self.sums[1::2]
            self.sums = np.concatenate([paired, np.zeros_like(paired)])
            self.width *= 2
        at = np.arange(self.n_rows, self.n_rows + len(losses)) // self.width
        for column in range(3):
            self.sums[:, column] += np.bincount(at, weights=losses[:, column], minlength=_MOST)
        self.n_rows += len(losses)

    def summary(self) -> dict[str, Any]:
        """Rows at the end of each window, and mean losses there: the learner's, the baselines'."""
        n = -(-self.n_rows // self.width)
        ends = np.minimum(np.arange(1, n + 1) * self.width, self.n_rows)
        means = self.sums[:n] / np.diff(ends, prepend=0)[:, None]
        return {"width": self.width, "rows": ends.tolist(), "loss": means[:, 0].tolist(),
                "baselines": means[:, 1:].T.tolist()}  # fmt: skip

    def get_state(self) -> dict[str, Any]:
        """JSON-able."""
        used = self.sums[: -(-self.n_rows // self.width)]
        return {"width": self.width, "n_rows": self.n_rows, "sums": used.tolist()}

    def set_state(self, state: dict[str, Any]) -> None:
        """The inverse of :meth:`get_state`."""
        self.width, self.n_rows = state["width"], state["n_rows"]
        self.sums = np.zeros((_MOST, 3))
        self.sums[: len(state["sums"])] = np.array(state["sums"]).reshape(-1, 3)
