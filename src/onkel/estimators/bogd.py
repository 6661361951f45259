"""BOGD: bounded online gradient descent."""

from __future__ import annotations

from typing import Any

from onkel.budgets import BoundedRemoval
from onkel.estimators.classification import OnlineClassifier
from onkel.estimators.regression import OnlineRegressor
from onkel.estimators.support import OverSupportSet
from onkel.kernels import Kernel
from onkel.rules import Gradient

__all__ = ["BOGDClassifier", "BOGDRegressor"]


class _BOGD(OverSupportSet):
    """Support set with bounded random removal × gradient."""

    budget: int
    learning_rate: float
    schedule: str | float
    alpha: float
    removal: str
    max_weight: float
    bound: str

    def _make_rule(self) -> Gradient:
        return Gradient(self.learning_rate, self.schedule, self.alpha)

    def _make_budget(self) -> BoundedRemoval:
        return BoundedRemoval(self.budget, self.removal, self.max_weight, self.bound)


class BOGDClassifier(_BOGD, OnlineClassifier):
    """Bounded online gradient descent: random removal made up for by the rows that stay.

    ``f ← (1 - η_t α) f - η_t ∂loss/∂f κ(x, ·)``; a full set drops one row at random, multiplies the
    others by B/(B - 1) and keeps them within ±γη.

    Use it as the budgeted form of :class:`OGDClassifier`. With a wide kernel the factor and the
    bound add noise: ``removal="oldest", max_weight=inf`` is steadier there.

    Parameters
    ----------
    budget : int, default=100
        Most rows stored, B ≥ 2.
    learning_rate : float, default=0.5
        Step η > 0.
    schedule : {"constant", "inverse_sqrt", "inverse"} or float, default="constant"
        η_t = η, η/√t or 1/(αt); a number r in (0, 1] is η/t^r.
    alpha : float, default=0.0
        L2 penalty (α/2)‖f‖² ≥ 0.
    removal : {"uniform", "nonuniform", "oldest"}, default="uniform"
        Which row is dropped: any; one of small weight rather; the oldest, whose loss the others
        don't make up for.
    max_weight : float, default=10.0
        γ > 0: coefficients stay within ±γη; inf for no bound.
    bound : {"each", "all"}, default="each"
        A coefficient beyond the bound is cut, or all of f is multiplied so that it fits.
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
    >>> from onkel import BOGDClassifier
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> model = BOGDClassifier(gamma=2.0, random_state=0)
    >>> before = model.predict_then_learn(X, y)
    >>> print(f"{(before == y).mean():.2f}")
    0.96

    Notes
    -----
    Source: Zhao, Wang, Wu, Jin & Hoi 2012, Algorithms 1 ("uniform") and 2 ("nonuniform").
    ``bound="all"`` is the form of the LSOKL programs.
    """

    def __init__(
        self,
        budget: int = 100,
        learning_rate: float = 0.5,
        schedule: str | float = "constant",
        alpha: float = 0.0,
        removal: str = "uniform",
        max_weight: float = 10.0,
        bound: str = "each",
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        loss: str = "hinge",
        n_warmup: int = 256,
        class_weight: Any = None,
        dtype: str = "float32",
        random_state: Any = None,
    ) -> None:
        self.budget = budget
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.alpha = alpha
        self.removal = removal
        self.max_weight = max_weight
        self.bound = bound
        self.kernel = kernel
        self.gamma = gamma
        self.loss = loss
        self.n_warmup = n_warmup
        self.class_weight = class_weight
        self.dtype = dtype
        self.random_state = random_state


class BOGDRegressor(_BOGD, OnlineRegressor):
    """Bounded online gradient descent for regression; see :class:`BOGDClassifier`.

    ``f ← (1 - η_t α) f + η_t (y - f) κ(x, ·)`` where \\|y - f\\| > ε, for the squared loss.

    Parameters
    ----------
    budget, schedule, alpha, removal, max_weight, bound
        As in :class:`BOGDClassifier`.
    kernel, gamma, n_warmup, dtype, random_state
        As in :class:`BOGDClassifier`.
    learning_rate : float, default=0.3
        Step η > 0, in the target's units.
    loss : {"squared", "absolute", "epsilon_insensitive"}, default="squared"
        The squared loss is (y - f)²/2.
    epsilon : float, default=0.1
        Half-width ε ≥ 0 of the tube in which nothing is learned or stored, in the target's units.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel import BOGDRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, (2000, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = BOGDRegressor(gamma=2.0, random_state=0).fit(X, y)
    >>> print(f"{model.score(X, y):.2f}")
    0.99
    """

    def __init__(
        self,
        budget: int = 100,
        learning_rate: float = 0.3,
        schedule: str | float = "constant",
        alpha: float = 0.0,
        removal: str = "uniform",
        max_weight: float = 10.0,
        bound: str = "each",
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        loss: str = "squared",
        epsilon: float = 0.1,
        n_warmup: int = 256,
        dtype: str = "float32",
        random_state: Any = None,
    ) -> None:
        self.budget = budget
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.alpha = alpha
        self.removal = removal
        self.max_weight = max_weight
        self.bound = bound
        self.kernel = kernel
        self.gamma = gamma
        self.loss = loss
        self.epsilon = epsilon
        self.n_warmup = n_warmup
        self.dtype = dtype
        self.random_state = random_state
