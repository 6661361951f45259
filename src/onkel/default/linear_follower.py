"""Linear models that follow a stream: gradient steps whose size never shrinks.

Least squares weighs all rows so far alike: of a rule that keeps turning, f learns the mean of what
it has been. A linear model of all columns takes a step towards each row as it comes, and knows
the rule of the last rows:

    u = W z,   z = (x in units of the first rows, 1),   ℓ = link(u),
    W ← W + min(η w, ζ/‖z‖²) · g zᵀ,

with the row's weight w and the slope g of its loss: logistic regression for classes, least squares
for numbers. There are two such models. Steps that do not shrink go on around the best weights.
Where a rule of classes stays, or turns slowly, their mean comes closer to them. Later weights count
more in it, and forgetting γ bounds how many:

    W̄ ← W̄ + max(4/(n + 3), 1 - γ) (W - W̄)   after n rows.

For numbers least squares knows all that W̄ could know. So the other model follows rules that turn
faster: its ζ is four times as large.

A prediction p becomes p + a (ℓ - p), first with the ℓ of the other model, then with that of W. Each
a in [0, 1] is the smaller of two least-squares shares, over about the last 8 192 rows and the last
256. It is less by standard errors: for classes by two with W̄ and one with W, for numbers by three.
ℓ must first have been right by four, after 32 rows or more. Chances of classes are nearer to 0 and
1 than p, which alone makes squared errors smaller. So a is also 0 where ℓ has not made fewer
mistakes in the last 8 192 rows, by a standard error. Where the rule is not linear, a hardly ever
leaves 0, as f knows all that ℓ could know.

A linear function goes on without bound. So for numbers ℓ - p is cut off at eight times its root
mean square over the rows that a share remembers, the smaller of both: ℓ was never right by more.

Source: Robbins & Monro 1951 (gradient steps); Widrow & Hoff 1960 (steps that do not shrink, for
numbers); Polyak & Juditsky 1992 (their mean); the shares are ours.
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
    SIZE,
    add_to_sums,
    fade,
    joined_sums,
    residuals_with_class,
    share,
    share_left,
    steps_since,
)
from onkel.default.column_choice import LearnedRows
from onkel.default.linear_part import MOST
from onkel.default.losses import MORE, SQUARED, TWO, loss_for, slopes_of_row
from onkel.fields import Array, Fields, Sizes, State, Whole, require
from onkel.maps.landmarks.fitted import OF_UNITS, TailCurves, Units
from onkel.merging import joined, require_same
from onkel.numerics.arrays import as_dense
from onkel.numerics.in_steps import finished
from onkel.numerics.jit import jit, jit_called
from onkel.state import Stateful

# η, and of both models ζ, which keeps steps of far rows from going beyond their target, and the
# standard errors by which their shares are less. W̄ is slow to notice that it was left behind, and
# numbers may have errors with heavy tails.
_OF_CLASSES = 0.05, np.array([1.6, 1.6]), np.array([2.0, 1.0])
_OF_NUMBERS = np.inf, np.array([0.2, 0.05]), np.array([3.0, 3.0])
_OF_LOSS = {SQUARED: _OF_NUMBERS, TWO: _OF_CLASSES, MORE: _OF_CLASSES}
# Rows that the two shares remember, and the standard errors by which ℓ must first be right,
# after so many rows at least.
_REMEMBERED, _CLEARLY, _FEWEST = np.array([8192.0, 256.0]), 4.0, 32
# ℓ - p of numbers is cut off at so many times its usual size.
_MOST_TIMES = 8.0
# The mean of the weights is about that of the last 1/_LATE of the rows.
_LATE = 4.0
# The two models: W, and before it W̄ of classes, or the one of larger steps.
_OTHER, _LAST = range(2)
# log-odds of a class that comes later are this much below those of the others
_SELDOM = 5.0


class LinearFollower(Stateful):
    """Weights (2, d + 1, K) of the other model and W, and of each the sums of its two shares."""

    #: standardised values beyond this are cut off: a linear function grows without bound
    farthest: ClassVar[float] = 32.0

    STATE: ClassVar[Fields] = {
        **OF_UNITS,
        "W": Array(shape=(2, "features", "n_outputs"), low=-1e150, high=1e150),
        "rows": Whole(),
        "loss": Whole(high=MORE),
        "sums": Array(shape=(2, 2, N_SUMS), low=-1e300, high=1e300),
        "fewer": Array(shape=(2, 2), low=-1e300, high=1e300),
        "proven": Array(np.int64, (2,), low=0, high=1),
    }

    def __init__(self, units: Units, n_outputs: int, forgetting: float = 1.0) -> None:
        self.tails: np.ndarray = units.tails.as_array()
        self.middle: np.ndarray = units.middle
        self.scale: np.ndarray = units.scale
        self.units: Units = units
        self.W: np.ndarray = np.zeros((2, len(units.middle) + 1, n_outputs))
        #: rows whose weights are in the mean
        self.rows: int = 0
        self.loss: int = SQUARED
        self.begin_share()
        self._forgotten = 1.0 - forgetting
        self._kept = (forgetting * (1.0 - 1.0 / _REMEMBERED)) ** PERIOD

    @classmethod
    def begun(cls, X: np.ndarray, Y: np.ndarray, forgetting: float) -> Self:
        """ℓ that has learned nothing, for rows like X (n, d) and targets like Y (n, K)."""
        follower = cls(finished(Units.in_steps(X)), Y.shape[1], forgetting)
        follower.loss = loss_for(Y)
        if follower.loss == SQUARED:
            follower.W[:, -1] = Y.mean(axis=0)
        return follower

    @classmethod
    def of_first_rows(cls, rows: LearnedRows, n_landmarks: int, forgetting: float) -> Self | None:
        """ℓ that has learned the rows; None if it would be larger than the matrix of f."""
        (n, d), K = rows.X.shape, rows.Y.shape[1]
        if not n or d > MOST * n_landmarks or d * K > n_landmarks**2:
            return None
        follower = cls.begun(rows.X, rows.Y, forgetting)
        follower.learn(rows.X, rows.Y, rows.P, rows.weight)
        # on these rows f was still learning what it is
        follower.begin_share()
        return follower

    def _features(self, X: np.ndarray) -> np.ndarray:
        """z (n, d + 1) of rows X, which may have columns that came later."""
        Z = np.ones((len(X), self.W.shape[1]))
        np.clip(self.units(X[:, : len(self.middle)]), -self.farthest, self.farthest, out=Z[:, :-1])
        return Z

    # ---- learning ------------------------------------------------------------------------------

    def learn(self, X: np.ndarray, Y: np.ndarray, P: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Learn targets Y (n, K) of rows X; returns what is added to P before each was learned."""
        out = np.zeros(P.shape)
        steps = self.W, self.rows, self.loss, *_OF_LOSS[self.loss], self._forgotten
        shares = self._kept, self.sums, self.fewer, self.proven
        self.rows = follow(self._features(X), Y, P, weight, *steps, *shares, out)
        return out

    def correction(self, X: Matrix, P: np.ndarray) -> np.ndarray:
        """What is added to predictions P (n, K) of rows X."""
        # rows without weight are not learned
        return self.learn(as_dense(X), P, P, np.zeros(len(P)))

    @property
    def shares(self) -> list[float]:
        """a of the other model, and of W."""
        *_, doubts = _OF_LOSS[self.loss]
        of_both = zip(self.sums, doubts, self.fewer, self.proven, strict=True)
        return [
            smaller_share(sums, doubt) if counts(self.loss, *of) else 0.0
            for sums, doubt, *of in of_both
        ]

    @property
    def reach(self) -> list[float]:
        """The most that ℓ - p counts, of the other model and of W."""
        if self.loss != SQUARED:
            return [math.inf, math.inf]
        return [reach(sums, self._kept) for sums in self.sums]

    def begin_share(self) -> None:
        """Both have to prove right anew, beside other predictions."""
        self.sums: np.ndarray = np.zeros((2, 2, N_SUMS))
        #: how many mistakes fewer p + a (ℓ - p) has made than p, and the sum of their squares
        self.fewer: np.ndarray = np.zeros((2, 2))
        #: whether ℓ has been clearly right; before, a is 0
        self.proven: np.ndarray = np.zeros(2, np.int64)

    @property
    def left(self) -> float:
        """Squared errors after the corrections, as a share of those before."""
        return share_left(self.sums[_OTHER, 0]) * share_left(self.sums[_LAST, 0])

    def add_output(self, position: int) -> None:
        """Make room for a class; the log-odds of two classes are a difference of two outputs."""
        if self.loss == TWO:
            self.sums[..., :ROWS] *= 0.5
        self.loss = MORE
        self.W = np.stack([residuals_with_class(W, position) for W in self.W])
        self.W[:, -1, position] = self.W[:, -1].min(axis=1) - _SELDOM

    # ---- models of several parts ---------------------------------------------------------------

    def require_alike(self, other: LinearFollower) -> None:
        """MergeError where both are of other units, or of other targets."""
        for name in ("tails", "middle", "scale", "loss"):
            mine, own = (getattr(of, name) for of in (self, other))
            require_same("the units of the linear follower", mine, own)

    def take_in(self, other: LinearFollower, origin: LinearFollower | None) -> None:
        """The means of both models' weights, by the rows since ``origin``; the sums add up.

        The other's rows follow those here, which therefore count as little as after so many rows.
        """
        known = LinearFollower(self.units, self.W.shape[2]) if origin is None else origin
        new = other.rows - known.rows
        left = np.full(2, self._kept[1] ** (new / PERIOD))
        if self.loss != SQUARED:
            in_mean = (self.rows / max(self.rows + new, 1)) ** _LATE
            left[_OTHER] = in_mean * (1.0 - self._forgotten) ** new
        rows = (self.rows - known.rows) * left
        part = (new / np.maximum(rows + new, 1.0))[:, None, None]
        self.W = (1.0 - part) * self.W + part * other.W
        self.proven = np.maximum(self.proven, other.proven)
        self.rows += new
        kept = self._kept ** steps_since(other.sums[_LAST, 0], known.sums[_LAST, 0])
        # squares fade twice as fast
        fewer = (of.fewer for of in (self, other, known))
        self.fewer = joined(fewer, kept[0] ** np.array([1, 2]))
        for model, i in np.ndindex(2, 2):
            mine, own, both = (of.sums[model, i] for of in (self, other, known))
            self.sums[model, i] = joined_sums(mine, own, both, float(kept[i]))

    # ---- state ---------------------------------------------------------------------------------

    def state_sizes(self) -> Sizes:
        return {"n_outputs": self.W.shape[2]}

    def check_state(self, state: State, sizes: Sizes) -> None:
        fits = sizes["features"] == sizes["d"] + 1
        require(fits, f"W: has {sizes['features']} rows, and there are {sizes['d']} columns")

    def state_is_set(self) -> None:
        self.units = Units(TailCurves(*self.tails), self.middle, self.scale)


