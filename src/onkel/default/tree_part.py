"""Boosted trees beside the landmarks.

Landmarks see what is smooth in all columns together; trees see thresholds of few columns. Their
errors differ, so both together predict better than either. Trees t learn the targets
(:mod:`onkel.default.boosting`). A prediction p becomes

    p + a (t(x) - p),   a in [0, 1] the least-squares share of t - p in y - p.

Trees of the last fit (:mod:`onkel.default.last_trees`) stay as they are while the model goes on
learning. Rows held out say how large a is at first. The less they tell, the nearer a is to what it
is on most data. Of numbers it is the share of least squares. Of classes that would be too much for
the largest score, as the chances of trees are far from each other: a is where fewest mistakes are
made, and near-ties are half mistakes. Then the share follows the rows that come, less its standard
error, and remembers some thousands of them; of classes as the same part of the share of least
squares. Trees that are grown early (:mod:`onkel.default.early_trees`) go on learning, and their
share comes from the rows that come alone.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.special import expit, softmax

from onkel.annotations import Matrix
from onkel.default.boosting import DEPTH, Trees
from onkel.default.cells import (
    AGREED,
    LEFT,
    N_SUMS,
    PERIOD,
    ROWS,
    SIZE,
    WHOLE,
    joined_sums,
    learn_share,
    residuals_with_class,
    share,
    share_left,
    steps_since,
)
from onkel.default.held_out import HeldOut
from onkel.default.learning_leaves import LearningLeaves
from onkel.default.losses import MORE, SQUARED, TWO, loss_for
from onkel.default.tree_loops import TOGETHER, add_leaves, find_leaves
from onkel.errors import MergeError
from onkel.fields import Array, Fields, Number, Sizes, State, Whole, require
from onkel.merging import require_same
from onkel.numerics.arrays import as_dense
from onkel.numerics.jit import jit
from onkel.state import Part, Stateful

#: fewer rows grow no trees in the last fit
FEWEST_ROWS = 256
# The share before any row is known: its mean, and its variance among data sets. Of classes so many
# mistakes, times the square of the distance, speak for the mean.
_USUAL, _SHARES, _PULL = 0.4, 0.05, 40.0
# Shares that are tried for classes, and the lead of the true class that is no near-tie.
_TRIED, _LEAD = np.linspace(0.0, 1.0, 21), 0.05
# The share's sums are those of about so many rows.
_REMEMBERED = 8192
# Those of trees whose leaves learn also have to prove right on about so many: errors come in
# bursts, in which such trees may look right or wrong for thousands of rows.
_RECENT = 1024
# A class that came later: its chance is e to this, about.
_NEVER = -30.0


class TreePart(Stateful):
    """Questions (T, D), values (T, 2^D, K) and the sums that the share comes from."""

    STATE: ClassVar[Fields] = {
        "columns": Array(np.int64, ("trees", "depth"), low=0, high=2**31),
        "edges": Array(shape=("trees", "depth"), finite=False),
        "values": Array(np.float32, ("trees", "leaves", "n_outputs")),
        "base": Array(shape=("n_outputs",)),
        "loss": Whole(high=MORE),
        "middle": Number(),
        "scale": Number(),
        "part": Number(low=0.0, high=1.0),
        "sums": Array(shape=(N_SUMS,), low=-1e300, high=1e300),
        "leaves": Part(
            lambda of: LearningLeaves(of.values.shape, of.forgetting), anew=True, optional=True
        ),
    }

    def __init__(self, n_outputs: int, forgetting: float = 1.0) -> None:
        self.columns: np.ndarray = np.zeros((0, DEPTH), np.int64)
        self.edges: np.ndarray = np.zeros((0, DEPTH))
        self.values: np.ndarray = np.zeros((0, 1 << DEPTH, n_outputs), np.float32)
        self.base: np.ndarray = np.zeros(n_outputs)
        self.loss: int = SQUARED
        #: a value is middle + scale·F
        self.middle: float = 0.0
        self.scale: float = 1.0
        #: a is this part of the least-squares share
        self.part: float = 1.0
        self.sums: np.ndarray = np.zeros(N_SUMS)
        #: None where values stay as they are
        self.leaves: LearningLeaves | None = None
        self.forgetting: float = forgetting
        self._kept = (forgetting * (1.0 - 1.0 / np.array([_REMEMBERED, _RECENT]))) ** PERIOD

    def begin(self, Y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Choose the loss, and the units of values; returns the targets of the trees."""
        self.loss = loss_for(Y)
        if self.loss == SQUARED:
            self.middle = float(np.average(Y[:, 0], weights=weight))
            self.scale = float(np.std(Y)) or 1.0
        return self._targets(Y)

    def _targets(self, Y: np.ndarray) -> np.ndarray:
        """Y (n, K) as the trees learn it: chances of classes, or numbers in units."""
        if self.loss == SQUARED:
            return (Y - self.middle) / self.scale
        return (Y + 1.0) / 2.0 if self.loss == TWO else Y

    def judge(self, F: np.ndarray, Y: np.ndarray, weight: np.ndarray, held: HeldOut) -> None:
        """Choose the share of trees whose sums are F (n_held, K) for the rows held out."""
        # trees were fitted to none of these rows, the other predictions perhaps to some
        new = held.unseen
        P, target, w = held.predictions[new], Y[held.rows][new], weight[held.rows][new]
        S = self._linked(F)[new] - P
        self._begin_share(target - P, S, w)
        if self.loss != SQUARED:
            self._take_share(share_of_classes(P, S, target, w))

    def _begin_share(self, R: np.ndarray, S: np.ndarray, weight: np.ndarray) -> None:
        """The share of corrections S in the residuals R, both (n, K).

        The less certain it is, the nearer it is to _USUAL.
        """
        agreed, size = weight @ (R * S).sum(axis=1), weight @ (S**2).sum(axis=1)
        if size > 0.0:
            left = ((R - S * (agreed / size)) * S).sum(axis=1)
            # fourth powers would overflow long before squares do
            before = float(np.sum((weight * (left / np.sqrt(size))) ** 2)) / _SHARES
            agreed, size = agreed + _USUAL * before, size + before
        self.sums[AGREED], self.sums[SIZE] = agreed, size
        self.sums[WHOLE] = weight @ (R**2).sum(axis=1)
        self.sums[LEFT] = weight @ ((R - share(self.sums) * S) ** 2).sum(axis=1)
        self.sums[ROWS] = len(R)

    def _take_share(self, a: float) -> None:
        """Make a the part of the share of least squares, which is at least as large from now on."""
        self.sums[AGREED] = max(self.sums[AGREED], a * self.sums[SIZE])
        known = float(share(self.sums))
        self.part = min(a / known, 1.0) if known > 0.0 else 0.0

    def take(self, times: list[tuple[Trees, np.ndarray]]) -> None:
        """Keep all trees, of these edges; their sum is the mean of those grown together."""
        self.columns = np.concatenate([trees.columns for trees, _ in times])
        self.edges = np.concatenate([edges for _, edges in times])
        values = np.concatenate([trees.values for trees, _ in times]) / len(times)
        self.values = values.astype(np.float32)
        self.base = np.mean([trees.base for trees, _ in times], axis=0)

    def join(self, before: TreePart) -> None:
        """Predict the mean of both, with the share and in the units of those ``before``."""
        assert self.leaves is not None
        assert before.leaves is not None
        self.values *= np.float32(self.scale / before.scale)
        # the base of these trees is in the values of the first of them
        base = (self.middle + self.scale * self.base - before.middle) / before.scale
        self.values[0] += (base - before.base).astype(np.float32)
        self.middle, self.scale, self.base = before.middle, before.scale, before.base
        for name in ("columns", "edges", "values"):
            setattr(self, name, np.concatenate([getattr(before, name), getattr(self, name)]))
        self.values /= np.float32(2.0)
        self.leaves.join(before.leaves)
        for mine, own in zip(self._memories(), before._memories(), strict=True):
            mine[:] = own

    # ---- predicting and learning ---------------------------------------------------------------

    def predictions(self, X: Matrix) -> np.ndarray:
        """t (n, K) of rows X."""
        F = np.tile(self.base, (X.shape[0], 1))
        add_values(as_dense(X), self.columns, self.edges, self.values, F)
        return self._linked(F)

    def _linked(self, F: np.ndarray) -> np.ndarray:
        if self.loss == SQUARED:
            return self.middle + self.scale * F
        return 2.0 * expit(F) - 1.0 if self.loss == TWO else softmax(F, axis=1)

    @property
    def share(self) -> float:
        """a."""
        return self.part * min(float(share(sums, self._doubt)) for sums in self._memories())

    def begin_share(self) -> None:
        """Trees have to prove right anew."""
        for sums in self._memories():
            sums[:] = 0.0

    def correction(self, X: Matrix, P: np.ndarray) -> np.ndarray:
        """a (t - p) (n, K) of rows X with predictions P (n, K)."""
        return self.share * (self.predictions(X) - P)

    def learn(self, X: np.ndarray, Y: np.ndarray, P: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Learn share and leaves; returns a (t - p) (n, K) before each row was learned."""
        out = np.zeros(P.shape)
        if self.leaves is None:
            t = self.predictions(X)
        else:
            of = self.loss, self.columns, self.edges, self.values, self.base
            t = self._linked(self.leaves.learn(X, self._targets(Y), weight, *of))
        memories = self._memories()
        sums = np.array(memories)
        learn_share(Y - P, t - P, weight, self._kept, sums, self._doubt, out)
        for memory, learned in zip(memories, sums, strict=True):
            memory[:] = learned
        return self.part * out

    @property
    def _doubt(self) -> float:
        """How many standard errors the share is less: the smaller of two is careful enough."""
        return 1.0 if self.leaves is None else 0.0

    def _memories(self) -> list[np.ndarray]:
        """The sums that a comes from: it is the smallest of their shares."""
        return [self.sums] if self.leaves is None else [self.sums, self.leaves.recent]

    @property
    def left(self) -> float:
        """Squared errors after the correction, as a share of those before."""
        return share_left(self.sums)

    def add_output(self, position: int) -> None:
        """Make room for a class, which the trees do not know; of two classes each gets half of F.

        The log-odds of two classes are the difference of two outputs.
        """
        if self.loss == TWO:
            for sums in self._memories():
                sums[:ROWS] *= 0.5
        self.loss = MORE
        self.base = residuals_with_class(self.base[None], position)[0]
        self.base[position] = _NEVER
        T, n_leaves, K = self.values.shape
        wider = residuals_with_class(self.values.reshape(-1, K), position)
        self.values = np.ascontiguousarray(wider.reshape(T, n_leaves, -1), np.float32)
        if self.leaves is not None:
            self.leaves.add_output(position)

    # ---- models of several parts ---------------------------------------------------------------

    def require_alike(self, other: TreePart) -> None:
        """MergeError where the trees differ, or may yet."""
        if self.leaves is not None or other.leaves is not None:
            raise MergeError("the leaves of the trees still learn: call fix_map() first")
        mine, own = (of.get_state() for of in (self, other))
        for name in ("columns", "edges", "values", "base", "loss", "middle", "scale", "part"):
            require_same(f"the trees: {name}", mine[name], own[name])

    def take_in(self, other: TreePart, origin: TreePart | None) -> None:
        """Add the sums of what another learned since both were ``origin``."""
        known = np.zeros(N_SUMS) if origin is None else origin.sums
        kept = self._kept[0] ** steps_since(other.sums, known)
        self.sums = joined_sums(self.sums, other.sums, known, kept)

    # ---- state ---------------------------------------------------------------------------------

    def state_sizes(self) -> Sizes:
        return {"n_outputs": len(self.base)}

    def check_state(self, state: State, sizes: Sizes) -> None:
        fits = sizes["leaves"] == 1 << sizes["depth"]
        require(fits, f"values: has {sizes['leaves']} leaves after {sizes['depth']} questions")

    def state_is_set(self) -> None:
        leaves = self.leaves
        fits = leaves is None or leaves.counts.shape == self.values.shape
        require(fits, "leaves/counts: must be as many as values")
        fits = leaves is None or leaves.n_first <= len(self.values)
        require(fits, "leaves/n_first: is more than there are trees")


def share_of_classes(P: np.ndarray, S: np.ndarray, Y: np.ndarray, weight: np.ndarray) -> float:
    """The share a of corrections S with the fewest mistakes of P + a S, all (n, K).

    A row of which the true class leads by m counts as 1/(1 + e^(m/_LEAD)) of a mistake.
    """
    mistakes = []
    for a in _TRIED:
        F = P + a * S
        if F.shape[1] == 1:
            lead = (F * Y)[:, 0]
        else:
            lead = (F * Y).sum(axis=1) - np.where(Y > 0.0, -np.inf, F).max(axis=1)
        mistakes.append(float(weight @ expit(-lead / _LEAD)) + _PULL * (a - _USUAL) ** 2)
    return float(_TRIED[int(np.argmin(mistakes))])


# Leaves of fewer rows are found row by row.
_FEW = 8


@jit
def add_values(X, columns, edges, values, F):
    """Add to F (n, K) the values of the leaves that rows X (n, d) reach."""
    if len(X) < _FEW:
        for i in range(len(X)):
            for t in range(len(columns)):
                leaf = 0
                for level in range(columns.shape[1]):
                    if X[i, columns[t, level]] > edges[t, level]:
                        leaf |= 1 << level
                for k in range(F.shape[1]):
                    F[i, k] += values[t, leaf, k]
        return
    leaves = np.empty(TOGETHER, np.uint8)
    for start in range(0, len(X), TOGETHER):
        end = min(start + TOGETHER, len(X))
        x, some = X[start:end].T.copy(), leaves[: end - start]
        for t in range(len(columns)):
            find_leaves(x, columns[t], edges[t], some)
            add_leaves(values[t], some, F[start:end])
