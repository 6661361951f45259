"""Reparameterized random features: Fourier features whose widths are learned by the loss.

Frequency d belongs to component b where ``first[b] <= d < first[b + 1]``. Its law is
ω_d = exp(g_b) ∘ (m_b + e_d), and the component has the share softmax(logit)_b of the kernel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from onkel.annotations import DTypeLike, Matrix, Out, Seed
from onkel.fields import Array, Fields, Number, Whole
from onkel.kernels import normal_directions
from onkel.maps.base import Change
from onkel.maps.fourier import SpectralFeatures, sincos_block, turns_of
from onkel.numerics.jit import axpy, jit, jit_inline, sincos_turns
from onkel.parameters import non_negative, one_of, whole


class Law(NamedTuple):
    """What frequencies are made of: noise (d, D), and the parameters of G components.

    These are log-widths (d, G); means (d, G), or (d, 0) for none; logits (G,) of the shares, or
    (0,) where all frequencies weigh the same; the numbers of the first frequencies (G + 1,).
    """

    noise: np.ndarray
    log_width: np.ndarray
    mean: np.ndarray
    logit: np.ndarray
    first: np.ndarray


#: log-widths stay within ±20: no sane stream comes near, and exp can't overflow
WIDEST = 20.0


@jit_inline
def fill_frequencies(n, E, log_width, mean, first, F):
    """Row n of F ← exp(g_n) (m_n + e_n), by component."""
    for b in range(log_width.shape[1]):
        width = F.dtype.type(math.exp(log_width[n, b]))
        middle = F.dtype.type(mean[n, b] if mean.shape[1] > 0 else 0.0)
        for d in range(first[b], first[b + 1]):
            F[n, d] = width * (middle + E[n, d])


@jit_inline
def fill_shares(logit, first, shares, amplitude):
    """Row 0 of ``shares`` ← softmax(logit); a_d ← √(share_b/D_b) for the component b of d."""
    top, total = -np.inf, 0.0
    for b in range(logit.shape[0]):
        top = max(top, logit[b])
    for b in range(logit.shape[0]):
        shares[0, b] = math.exp(logit[b] - top)
    for b in range(logit.shape[0]):
        total += shares[0, b]
    for b in range(logit.shape[0]):
        shares[0, b] /= total
        for d in range(first[b], first[b + 1]):
            amplitude[d] = math.sqrt(shares[0, b] / (first[b + 1] - first[b]))


@jit
def frequencies_of(E, log_width, mean, first):
    """ω (d, D), in the precision of the noise E (d, D)."""
    F = np.empty_like(E)
    for n in range(E.shape[0]):
        fill_frequencies(n, E, log_width, mean, first, F)
    return F


@jit
def amplitudes_of(logit, first, amplitude):
    """a (D,) of a mixture, written to ``amplitude``; returns the shares (G,)."""
    shares = np.empty((1, logit.shape[0]))
    fill_shares(logit, first, shares, amplitude)
    return shares[0]


_TURN = 1.0 / (2.0 * math.pi)
LAWS = ("gaussian", "frequency", "mixture")

# No sane stream brings means or logits near this; from there no gradient leads back.
_FARTHEST = 1e6


@dataclass(eq=False, repr=False)
class ReparameterizedFeatures(SpectralFeatures):
    """z(x) = [cos ω_d·x, sin ω_d·x]/√D with ω_d = exp(g) ∘ e_d, one log-width g per input column.

    The noise e_d ~ N(0, I) is drawn once; the log-widths move with the weights,
    ``g ← g - η_g ∂loss/∂g``, so each input finds its own scale and useless ones fade. In a plain
    transformer the widths stay where gamma puts them. A learner moves them with each row; least
    squares and Newton move them only after some rows, along the same gradient at the exact weights
    (:mod:`onkel.explicit.learned_spectrum`), which is slower and much more accurate.

    ``law`` says what the frequencies have in common, and so how much is learned:

    - "gaussian", the paper's: one g (d,) for all of them, the spectrum of one Gaussian kernel.
    - "frequency": a g_d (d,) for each, ``ω_d = exp(g_d) ∘ e_d``. Every frequency moves on its own
      (its signs stay): the most flexible, the slowest, and the one that needs the most rows.
    - "mixture": ``ω_d = exp(g_b) ∘ (m_b + e_d)`` for the component b of frequency d, with features
      √π_b [cos, sin]/√D_b: the spectral mixture kernel
      Σ_b π_b exp(-½ Σ_n σ_bn² τ_n²) cos(μ_b·τ), σ_b = exp(g_b), μ_b = σ_b ∘ m_b, π = softmax.
      Widths, means and shares all move. Use it for targets that repeat along a slanted direction.

    Parameters
    ----------
    n_components : int, default=100
        Number of frequencies D ≥ 1; the map has 2D features.
    gamma : float or {"median", "scale"}, default="median"
        Widths at the start: exp(g) = √(2γ), the Gaussian kernel exp(-γ‖x - x'‖²). A mixture starts
        at exp(g) = √γ with m_b ~ N(0, I), which is that kernel on average over the means.
    learning_rate : float, default=0.01
        η_g ≥ 0, the step of the log-widths (for a mixture also of its means and shares). Under
        least squares a parameter moves by about 10 η_g in each of five steps at a time, under
        Newton by 3 η_g.
    damping : float, default=10000
        Number of rows N ≥ 0 after which the step shrinks: η_g/√(1 + t/N); it is also at most the
        step that would repair the row if its loss were linear in g. 0 is the paper's constant step:
        it adapts for ever, and on long streams with little noise, where the weights grow large, it
        can throw the widths out for good. Exact rules shrink their steps in the same way.
    orthogonal : bool, default=False
        Orthogonal noise: smaller variance, as in :class:`FourierFeatures`.
    n_warmup : int, default=256
        Rows that a heuristic for gamma looks at.
    random_state : int, RandomState or None, default=None
    law : {"gaussian", "frequency", "mixture"}, default="gaussian"
    n_mixtures : int, default=4
        Number of components G of a mixture, 1 ≤ G ≤ n_components; each has its part of the
        frequencies.

    Attributes
    ----------
    noise_ : ndarray of shape (d, D)
    log_width_ : ndarray of shape (d,), (d, D) or (d, G)
        By law: of the one Gaussian, of each frequency, of each component.
    mean_ : ndarray of shape (d, G)
        Of a mixture, m in units of the widths; (d, 0) otherwise.
    logit_ : ndarray of shape (G,)
        Of a mixture, the logarithms of its shares up to a constant; (0,) otherwise.
    gamma_ : float
        What the widths began with.
    frequencies_ : ndarray of shape (d, D)
        ω as they are now.

    Raises
    ------
    ValueError
        On ``fit``, for a parameter out of its range. The message names it.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel.maps import ReparameterizedFeatures
    >>> X = np.random.default_rng(0).standard_normal((5, 3))
    >>> ReparameterizedFeatures(10, gamma=0.5, random_state=0).fit_transform(X).shape
    (5, 20)

    Notes
    -----
    Source: Nguyen, Le, Bui & Phung 2017, Algorithm 1 (line 5 read as ω_d = exp(γ) ∘ ε_d); section 1
    names the mixtures. The kernel of a mixture: Wilson & Adams 2013, eq. 12. The damping, and the
    means in units of the widths (so that a step means the same for inputs of any scale), are ours.
    How many frequencies are enough: :mod:`onkel.maps.bounds`.
    """

    name = "reparameterized"
    kernel: str = field(default="gaussian", init=False)

    n_components: int = 100
    gamma: float | str = "median"
    learning_rate: float = 0.01
    damping: float = 10_000
    orthogonal: bool = False
    n_warmup: int = 256
    random_state: Seed = None
    law: str = "gaussian"
    n_mixtures: int = 4

    def changes(self) -> Change:
        return Change.BY_LOSS

    def start(self, d: int, dtype: DTypeLike) -> None:
        super().start(d, dtype)
        if one_of(self, "law", LAWS) == "mixture" and whole(self, "n_mixtures") > self.n_components:
            raise ValueError(
                f"n_mixtures={self.n_mixtures} must be at most n_components={self.n_components}: "
                "each component needs a frequency"
            )
        self.widths_par_: np.ndarray = np.array(
            [non_negative(self, "learning_rate"), non_negative(self, "damping")]
        )
        D = self.n_components
        G = {"gaussian": 1, "frequency": D, "mixture": self.n_mixtures}[self.law]
        #: the first frequency of each component, and D
        self.first_: np.ndarray = np.arange(G + 1) * D // G

    def fit_first(self, X: np.ndarray) -> None:
        super().fit_first(X)
        self.n_first_: int = self.n_features_in_
        self.noise_: np.ndarray = self._draw(later=0)
        self.log_width_: np.ndarray = self._first_widths(self.n_first_)
        self.mean_: np.ndarray = self._draw_means()
        self.logit_: np.ndarray = np.zeros(self.mean_.shape[1])

    def add_columns(self, n: int) -> int | None:
        known = self.n_features_in_
        self.n_features_in_: int = known + n
        if self._has_state():
            rows = self._draw(later=known + n - self.n_first_)[known:]
            self.noise_ = np.concatenate([self.noise_, rows])
            self.log_width_ = np.concatenate([self.log_width_, self._first_widths(n)])
            self.mean_ = np.concatenate([self.mean_, self._draw_means()[known:]])
        return None

    def _draw(self, later: int) -> np.ndarray:
        """Noise for the first columns and those that came later."""
        rng = np.random.default_rng(self.seed_)
        size = self.n_first_, self.n_components
        return normal_directions(rng, *size, self.orthogonal, later).astype(self.dtype_)

    def _draw_means(self) -> np.ndarray:
        """Means of a mixture (d, G), drawn row by row: later columns do not change the first."""
        G = self.n_mixtures if self.law == "mixture" else 0
        return np.random.default_rng([self.seed_, 1]).standard_normal((self.n_features_in_, G))

    def _first_widths(self, n: int) -> np.ndarray:
        """Log-widths of n columns at the start."""
        log_width = 0.5 * math.log(2.0 * self.gamma_)
        if self.law == "mixture":
            # half of the spread in the means, half around them
            return np.full((n, self.n_mixtures), log_width - 0.5 * math.log(2.0))
        return np.full(n if self.law == "gaussian" else (n, self.n_components), log_width)

    def parameters(self) -> Law:
        """The law of the frequencies: views that a loop may move."""
        columns = self.log_width_.reshape(self.n_features_in_, -1)
        return Law(self.noise_, columns, self.mean_, self.logit_, self.first_)

    def moving(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name) for name in ("log_width_", "mean_", "logit_")}

    def is_finite(self) -> bool:
        """Whether the spectrum is one that further steps can move; log-widths are clipped."""
        moved = self.mean_, self.logit_
        return bool(np.isfinite(self.log_width_.sum())) and all(
            np.abs(values).max(initial=0.0) < _FARTHEST for values in moved
        )

    def move(self, steps: dict[str, np.ndarray]) -> None:
        """Add steps to what a learner moves, by attribute."""
        for name, step in steps.items():
            setattr(self, name, getattr(self, name) + step)
        np.clip(self.log_width_, -WIDEST, WIDEST, out=self.log_width_)

    def slopes(self, X: np.ndarray, Z: np.ndarray, A: np.ndarray) -> dict[str, np.ndarray]:
        """Σ_tj A_tj ∂z_j(x_t)/∂θ of rows X (n, d) with features Z, by attribute; A (n, 2D)."""
        _, log_width, mean, logit, first = self.parameters()
        D, starts = self.n_components, first[:-1]
        # ∂cos = -sin, ∂sin = cos: the pull on ω_d·x, then that on ω
        F = X.T @ (A[:, D:] * Z[:, :D] - A[:, :D] * Z[:, D:])
        turn = np.add.reduceat(self.frequencies_ * F, starts, axis=1)
        out = {"log_width_": turn.reshape(self.log_width_.shape)}
        out |= {"mean_": np.zeros(mean.shape), "logit_": np.zeros(logit.shape)}
        if self.law == "mixture":
            out["mean_"] = np.exp(log_width) * np.add.reduceat(F, starts, axis=1)
            pulls = (A * Z).sum(axis=0)
            pulls = np.add.reduceat(pulls[:D] + pulls[D:], starts)
            shares = amplitudes_of(logit, first, np.empty(D))
            out["logit_"] = 0.5 * (pulls - shares * pulls.sum())
        return out

    @property
    def frequencies_(self) -> np.ndarray:
        """ω (d, D)."""
        noise, log_width, mean, _, first = self.parameters()
        return frequencies_of(noise.astype(np.float64), log_width, mean, first)

    def state_fields(self) -> Fields:
        G, far = len(self.first_) - 1, _FARTHEST
        mixed = G if self.law == "mixture" else 0
        return {
            "gamma_": Number(low=0.0),
            "n_first_": Whole(low=1, high=self.n_features_in_),
            "noise_": Array(self.dtype_, ("d", self.n_components), low=-100.0, high=100.0),
            "log_width_": Array(
                shape=("d",) if self.law == "gaussian" else ("d", G), low=-WIDEST, high=WIDEST
            ),
            "mean_": Array(shape=("d", mixed), low=-far, high=far),
            "logit_": Array(shape=(mixed,), low=-far, high=far),
        }

    def features(self, X: Matrix, out: Out = None) -> np.ndarray:
        n, D = X.shape[0], self.n_components
        turns = (self.frequencies_ / (2.0 * math.pi)).astype(self.dtype_)
        Z = np.empty((n, 2 * D), self.dtype_) if out is None else out
        sincos_block(turns_of(X, turns), 1.0 / math.sqrt(D), Z)
        if self.law == "mixture":
            amplitude = np.empty(D)
            amplitudes_of(self.logit_, self.first_, amplitude)
            Z *= np.tile(amplitude * math.sqrt(D), 2).astype(self.dtype_)
        return Z

    def row_features(self, X: np.ndarray) -> np.ndarray | None:
        if self.law != "gaussian":
            return None
        return _row_features(X, self.noise_, self.log_width_)


@jit
def _row_features(X, noise, log_width):
    D = noise.shape[1]
    angles = np.zeros((1, D), noise.dtype)
    for n in range(X.shape[1]):
        if X[0, n] != 0.0:
            axpy(_TURN * math.exp(log_width[n]) * X[0, n], noise, n, angles, 0)
    Z = np.empty((1, 2 * D), noise.dtype)
    sincos_turns(angles[0], 1.0 / math.sqrt(D), Z[0, :D], Z[0, D:])
    return Z