@jit
def follow(
    Z, Y, P, weight, W, n, loss, rate, most, doubt, forgotten, kept, sums, fewer, proven, out
):
    """out (n, K) ← what is added to P for rows Z (n, d + 1), before each moves both models.

    n rows have moved them before; returns how many have now.
    """
    K, of_sign = P.shape[1], 2.0 if loss == TWO else 1.0
    f, g, h = np.empty(K), np.empty(K), np.empty(K)
    y, p, r, s = np.empty(K), np.empty(K), np.empty(K), np.empty(K)
    for t in range(len(Z)):
        for k in range(K):
            y[k] = 0.5 * (Y[t, k] + 1.0) if loss == TWO else Y[t, k]
        p[:] = P[t]
        for model in range(_LAST + 1):
            _outputs(Z[t], W[model], f)
            slopes_of_row(f, y, 1.0, loss, g, h)
            for k in range(K):
                r[k] = Y[t, k] - p[k]
                # the slope is what ℓ leaves of the target
                s[k] = r[k] - of_sign * g[k]
            to = smaller_share(sums[model], doubt[model])
            a = to if counts(loss, fewer[model], proven[model]) else 0.0
            # an ℓ that does not count needs no bound, and chances of classes have one
            far = reach(sums[model], kept) if loss == SQUARED and a > 0.0 else math.inf
            if weight[t] > 0.0:
                if loss != SQUARED:
                    d = _mistaken(Y[t], p, s, 0.0) - _mistaken(Y[t], p, s, to)
                    fewer[model, 0] += weight[t] * d
                    fewer[model, 1] += (weight[t] * d) ** 2
                for m in range(len(kept)):
                    expected = share(sums[model, m], 0.0)
                    add_to_sums(r, s, a, weight[t], sums[model, m], expected)
                    if sums[model, m, ROWS] % PERIOD == 0.0:
                        fade(sums[model, m], kept[m])
                        if m == 0:
                            fewer[model, 0] *= kept[0]
                            fewer[model, 1] *= kept[0] ** 2
                if sums[model, 0, ROWS] >= _FEWEST and share(sums[model, 0], _CLEARLY) > 0.0:
                    proven[model] = 1
                if model == _LAST or loss == SQUARED:
                    _step(min(rate * weight[t], most[model] / _square(Z[t])), g, Z[t], W[model])
            for k in range(K):
                more = a * min(max(s[k], -far), far)
                out[t, k] += more
                p[k] += more
        if weight[t] > 0.0:
            n += 1
            if loss != SQUARED:
                _approach(W[_LAST], max(_LATE / (n + _LATE - 1.0), forgotten), W[_OTHER])
    return n


