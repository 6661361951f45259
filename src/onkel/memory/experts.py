"""Predictions of several experts, weighted online by their regret, and whether memory helps.

Expert i predicts e_i, the mixture predicts p = Σ w_i e_i, and label y costs it ‖p - y‖². With the
linearised regret of a row, r_i = 2 ⟨p - y, p - e_i⟩, the next weights are

    w_i ∝ max(R_i, 0) / (b² + Σ r_i²),   R_i = Σ r_i,   b the largest |r| of any expert so far.

There is no step size, and the unit of the predictions does not matter. With b known at the start,
the sum of squared errors exceeds that of the best expert by at most
√(N (1 + log(1 + V/b²)) (b² + V)), V the largest Σ r_i² of any expert (Gaillard, Stoltz & van Erven
2014: ML-Poly, with b = 1).

R counts all rows alike. After rows of huge errors, as after one corrupt target or a jump of all
targets, nothing that comes later would count beside them. So losses of about the last 64 rows are
kept. Where the mixture has lost more than four times as much there as its best expert, its regrets
become those of these rows. An expert that has lost more than twice as much as the best gets no
share then.

:class:`Gain` is a paired test of losses without and with memory, at fixed row numbers.
"""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import numpy as np

from onkel.fields import Array, Fields, Like, State, Whole, require
from onkel.numerics.jit import jit, jit_inline
from onkel.state import Stateful

# What a row's loss still counts after the next row, and for how many rows losses must count.
_KEPT, _FEWEST = 1.0 - 1.0 / 64.0, 32.0
# The regrets begin again where the mixture has lost so many times as much as its best expert. Those
# that have lost more than so many times as much as the best get no share.
_FAR_MORE, _MORE = 4.0, 2.0


class Mixture(NamedTuple):
    """What the weights come from: Σ r_i and Σ r_i² of each expert, its weight, and b.

    ``recent`` (N + 2,): losses of the last rows, of each expert and of the mixture, and how many
    rows count in them.
    """

    regret: np.ndarray
    spread: np.ndarray
    weights: np.ndarray
    largest: np.ndarray
    recent: np.ndarray


#: what files of before do not have
LATER = ("recent",)


def new_mixture(n: int) -> Mixture:
    """Equal weights for n experts."""
    return Mixture(np.zeros(n), np.zeros(n), np.full(n, 1.0 / n), np.zeros(1), np.zeros(n + 2))


@jit_inline
def mix(mixture, E, out):
    """out (K,) = Σ w_i e_i, E (N, K); the weights' sum is 1.

    It is summed as e_0 + Σ w_i (e_i - e_0): where experts agree, the mixture is the same to the
    bit. If rounding parted them, their regrets, and so the next weights, would be noise.
    """
    for k in range(E.shape[1]):
        out[k] = E[0, k]
    for i in range(1, E.shape[0]):
        for k in range(E.shape[1]):
            out[k] += mixture.weights[i] * (E[i, k] - E[0, k])


@jit_inline
def mix_with_past(rows, mixture, E, out):
    """As :func:`mix`; without a past, of 0 ``rows``, the first expert. Whether there is one."""
    mix(mixture, E, out)
    if rows == 0:
        for k in range(E.shape[1]):
            out[k] = E[0, k]
    return rows > 0


@jit_inline
def _squared_error(p, target):
    loss = 0.0
    for k in range(len(p)):
        loss += (p[k] - target[k]) ** 2
    return loss


@jit_inline
def _learn_recent(mixture, E, p, target, weight):
    """Count the losses of a row; the regrets begin again where they have led far astray."""
    n, recent = E.shape[0], mixture.recent
    for i in range(n + 2):
        recent[i] *= _KEPT
    for i in range(n):
        recent[i] += weight * _squared_error(E[i], target)
    recent[n] += weight * _squared_error(p, target)
    recent[n + 1] += 1.0
    best = recent[0]
    for i in range(1, n):
        best = min(best, recent[i])
    if recent[n + 1] < _FEWEST or not recent[n] > _FAR_MORE * best:
        return
    for i in range(n):
        regret = recent[n] - recent[i]
        mixture.regret[i] = regret if recent[i] <= _MORE * best else min(regret, 0.0)
        mixture.spread[i] = 0.0
    mixture.largest[0] = recent[n] / recent[n + 1]
    for i in range(n + 2):
        recent[i] = 0.0


