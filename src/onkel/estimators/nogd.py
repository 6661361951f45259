"""NOGD: Nyström online gradient descent."""

from __future__ import annotations

from typing import Any

from onkel.estimators.classification import OnlineClassifier
from onkel.estimators.regression import OnlineRegressor
from onkel.kernels import Kernel
from onkel.maps import NystroemFeatures
from onkel.rules import Gradient

__all__ = ["NOGDClassifier", "NOGDRegressor"]


class _NOGD:
    """Nyström map over the first support vectors × gradient."""

    budget: int
    rank: int | None
    kernel: str | Kernel
    gamma: float | str
    n_warmup: int
    learning_rate: float
    schedule: str
    alpha: float

    def _make_map(self) -> NystroemFeatures:
        return NystroemFeatures(
            self.budget, self.rank, self.kernel, self.gamma, "support", self.n_warmup
        )

    def _make_rule(self) -> Gradient:
        return Gradient(self.learning_rate, self.schedule, self.alpha)


class NOGDClassifier(_NOGD, OnlineClassifier):
    """Nyström online gradient descent: the first B support vectors become the landmarks of a map.

    Kernel OGD until B support vectors S are stored and one more is due; then
    ``κ(S, S) = V Λ Vᵀ`` (top k), ``z(x) = Λ^-½ Vᵀ κ(S, x)``, ``w₀ = α V Λ^½`` carries the model
    over, and ``w ← (1 - η_t α) w - η_t ∂loss/∂f z`` from there. O(B·d + B·k) a row.

    Use it for any kernel (also polynomial), and where the data fill a small part of space. The
    landmarks are the *first* hard rows: a stream that changes later is better served by a map
    that moves.

    Parameters
    ----------
    budget : int, default=100
        Number of support vectors B ≥ 1 kept as landmarks.
    rank : int or None, default=None
        Eigenpairs kept, k ≤ B; None for all. The paper keeps a fifth (20 of 100): faster, coarser.
    kernel : str or Kernel, default="gaussian"
        Any kernel of :mod:`onkel.kernels`.
    gamma : float or {"median", "scale"}, default="median"
    learning_rate : float, default=0.5
        η > 0, the same before and after the landmarks stand.
    loss : {"hinge", "squared_hinge", "logistic"}, default="hinge"
        With "logistic" every row is a support vector: the landmarks are the first B rows.
    schedule : {"constant", "inverse_sqrt", "inverse"}, default="constant"
    alpha : float, default=0.0
    n_warmup : int, default=256
    class_weight : dict, "balanced" or None, default=None
    dtype : {"float32", "float64"}, default="float32"
        float32 suits standardised inputs; raw columns in the thousands need float64 (distances
        are differences of large numbers).
    random_state : int, RandomState or None, default=None
        Not used: the learner is deterministic.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray
        (K, k) weights, or (K, stored) coefficients of the support set until it is full.
    map_ : NystroemFeatures
    n_rows_, n_features_in_, nbytes_ : int

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from onkel import NOGDClassifier
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> model = NOGDClassifier(budget=50, gamma=2.0)
    >>> before = model.predict_then_learn(X, y)
    >>> print(f"{(before == y).mean():.2f}")
    0.96

    Notes
    -----
    Source: Lu, Hoi, Wang, Zhao & Liu 2016, Algorithm 2 (binary), 4 (multiclass).
    """

    def __init__(
        self,
        budget: int = 100,
        rank: int | None = None,
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
        self.budget = budget
        self.rank = rank
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


class NOGDRegressor(_NOGD, OnlineRegressor):
    """Nyström online gradient descent for regression; see :class:`NOGDClassifier`.

    A row is a support vector when its loss has a gradient: \\|y - f\\| > epsilon.

    Parameters
    ----------
    budget, rank, kernel, gamma, schedule, alpha, n_warmup, dtype, random_state
        As in :class:`NOGDClassifier`.
    learning_rate : float, default=0.5
        η > 0; below 2 for the squared loss. Targets should be of order 1.
    loss : {"squared", "absolute", "epsilon_insensitive"}, default="squared"
    epsilon : float, default=0.0
        Rows with \\|y - f\\| ≤ epsilon are not learned (squared and ε-insensitive).

    Examples
    --------
    >>> import numpy as np
    >>> from onkel import NOGDRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, (2000, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = NOGDRegressor(budget=50, gamma=2.0).fit(X, y)
    >>> print(f"{model.score(X, y):.2f}")
    1.00

    Notes
    -----
    Source: Lu, Hoi, Wang, Zhao & Liu 2016, Algorithm 6.
    """

    def __init__(
        self,
        budget: int = 100,
        rank: int | None = None,
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
        self.budget = budget
        self.rank = rank
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
