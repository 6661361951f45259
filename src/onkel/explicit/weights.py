"""The weights of f over explicit features, and all that a rule keeps beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.lapack import dposv

from onkel.annotations import DTypeLike
from onkel.errors import MergeError
from onkel.exact.least_squares import RecursiveLeastSquares
from onkel.exact.matrices import Known
from onkel.exact.newton import RecursiveNewton
from onkel.explicit import loop
from onkel.fields import Fields, Like, Number, Sizes, State, require
from onkel.merging import joined, require_same
from onkel.model.labels import outputs_with_class
from onkel.numerics.arrays import targets_of
from onkel.numerics.devices import device_named
from onkel.rules import base as places
from onkel.rules.base import Rule, RuleKind, UpdateContext
from onkel.rules.second_order import ExactScalars
from onkel.state import Part, Stateful

_EXACT = {RuleKind.LEAST_SQUARES: RecursiveLeastSquares, RuleKind.NEWTON: RecursiveNewton}

# Classes for each row from which on scores are cheaper without W.
_CLASSES_A_ROW = 32


class Weights(Stateful):
    """f_k = ``state[SCALE]``·w_k over m features, and how it moves.

    ``how``: the state vector, the loss, epsilon and the rule's parameters. ``shape``: (K, m).
    ``dtype``: of the features; exact rules keep W in float64. ``prior``: K₀ (m, m) of the exact
    rules' penalty wᵀ K₀ w; None for ‖w‖². ``average``: keep the sum of the weights after each row,
    for their mean.

    ``H`` (K, m) are AdaGrad's sums of squared gradients, empty for other rules. ``total`` (K, m) is
    the sum of the weights after each row, but for the last rows that did not move them; empty where
    no average is kept. ``matrix`` has the sums and factors of an exact rule. ``state`` is the
    loops' state vector; see :mod:`onkel.rules.base`.
    """

    state: Any

    def __init__(
        self,
        rule: Rule,
        context: tuple[Any, ...],
        shape: tuple[int, int],
        dtype: DTypeLike,
        prior: np.ndarray | None = None,
        average: bool = False,
    ) -> None:
        self.rule = rule
        self.state, self._loss, self._epsilon, self._par = context
        # whether an exact rule has learned rows that are not in W yet
        self._behind = False
        self.W = np.zeros(shape, np.float64 if rule.kind.exact else dtype)
        self.H = np.zeros(shape if rule.kind == RuleKind.ADAGRAD else (0, 0), dtype)
        self.total: np.ndarray = np.zeros(shape if average else (0, 0))
        #: what an exact rule learns the targets less, where the last feature is 1 in all rows: that
        #: is its weight before the first row
        self.level: float = 0.0
        self.matrix: RecursiveLeastSquares | None = None
        if rule.kind.exact:
            ridge, forgetting = ExactScalars.of(self._par)
            device = device_named(rule.device)
            self.matrix = _EXACT[rule.kind](shape[1], shape[0], ridge, forgetting, prior, device)

    @property
    def W(self) -> np.ndarray:
        """(K, m); those of an exact rule are computed when they are asked for."""
        if self._behind:
            assert self.matrix is not None
            # a new array: one that was read from a file may be read-only
            self._W = np.array(self.matrix.weights().T, order="C")
            if self.level:
                self._W[:, -1] += self.level
            self._behind = False
        return self._W

    @W.setter
    def W(self, values: np.ndarray) -> None:
        self._W, self._behind = values, False
        #: (K, m)
        self.shape: tuple[int, int] = values.shape

    @property
    def context(self) -> UpdateContext:
        """What every loop needs to know to move f."""
        number = self.rule.number
        return UpdateContext(self.state, self._loss, self._epsilon, number, self._par, self.total)

    @property
    def coef(self) -> np.ndarray:
        """f's weights with their common factor, (K, m)."""
        return self.W * self.W.dtype.type(self.state[places.SCALE])

    @property
    def averages(self) -> bool:
        """Whether predictions are those of the mean of all iterates."""
        return self.total.size > 0

    @property
    def predicting(self) -> np.ndarray:
        """The weights that predict, (K, m): the mean of those after each row, or the last."""
        if not self.averages:
            return self.coef
        mean = self._whole_total() / max(self.state[places.T], 1.0)
        return mean.astype(self.W.dtype)

    def does_without(self, n_rows: int) -> bool:
        """Whether the matrix predicts so few rows of many classes faster than ``W`` is computed."""
        return self._behind and _CLASSES_A_ROW * n_rows <= self.shape[0]

    def _whole_total(self) -> np.ndarray:
        """The sum of the weights after each row, (K, m)."""
        return self.total + self.state[places.PENDING] * self.W.astype(np.float64)

    def change_total(self, change: Any) -> None:
        """Go on with ``change`` of the sum, where the weights are carried over to other features.

        Call it before the weights change.
        """
        if self.averages:
            self.total = np.ascontiguousarray(change(self._whole_total()))
            self.state[places.PENDING] = 0.0

    # ---- learning ------------------------------------------------------------------------------

    def learn(self, Z: np.ndarray, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> None:
        """Learn rows of features Z (n, m), in order; P (n, K) gets the scores before each."""
        if self.matrix is None:
            loop.learn_block(Z, y, weight, self._W, self.H, self.context, P)
            return
        targets = targets_of(y, self.shape[0]) - self.level
        P[:] = self.matrix.learn(Z, targets, weight) + self.level
        self.count(weight)

    def count(self, weight: np.ndarray) -> None:
        """Take note of rows that the matrix has learned."""
        self._behind = True
        self.state[places.T] += np.count_nonzero(weight)

    # ---- other features ------------------------------------------------------------------------

    def carry_over(self, before: np.ndarray, after: np.ndarray, theta: float) -> None:
        """Go on over other features, given the old and new ones at some points, (B, m) each.

        Weights become T w, so that f keeps its values there (Si, Kumar & Li 2018, equation 12).
        AdaGrad's sums of squares become the diagonal of T diag(H) Tᵀ: T is close to a rotation.
        Least squares goes on as if all rows so far had the features that the points predict.
        """
        if self.matrix is not None:
            self.W = self.matrix.change_features(regression(before, after, theta).T)
            return
        T = regression(after, before, theta)
        self.change_total(lambda total: total @ T.T)
        self.W = np.ascontiguousarray(self.W.astype(np.float64) @ T.T, dtype=self.W.dtype)
        if self.H.size:
            self.H = np.ascontiguousarray(self.H.astype(np.float64) @ (T * T).T, self.H.dtype)
        self.refresh_norm()

    def select(self, old: np.ndarray, factor: np.ndarray) -> None:
        """Go on over features of which the j-th is ``factor[j]`` times feature ``old[j]`` before.

        A feature with ``old[j]`` = -1 and factor 0 is new, and begins with weight 0.
        """
        if self.matrix is not None:
            # exact for the features that stay; a new one counts as 0 in all rows so far
            T = np.zeros((len(old), self.shape[1]))
            T[np.arange(len(old)), old] = factor
            self.W = self.matrix.change_features(T)
            return
        stays = old >= 0
        inverse = np.where(stays, 1.0 / np.where(stays, factor, 1.0), 0.0)
        self.change_total(lambda total: total[:, old] * inverse)
        self.W = np.ascontiguousarray(self.W[:, old] * inverse, dtype=self.W.dtype)
        if self.H.size:
            # gradients are multiples of the features
            self.H = np.ascontiguousarray(self.H[:, old] * factor**2, dtype=self.H.dtype)
        self.refresh_norm()

    def change_features(self, T: np.ndarray, known: Known) -> None:
        """Exact rules: as if all rows so far had the features T z, but for those ``known``."""
        assert self.matrix is not None
        self.W = self.matrix.change_features(T, known)

    def refresh_norm(self) -> None:
        """Compute ‖f‖² from the weights, where its recursion was interrupted."""
        self.state[places.SQUARED_NORM] = float(np.sum(self.coef.astype(np.float64) ** 2))

    def add_output(self, position: int) -> None:
        """Make room for a class with zero scores at ``position``.

        One output f (two classes) becomes three: -f/2, f/2 and the new one. Their differences, and
        so their decisions and margins, are those of f.
        """
        if self.matrix is not None:
            self.matrix.add_output(position)
            self.shape, self._behind = (self.matrix.w0.shape[1], self.shape[1]), True
            return
        if self.shape[0] == 1:
            # ‖-f/2‖² + ‖f/2‖²
            self.state[places.SQUARED_NORM] *= 0.5
        if self.H.size:
            H = np.tile(self.H, (2, 1)) if self.shape[0] == 1 else self.H
            self.H = np.ascontiguousarray(np.insert(H, position, 0, axis=0))
        self.change_total(lambda total: outputs_with_class(total, position))
        self.W = outputs_with_class(self.W, position)

    def add_features(self, place: int, n: int) -> None:
        """Insert n features before ``place``; they were 0 in all rows so far."""
        where = [place] * n
        self.change_total(lambda total: np.insert(total, where, 0, axis=1))
        self.W = np.insert(self.W, where, 0, axis=1)
        if self.H.size:
            self.H = np.insert(self.H, where, 0, axis=1)
        if self.matrix is not None:
            self.matrix.add_features(where)

    # ---- models of several parts ---------------------------------------------------------------

    def require_alike(self, other: Weights) -> None:
        """MergeError where two weights, over the same features, cannot be merged."""
        if self.rule.kind == RuleKind.DOUBLY_STOCHASTIC:
            raise MergeError(
                f"rule {self.rule.name!r} opens features by the number of the row, so that parts "
                "that begin anew cannot be merged; use gradient or least squares"
            )
        require_same("the rule", type(self.rule).__name__, type(other.rule).__name__)
        require_same("the rule's parameters", self._par, other._par)
        require_same("the shape of the weights", self.shape, other.shape)
        require_same("average", self.averages, other.averages)
        require_same("the level of the targets", self.level, other.level)

    def take_in(self, other: Weights, origin: Weights | None) -> None:
        """Add what another learned since both were ``origin`` (None: since the first row)."""
        before = 0.0 if origin is None else origin.state[places.T]
        rows, more = self.state[places.T] - before, other.state[places.T] - before
        if self.matrix is not None:
            assert other.matrix is not None
            known = None if origin is None else origin.matrix
            self.matrix.take_in(other.matrix, known, int(more))
            self._behind = True
        elif more > 0.0:
            self._mix(other, more / (rows + more), origin)
        self.state[places.T] += more

    def _mix(self, other: Weights, share: float, origin: Weights | None) -> None:
        """The mean of both, in which the other has this share; AdaGrad's and other sums add."""
        if self.averages:
            models = self, other, origin
            sums = [0.0 if one is None else one._whole_total() for one in models]
            self.change_total(lambda total: joined(sums))
        mean = (1.0 - share) * self.coef.astype(np.float64) + share * other.coef
        self.W = np.ascontiguousarray(mean, dtype=self.W.dtype)
        self.state[places.SCALE] = 1.0
        own = slice(places.OWN_STATE, None)
        self.state[own] = (1.0 - share) * self.state[own] + share * other.state[own]
        if self.H.size:
            self.H = joined((self.H, other.H, 0.0 if origin is None else origin.H))
        self.refresh_norm()

    # ---- state ---------------------------------------------------------------------------------

    def state_fields(self) -> Fields:
        fields: Fields = dict.fromkeys(("W", "H", "state", "total"), Like())
        if self.matrix is None:
            return fields
        return {**fields, "level": Number(low=-1e150, high=1e150, optional=True), "matrix": Part()}

    def check_state(self, state: State, sizes: Sizes) -> None:
        require((state["H"] >= 0.0).all(), "H: holds numbers below 0")
        scale = state["state"][places.SCALE]
        require(1e-7 < scale < 1e7, f"state: holds a scale of {scale}; it must be 1e-7 to 1e7")

    def state_is_set(self) -> None:
        # files of earlier versions have no level
        self.level = self.level or 0.0


def regression(X: np.ndarray, Y: np.ndarray, theta: float) -> np.ndarray:
    """The B that minimises ‖Y - X B‖² + θ ‖B‖²."""
    A = X.T @ X
    # θ = 0 stands for the limit θ → 0
    A.flat[:: len(A) + 1] += max(theta, 1e-14 * np.trace(A))
    _, B, failed = dposv(A, X.T @ Y)
    return np.eye(len(A)) if failed else B
