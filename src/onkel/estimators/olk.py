"""OLK: projected online learning with kernels."""

from __future__ import annotations

from typing import Any

from onkel.budgets import NoBudget
from onkel.estimators.classification import OnlineClassifier
from onkel.estimators.regression import OnlineRegressor
from onkel.estimators.support import OverSupportSet
from onkel.kernels import Kernel
from onkel.rules import ProjectedGradient

__all__ = ["OLKClassifier", "OLKRegressor"]


class _OLK(OverSupportSet):
    """Support set without a budget × projected gradient."""

    radius: float
    learning_rate: float
    schedule: str | float

    def _make_rule(self) -> ProjectedGradient:
        return ProjectedGradient(self.radius, self.learning_rate, self.schedule)

    def _make_budget(self) -> NoBudget:
        return NoBudget()


class OLKClassifier(_OLK, OnlineClassifier):
    """Projected online gradient descent in the kernel space, without a budget.

    ``f ← Π(f - η_t ∂loss/∂f κ(x, ·))`` with Π the projection onto the ball ‖f‖ ≤ U; ‖f‖² is carried
    by a scalar recursion.

    Use it as the yardstick of :class:`OLKGrowingClassifier` and :class:`OLKFixedClassifier`: its
    regret against the best f of the ball is O(√T). Memory grows with the rows stored.

    Parameters
    ----------
    radius : float, default=10.0
        U > 0: f stays in the ball ‖f‖ ≤ U.
    learning_rate : float, default=2.0
        Step η > 0.
    schedule : {"constant", "inverse_sqrt", "inverse"} or float, default="inverse_sqrt"
        η_t = η, η/√t or 1/(αt); a number r in (0, 1] is η/t^r.
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
    >>> from onkel import OLKClassifier
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> model = OLKClassifier(gamma=2.0)
    >>> before = model.predict_then_learn(X, y)
    >>> print(f"{(before == y).mean():.2f}")
    0.97

    Notes
    -----
    Source: He & Kwok 2014, Algorithm 1.
    """

    def __init__(
        self,
        radius: float = 10.0,
        learning_rate: float = 2.0,
        schedule: str | float = "inverse_sqrt",
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        loss: str = "hinge",
        n_warmup: int = 256,
        class_weight: Any = None,
        dtype: str = "float32",
    ) -> None:
        self.radius = radius
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.kernel = kernel
        self.gamma = gamma
        self.loss = loss
        self.n_warmup = n_warmup
        self.class_weight = class_weight
        self.dtype = dtype


class OLKRegressor(_OLK, OnlineRegressor):
    """OLK for regression; see :class:`OLKClassifier`.

    The update of :class:`OLKClassifier`, for rows with \\|y - f\\| > ε.

    Parameters
    ----------
    radius, learning_rate, schedule, kernel, gamma, n_warmup, dtype
        As in :class:`OLKClassifier`.
    loss : {"squared", "absolute", "epsilon_insensitive"}, default="squared"
        The squared loss is (y - f)²/2.
    epsilon : float, default=0.1
        Half-width ε ≥ 0 of the tube in which nothing is learned or stored, in the target's units.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel import OLKRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, (2000, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = OLKRegressor(gamma=2.0).fit(X, y)
    >>> print(f"{model.score(X, y):.2f}")
    0.99
    """

    def __init__(
        self,
        radius: float = 10.0,
        learning_rate: float = 2.0,
        schedule: str | float = "inverse_sqrt",
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        loss: str = "squared",
        epsilon: float = 0.1,
        n_warmup: int = 256,
        dtype: str = "float32",
    ) -> None:
        self.radius = radius
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.kernel = kernel
        self.gamma = gamma
        self.loss = loss
        self.epsilon = epsilon
        self.n_warmup = n_warmup
        self.dtype = dtype
