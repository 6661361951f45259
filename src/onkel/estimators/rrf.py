"""RRF: reparameterized random features, weights and widths learned together."""

from __future__ import annotations

from typing import Any

from onkel.estimators.classification import OnlineClassifier
from onkel.estimators.regression import OnlineRegressor
from onkel.maps import ReparameterizedFeatures
from onkel.rules import Gradient

__all__ = ["RRFClassifier", "RRFRegressor"]


class _RRF:
    """Reparameterized map × gradient."""

    n_components: int
    gamma: float | str
    learning_rate_gamma: float
    damping: float
    orthogonal: bool
    n_warmup: int
    learning_rate: float
    schedule: str
    alpha: float
    law: str
    n_mixtures: int

    def _make_map(self) -> ReparameterizedFeatures:
        return ReparameterizedFeatures(
            self.n_components,
            self.gamma,
            self.learning_rate_gamma,
            self.damping,
            self.orthogonal,
            self.n_warmup,
            law=self.law,
            n_mixtures=self.n_mixtures,
        )

    def _make_rule(self) -> Gradient:
        return Gradient(self.learning_rate, self.schedule, self.alpha)


class RRFClassifier(_RRF, OnlineClassifier):
    """Reparameterized random features: Fourier features that learn a width for every input.

    ``ω_d = exp(g) ∘ e_d`` with fixed noise e_d ~ N(0, I);
    ``w ← (1 - η_t α) w - η_t ∂loss/∂f z`` and ``g ← g - η_g ∂loss/∂g`` by the same loss, both
    gradients at the weights before the update. O(D·d) a row.

    Use it where inputs differ in how much they matter: with a fourth of FOGD's frequencies it is
    usually more accurate. Rows move the features themselves, so it can't use a matrix product over
    a block: per frequency it is slower than FOGD.

    Parameters
    ----------
    n_components : int, default=100
        Number of frequencies D ≥ 1 (2D features).
    gamma : float or {"median", "scale"}, default="median"
        Width at the start, exp(g) = √(2·gamma) for every input; gamma=0.5 is g = 0.
    learning_rate : float, default=0.5
        η > 0 of the weights (features are normalised, ‖z‖ = 1).
    learning_rate_gamma : float, default=0.01
        η_g ≥ 0 of the log-widths; 0 keeps them (FOGD).
    damping : float, default=10000
        Number of rows after which the widths' step shrinks; 0 is the paper's constant step. See
        :class:`ReparameterizedFeatures`.
    loss : {"hinge", "squared_hinge", "logistic"}, default="hinge"
    schedule : {"constant", "inverse_sqrt", "inverse"}, default="constant"
        Of the weights' step.
    alpha : float, default=0.0
        L2 penalty.
    orthogonal : bool, default=False
        Orthogonal noise: smaller variance, as in :class:`FourierFeatures`.
    n_warmup : int, default=256
    class_weight : dict, "balanced" or None, default=None
    dtype : {"float32", "float64"}, default="float32"
    random_state : int, RandomState or None, default=None
    law : {"gaussian", "frequency", "mixture"}, default="gaussian"
        What the frequencies have in common: the widths of one Gaussian kernel, as in the paper; no
        width (each frequency has its own for every input); or those of the components of a spectral
        mixture, whose means and shares move too. See :class:`ReparameterizedFeatures`.
    n_mixtures : int, default=4
        Number of components of a mixture.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1 or n_classes, 2 * n_components)
    map_ : ReparameterizedFeatures
        ``map_.log_width_`` (d,) are the learned log-widths, ``map_.frequencies_`` (d, D) the
        frequencies.
    n_rows_, n_features_in_, nbytes_ : int

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from onkel import RRFClassifier
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> model = RRFClassifier(n_components=50, random_state=0)
    >>> before = model.predict_then_learn(X, y)
    >>> print(f"{(before == y).mean():.2f}")
    0.94

    Notes
    -----
    Source: Nguyen, Le, Bui & Phung 2017, Algorithm 1; mixtures: Wilson & Adams 2013, eq. 12.
    """

    def __init__(
        self,
        n_components: int = 100,
        gamma: float | str = "median",
        learning_rate: float = 0.5,
        learning_rate_gamma: float = 0.01,
        damping: float = 10_000,
        loss: str = "hinge",
        schedule: str = "constant",
        alpha: float = 0.0,
        orthogonal: bool = False,
        n_warmup: int = 256,
        class_weight: Any = None,
        dtype: str = "float32",
        random_state: Any = None,
        law: str = "gaussian",
        n_mixtures: int = 4,
    ) -> None:
        self.n_components = n_components
        self.gamma = gamma
        self.learning_rate = learning_rate
        self.learning_rate_gamma = learning_rate_gamma
        self.damping = damping
        self.loss = loss
        self.schedule = schedule
        self.alpha = alpha
        self.orthogonal = orthogonal
        self.n_warmup = n_warmup
        self.class_weight = class_weight
        self.dtype = dtype
        self.random_state = random_state
        self.law = law
        self.n_mixtures = n_mixtures


class RRFRegressor(_RRF, OnlineRegressor):
    """Reparameterized random features for regression; see :class:`RRFClassifier`.

    Parameters
    ----------
    n_components, gamma, learning_rate_gamma, damping, schedule, alpha, orthogonal,
    n_warmup, dtype, random_state, law, n_mixtures
        As in :class:`RRFClassifier`.
    learning_rate : float, default=0.5
        η > 0; below 2 for the squared loss. Targets should be of order 1.
    loss : {"squared", "absolute", "epsilon_insensitive"}, default="squared"
        The paper's ℓ2, ℓ1 and ε.
    epsilon : float, default=0.0
        Rows with \\|y - f\\| ≤ epsilon are not learned (squared and ε-insensitive).

    Examples
    --------
    >>> import numpy as np
    >>> from onkel import RRFRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, (2000, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = RRFRegressor(n_components=50, random_state=0).fit(X, y)
    >>> print(f"{model.score(X, y):.2f}")
    1.00

    Notes
    -----
    Source: Nguyen, Le, Bui & Phung 2017, Algorithm 1, section 4.4.
    """

    def __init__(
        self,
        n_components: int = 100,
        gamma: float | str = "median",
        learning_rate: float = 0.5,
        learning_rate_gamma: float = 0.01,
        damping: float = 10_000,
        loss: str = "squared",
        epsilon: float = 0.0,
        schedule: str = "constant",
        alpha: float = 0.0,
        orthogonal: bool = False,
        n_warmup: int = 256,
        dtype: str = "float32",
        random_state: Any = None,
        law: str = "gaussian",
        n_mixtures: int = 4,
    ) -> None:
        self.n_components = n_components
        self.gamma = gamma
        self.learning_rate = learning_rate
        self.learning_rate_gamma = learning_rate_gamma
        self.damping = damping
        self.loss = loss
        self.epsilon = epsilon
        self.schedule = schedule
        self.alpha = alpha
        self.orthogonal = orthogonal
        self.n_warmup = n_warmup
        self.dtype = dtype
        self.random_state = random_state
        self.law = law
        self.n_mixtures = n_mixtures
