"""FOGD: Fourier online gradient descent."""

from __future__ import annotations

from typing import Any

from onkel.estimators.classification import OnlineClassifier
from onkel.estimators.regression import OnlineRegressor
from onkel.kernels import Kernel
from onkel.maps import FourierFeatures
from onkel.rules import Gradient

__all__ = ["FOGDClassifier", "FOGDRegressor"]


class _FOGD:
    """Random Fourier map × gradient."""

    n_components: int
    kernel: str | Kernel
    gamma: float | str
    orthogonal: bool
    n_warmup: int
    learning_rate: float
    schedule: str
    alpha: float

    def _make_map(self) -> FourierFeatures:
        return FourierFeatures(
            self.n_components, self.kernel, self.gamma, self.orthogonal, self.n_warmup
        )

    def _make_rule(self) -> Gradient:
        return Gradient(self.learning_rate, self.schedule, self.alpha)


class FOGDClassifier(_FOGD, OnlineClassifier):
    """Fourier online gradient descent: a fixed random map of the kernel and a linear model on it.

    ``z = [cos ω·x, sin ω·x]/√D``, ``w ← (1 - η_t α) w - η_t ∂loss/∂f z``. O(D·d) a row, at the
    speed of one matrix product; memory O(D·d).

    Use it on fast streams of numbers with a known or fitted bandwidth. With few frequencies
    :class:`RRFClassifier` is more accurate; on inputs that fill a small part of space,
    :class:`NOGDClassifier`.

    Parameters
    ----------
    n_components : int, default=400
        Number of frequencies D ≥ 1 (2D features).
    kernel : str or Kernel, default="gaussian"
        A shift-invariant kernel: gaussian, laplacian, cauchy, rational_quadratic, matern32,
        matern52.
    gamma : float or {"median", "scale"}, default="median"
        Width: exp(-gamma ‖x - x'‖²) for the Gaussian. "median" and "scale" are fitted on the first
        ``n_warmup`` rows.
    learning_rate : float, default=0.5
        η > 0. Features are normalised (‖z‖ = 1): a step of η in programs that leave out 1/√D is
        η·D here.
    loss : {"hinge", "squared_hinge", "logistic"}, default="hinge"
        In multiclass the true class against the best wrong one, and softmax.
    schedule : {"constant", "inverse_sqrt", "inverse"}, default="constant"
        η, η/√t or 1/(αt).
    alpha : float, default=0.0
        L2 penalty.
    orthogonal : bool, default=False
        Orthogonal frequencies.
    n_warmup : int, default=256
        Rows a bandwidth heuristic looks at.
    class_weight : dict, "balanced" or None, default=None
        "balanced" uses the counts up to each row.
    dtype : {"float32", "float64"}, default="float32"
        Of the features and weights.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1 or n_classes, 2 * n_components)
    map_ : FourierFeatures
    n_rows_ : int
        Rows learned (weight above 0).
    n_features_in_ : int
    nbytes_ : int
        Size of the model.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from onkel import FOGDClassifier
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> model = FOGDClassifier(n_components=100, gamma=2.0, random_state=0)
    >>> before = model.predict_then_learn(X, y)
    >>> print(f"{(before == y).mean():.2f}")
    0.96

    Notes
    -----
    Source: Lu, Hoi, Wang, Zhao & Liu 2016, Algorithm 1 (binary), 3 (multiclass); features as in
    Rahimi & Recht 2007.
    """

    def __init__(
        self,
        n_components: int = 400,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        learning_rate: float = 0.5,
        loss: str = "hinge",
        schedule: str = "constant",
        alpha: float = 0.0,
        orthogonal: bool = False,
        n_warmup: int = 256,
        class_weight: Any = None,
        dtype: str = "float32",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.learning_rate = learning_rate
        self.loss = loss
        self.schedule = schedule
        self.alpha = alpha
        self.orthogonal = orthogonal
        self.n_warmup = n_warmup
        self.class_weight = class_weight
        self.dtype = dtype
        self.random_state = random_state


class FOGDRegressor(_FOGD, OnlineRegressor):
    """Fourier online gradient descent for regression.

    ``w ← (1 - η_t α) w - η_t ∂loss/∂f z`` as in :class:`FOGDClassifier`. The target should be of
    order 1 (the command-line tool scales it): steps are in its units.

    Parameters
    ----------
    n_components, kernel, gamma, schedule, alpha, orthogonal, n_warmup, dtype, random_state
        As in :class:`FOGDClassifier`.
    learning_rate : float, default=0.5
        η > 0; below 2 for the squared loss.
    loss : {"squared", "absolute", "epsilon_insensitive"}, default="squared"
        The squared loss is (y - f)²/2.
    epsilon : float, default=0.0
        Rows with \\|y - f\\| ≤ epsilon are not learned (squared and ε-insensitive).

    Examples
    --------
    >>> import numpy as np
    >>> from onkel import FOGDRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, (2000, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = FOGDRegressor(n_components=100, gamma=2.0, random_state=0).fit(X, y)
    >>> print(f"{model.score(X, y):.2f}")
    1.00

    Notes
    -----
    Source: Lu, Hoi, Wang, Zhao & Liu 2016, Algorithm 5.
    """

    def __init__(
        self,
        n_components: int = 400,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        learning_rate: float = 0.5,
        loss: str = "squared",
        epsilon: float = 0.0,
        schedule: str = "constant",
        alpha: float = 0.0,
        orthogonal: bool = False,
        n_warmup: int = 256,
        dtype: str = "float32",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.learning_rate = learning_rate
        self.loss = loss
        self.epsilon = epsilon
        self.schedule = schedule
        self.alpha = alpha
        self.orthogonal = orthogonal
        self.n_warmup = n_warmup
        self.dtype = dtype
        self.random_state = random_state
