"""How labels choose among random features: candidates, their sums with the labels, and the best q.

With v_m = (Σ_i y_i φ_m(x_i))² the alignment of the kernel Σ_m q_m φ_m(x) φ_m(x') is q·v, and

    maximise q·v  over  q ≥ 0, Σ q = 1, D_f(q‖1/N) = (1/N) Σ (N q_m)^k - 1 ≤ ρ       (f = t^k - 1)

is solved here as it is stated (Sinha & Duchi 2016, eq. 4). The Lagrangian with multipliers λ of the
ball and θ of Σ q = 1 is stationary at

    q_m = [(v_m - θ)/(λ k N^{k-1})]_+^{1/(k-1)},

which has a k that the paper's form of it (after its eq. 8) lacks. Σ q = 1 fixes λ for every θ,
λ = (Σ (v_m - θ)_+^{1/(k-1)})^{k-1}/(k N^{k-1}), and λ falls as θ grows. So one bisection on θ takes
the place of the paper's bisection on λ with a search for θ in every step. For k = 2 the ball is
N‖q - 1/N‖² ≤ ρ; the authors' program projects onto the ball ‖q - u‖² ≤ ρ', which is
this one only for u = 1/N and ρ' = ρ/N.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.multiclass import type_of_target

from onkel.maps.fourier import row_turns, turns_of
from onkel.numerics.arrays import as_dense
from onkel.numerics.jit import cos_block, jit
from onkel.numerics.threads import scratch
from onkel.state import Array, Fields, Number, Stateful, Whole, require

_TURN = 1.0 / (2.0 * math.pi)

#: φ of rows X (n, d) at frequencies (d, N) and offsets (N,): (n, N)
FeatureFunction = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]

#: feature functions that model files may name
FEATURE_FUNCTIONS: dict[str, FeatureFunction] = {}


def register_features(function: FeatureFunction) -> FeatureFunction:
    """Let models with your feature function be saved: files hold its name, and no code.

    Register it before you save, and in the program that loads, before it loads. It can be used as a
    decorator. A function defined again under its name, as in a notebook, replaces the old one.

    Parameters
    ----------
    function : callable
        As of ``phi`` of :class:`AlignedFourier`, with a name: no lambda, no object.

    Returns
    -------
    callable
        The function itself.

    Raises
    ------
    TypeError
        It has no name.

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

    Attributes
    ----------
    frequencies : ndarray of shape (d, N)
    offsets : ndarray of shape (N,)
    drawn : ndarray of shape (N,)
        Their numbers among the features drawn at first.
    used, weights : ndarray of shape (M,)
        The features used and their q.
    """

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
        dtype: Any,
        phi: FeatureFunction | None = None,
    ) -> None:
        self.frequencies, self.offsets, self.drawn, self.dtype = frequencies, offsets, drawn, dtype
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

    def features(self, X: Any, out: np.ndarray | None = None) -> np.ndarray:
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
        return _row_features(X, self._used_turns, self._used_offsets, self._scale)  # type: ignore[no-any-return]

    def all_features(self, X: Any) -> np.ndarray:
        """φ (n, N) of all candidates, in a scratch array."""
        N = len(self.offsets)
        if self.phi is not None:
            return self._own(self.phi, X, np.arange(N))
        phi = scratch("candidates", (X.shape[0], N), self.dtype)
        ones = np.full(N, math.sqrt(2.0), self.dtype)
        cos_block(turns_of(X, self._turns), self._offset_turns, ones, phi)
        return phi

    def _own(self, function: FeatureFunction, X: Any, which: np.ndarray) -> np.ndarray:
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

    def check_state(self, state: dict[str, Any], sizes: dict[str, int]) -> None:
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
        "products": Array(shape=("K", "N"), low=-1e150, high=1e150),
        "features": Array(shape=("N",), low=-1e150, high=1e150),
        "targets": Array(shape=("K",), low=-1e150, high=1e150),
        "sizes": Array(shape=("K",), low=0.0, high=1e150),
        "total": Number(low=0.0),
        "n_rows": Whole(),
        "precision": Number(low=0.0, high=1.0),
    }

    def __init__(self, n_features: int) -> None:
        self.products = np.zeros((0, n_features))
        self.features = np.zeros(n_features)
        self.targets, self.sizes = np.zeros(0), np.zeros(0)
        self.total, self.n_rows = 0.0, 0
        #: machine epsilon of the features, in whose precision the products are summed
        self.precision = 0.0

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


def indicators(y: np.ndarray) -> np.ndarray:
    """Targets (n, K): a regression's own, ±1 for two classes, else indicators."""
    if type_of_target(y).startswith("continuous"):
        return np.asarray(y, dtype=np.float64)[:, None]
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) <= 2:
        return (2.0 * codes - 1.0)[:, None]
    return (codes[:, None] == np.arange(len(classes))).astype(np.float64)


