"""Random features among which labels choose, and their sums with the labels so far."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from onkel.annotations import DTypeLike, Matrix, Out
from onkel.fields import Array, Fields, Number, State, Whole, require
from onkel.maps.fourier import row_turns, turns_of
from onkel.numerics.arrays import as_dense
from onkel.numerics.jit import cos_block, jit
from onkel.numerics.threads import scratch
from onkel.state import Stateful

_TURN = 1.0 / (2.0 * math.pi)

#: φ of rows X (n, d) at frequencies (d, N) and offsets (N,): (n, N)
FeatureFunction = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]

#: feature functions that model files may name
FEATURE_FUNCTIONS: dict[str, FeatureFunction] = {}


def register_features(function: FeatureFunction) -> FeatureFunction:
    """Let models with your feature function be saved: files hold its name, and no code.

    Register it before you save, and in the program that loads, before it loads. It can be used as a
    decorator. A function defined again under its name, as in a notebook, replaces the old one.

    ``function`` is as ``phi`` of :class:`AlignedFourier`; it is returned. A TypeError: it has no
    name, as a lambda or an object.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel.maps import register_features
    >>> @register_features
    ... def sides(X, frequencies, offsets):
    ...     return np.sign(X @ frequencies + offsets - np.pi)
    """
    name = getattr(function, "__name__", "")
    if not callable(function) or not name.isidentifier():
        raise TypeError(f"{function!r} has no name to be known by; define it by 'def name(...)'")
    FEATURE_FUNCTIONS[name] = function
    return function


class Candidates(Stateful):
    """N features √2 cos(ω_m·x + b_m), or φ(x; ω_m, b_m), of which those ``used`` count, times √q.

    ``frequencies`` (d, N) and ``offsets`` (N,) are those of all; ``drawn`` (N,) their numbers among
    the features drawn at first; ``used`` and ``weights`` (M,) the features used, and their q.
    """

    used: np.ndarray
    weights: np.ndarray

    STATE: ClassVar[Fields] = {
        "frequencies": Array(shape=("d", "N"), low=-1e30, high=1e30),
        "offsets": Array(shape=("N",), low=-1e6, high=1e6),
        "drawn": Array(np.int64, ("N",), low=0, high=2**31),
        "used": Array(np.int64, ("M",), low=0, high=2**31),
        "weights": Array(shape=("M",), low=0.0, high=1e6),
    }

    def __init__(
        self,
        frequencies: np.ndarray,
        offsets: np.ndarray,
        drawn: np.ndarray,
        dtype: DTypeLike,
        phi: FeatureFunction | None = None,
    ) -> None:
        self.frequencies: np.ndarray = frequencies
        self.offsets: np.ndarray = offsets
        self.drawn: np.ndarray = drawn
        self.dtype: DTypeLike = dtype
        self.phi = phi
        self._turns = (frequencies * _TURN).astype(dtype)
        self._offset_turns = (offsets * _TURN).astype(dtype)

    def use(self, used: np.ndarray, weights: np.ndarray) -> None:
        """Use the candidates ``used`` (M,), with q = ``weights`` (M,)."""
        self.used, self.weights = used, weights
        self._used_turns = np.ascontiguousarray(self._turns[:, used])
        self._used_offsets = self._offset_turns[used]
        square = 2.0 if self.phi is None else 1.0
        self._scale = np.sqrt(square * weights).astype(self.dtype)

    def change_to(self, used: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As :meth:`use`; returns where each feature was and √q_new/√q_old; -1 and 0 if new."""
        place = np.full(len(self.offsets), -1)
        place[self.used] = np.arange(len(self.used))
        old, before = place[used], self.weights
        self.use(used, weights)
        return old, np.where(old >= 0, np.sqrt(weights / before[old]), 0.0)

    def only_used(self) -> Candidates:
        """The features used, without the others."""
        frequencies, drawn = self.frequencies[:, self.used], self.drawn[self.used]
        kept = Candidates(frequencies, self.offsets[self.used], drawn, self.dtype, self.phi)
        kept.use(np.arange(len(self.used)), self.weights)
        return kept

    def add_columns(self, frequencies: np.ndarray) -> None:
        """Take n more columns, with the frequencies (n, N₀) of all features drawn at first."""
        wider = np.concatenate([self.frequencies, frequencies[:, self.drawn]])
        used, weights = self.used, self.weights
        self.__init__(wider, self.offsets, self.drawn, self.dtype, self.phi)  # type: ignore[misc]
        self.use(used, weights)

    def features(self, X: Matrix, out: Out = None) -> np.ndarray:
        """The features used, (n, M)."""
        Z = np.empty((X.shape[0], len(self.used)), self.dtype) if out is None else out
        if self.phi is not None:
            np.multiply(self._own(self.phi, X, self.used), self._scale, out=Z)
            return Z
        cos_block(turns_of(X, self._used_turns), self._used_offsets, self._scale, Z)
        return Z

    def row_features(self, X: np.ndarray) -> np.ndarray | None:
        """The features used of one row, (1, M); None where φ is a function of Python."""
        if self.phi is not None:
            return None
        return _row_features(X, self._used_turns, self._used_offsets, self._scale)

    def all_features(self, X: Matrix) -> np.ndarray:
        """φ (n, N) of all candidates, in a scratch array."""
        N = len(self.offsets)
        if self.phi is not None:
            return self._own(self.phi, X, np.arange(N))
        phi = scratch("candidates", (X.shape[0], N), self.dtype)
        ones = np.full(N, math.sqrt(2.0), self.dtype)
        cos_block(turns_of(X, self._turns), self._offset_turns, ones, phi)
        return phi

    def _own(self, function: FeatureFunction, X: Matrix, which: np.ndarray) -> np.ndarray:
        """φ (n, len(which)) of these candidates by a function that is not ours, checked."""
        drawn = self.frequencies[:, which], self.offsets[which]
        try:
            values = np.asarray(function(as_dense(X), *drawn), self.dtype)
        except (ArithmeticError, ValueError) as error:
            # while rows are learned these mean that a row makes the model diverge
            raise RuntimeError(f"the feature function failed: {error}") from error
        wanted = (X.shape[0], len(which))
        if values.shape != wanted:
            raise RuntimeError(
                f"the feature function gave an array of shape {values.shape} for {wanted[0]} rows "
                f"and {wanted[1]} pairs of frequencies and offsets; it must be {wanted}"
            )
        if not np.isfinite(values).all():
            row, column = np.argwhere(~np.isfinite(values))[0]
            raise ValueError(
                f"the feature function gave {values[row, column]} for row {row} of {wanted[0]}; "
                "features must be finite"
            )
        return values

    def chosen(self, phi: np.ndarray) -> np.ndarray:
        """The features used, (n, M), from φ (n, N), in a scratch array."""
        Z = scratch("features", (len(phi), len(self.used)), self.dtype)
        np.take(phi, self.used, axis=1, out=Z)
        Z *= np.sqrt(self.weights).astype(self.dtype)
        return Z

    def state_sizes(self) -> dict[str, int]:
        return {"d": len(self.frequencies)}

    def check_state(self, state: State, sizes: dict[str, int]) -> None:
        most = state["used"].max(initial=0)
        require(
            most < max(sizes["N"], 1), f"used: holds {most}, and there are {sizes['N']} features"
        )

    def state_is_set(self) -> None:
        used, weights = self.used, self.weights
        drawn = self.drawn, self.dtype, self.phi
        self.__init__(self.frequencies, self.offsets, *drawn)  # type: ignore[misc]
        self.use(used, weights)