@jit_called
def counts(loss, fewer, proven):
    """Whether ℓ is proven, and of classes mistakes become fewer; else a is 0."""
    return proven > 0 and (loss == SQUARED or fewer[0] > math.sqrt(max(fewer[1], 0.0)))


@jit_called
def smaller_share(sums, doubt):
    """a of a model that counts."""
    return min(share(sums[0], doubt), share(sums[1], doubt))


@jit_called
def reach(sums, kept):
    """Of numbers, where ℓ - p is cut off, from the sums of both shares."""
    usual = min(_mean_square(sums[0], kept[0]), _mean_square(sums[1], kept[1]))
    return _MOST_TIMES * math.sqrt(usual)


@jit_called
def _mean_square(sums, kept):
    """That of ℓ - p over the rows that the sums remember; ROWS counts all of them."""
    rows = PERIOD * (1.0 - kept ** (sums[ROWS] / PERIOD)) / (1.0 - kept)
    return sums[SIZE] / max(rows, 1.0)


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
def _approach(W, part, mean):
    for j in range(len(W)):
        for k in range(W.shape[1]):
            mean[j, k] += part * (W[j, k] - mean[j, k])


@jit_called
def _step(size, g, z, W):
    for j in range(len(z)):
        for k in range(len(g)):
            W[j, k] += size * g[k] * z[j]
