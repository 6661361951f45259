"""Recursive least squares, exact after every row, in blocks of rows at level-3 BLAS speed.

The recursion of one row, with P = R⁻¹ and R = ridge·K₀ + Σ z zᵀ,

    e = y - w·z,   k = P z/(1 + zᵀ P z),   w ← w + k e,   P ← P - k (P z)ᵀ,

loses digits as P shrinks. Here the sums R and b = Σ z y are kept. Every :data:`ANCHOR_ROWS` rows
(an anchor) R is factored, R = Cᵀ C. The rows since the anchor are kept beside the factor: with
U = C⁻ᵀ Zᵀ, S = Uᵀ U + I = L Lᵀ and v = L⁻¹(Y - Z w₀), the innovations of the recursion are
e = diag(L)·v, and w = w₀ + C⁻¹ U L⁻ᵀ v. L grows by one row per row learned, so single rows and
blocks run the same algorithm. After any number of rows the model equals batch ridge regression.

With a forgetting factor λ < 1 rows fade and the penalty stays: after row t,

    R_t = ridge·K₀ + Σ_i λ^(t-i) z_i z_iᵀ.

Between anchors the whole factor fades, and the penalty with it: by λ^s after s rows. To restore it
takes an update of full rank, so only anchors do. Anchors are p rows apart. The factor of an anchor
has the penalty λ^(-(p-1)/2) ridge·K₀, so that over the p predictions until the next anchor it is
within 5 % of ridge·K₀ on both sides (25 % with many features). R itself has the exact penalty at
every anchor. For λ ≤ .9 (λ < .64 with many features) every row is an anchor, and every prediction
is exact.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.linalg.blas import dsyrk

from onkel.exact.matrices import (
    FEW_ROWS,
    NOTHING,
    Known,
    RowsSince,
    Sums,
    matrix,
    require_equal,
    wider,
)
from onkel.exact.on_device import FactorOnDevice
from onkel.fields import Fields, Sizes, State, require
from onkel.numerics.arrays import end_of_counted, inserted
from onkel.numerics.devices import Device
from onkel.numerics.linalg import BlockFactor, lower_gram
from onkel.numerics.threads import Line, one_blas_thread
from onkel.state import Part, Stateful

#: rows between two factorisations of R: fewer cost more for the factor, more cost more for S
ANCHOR_ROWS = 256
#: share by which the penalty may be off between anchors; the second applies to more than _MANY
#: features, where an anchor costs milliseconds
FADE, _FADE_OF_MANY, _MANY = 0.05, 0.25, 128
# Replaces a weight of 0 where only the prediction is wanted: its size cancels there.
_WEIGHTLESS = 1e-30
# Rows to learn at once where anchors are closer together than that.
_BLOCK_ROWS = 64
#: parts that one of two threads may make and sum before the other has predicted them
PARTS_AHEAD = 2
# Rows times m² from which two threads, each with half of the work, are faster.
_LARGE = 4e6


class Anchor(NamedTuple):
    """A factor of R, and the weights w0 (m, K) at that row."""

    factor: BlockFactor
    w0: np.ndarray


# features Z (n, m), targets Y (n, K), weights (n,)
Rows = tuple[np.ndarray, np.ndarray, np.ndarray]


class _Scaled(NamedTuple):
    """Rows, and Z and Y times the roots (n,) of how much they count: these enter the sums.

    ``since``: how many rows there are then since the anchor.
    """

    Z: np.ndarray
    Y: np.ndarray
    weight: np.ndarray
    root: np.ndarray
    Zs: np.ndarray
    Ys: np.ndarray
    since: int


class RecursiveLeastSquares(Stateful):
    """The sums R (m, m) and b (m, K), the last anchor, and the rows since.

    ``prior`` is K₀ (m, m), the identity if None; ``ridge`` > 0; ``forgetting`` λ in (0, 1].
    ``device``: where products of blocks of rows are made, other than in the processor.
    """

    since: RowsSince
    factor: BlockFactor
    w0: np.ndarray
    #: the penalty of the sums, as a share of ``ridge``
    _share_of_ridge = 1.0

    def __init__(
        self,
        m: int,
        n_outputs: int,
        ridge: float,
        forgetting: float,
        prior: np.ndarray | None = None,
        device: Device | None = None,
    ) -> None:
        self.forgetting = forgetting
        self._device = device
        # a copy of the last anchor's factor
        self._there: FactorOnDevice | None = None
        self.sums: Sums = Sums(
            m, n_outputs, self._share_of_ridge * ridge, forgetting, prior, device
        )
        #: rows from anchor to anchor, and the share by which a factor's penalty is larger
        self.period: int = ANCHOR_ROWS
        self.lead: float = 0.0
        if forgetting < 1.0:
            fading, most = -math.log(forgetting), FADE if m <= _MANY else _FADE_OF_MANY
            self.period = min(1 + int(2.0 * math.log1p(most) / fading), ANCHOR_ROWS)
            self.lead = math.expm1(0.5 * (self.period - 1) * fading)
        self.factor_anew()

    def _anchor_at(self, rows: int) -> None:
        """Fade the sums by ``rows`` rows, which they already contain, and factor R."""
        self.sums.fade_rest(rows)
        self._begin(self._anchor(rows))

    def _anchor(self, rows: int) -> Anchor:
        """Fade R and b by ``rows`` rows; returns the next anchor."""
        self.sums.fade_matrix(rows)
        R = self.sums.R
        # due at a row number, so also where rows come one by one
        with one_blas_thread():
            factor = BlockFactor.of(R + self.lead * self.sums.prior if self.lead else R)
            # contiguous whatever the order of b, so that a loaded model continues bit for bit
            return Anchor(factor, np.ascontiguousarray(factor.solve(self.sums.b)))

    def _begin(self, anchor: Anchor) -> None:
        self.factor, self.w0 = anchor
        m, n_outputs = self.sums.b.shape
        self.since = RowsSince(m, n_outputs, self.period)

    def factor_anew(self) -> np.ndarray:
        """Set an anchor here; returns the weights (K, m)."""
        self._begin(self._anchor(0))
        return np.array(self.w0.T, order="C")

    # ---- learning ------------------------------------------------------------------------------

    def block_rows(self, most: int) -> tuple[int, int]:
        """Rows to learn at once, at most ``most``, and rows of the first block.

        Blocks end at anchors if possible: a block that an anchor cuts is solved in two parts.
        """
        rows = self.period * -(-_BLOCK_ROWS // self.period)
        rows = -(-rows // -(-rows // most))
        return rows, (self.period - self.since.count) % rows or rows

    def learn(self, Z: np.ndarray, Y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Learn the rows Z (n, m) with targets Y (n, K); returns the predictions (n, K)."""
        Z = np.asarray(Z, dtype=np.float64)
        if len(Z) == 1:
            return self._learn_rows(Z, Y, weight)
        predictions = np.empty(Y.shape)
        done = 0
        while done < len(Z):
            # anchors fall on row numbers, not on the ends of blocks
            rows = slice(done, end_of_counted(weight, done, self.period - self.since.count))
            predictions[rows] = self._learn_rows(Z[rows], Y[rows], weight[rows])
            done = rows.stop
        return predictions

    def is_shared(self, rows: int) -> bool:
        """Whether two threads learn parts of so many rows at most, and faster than one does."""
        return self.period % rows == 0 and rows * len(self.sums.R) ** 2 >= _LARGE

    def learn_shared(self, parts: Iterator[Rows], line: Line) -> Iterator[np.ndarray]:
        """As :meth:`learn`, to the same bits, by two threads; yields the predictions of each part.

        A part ends at the next anchor at the latest, and all of its weights are above 0. The thread
        of ``line`` sums a part, and factors R, while this one predicts the part and makes the next
        ones: it keeps at most PARTS_AHEAD + 1 of them.
        """
        waiting: deque[_Scaled] = deque()
        since = self.since.count
        for part in chain(parts, [None]):
            if part is not None:
                rows = self._scaled(*part, since)
                line.give(partial(self._added, rows.Zs, rows.Ys, rows.since))
                waiting.append(rows)
                since = rows.since % self.period
            while waiting and (part is None or len(waiting) > PARTS_AHEAD):
                rows = waiting.popleft()
                predictions = self._predicted(rows)
                self._go_on(line.take(), rows.since)
                yield predictions

    def _learn_rows(self, Z: np.ndarray, Y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Learn rows that lie in one period."""
        if len(Z) == 1 and self.forgetting == 1.0 and weight[0] > _WEIGHTLESS:
            return self._learn_row(Z, Y, float(weight[0]))
        used, rows = weight > 0.0, self._scaled(Z, Y, weight, self.since.count)
        if used.all():
            predictions = self._predicted(rows)
            self._go_on(self._added(rows.Zs, rows.Ys, rows.since), rows.since)
            return predictions
        residual, found = (Y - Z @ self.w0) * rows.root[:, None], self._transposed(rows.Zs)
        L, v = self.since.innovations(*found, residual, keep=False)
        if used.any():
            self._learn_rows(Z[used], Y[used], weight[used])
        return np.asarray(Y - L.diagonal()[:, None] * v / rows.root[:, None])

    def _scaled(self, Z: np.ndarray, Y: np.ndarray, weight: np.ndarray, since: int) -> _Scaled:
        """Rows that come ``since`` others after the anchor, and how they enter the sums."""
        used, root = weight > 0.0, np.sqrt(np.maximum(weight, _WEIGHTLESS))
        if self.forgetting < 1.0:
            # a row of weight 0 fades nothing
            root *= self.forgetting ** (-0.5 * (since + np.cumsum(used)))
        Zs, Ys = Z, Y
        if (root != 1.0).any():
            Zs, Ys = Z * root[:, None], Y * root[:, None]
        return _Scaled(Z, Y, weight, root, Zs, Ys, since + int(np.count_nonzero(used)))

    def _predicted(self, rows: _Scaled) -> np.ndarray:
        """The predictions (n, K) of rows of weights above 0, which are kept beside the factor."""
        root = rows.root
        residual = (rows.Y - rows.Z @ self.w0) * root[:, None]
        L, v = self.since.innovations(*self._transposed(rows.Zs), residual, keep=True)
        self.sums.z_sum += rows.Zs.T @ root
        self.sums.noise += [float(np.mean(v**2, axis=1) @ (rows.weight / root**2)), len(root)]
        return np.asarray(rows.Y - L.diagonal()[:, None] * v / root[:, None])

    def _added(self, Zs: np.ndarray, Ys: np.ndarray, rows: int) -> Anchor | None:
        """Add rows scaled by the roots of their weights: the last of ``rows`` since the anchor.

        Returns the next anchor if one is due.
        """
        self.sums.add(Zs, Ys)
        return self._anchor(rows) if rows >= self.period else None

    def _learn_row(self, Z: np.ndarray, Y: np.ndarray, weight: float) -> np.ndarray:
        """As :meth:`_learn_rows`, to the same bits, for one row that counts, without forgetting."""
        scale, rows = math.sqrt(weight), self.since.count + 1
        Zs, Ys, residual = Z, Y, Y - Z @ self.w0
        if scale != 1.0:
            Zs, Ys, residual = Z * scale, Y * scale, residual * scale
        L, v = self.since.innovations(*self._transposed(Zs), residual, keep=True)
        self.sums.z_sum += Zs[0] * scale
        self.sums.noise += ((v * v).sum() / v.shape[1] * (weight / (scale * scale)), 1.0)
        self._go_on(self._added(Zs, Ys, rows), rows)
        return np.asarray(Y - L[0, 0] * v / scale)

    def _transposed(self, Zs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """U = C⁻ᵀ Zᵀ (m, n), and the lower triangle of UᵀU (n, n)."""
        few = len(Zs) < FEW_ROWS
        if self._device is None or few:
            U = self.factor.transposed(Zs)
            return U, dsyrk(1.0, U.T, lower=1) if few else lower_gram(U)
        if self._there is None or self._there.factor is not self.factor:
            self._there = FactorOnDevice(self.factor, self._device)
        return self._there.products(Zs)

    def can_sum(self, weight: np.ndarray) -> bool:
        """Whether only the sums of these rows are needed, if an anchor follows them."""
        first = not self.since.count and len(weight) <= self.period
        return first and self.forgetting == 1.0 and bool((weight > 0.0).all())

    def _go_on(self, anchor: Anchor | None, rows: int) -> None:
        """Go on from the next anchor, if one is due after ``rows`` rows."""
        if anchor is not None:
            self.sums.fade_rest(rows)
            self._begin(anchor)

    def weights(self) -> np.ndarray:
        """w (m, K) after all rows."""
        if not self.since.count:
            return self.w0
        return np.asarray(self.w0 + self.factor.back(self.since.inner()))

    def predictions(self, Z: np.ndarray) -> np.ndarray:
        """Z w (n, K) of a few rows Z (n, m), without w."""
        Z = np.asarray(Z, dtype=np.float64)
        out = Z @ self.w0
        if self.since.count:
            out += self.since.rows_of_L(self.factor.transposed(Z)) @ self.since.v
        return np.asarray(out)

    # ---- what follows from the matrices --------------------------------------------------------

    def linearized(
        self, F: np.ndarray, Y: np.ndarray, weight: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """How rows with scores F (n, K) and targets Y enter the sums.

        Returns their curvature (n,), the goal (n, K) that is summed, and -∂loss/∂F.
        """
        return weight, Y, weight[:, None] * (Y - F)

    def change_features(self, T: np.ndarray, known: Known | None = None) -> np.ndarray:
        """Change features, as if those of all rows so far were T z (m') instead of z (m).

        Those of ``known`` rows become T z + e. Returns the weights (K, m').
        """
        self.sums.fade(self.since.count)
        self.sums.change_features(T, known)
        return self.factor_anew()

    def take_in(
        self, other: RecursiveLeastSquares, origin: RecursiveLeastSquares | None, rows: int
    ) -> None:
        """Add what another learned since both were ``origin`` (None: since the first row).

        With forgetting, its ``rows`` rows follow those here.
        """
        parts = self._faded(), other._faded(), NOTHING if origin is None else origin._faded()
        self.sums.join(parts, self.forgetting**rows)
        self.factor_anew()

    def _faded(self) -> list[Any]:
        """The sums after all rows."""
        return self.sums.faded(self.since.count)

    def variance(self, Z: np.ndarray) -> np.ndarray:
        """Predictive variance σ²(1 + zᵀ P z) of each row, σ² estimated from the innovations."""
        return (1.0 + self.leverage(Z)) * self.noise

    @property
    def noise(self) -> float:
        """σ²."""
        squares, rows = self.sums.noise
        return float(squares / max(rows, 1.0))

    def leverage(self, Z: np.ndarray) -> np.ndarray:
        """zᵀ P z (n,) of each row."""
        U = self.factor.transposed(np.asarray(Z, dtype=np.float64))
        learned = self.since.rows_of_L(U)
        spread = np.einsum("ij,ij->j", U, U) - np.einsum("ij,ij->i", learned, learned)
        return np.maximum(spread, 0.0)

    def add_output(self, position: int) -> None:
        """Insert a class without rows at ``position``."""
        several = self.sums.b.shape[1] > 1
        self.sums.add_class(position)
        if several:
            # all that belongs to the class is 0, and the factor stays
            self.w0 = inserted(self.w0, position)
            self.since.add_output(position)
        else:
            self._anchor_at(self.since.count)

    def add_features(self, where: list[int]) -> None:
        """Insert features before those of ``where``; they were 0 in all rows so far.

        Their penalty is ridge.
        """
        self.sums.add_features(where)
        own = math.sqrt((1.0 + self.lead) * self.sums.ridge)
        self.factor = BlockFactor(wider(self.factor.C, where, own))
        self.w0 = np.insert(self.w0, where, 0.0, axis=0)
        self.since.add_features(where)

    # ---- state ---------------------------------------------------------------------------------

    STATE: ClassVar[Fields] = {
        "C": matrix("m", "m"),
        "sums": Part(among="R"),
        "w0": matrix("m", "K"),
        "since": Part(among="U"),
    }

    @property
    def C(self) -> np.ndarray:
        """The factor of the last anchor, (m, m)."""
        return self.factor.C

    def state_sizes(self) -> Sizes:
        return self.sums.state_sizes()

    def set_fields(self, values: State) -> None:
        self.factor = BlockFactor(values["C"])
        self.w0 = np.ascontiguousarray(values["w0"])

    def state_is_set(self) -> None:
        C = self.C
        require((C.diagonal() > 0.0).all(), "C: is no factor; its diagonal must be above 0")
        U, C = self.since.U, np.triu(C)
        factored = C.T @ (C + U @ (U.T @ C))
        require_equal("C", np.triu(factored), np.triu(self.sums.R + self.lead * self.sums.prior))