@jit
def _row_features(X, turns, offset, scale):
    angles = row_turns(X, turns)
    cos_block(angles, offset, scale, angles)
    return angles


# Sums smaller than so many times their precision are rounding, and count as 0.
_ROUNDING = 64.0


class LabelSums(Stateful):
    """Σ y φ (K, N), Σ φ (N,), Σ y and Σ |y| (K,), Σ 1 and the number of rows, by their weights."""

    STATE: ClassVar[Fields] = {
        "products": Array(shape=("K", "N"), low=-1e170, high=1e170),
        "features": Array(shape=("N",), low=-1e150, high=1e150),
        "targets": Array(shape=("K",), low=-1e170, high=1e170),
        "sizes": Array(shape=("K",), low=0.0, high=1e170),
        "total": Number(low=0.0),
        "n_rows": Whole(),
        "precision": Number(low=0.0, high=1.0),
    }

    def __init__(self, n_features: int) -> None:
        self.products: np.ndarray = np.zeros((0, n_features))
        self.features: np.ndarray = np.zeros(n_features)
        self.targets: np.ndarray = np.zeros(0)
        self.sizes: np.ndarray = np.zeros(0)
        self.total: float = 0.0
        self.n_rows: int = 0
        #: machine epsilon of the features, in whose precision the products are summed
        self.precision: float = 0.0

    def add(self, phi: np.ndarray, Y: np.ndarray, weight: np.ndarray) -> None:
        """Take the rows φ (n, N) with targets Y (n, K) and weights (n,)."""
        if not len(self.targets):
            self.products = np.zeros((Y.shape[1], len(self.features)))
            self.targets, self.sizes = np.zeros(Y.shape[1]), np.zeros(Y.shape[1])
            self.precision = float(np.finfo(phi.dtype).eps)
        weighted = np.column_stack([Y * weight[:, None], weight]).astype(phi.dtype)
        sums = weighted.T @ phi
        self.products += sums[:-1]
        self.features += sums[-1]
        self.targets += weight @ Y
        self.sizes += weight @ np.abs(Y)
        self.total += float(weight.sum())
        self.n_rows += int(np.count_nonzero(weight))

    @property
    def unit(self) -> float:
        """The sum of weights divided by a power of two, in [½, 1)."""
        return math.frexp(self.total)[0]

    def squares(self, centered: bool) -> np.ndarray:
        """v (N,) = Σ_k (Σ_i (y_ik - c_k) φ_i)²/s², with c the targets' mean or 0.

        s is the power of two above the sum of weights: dividing by it is exact and keeps the
        squares in range. :attr:`unit` is the sum of weights in units of s.

        Sums that are 0 but for rounding are set to 0. Otherwise, where the columns are constant and
        all features agree with the labels alike, the cut into blocks would choose the features.
        """
        if not self.total > 0.0:
            return np.zeros(len(self.features))
        scale = self.unit / self.total
        sums, sizes = self.products * scale, self.sizes * scale
        if centered:
            mean = self.targets / self.total
            sums -= mean[:, None] * (self.features * scale)
            sizes += np.abs(mean)
        sums[np.abs(sums) <= _ROUNDING * self.precision * sizes[:, None]] = 0.0
        return np.asarray((sums**2).sum(axis=0))

    def add_class(self, position: int) -> None:
        """Make room for a class without rows at ``position``.

        Two classes were one target ±1; their indicators are (1 ± y)/2.
        """
        if not len(self.targets):
            return
        if len(self.targets) == 1:
            signs = np.array([[-0.5], [0.5]])
            self.products = 0.5 * self.features + signs * self.products
            self.targets = 0.5 * self.total + signs[:, 0] * self.targets
            self.sizes = self.targets.copy()
        self.products = np.insert(self.products, position, 0.0, axis=0)
        self.targets = np.insert(self.targets, position, 0.0)
        self.sizes = np.insert(self.sizes, position, 0.0)
