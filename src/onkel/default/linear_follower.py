"""A linear model that follows a stream: gradient steps whose size never shrinks.

Least squares weighs all rows so far alike: of a rule that keeps turning, f learns the mean of what
it has been. A linear model ℓ of all columns takes a step towards each row as it comes, and knows
the rule of the last rows:

    u = W z,   z = (x in units of the first rows, 1),   ℓ = link(u),
    W ← W + min(η w, ζ/‖z‖²) · g zᵀ,

with the row's weight w and the slope g of its loss: logistic regression for classes, least squares
for numbers. A prediction p becomes p + a (ℓ - p), where a in [0, 1] is the smaller of two
least-squares shares, over about the last 8 192 rows and the last 256, each less a standard error.
ℓ must first have been right by four standard errors. On a stream that does not change it hardly
ever is, as f knows all that ℓ could know. Chances of classes are nearer to 0 and 1 than p, which
alone makes squared errors smaller. So a is also 0 where it has not made fewer mistakes in the last
8 192 rows, by a standard error.

Source: Robbins & Monro 1951 (gradient steps); Widrow & Hoff 1960 (steps that do not shrink, for
numbers); the share is ours.
"""

from __future__ import annotations

import math
from typing import ClassVar, Self

import numpy as np

from onkel.annotations import Matrix
from onkel.default.cells import (
    N_SUMS,
    PERIOD,
    ROWS,
    add_to_sums,
    fade,
    joined_sums,
    residuals_with_class,
    share,
    share_left,
)
from onkel.default.losses import MORE, SQUARED, TWO, loss_for, slopes_of_row
from onkel.fields import Array, Fields, Flag, Sizes, State, Whole, require
from onkel.maps.landmarks.fitted import OF_UNITS, TailCurves, Units
from onkel.merging import joined, require_same
from onkel.numerics.arrays import as_dense
from onkel.numerics.in_steps import finished
from onkel.numerics.jit import jit, jit_called
from onkel.state import Stateful

# η, and ζ, which keeps steps of far rows from going beyond their target: for classes and numbers.
_OF_CLASSES, _OF_NUMBERS = (0.05, 1.6), (np.inf, 0.05)
# Rows that the two shares remember, and the standard errors by which ℓ must first be right.
_REMEMBERED, _CLEARLY = np.array([8192.0, 256.0]), 4.0
# log-odds of a class that comes later are this much below those of the others
_SELDOM = 5.0