@jit_inline
def learn_mixture(mixture, E, p, target, weight):
    """Learn the errors of the experts E (N, K) and of their mixture p (K,)."""
    _learn_recent(mixture, E, p, target, weight)
    for i in range(E.shape[0]):
        r = 0.0
        for k in range(E.shape[1]):
            r += 2.0 * weight * (p[k] - target[k]) * (p[k] - E[i, k])
        if math.isfinite(r * r):
            mixture.regret[i] += r
            mixture.spread[i] += r * r
            mixture.largest[0] = max(mixture.largest[0], abs(r))
    total = 0.0
    for i in range(E.shape[0]):
        spread = mixture.largest[0] ** 2 + mixture.spread[i]
        mixture.weights[i] = max(mixture.regret[i], 0.0) / spread if spread > 0.0 else 0.0
    for i in range(E.shape[0]):
        total += mixture.weights[i]
    for i in range(E.shape[0]):
        mixture.weights[i] = mixture.weights[i] / total if total > 0.0 else 1.0 / E.shape[0]


@jit
def _learn_rows(mixture, E, targets, weight, out):
    for t in range(E.shape[0]):
        mix(mixture, E[t], out[t])
        if weight[t] > 0.0:
            learn_mixture(mixture, E[t], out[t], targets[t], weight[t])


class Experts(Stateful):
    """A mixture of n experts, each of which predicts K numbers."""

    STATE: ClassVar[Fields] = {"mixture": Like(later=LATER)}

    def __init__(self, n: int) -> None:
        self.mixture: Mixture = new_mixture(n)

    def learn(self, E: np.ndarray, targets: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Learn rows of expert predictions E (n, N, K); returns the mixture (n, K) before each."""
        out = np.zeros((E.shape[0], E.shape[2]))
        _learn_rows(self.mixture, E, targets, weight, out)
        return out

    def predict(self, E: np.ndarray) -> np.ndarray:
        """The mixture (n, K) of predictions E (n, N, K)."""
        first = E[:, :1]
        return np.asarray(first[:, 0] + np.einsum("i,tik->tk", self.mixture.weights, E - first))

    def rescale(self, by: int) -> None:
        """From now on predictions are 2^by times as large; weights stay."""
        mixture = self.mixture
        mixture.spread[:] = np.ldexp(mixture.spread, 4 * by)
        for sums in (mixture.regret, mixture.largest, mixture.recent[:-1]):
            sums[:] = np.ldexp(sums, 2 * by)


# The test is made every 64 rows, and from row 1024 on every 1024. At each, older rows count less.
_OFTEN, _SELDOM = 64, 1024
_KEPT_OF_64 = 0.99
_STANDARD_ERRORS = 5.0
# A gain below this share of the loss is not worth a second model.
_SHARE = 0.02


class Gain(Stateful):
    """Sums of losses without memory, and of how much smaller those with memory are."""

    STATE: ClassVar[Fields] = {
        "sums": Array(shape=(3,)),
        "open": Array(shape=("rows", 2)),
        "n_rows": Whole(),
    }

    def __init__(self) -> None:
        #: Σ loss without, Σ difference, Σ difference² up to the last test
        self.sums: np.ndarray = np.zeros(3)
        #: losses without and with memory since then, and room for those up to the next test
        self._open, self._count = np.zeros((_SELDOM, 2)), 0
        #: rows up to the last test, and from now to the next
        self.n_rows: int = 0
        self.until_test: int = _OFTEN

    @property
    def open(self) -> np.ndarray:
        """Losses without and with memory since the last test, (n, 2)."""
        return self._open[: self._count]

    @open.setter
    def open(self, losses: np.ndarray) -> None:
        self._count = len(losses)
        self._open[: self._count] = losses

    def add(self, without: np.ndarray, with_memory: np.ndarray) -> bool:
        """Add losses of the next rows, up to a test at most; True if it finds memory useful."""
        new = self._open[self._count : self._count + len(without)]
        new[:, 0], new[:, 1] = without, with_memory
        self._count += len(new)
        self.until_test -= len(new)
        if self.until_test > 0:
            return False
        without, gain = self.open[:, 0], self.open[:, 0] - self.open[:, 1]
        kept = _KEPT_OF_64 ** (self._count / _OFTEN)
        self.sums = kept * self.sums + [without.sum(), gain.sum(), gain @ gain]
        self.n_rows += self._count
        self._count, self.until_test = 0, _rows_between_tests(self.n_rows)
        loss, gained, squares = self.sums
        return bool(gained > _STANDARD_ERRORS * np.sqrt(squares) and gained > _SHARE * loss)

    def rescale(self, by: int) -> None:
        """From now on errors are 2^by times as large."""
        self.sums = np.ldexp(self.sums, [2 * by, 2 * by, 4 * by])
        self.open[:] = np.ldexp(self.open, 2 * by)

    def check_state(self, state: State, sizes: dict[str, int]) -> None:
        period = _rows_between_tests(state["n_rows"])
        require(sizes["rows"] < period, f"open: holds {sizes['rows']} rows")

    def state_is_set(self) -> None:
        self.until_test = _rows_between_tests(self.n_rows) - self._count


def _rows_between_tests(n: int) -> int:
    return _OFTEN if n < _SELDOM else _SELDOM
