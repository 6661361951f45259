"""What a smooth f leaves over, learned by cells of one and of two columns.

Columns are cut into bins; a row falls into a cell for each column and for each pair of them, and

    s(x) = Σ_c w_c,   c over the cells of x,

learns the residuals r = y - f(x) of the predictions before each row was learned: jumps, single
values, a column's odd scale, which landmarks would have to be spent on. Every w_c is followed with
its own variance V_c (a Kalman filter whose covariances between cells are left out),

    g_c = V_c/(1 + Σ V),   w_c ← w_c + g_c (r - s),   V_c ← V_c - g_c V_c,

from V₀ = 1/(2 · number of cells of a row): before the first row, s has half the noise's variance.
Added to f is a·s, where a in [0, 1] is the share of s that the residuals so far agree to, less its
standard error: where s says nothing, it is left out.

Source: the additive model of pairs, Lou et al. 2013 (GA²M); diagonal second order: Crammer,
Kulesza & Dredze 2009 (AROW). The share is ours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.models import pair_loops as loops
from onkel.models.labels import outputs_with_class
from onkel.models.pair_bins import PairBins

__all__ = ["PairCells"]

_ARRAYS = ("W", "V", "sums")


class PairCells:
    """Weights W (cells, K), variances V (cells,) and the sums that a comes from."""

    def __init__(self, bins: PairBins, n_outputs: int, forgetting: float = 1.0) -> None:
        self.bins, self.forgetting = bins, forgetting
        self.first = 0.5 / max(len(bins.pairs), 1)
        self.W = np.zeros((bins.n_cells, n_outputs))
        self.V = np.full(bins.n_cells, self.first)
        self.sums = np.zeros(loops.N_SUMS)

    def learn(self, X: Any, R: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Learn the residuals R (n, K) of rows X; returns a s (n, K) before each was learned."""
        out = np.zeros(R.shape)
        if len(self.bins.pairs):
            weights = self.W, self.V, self.first, self.forgetting
            rows = np.ascontiguousarray(R), weight
            loops.learn(self.bins(X), self.bins.pairs, *weights, *rows, self.sums, out)
        return out

    def scores(self, X: Any) -> np.ndarray:
        """a s (n, K) of rows X."""
        out = np.zeros((X.shape[0], self.W.shape[1]))
        if len(self.bins.pairs):
            loops.score(self.bins(X), self.bins.pairs, self.W, self.sums, out)
        return out

    @property
    def left(self) -> float:
        """The share of the residuals' squares that was left, over all rows so far."""
        whole = self.sums[loops.WHOLE]
        return float(self.sums[loops.LEFT] / whole) if whole > 0.0 else 1.0

    def add_output(self, position: int) -> None:
        """Make room for a class; one output of targets ±1 becomes two indicators."""
        self.W = residuals_with_class(self.W, position)
        if self.W.shape[1] == 3:
            self.sums[: loops.ROWS] *= 0.5

    def get_state(self) -> dict[str, Any]:
        """Named arrays and scalars."""
        state = {name: getattr(self, name) for name in _ARRAYS}
        return {"bins": self.bins.get_state(), **state}

    @classmethod
    def from_state(cls, state: dict[str, Any], forgetting: float) -> PairCells:
        """The inverse of :meth:`get_state`."""
        cells = cls(PairBins.from_state(state["bins"]), state["W"].shape[1], forgetting)
        for name in _ARRAYS:
            setattr(cells, name, np.array(state[name]))
        return cells


def residuals_with_class(R: np.ndarray, position: int) -> np.ndarray:
    """Residuals (n, K), or what is linear in them, with those of a class never seen.

    Of targets ±1 they were twice those of the second class's indicator.
    """
    return np.ascontiguousarray(outputs_with_class(R.T, position).T)