# Doublings or halvings until the solution is bracketed, and halvings of the bracket after that
# (its ends are then neighbouring numbers).
_BRACKET, _BISECT = 1100, 200


def divergence(q: np.ndarray, power: float = 2.0) -> float:
    """D_f(q‖1/N) = (1/N) Σ (N q_m)^k - 1 of a distribution q (N,)."""
    return float(np.mean((len(q) * q) ** power) - 1.0)


def aligned_weights(v: np.ndarray, rho: float, power: float = 2.0) -> np.ndarray:
    """argmax q·v over the distributions q (N,) with D_f(q‖1/N) ≤ ρ, f(t) = t^power - 1.

    Each step of a bisection is O(N). Where v is uneven and ρ large, few features have a weight: for
    power 2, wherever the ball binds, 1/Σ q² = N/(1 + ρ).

    Parameters
    ----------
    v : ndarray of shape (N,)
        Finite numbers; in use they are squares.
    rho : float
        Radius ρ ≥ 0; 0 leaves the uniform distribution.
    power : float, default=2.0
        k > 1; 2 is the χ² divergence.

    Raises
    ------
    ValueError
        For ρ < 0 or k ≤ 1.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel.maps.alignment import aligned_weights
    >>> aligned_weights(np.array([4.0, 3.0, 1.0, 0.0]), rho=1.0).round(3)
    array([0.585, 0.396, 0.018, 0.   ])
    """
    v = np.asarray(v, dtype=np.float64)
    if not rho >= 0.0:
        raise ValueError(f"rho={rho!r} must be a number of at least 0")
    if not power > 1.0:
        raise ValueError(f"power={power!r} must be above 1")
    n, top = len(v), v.max()
    if rho == 0.0:
        return np.full(n, 1.0 / n)
    best = v == top
    span = top - v.min()
    if (n / best.sum()) ** (power - 1.0) - 1.0 <= rho:
        # the ball holds the uniform distribution over the largest v, and no q does better
        return best / best.sum()
    below = (top - v) / span

    def weights(s: float) -> np.ndarray:
        """q for the multiplier θ = max v - s·(max v - min v)."""
        q = np.maximum(1.0 - below / s, 0.0) ** (1.0 / (power - 1.0))
        return q / q.sum()

    low, high = _bracket(lambda s: divergence(weights(s), power) <= rho)
    if math.isinf(high):
        return np.full(n, 1.0 / n)
    for _ in range(_BISECT):
        middle = math.sqrt(low * high)
        if not low < middle < high:
            break
        inside = divergence(weights(middle), power) <= rho
        low, high = (low, middle) if inside else (middle, high)
    return weights(high)


def _bracket(inside) -> tuple[float, float]:  # type: ignore[no-untyped-def]
    """Neighbouring powers of two, the first outside of the ball, the second inside."""
    s = 1.0
    if inside(s):
        while inside(0.5 * s):
            s *= 0.5
        return 0.5 * s, s
    for _ in range(_BRACKET):
        if inside(2.0 * s):
            return s, 2.0 * s
        s *= 2.0
        if math.isinf(s):
            break
    # by rounding even the widest q is not uniform enough: ρ is 0 to working precision
    return s, math.inf


def largest(q: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The features of non-zero weight, at most n, those of largest q; and their weights."""
    order = np.argsort(-q, kind="stable")[:n]
    used = np.sort(order[q[order] > 0.0])
    return used, q[used] / q[used].sum()


def drawn(q: np.ndarray, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The features of n draws from q, and their shares of the draws."""
    # the same numbers at every solution, so that draws change only as far as q does
    u = np.random.default_rng([seed, 1]).random(n)
    edges = np.cumsum(q)
    used, count = np.unique(np.searchsorted(edges, u * edges[-1], side="right"), return_counts=True)
    return used, count / n
