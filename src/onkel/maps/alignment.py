"""The weights q of random features that fit the labels best, by their alignment v.

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

import numpy as np

# Doublings or halvings until the solution is bracketed, and halvings of the bracket after that
# (its ends are then neighbouring numbers).
_BRACKET, _BISECT = 1100, 200


def divergence(q: np.ndarray, power: float) -> float:
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


def _bracket(inside) -> tuple[float, float]:
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
