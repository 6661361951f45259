"""How many random frequencies are enough: the error bounds of Nguyen et al. 2017.

Both hold for z(x) = [cos ω_d·x, sin ω_d·x]/√D with independent ω_d = σ ∘ e_d, e_d ~ N(0, I), and
the Gaussian kernel κ(x, x') = exp(-½ Σ σ_n² (x_n - x'_n)²) it estimates: for
:class:`FourierFeatures` with σ = √(2γ), and for :class:`ReparameterizedFeatures` with σ = exp(g) at
any fixed g. The bounds do not hold for learned widths, which depend on the noise.
"""

from __future__ import annotations

import math

import numpy as np


def pair_bound(epsilon: float, n_components: int) -> float:
    """P(\\|z(x)·z(x') - κ(x, x')\\| ≥ ε) ≤ 2 exp(-D ε²/2) for any pair of rows.

    Examples
    --------
    >>> from onkel.maps.bounds import pair_bound
    >>> print(f"{pair_bound(0.1, 1000):.3f}")
    0.013

    Notes
    -----
    Source: Nguyen et al. 2017, Lemma 1 (Hoeffding: each frequency adds at most ±1/D).
    """
    return min(1.0, 2.0 * math.exp(-0.5 * n_components * epsilon**2))


def uniform_bound(epsilon: float, n_components: int, sigma: np.ndarray, diameter: float) -> float:
    """P(sup \\|z(x)·z(x') - κ(x, x')\\| ≥ ε) over a set of rows with a diameter.

    2⁷ (diameter·‖σ‖/ε)² exp(-D ε²/(4(d + 2))) for σ (d,) and 0 < ε ≤ diameter·‖σ‖; 1 where that is
    more than 1.

    Raises
    ------
    ValueError
        For an ε that the theorem does not cover.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel.maps.bounds import uniform_bound
    >>> print(f"{uniform_bound(0.2, 8000, np.ones(2), diameter=2.0):.3f}")
    0.000

    Notes
    -----
    Source: Nguyen et al. 2017, Theorem 2 and eq. 6 (the 27 in the statement is 2⁷).
    """
    reach = diameter * float(np.linalg.norm(sigma))
    if not 0.0 < epsilon <= reach:
        raise ValueError(f"epsilon={epsilon!r} must be in (0, {reach:g}], diameter times ‖sigma‖")
    exponent = -n_components * epsilon**2 / (4.0 * (np.size(sigma) + 2.0))
    return min(1.0, 2.0**7 * (reach / epsilon) ** 2 * math.exp(exponent))
