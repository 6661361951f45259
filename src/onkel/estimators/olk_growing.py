"""OLK with stochastic insertion."""

from __future__ import annotations

from typing import Any

from onkel.budgets import StochasticInsertion
from onkel.estimators.classification import OnlineClassifier
from onkel.estimators.regression import OnlineRegressor
from onkel.estimators.support import OverSupportSet
from onkel.kernels import Kernel
from onkel.rules import ProjectedGradient

__all__ = ["OLKGrowingClassifier", "OLKGrowingRegressor"]


class _OLKGrowing(OverSupportSet):
    """Support set that thins its insertions × projected gradient."""

    thinning: float
    radius: float
    learning_rate: float

    def _make_rule(self) -> ProjectedGradient:
        self._make_budget().parameters()  # γ is a number between 0 and 1
        return ProjectedGradient(self.radius, self.learning_rate, 0.5 * (1.0 + self.thinning))

    def _make_budget(self) -> StochasticInsertion:
        return StochasticInsertion(self.thinning)


class OLKGrowingClassifier(_OLKGrowing, OnlineClassifier):
    """OLK that stores fewer and fewer rows: each with probability t^-γ.

    ``f ← Π(f - [row kept] η_t/p_t ∂loss/∂f κ(x, ·))`` with p_t = t^-γ and η_t = η t^(-(1+γ)/2). The
    expected size of the set is O(T^(1-γ)), the expected regret O(T^((1+γ)/2)).

    Use it where the length of the stream is unknown and memory may grow slowly. Early steps are
    large and late ones rare: a budget learns faster where B is known.

    Parameters
    ----------
    thinning : float, default=0.5
        γ in (0, 1): a row of gradient is stored with probability t^-γ.
    radius : float, default=10.0
        U > 0: f stays in the ball ‖f‖ ≤ U.
    learning_rate : float, default=2.0
        Step η > 0.
    kernel : str or Kernel, default="gaussian"
        Any kernel of :mod:`onkel.kernels`.
    gamma : float or {"median", "scale"}, default="median"
        Width; the heuristics are fitted on the first ``n_warmup`` rows.
    loss : {"hinge", "squared_hinge", "logistic"}, default="hinge"
        In multiclass the true class against the best wrong one, and softmax. The logistic loss
        stores every row.
    n_warmup : int, default=256
        Rows a bandwidth heuristic looks at.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the step by row; "balanced" uses the counts up to each row.
    dtype : {"float32", "float64"}, default="float32"
        Of the stored rows, the kernel values and the coefficients.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    support_vectors_ : ndarray of shape (n_support_, d)
    coef_ : ndarray of shape (1 or n_classes, n_support_)
    gamma_ : float
    n_support_, n_rows_, n_features_in_, nbytes_ : int

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from onkel import OLKGrowingClassifier
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> model = OLKGrowingClassifier(gamma=2.0, random_state=0)
    >>> before = model.predict_then_learn(X, y)
    >>> print(f"{(before == y).mean():.2f}")
    0.95

    Notes
    -----
    Source: He & Kwok 2014, first strategy. The public text breaks off before the algorithm; this
    form is derived from its Proposition 1 and has the guarantees it states.
    """

    def __init__(
        self,
        thinning: float = 0.5,
        radius: float = 10.0,
        learning_rate: float = 2.0,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        loss: str = "hinge",
        n_warmup: int = 256,
        class_weight: Any = None,
        dtype: str = "float32",
        random_state: Any = None,
    ) -> None:
        self.thinning = thinning
        self.radius = radius
        self.learning_rate = learning_rate
        self.kernel = kernel
        self.gamma = gamma
        self.loss = loss
        self.n_warmup = n_warmup
        self.class_weight = class_weight
        self.dtype = dtype
        self.random_state = random_state


class OLKGrowingRegressor(_OLKGrowing, OnlineRegressor):
    """OLK with stochastic insertion for regression; see :class:`OLKGrowingClassifier`.

    The update of :class:`OLKGrowingClassifier`, for rows with \\|y - f\\| > ε.

    Parameters
    ----------
    thinning, radius, learning_rate, kernel, gamma, n_warmup, dtype, random_state
        As in :class:`OLKGrowingClassifier`.
    loss : {"squared", "absolute", "epsilon_insensitive"}, default="squared"
        The squared loss is (y - f)²/2.
    epsilon : float, default=0.1
        Half-width ε ≥ 0 of the tube in which nothing is learned or stored, in the target's units.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel import OLKGrowingRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, (2000, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = OLKGrowingRegressor(gamma=2.0, random_state=0).fit(X, y)
    >>> print(f"{model.score(X, y):.2f}")
    0.99
    """

    def __init__(
        self,
        thinning: float = 0.5,
        radius: float = 10.0,
        learning_rate: float = 2.0,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        loss: str = "squared",
        epsilon: float = 0.1,
        n_warmup: int = 256,
        dtype: str = "float32",
        random_state: Any = None,
    ) -> None:
        self.thinning = thinning
        self.radius = radius
        self.learning_rate = learning_rate
        self.kernel = kernel
        self.gamma = gamma
        self.loss = loss
        self.epsilon = epsilon
        self.n_warmup = n_warmup
        self.dtype = dtype
        self.random_state = random_state
