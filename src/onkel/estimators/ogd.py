"""Kernel online gradient descent, without a budget."""

from __future__ import annotations

from typing import Any

from onkel.budgets import NoBudget
from onkel.estimators.classification import OnlineClassifier
from onkel.estimators.regression import OnlineRegressor
from onkel.estimators.support import OverSupportSet
from onkel.kernels import Kernel
from onkel.rules import Gradient

__all__ = ["OGDClassifier", "OGDRegressor"]


class _OGD(OverSupportSet):
    """Support set without a budget × gradient."""

    learning_rate: float
    schedule: str | float
    alpha: float

    def _make_rule(self) -> Gradient:
        return Gradient(self.learning_rate, self.schedule, self.alpha)

    def _make_budget(self) -> NoBudget:
        return NoBudget()


class OGDClassifier(_OGD, OnlineClassifier):
    """Kernel online gradient descent: every row with a gradient is stored.

    ``f ← (1 - η_t α) f - η_t ∂loss/∂f κ(x, ·)``.

    Use it as the yardstick of accuracy on streams of up to some ten thousand rows. Memory and time
    of a row grow with the rows stored: nothing bounds them. On long streams take
    :class:`BOGDClassifier`, or :class:`FOGDClassifier`.

    Parameters
    ----------
    learning_rate : float, default=0.5
        Step η > 0.
    schedule : {"constant", "inverse_sqrt", "inverse"} or float, default="constant"
        η_t = η, η/√t or 1/(αt); a number r in (0, 1] is η/t^r.
    alpha : float, default=0.0
        L2 penalty (α/2)‖f‖² ≥ 0.
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
    >>> from onkel import OGDClassifier
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> model = OGDClassifier(gamma=2.0)
    >>> before = model.predict_then_learn(X, y)
    >>> print(f"{(before == y).mean():.2f}")
    0.96

    Notes
    -----
    Source: Kivinen, Smola & Williamson 2001; with α = 0 the OGD of Lu et al. 2016.
    """

    def __init__(
        self,
        learning_rate: float = 0.5,
        schedule: str | float = "constant",
        alpha: float = 0.0,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        loss: str = "hinge",
        n_warmup: int = 256,
        class_weight: Any = None,
        dtype: str = "float32",
    ) -> None:
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.loss = loss
        self.n_warmup = n_warmup
        self.class_weight = class_weight
        self.dtype = dtype


class OGDRegressor(_OGD, OnlineRegressor):
    """Kernel online gradient descent for regression; see :class:`OGDClassifier`.

    ``f ← (1 - η_t α) f + η_t (y - f) κ(x, ·)`` where \\|y - f\\| > ε, for the squared loss.

    Parameters
    ----------
    schedule, alpha, kernel, gamma, n_warmup, dtype
        As in :class:`OGDClassifier`.
    learning_rate : float, default=0.3
        Step η > 0, in the target's units.
    loss : {"squared", "absolute", "epsilon_insensitive"}, default="squared"
        The squared loss is (y - f)²/2.
    epsilon : float, default=0.1
        Half-width ε ≥ 0 of the tube in which nothing is learned or stored, in the target's units.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel import OGDRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, (2000, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = OGDRegressor(gamma=2.0).fit(X, y)
    >>> print(f"{model.score(X, y):.2f}")
    0.99
    """

    def __init__(
        self,
        learning_rate: float = 0.3,
        schedule: str | float = "constant",
        alpha: float = 0.0,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        loss: str = "squared",
        epsilon: float = 0.1,
        n_warmup: int = 256,
        dtype: str = "float32",
    ) -> None:
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.loss = loss
        self.epsilon = epsilon
        self.n_warmup = n_warmup
        self.dtype = dtype
