"""Reparameterized random features: Fourier features whose widths are learned by the loss."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onkel.kernels import Gaussian, normal_directions
from onkel.maps.bandwidth import check_gamma, fit_gamma
from onkel.maps.base import FeatureMap
from onkel.maps.fourier import check_count, fourier_features
from onkel.rules.base import non_negative

__all__ = ["ReparameterizedFeatures"]


class ReparameterizedFeatures(FeatureMap):
    """z(x) = [cos ω_d·x, sin ω_d·x]/√D with ω_d = exp(g) ∘ e_d, one log-width g per input column.

    The noise e_d ~ N(0, I) is drawn once; the log-widths move with the weights,
    ``g ← g - η_g ∂loss/∂g``, so each input finds its own scale and useless ones fade. As a plain
    transformer the widths stay where gamma puts them; a learner moves them.

    Parameters
    ----------
    n_components : int, default=100
        Number of frequencies D ≥ 1; the map has 2D features.
    gamma : float or {"median", "scale"}, default="median"
        Widths at the start: exp(g) = √(2γ), the Gaussian kernel exp(-γ‖x - x'‖²).
    learning_rate : float, default=0.01
        η_g ≥ 0, the step of the log-widths.
    damping : float, default=10000
        Number of rows N ≥ 0 after which the step shrinks: η_g/√(1 + t/N); a step is also never
        larger than repairs the row, were its loss linear in g. 0 is the paper's constant step: it
        adapts for ever, and on long streams with little noise, where the weights grow large, it
        can throw the widths out for good.
    orthogonal : bool, default=False
        Orthogonal noise: smaller variance, as in :class:`FourierFeatures`.
    n_warmup : int, default=256
        Rows that a heuristic for gamma looks at.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    noise_ : ndarray of shape (d, D)
    log_width_ : ndarray of shape (d,)
    gamma_ : float
        What the widths began with.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel.maps import ReparameterizedFeatures
    >>> X = np.random.default_rng(0).standard_normal((5, 3))
    >>> ReparameterizedFeatures(10, gamma=0.5, random_state=0).fit_transform(X).shape
    (5, 20)

    Notes
    -----
    Source: Nguyen, Le, Bui & Phung 2017, Algorithm 1 (line 5 read as ω_d = exp(γ) ∘ ε_d). The
    damping is ours.
    """

    name = "reparameterized"
    learns = True

    def __init__(
        self,
        n_components: int = 100,
        gamma: float | str = "median",
        learning_rate: float = 0.01,
        damping: float = 10_000,
        orthogonal: bool = False,
        n_warmup: int = 256,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.gamma = gamma
        self.learning_rate = learning_rate
        self.damping = damping
        self.orthogonal = orthogonal
        self.n_warmup = n_warmup
        self.random_state = random_state

    def start(self, d: int, dtype: Any) -> None:
        check_count(self, "n_components")
        check_count(self, "n_warmup", least=2)
        check_gamma(self.gamma)
        self.widths_par_ = np.array(
            [non_negative(self, "learning_rate"), non_negative(self, "damping")]
        )
        super().start(d, dtype)

    def warmup_rows(self) -> int:
        return self.n_warmup if isinstance(self.gamma, str) else 0

    def fit_first(self, X: np.ndarray) -> None:
        self.gamma_ = fit_gamma(self.gamma, Gaussian(), X)
        self.n_first_ = self.n_features_in_
        self.noise_ = self._draw(later=0)
        self.log_width_ = self._first_widths(self.n_first_)

    def add_columns(self, n: int) -> int | None:
        known = self.n_features_in_
        self.n_features_in_ = known + n
        if hasattr(self, "noise_"):
            rows = self._draw(later=known + n - self.n_first_)[known:]
            self.noise_ = np.concatenate([self.noise_, rows])
            self.log_width_ = np.concatenate([self.log_width_, self._first_widths(n)])
        return None

    def _draw(self, later: int) -> np.ndarray:
        """Noise for the first columns and those that came later."""
        rng = np.random.default_rng(self.seed_)
        size = self.n_first_, self.n_components
        return normal_directions(rng, *size, self.orthogonal, later).astype(self.dtype_)

    def _first_widths(self, n: int) -> np.ndarray:
        return np.full(n, 0.5 * math.log(2.0 * self.gamma_))

    @property
    def n_features_out_(self) -> int:
        return 2 * self.n_components

    def features(self, X: Any, out: np.ndarray | None = None) -> np.ndarray:
        width = (np.exp(self.log_width_) / (2.0 * math.pi))[:, None]
        return fourier_features(X, (width * self.noise_).astype(self.dtype_), out)

    def get_state(self) -> dict[str, Any]:
        """What was fitted and learned, as named arrays."""
        names = ("gamma", "n_first", "noise", "log_width")
        return {name: getattr(self, name + "_") for name in names}

    def set_state(self, state: dict[str, Any]) -> None:
        """The inverse of :meth:`get_state`, after :meth:`start`."""
        for name in ("gamma", "n_first", "noise", "log_width"):
            setattr(self, name + "_", state[name])
