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

import math
from typing import ClassVar

import numpy as np

from onkel.annotations import Matrix
from onkel.default.bins import PairBins
from onkel.fields import Array, Fields, Sizes, require
from onkel.merging import joined
from onkel.numerics.arrays import as_dense, inserted
from onkel.numerics.jit import jit, jit_called
from onkel.state import Part, Stateful

#: places in the sums: Σ⟨r, s⟩ and its standard error, Σ‖s‖², Σ‖r‖², Σ‖r - a s‖², rows
AGREED, DOUBT, SIZE, WHOLE, LEFT, ROWS = range(6)
N_SUMS = 6
#: rows between two steps of forgetting
PERIOD = 256
# Precisions gained are 0 up to this share of all precision.
_ROUNDING = 1e-9


class PairCells(Stateful):
    """Weights W (cells, K), variances V (cells,) and the sums that a comes from."""

    STATE: ClassVar[Fields] = {
        "bins": Part(),
        "W": Array(shape=("cells", "n_outputs"), low=-1e150, high=1e150),
        "V": Array(shape=("cells",), low=0.0, high=1e150),
        "sums": Array(shape=(N_SUMS,), low=-1e300, high=1e300),
    }

    def __init__(self, bins: PairBins, n_outputs: int, forgetting: float = 1.0) -> None:
        self.bins: PairBins = bins
        self.forgetting: float = forgetting
        self.first: float = 0.5 / max(len(bins.pairs), 1)
        self.W: np.ndarray = np.zeros((bins.n_cells, n_outputs))
        self.V = np.full(bins.n_cells, self.first)
        self.sums: np.ndarray = np.zeros(N_SUMS)

    def learn(self, X: Matrix, R: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Learn the residuals R (n, K) of rows X; returns a·s (n, K) before each was learned."""
        out = np.zeros(R.shape)
        if len(self.bins.pairs):
            weights = self.W, self.V, self.first, self.forgetting
            rows = np.ascontiguousarray(R), weight
            learn_cells(*self._binned(X), *weights, *rows, self.sums, out)
        return out

    def scores(self, X: Matrix) -> np.ndarray:
        """a s (n, K) of rows X."""
        out = np.zeros((X.shape[0], self.W.shape[1]))
        if len(self.bins.pairs):
            score_cells(*self._binned(X), self.W, self.sums, out)
        return out

    def _binned(self, X: Matrix) -> tuple[np.ndarray, ...]:
        """Arguments of the loops for rows X (n, d): values, which columns of them, edges, pairs."""
        columns, of_loops = self.bins.columns, (self.bins.edges, self.bins.pairs)
        if type(X) is np.ndarray and X.flags.c_contiguous and X.flags.writeable:
            return X, columns, *of_loops
        return as_dense(X[:, columns]), np.arange(len(columns)), *of_loops

    @property
    def left(self) -> float:
        """Squared residuals after the correction, as a share of those before, over all rows."""
        return share_left(self.sums)

    def withdraw(self) -> None:
        """Correct nothing for now: s = 0, and it has to prove right anew, as slowly as before."""
        self.W = np.zeros_like(self.W)
        self.sums[AGREED], self.sums[LEFT] = 0.0, self.sums[WHOLE]

    def add_output(self, position: int) -> None:
        """Make room for a class; one output of targets ±1 becomes two indicators."""
        self.W = residuals_with_class(self.W, position)
        if self.W.shape[1] == 3:
            self.sums[:ROWS] *= 0.5

    def take_in(self, other: PairCells, origin: PairCells | None) -> None:
        """Add what other cells, over the same bins, learned since both were ``origin``.

        The precisions 1/V add. W is the average of two estimates. Adding W/V is exact for cells
        that share no row; but the cells of a row learn its residual together, and the sum counts
        what they share in each of them. The mean of both W, weighted by the precisions gained, is
        exact for cells that share every row; but it leaves cells of few rows too near to 0, where
        they began.
        """
        known = PairCells(self.bins, self.W.shape[1]) if origin is None else origin
        faded, kept = (
            self.forgetting ** (PERIOD * steps_since(of.sums, known.sums)) for of in (self, other)
        )
        of_all = (self, other, known)
        precision = joined((1.0 / cells.V for cells in of_all), kept)
        added = joined((cells.W / cells.V[:, None] for cells in of_all), kept) / precision[:, None]
        mine, theirs = kept * self._gained(known, faded), other._gained(known, kept)
        total = (mine + theirs)[:, None]
        part: np.ndarray = np.zeros(total.shape)
        np.divide(theirs[:, None], total, out=part, where=total > 0.0)
        mean = (1.0 - part) * self.W + part * other.W
        # both are the origin's where no row came since
        self.W = np.where(total > 0.0, 0.5 * (added + mean), added)
        self.V = 1.0 / precision
        self.sums = _sums_of_mean(self.sums, other.sums, known.sums, faded, kept)

    def _gained(self, origin: PairCells, kept: float) -> np.ndarray:
        """The precision (cells,) gained since ``origin``, of which ``kept`` is left."""
        prior = 1.0 / self.first
        gained = 1.0 / self.V - prior - kept * (1.0 / origin.V - prior)
        return np.where(gained > _ROUNDING / self.V, gained, 0.0)

    def state_sizes(self) -> Sizes:
        return {"n_outputs": self.W.shape[1]}

    def state_is_set(self) -> None:
        self.first = 0.5 / max(len(self.bins.pairs), 1)
        fits = len(self.W) == len(self.V) == self.bins.n_cells
        require(fits, f"W: has {len(self.W)} rows, and bins make {self.bins.n_cells} cells")


def learn_in_stages(
    stages: list[PairCells], X: Matrix, R: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """Each stage learns the residuals that those before it leave; returns Σ a s (n, K) before."""
    out = np.zeros(R.shape)
    for stage in stages:
        out += stage.learn(X, R - out, weight)
    return out


def share_left(sums: np.ndarray) -> float:
    """Squared residuals after a correction, as a share of those before."""
    whole = sums[WHOLE]
    return float(sums[LEFT] / whole) if whole > 0.0 else 1.0


def steps_since(sums: np.ndarray, origin: np.ndarray) -> int:
    """Steps of forgetting of the sums of a correction since they were those of ``origin``."""
    return int(sums[ROWS] // PERIOD - origin[ROWS] // PERIOD)


def joined_sums(mine: np.ndarray, other: np.ndarray, origin: np.ndarray, kept: float) -> np.ndarray:
    """The sums of one correction over the rows of two models."""
    sums: np.ndarray = joined((mine, other, origin), kept)
    doubts = (part[DOUBT] ** 2 for part in (mine, other, origin))
    sums[DOUBT] = max(joined(doubts, kept**2), 0.0) ** 0.5
    sums[ROWS] = joined(part[ROWS] for part in (mine, other, origin))
    return sums


def _sums_of_mean(
    mine: np.ndarray, other: np.ndarray, origin: np.ndarray, faded: float, kept: float
) -> np.ndarray:
    """The sums of the mean of two corrections, which the share a comes from.

    In the mean of two parts the signal stays and the noise averages out. Σ‖s‖² - Σ⟨r, s⟩ is the
    noise of a part: it counts in proportion to the part's rows, so a grows. ``faded`` and ``kept``:
    what is left of the origin's sums after the rows of the one and of the other.
    """
    sums = joined_sums(mine, other, origin, kept)
    gained = [kept * (mine - faded * origin), other - kept * origin]
    rows = [mine[ROWS] - origin[ROWS], other[ROWS] - origin[ROWS]]
    for part, own in zip(gained, rows, strict=True):
        noise = max(part[SIZE] - part[AGREED], 0.0)
        sums[SIZE] -= (1.0 - own / max(sum(rows), 1.0)) * noise
    return sums


def residuals_with_class(R: np.ndarray, position: int) -> np.ndarray:
    """Residuals (n, K), or a linear function of them, with a class never seen at ``position``.

    Residuals of targets ±1 are twice those of the second class's indicator.
    """
    both = np.concatenate([-0.5 * R, 0.5 * R], axis=1) if R.shape[1] == 1 else R
    return inserted(both, position)


# ---- the loops ---------------------------------------------------------------------------------


@jit_called
def find_bins(X, t, columns, edges, bins):
    """bins (m,): how many of each column's edges (m, 2^q - 1) are below its value in row t."""
    half = (edges.shape[1] + 1) // 2
    for j in range(len(columns)):
        b, step = 0, half
        while step > 0:
            if edges[j, b + step - 1] < X[t, columns[j]]:
                b += step
            step //= 2
        bins[j] = b


@jit_called
def _cells(bins, pairs, at):
    for p in range(pairs.shape[0]):
        at[p] = pairs[p, 2] + pairs[p, 3] * bins[pairs[p, 0]] + bins[pairs[p, 1]]


@jit_called
def _sum(W, at, s):
    s[:] = 0.0
    for c in at:
        for k in range(W.shape[1]):
            s[k] += W[c, k]


@jit_called
def share(sums, doubt=1.0):
    """a: the least squares share of s in r, less ``doubt`` standard errors; in [0, 1]."""
    if sums[SIZE] <= 0.0:
        return 0.0
    return min(max((sums[AGREED] - doubt * sums[DOUBT]) / sums[SIZE], 0.0), 1.0)


@jit
def score_cells(X, columns, edges, pairs, W, sums, out):
    """out (n, K) = a s of rows X (n, d), whose ``columns`` (m,) have bins."""
    at, bins = np.empty(pairs.shape[0], np.int64), np.empty(len(columns), np.int64)
    a = share(sums)
    for t in range(X.shape[0]):
        find_bins(X, t, columns, edges, bins)
        _cells(bins, pairs, at)
        _sum(W, at, out[t])
        for k in range(W.shape[1]):
            out[t, k] *= a


@jit
def learn_cells(X, columns, edges, pairs, W, V, first, forgetting, R, weight, sums, out):
    """Learn residuals R (n, K) in order; out gets a s of each row before it was learned."""
    at, bins = np.empty(pairs.shape[0], np.int64), np.empty(len(columns), np.int64)
    s = np.empty(W.shape[1])
    for t in range(X.shape[0]):
        find_bins(X, t, columns, edges, bins)
        _cells(bins, pairs, at)
        _sum(W, at, s)
        a = share(sums)
        for k in range(len(s)):
            out[t, k] = a * s[k]
        if weight[t] > 0.0:
            add_to_sums(R[t], s, a, weight[t], sums)
            spread = 1.0 / weight[t]
            for c in at:
                spread += V[c]
            for c in at:
                gain = V[c] / spread
                for k in range(len(s)):
                    W[c, k] += gain * (R[t, k] - s[k])
                V[c] -= gain * V[c]
            if forgetting < 1.0 and sums[ROWS] % PERIOD == 0.0:
                _forget(W, V, first, forgetting**PERIOD, sums)


@jit_called
def add_to_sums(r, s, a, weight, sums, expected=0.0):
    """Add a row. Its ⟨r, s⟩ is uncertain by how far it is from ``expected`` ‖s‖².

    With 0 all of it is: that is the standard error where s says nothing. Where s is right about
    most of r, that would be far too much, and a share known from the rows before says what to
    expect.
    """
    agreed, size, whole, left = 0.0, 0.0, 0.0, 0.0
    for k in range(len(s)):
        agreed += r[k] * s[k]
        size += s[k] * s[k]
        whole += r[k] * r[k]
        left += (r[k] - a * s[k]) ** 2
    sums[AGREED] += weight * agreed
    # a sum of fourth powers would overflow long before sums of squares do
    sums[DOUBT] = math.hypot(sums[DOUBT], weight * (agreed - expected * size))
    sums[SIZE] += weight * size
    sums[WHOLE] += weight * whole
    sums[LEFT] += weight * left
    sums[ROWS] += 1.0


@jit
def learn_share(R, S, weight, kept, sums, doubt, out):
    """out (n, K) ← a s of corrections S (n, K), before the residuals R of each row are known.

    a is the smallest of the shares of several memories, less ``doubt`` standard errors. ``sums``
    (M, N_SUMS) are those of each, and ``kept`` (M,): what is left of them after each PERIOD of
    rows.
    """
    for t in range(len(S)):
        a = 1.0
        for m in range(len(sums)):
            a = min(a, share(sums[m], doubt))
        for k in range(S.shape[1]):
            out[t, k] = a * S[t, k]
        if weight[t] > 0.0:
            for m in range(len(sums)):
                add_to_sums(R[t], S[t], a, weight[t], sums[m])
                if kept[m] < 1.0 and sums[m, ROWS] % PERIOD == 0.0:
                    fade(sums[m], kept[m])


@jit_called
def _forget(W, V, first, kept, sums):
    """Scale the precision 1/V - 1/V₀ that cells have gained by ``kept``; w shrinks towards 0."""
    for c in range(len(V)):
        left = kept + (1.0 - kept) * V[c] / first
        V[c] /= left
        for k in range(W.shape[1]):
            W[c, k] *= kept / left
    fade(sums, kept)


@jit_called
def fade(sums, kept):
    # numba takes seconds to compile the same for a slice
    for k in range(ROWS):
        sums[k] *= kept