class LinearFollower(Stateful):
    """Weights W (d + 1, K), and the sums of the two shares."""

    #: standardised values beyond this are cut off: a linear function grows without bound
    farthest: ClassVar[float] = 32.0

    STATE: ClassVar[Fields] = {
        **OF_UNITS,
        "W": Array(shape=("features", "n_outputs"), low=-1e150, high=1e150),
        "loss": Whole(high=MORE),
        "sums": Array(shape=(2, N_SUMS), low=-1e300, high=1e300),
        "fewer": Array(shape=(2,), low=-1e300, high=1e300),
        "proven": Flag(),
    }

    def __init__(self, units: Units, n_outputs: int, forgetting: float = 1.0) -> None:
        self.tails: np.ndarray = units.tails.as_array()
        self.middle: np.ndarray = units.middle
        self.scale: np.ndarray = units.scale
        self.units: Units = units
        self.W: np.ndarray = np.zeros((len(units.middle) + 1, n_outputs))
        self.loss: int = SQUARED
        self.sums: np.ndarray = np.zeros((2, N_SUMS))
        #: how many mistakes fewer p + a (ℓ - p) has made than p, and the sum of their squares
        self.fewer: np.ndarray = np.zeros(2)
        #: whether ℓ has been clearly right; before, a is 0
        self.proven: bool = False
        self._kept = (forgetting * (1.0 - 1.0 / _REMEMBERED)) ** PERIOD

    @classmethod
    def begun(cls, X: np.ndarray, Y: np.ndarray, forgetting: float) -> Self:
        """ℓ that has learned nothing, for rows like X (n, d) and targets like Y (n, K)."""
        follower = cls(finished(Units.in_steps(X)), Y.shape[1], forgetting)
        follower.loss = loss_for(Y)
        if follower.loss == SQUARED:
            follower.W[-1] = Y.mean(axis=0)
        return follower

    def _features(self, X: np.ndarray) -> np.ndarray:
        """z (n, d + 1) of rows X, which may have columns that came later."""
        Z = np.ones((len(X), len(self.W)))
        np.clip(self.units(X[:, : len(self.middle)]), -self.farthest, self.farthest, out=Z[:, :-1])
        return Z

    # ---- learning ------------------------------------------------------------------------------

    def learn(self, X: np.ndarray, Y: np.ndarray, P: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Learn targets Y (n, K) of rows X; returns a (ℓ - p) (n, K) before each was learned."""
        out = np.zeros(P.shape)
        step = _OF_NUMBERS if self.loss == SQUARED else _OF_CLASSES
        shares = self._kept, self.sums, self.fewer, self.proven
        self.proven = bool(
            follow(self._features(X), Y, P, weight, self.W, self.loss, *step, *shares, out)
        )
        return out

    def correction(self, X: Matrix, P: np.ndarray) -> np.ndarray:
        """a (ℓ - p) (n, K) of rows X with predictions P (n, K)."""
        # rows without weight are not learned
        return self.learn(as_dense(X), P, P, np.zeros(len(P)))

    @property
    def share(self) -> float:
        """a."""
        helps = self.proven and helpful(self.loss, self.fewer)
        return min(float(share(sums)) for sums in self.sums) if helps else 0.0

    def begin_share(self) -> None:
        """ℓ has to prove right anew, beside other predictions."""
        self.sums, self.fewer, self.proven = np.zeros((2, N_SUMS)), np.zeros(2), False

    @property
    def left(self) -> float:
        """Squared errors after the correction, as a share of those before."""
        return share_left(self.sums[0])

    def add_output(self, position: int) -> None:
        """Make room for a class; the log-odds of two classes are a difference of two outputs."""
        if self.loss == TWO:
            self.sums[:, :ROWS] *= 0.5
        self.loss, least = MORE, min(float(self.W[-1].min()), 0.0)
        self.W = residuals_with_class(self.W, position)
        self.W[-1, position] = least - _SELDOM

    # ---- models of several parts ---------------------------------------------------------------

    def require_alike(self, other: LinearFollower) -> None:
        """MergeError where both are of other units, or of other targets."""
        for name in ("tails", "middle", "scale", "loss"):
            mine, own = (getattr(of, name) for of in (self, other))
            require_same("the units of the linear follower", mine, own)

    def take_in(self, other: LinearFollower, origin: LinearFollower | None) -> None:
        """The mean of both W, as each follows its own last rows; the sums add up."""
        self.W, self.proven = 0.5 * (self.W + other.W), self.proven or other.proven
        known = LinearFollower(self.units, self.W.shape[1]) if origin is None else origin
        since = other.sums[0, ROWS] // PERIOD - known.sums[0, ROWS] // PERIOD
        kept = self._kept**since
        # squares fade twice as fast
        fewer = (of.fewer for of in (self, other, known))
        self.fewer = joined(fewer, kept[0] ** np.array([1, 2]))
        for i in range(len(kept)):
            self.sums[i] = joined_sums(self.sums[i], other.sums[i], known.sums[i], kept[i])

    # ---- state ---------------------------------------------------------------------------------

    def state_sizes(self) -> Sizes:
        return {"n_outputs": self.W.shape[1]}

    def check_state(self, state: State, sizes: Sizes) -> None:
        fits = sizes["features"] == sizes["d"] + 1
        require(fits, f"W: has {sizes['features']} rows, and there are {sizes['d']} columns")

    def state_is_set(self) -> None:
        self.units = Units(TailCurves(*self.tails), self.middle, self.scale)


@jit
def follow(Z, Y, P, weight, W, loss, rate, most, kept, sums, fewer, proven, out):
    """out (n, K) ← a (ℓ - p) of rows Z (n, d + 1) before each moves W; returns ``proven``."""
    K, of_sign = W.shape[1], 2.0 if loss == TWO else 1.0
    f, g, h = np.empty(K), np.empty(K), np.empty(K)
    y, r, s = np.empty(K), np.empty(K), np.empty(K)
    for t in range(len(Z)):
        _outputs(Z[t], W, f)
        for k in range(K):
            y[k] = 0.5 * (Y[t, k] + 1.0) if loss == TWO else Y[t, k]
        slopes_of_row(f, y, 1.0, loss, g, h)
        for k in range(K):
            r[k] = Y[t, k] - P[t, k]
            # the slope is what ℓ leaves of the target
            s[k] = r[k] - of_sign * g[k]
        a = min(share(sums[0]), share(sums[1]))
        used = a if proven and helpful(loss, fewer) else 0.0
        for k in range(K):
            out[t, k] = used * s[k]
        if weight[t] > 0.0:
            if loss != SQUARED:
                d = weight[t] * (_mistaken(Y[t], P[t], s, 0.0) - _mistaken(Y[t], P[t], s, a))
                fewer[0] += d
                fewer[1] += d * d
            for m in range(len(sums)):
                add_to_sums(r, s, used, weight[t], sums[m])
                if sums[m, ROWS] % PERIOD == 0.0:
                    fade(sums[m], kept[m])
                    if m == 0:
                        fewer[0] *= kept[0]
                        fewer[1] *= kept[0] ** 2
            proven = proven or share(sums[0], _CLEARLY) > 0.0
            _step(min(rate * weight[t], most / _square(Z[t])), g, Z[t], W)
    return proven


@jit_called
def helpful(loss, fewer):
    """Whether mistakes have become fewer, by a standard error; numbers make none."""
    return loss == SQUARED or fewer[0] > math.sqrt(max(fewer[1], 0.0))


@jit_called
def _mistaken(y, p, s, a):
    """1 where the class of p + a s is another than that of y; else 0."""
    if len(y) == 1:
        return 1.0 if (p[0] + a * s[0] >= 0.0) != (y[0] > 0.0) else 0.0
    best = 0
    for k in range(1, len(y)):
        if p[k] + a * s[k] > p[best] + a * s[best]:
            best = k
    return 0.0 if y[best] > 0.0 else 1.0


@jit_called
def _outputs(z, W, f):
    f[:] = 0.0
    for j in range(len(z)):
        for k in range(len(f)):
            f[k] += z[j] * W[j, k]


@jit_called
def _square(z):
    total = 0.0
    for j in range(len(z)):
        total += z[j] * z[j]
    return total


@jit_called
def _step(size, g, z, W):
    for j in range(len(z)):
        for k in range(len(g)):
            W[j, k] += size * g[k] * z[j]
