"""A correction a·s(x) of f: cells of one and of two columns learn it from f's residuals.

Columns are cut into bins. A row falls into one cell for each column and for each pair of columns:

    s(x) = Σ_c w_c,   c over the cells of x.

s learns the residuals r = y - f(x) of predictions made before each row was learned. It takes over
what would cost f many landmarks: jumps, special single values, a column of unusual scale. Each w_c
has a variance V_c (a Kalman filter without covariances between cells):

    g_c = V_c/(1 + Σ V),   w_c ← w_c + g_c (r - s),   V_c ← V_c - g_c V_c,

from V₀ = 1/(2 · number of cells of a row): the prior variance of s is half that of the noise.
a in [0, 1] is the least-squares share of s in the residuals so far, less its standard error: a
correction that does not help is left out.

Source: the additive model of pairs, Lou et al. 2013 (GA²M); diagonal second order: Crammer,
Kulesza & Dredze 2009 (AROW). The share is ours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.default import cell_loops as loops
from onkel.default.bins import PairBins
from onkel.merging import joined
from onkel.model.labels import outputs_with_class
from onkel.state import Array, check, inside

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
        """Learn the residuals R (n, K) of rows X; returns a·s (n, K) before each was learned."""
        out = np.zeros(R.shape)
        if len(self.bins.pairs):
            weights = self.W, self.V, self.first, self.forgetting
            rows = np.ascontiguousarray(R), weight
            loops.learn(*self.bins.of_rows(X), *weights, *rows, self.sums, out)
        return out

    def scores(self, X: Any) -> np.ndarray:
        """a s (n, K) of rows X."""
        out = np.zeros((X.shape[0], self.W.shape[1]))
        if len(self.bins.pairs):
            loops.score(*self.bins.of_rows(X), self.W, self.sums, out)
        return out

    @property
    def left(self) -> float:
        """Squared residuals after the correction, as a share of those before, over all rows."""
        whole = self.sums[loops.WHOLE]
        return float(self.sums[loops.LEFT] / whole) if whole > 0.0 else 1.0

    def add_output(self, position: int) -> None:
        """Make room for a class; one output of targets ±1 becomes two indicators."""
        self.W = residuals_with_class(self.W, position)
        if self.W.shape[1] == 3:
            self.sums[: loops.ROWS] *= 0.5

    def take_in(self, other: PairCells, origin: PairCells | None) -> None:
        """Add what other cells, over the same bins, learned since both were ``origin``.

        The precisions 1/V add. W is the average of two estimates. Adding W/V is exact for cells
        that share no row; but the cells of a row learn its residual together, and the sum counts
        what they share in each of them. The mean of both W, weighted by the precisions gained, is
        exact for cells that share every row; but it leaves cells of few rows too near to 0, where
        they began.
        """
        known = PairCells(self.bins, self.W.shape[1]) if origin is None else origin
        rows = (int(of.sums[loops.ROWS]) // loops.PERIOD for of in (other, known))
        kept = self.forgetting ** (loops.PERIOD * (next(rows) - next(rows)))
        of_all = (self, other, known)
        precision = joined((1.0 / cells.V for cells in of_all), kept)
        added = joined((cells.W / cells.V[:, None] for cells in of_all), kept) / precision[:, None]
        self.W = 0.5 * (added + self._mean(other, known, kept))
        self.V = 1.0 / precision
        self.sums = _joined_sums(self.sums, other.sums, known.sums, kept)

    def _mean(self, other: PairCells, known: PairCells, kept: float) -> np.ndarray:
        """The mean of both W, weighted by the precision that each has gained."""
        gained = kept * np.maximum(1.0 / self.V - 1.0 / known.V, 0.0)
        left = 1.0 / self.first + kept * (1.0 / known.V - 1.0 / self.first)
        theirs = np.maximum(1.0 / other.V - left, 0.0)
        total = gained + theirs
        share = np.divide(theirs, total, out=np.ones_like(total), where=total > 0.0)[:, None]
        return np.asarray((1.0 - share) * self.W + share * other.W)

    def get_state(self) -> dict[str, Any]:
        """Named arrays and scalars."""
        state = {name: getattr(self, name) for name in _ARRAYS}
        return {"bins": self.bins.get_state(), **state}

    @classmethod
    def from_state(
        cls, state: dict[str, Any], forgetting: float, d: int, n_outputs: int
    ) -> PairCells:
        """The inverse of :meth:`get_state`, for rows of d columns."""
        with inside(state, "bins") as part:
            bins = PairBins.from_state(part, d)
        fields = {
            "W": Array(shape=(bins.n_cells, n_outputs), low=-1e150, high=1e150),
            "V": Array(shape=(bins.n_cells,), low=0.0, high=1e150),
            "sums": Array(shape=(loops.N_SUMS,), low=-1e150, high=1e150),
        }
        check(state, fields)
        cells = cls(bins, n_outputs, forgetting)
        for name in _ARRAYS:
            setattr(cells, name, np.array(state[name]))
        return cells


def _joined_sums(
    mine: np.ndarray, other: np.ndarray, origin: np.ndarray, kept: float
) -> np.ndarray:
    """The sums of the mean of two corrections, which the share a comes from.

    In the mean of two parts the signal stays and the noise averages out. Σ‖s‖² - Σ⟨r, s⟩ is the
    noise of a part: it counts in proportion to the part's rows, so a grows.
    """
    sums: np.ndarray = joined((mine, other, origin), kept)
    doubts = (part[loops.DOUBT] ** 2 for part in (mine, other, origin))
    sums[loops.DOUBT] = max(joined(doubts, kept**2), 0.0) ** 0.5
    sums[loops.ROWS] = joined(part[loops.ROWS] for part in (mine, other, origin))
    gained = [kept * (mine - origin), other - kept * origin]
    rows = [mine[loops.ROWS] - origin[loops.ROWS], other[loops.ROWS] - origin[loops.ROWS]]
    for part, own in zip(gained, rows, strict=True):
        noise = max(part[loops.SIZE] - part[loops.AGREED], 0.0)
        sums[loops.SIZE] -= (1.0 - own / max(sum(rows), 1.0)) * noise
    return sums


def residuals_with_class(R: np.ndarray, position: int) -> np.ndarray:
    """Residuals (n, K), or a linear function of them, with a class never seen at ``position``.

    Residuals of targets ±1 are twice those of the second class's indicator.
    """
    return np.ascontiguousarray(outputs_with_class(R.T, position).T)
