"""Fastfood: FOGD's learner over features made by Hadamard transforms."""

from __future__ import annotations

from typing import Any

from onkel.estimators.classification import OnlineClassifier
from onkel.estimators.regression import OnlineRegressor
from onkel.kernels import Kernel
from onkel.maps import FastfoodFeatures
from onkel.rules import Gradient

__all__ = ["FastfoodClassifier", "FastfoodRegressor"]


class _Fastfood:
    """Fastfood map × gradient."""

    n_components: int
    kernel: str | Kernel
    gamma: float | str
    n_warmup: int
    learning_rate: float
    schedule: str
    alpha: float

    def _make_map(self) -> FastfoodFeatures:
        return FastfoodFeatures(self.n_components, self.kernel, self.gamma, self.n_warmup)

    def _make_rule(self) -> Gradient:
        return Gradient(self.learning_rate, self.schedule, self.alpha)


class FastfoodClassifier(_Fastfood, OnlineClassifier):
    """Online gradient descent over Fastfood features: random Fourier features without a matrix.

    ``z = [cos v, sin v]/√D`` with ``v = √(2γ) S H G Π H B x/√m``,
    ``w ← (1 - η_t α) w - η_t ∂loss/∂f z``. O(D log d) a row and O(D) memory.

    Use it for rows of hundreds of columns and more, with at least as many frequencies, where it
    outruns :class:`FOGDClassifier` and needs a d-th of its memory. For fewer columns FOGD is
    faster and a little more accurate.

    Parameters
    ----------
    n_components : int, default=400
        Number of frequencies D ≥ 1 (2D features); below d the rest of a transform is wasted.
    kernel : str or Kernel, default="gaussian"
        A radial kernel: gaussian, rational_quadratic, matern32 or matern52.
    gamma : float or {"median", "scale"}, default="median"
        Width: exp(-gamma ‖x - x'‖²) for the Gaussian. "median" and "scale" are fitted on the first
        ``n_warmup`` rows.
    learning_rate : float, default=0.5
        η > 0; features are normalised (‖z‖ = 1).
    loss : {"hinge", "squared_hinge", "logistic"}, default="hinge"
        In multiclass the true class against the best wrong one, and softmax.
    schedule : {"constant", "inverse_sqrt", "inverse"}, default="constant"
        η, η/√t or 1/(αt).
    alpha : float, default=0.0
        L2 penalty.
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
    map_ : FastfoodFeatures
    n_rows_ : int
        Rows learned (weight above 0).
    n_features_in_ : int
    nbytes_ : int
        Size of the model.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from onkel import FastfoodClassifier
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> model = FastfoodClassifier(n_components=100, gamma=2.0, random_state=0)
    >>> before = model.predict_then_learn(X, y)
    >>> print(f"{(before == y).mean():.2f}")
    0.96

    Notes
    -----
    Source: features of Le, Sarlos & Smola 2013 (the product V); learning of Lu et al. 2016,
    Algorithms 1 and 3.
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
        self.n_warmup = n_warmup
        self.class_weight = class_weight
        self.dtype = dtype
        self.random_state = random_state


class FastfoodRegressor(_Fastfood, OnlineRegressor):
    """Online gradient descent over Fastfood features for regression.

    ``w ← (1 - η_t α) w - η_t ∂loss/∂f z`` as in :class:`FastfoodClassifier`. The target should be
    of order 1 (the command-line tool scales it): steps are in its units.

    Parameters
    ----------
    n_components, kernel, gamma, schedule, alpha, n_warmup, dtype, random_state
        As in :class:`FastfoodClassifier`.
    learning_rate : float, default=0.5
        η > 0; below 2 for the squared loss.
    loss : {"squared", "absolute", "epsilon_insensitive"}, default="squared"
        The squared loss is (y - f)²/2.
    epsilon : float, default=0.0
        Rows with \\|y - f\\| ≤ epsilon are not learned (squared and ε-insensitive).

    Examples
    --------
    >>> import numpy as np
    >>> from onkel import FastfoodRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, (2000, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = FastfoodRegressor(n_components=100, gamma=2.0, random_state=0).fit(X, y)
    >>> print(f"{model.score(X, y):.2f}")
    1.00

    Notes
    -----
    Source: features of Le, Sarlos & Smola 2013 (the product V); learning of Lu et al. 2016,
    Algorithm 5.
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
        self.n_warmup = n_warmup
        self.dtype = dtype
        self.random_state = random_state
