"""BSGD-M: budgeted Pegasos, merging."""

from __future__ import annotations

from typing import Any

from onkel.budgets import Merging
from onkel.estimators.classification import OnlineClassifier
from onkel.estimators.regression import OnlineRegressor
from onkel.estimators.support import OverSupportSet
from onkel.kernels import Kernel
from onkel.rules import Pegasos

__all__ = ["BSGDMClassifier", "BSGDMRegressor"]


class _BSGDM(OverSupportSet):
    """Support set that merges two of its rows × Pegasos."""

    budget: int
    alpha: float

    def _make_rule(self) -> Pegasos:
        return Pegasos(self.alpha, project=False)

    def _make_budget(self) -> Merging:
        return Merging(self.budget)


class BSGDMClassifier(_BSGDM, OnlineClassifier):
    """Budgeted stochastic gradient descent that merges two rows of a full set.

    ``f ← (1 - 1/t) f + c κ(x, ·)/(αt)`` where the row has a loss; of B + 1 rows the lightest m and
    its best partner n then become ``z = h s_m + (1 - h) s_n`` with the coefficients
    ``α_m κ^((1-h)²) + α_n κ^(h²)``, κ = κ(s_m, s_n), h in [0, 1] such that f changes least.

    Use it as a support vector machine in little memory: usually the most accurate of the budgeted
    ones, as nothing is thrown away. α must fit the stream: the first steps are 1/α. Gaussian kernel
    only. O(B·d) a row.

    Parameters
    ----------
    budget : int, default=100
        Most rows stored, B ≥ 1.
    alpha : float, default=0.01
        L2 penalty α > 0 (λ in the paper).
    kernel : str or Kernel, default="gaussian"
        No other kernel can merge.
    gamma : float or {"median", "scale"}, default="median"
        Width; the heuristics are fitted on the first ``n_warmup`` rows.
    loss : {"hinge", "squared_hinge", "logistic"}, default="hinge"
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

    Raises
    ------
    ValueError
        On ``fit``, for a parameter out of its range or another kernel: the message says why.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from onkel import BSGDMClassifier
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> model = BSGDMClassifier(gamma=2.0)
    >>> before = model.predict_then_learn(X, y)
    >>> print(f"{(before == y).mean():.2f}")
    0.96

    Notes
    -----
    Source: Wang, Crammer & Vucetic 2012, BSGD with merging.
    """

    def __init__(
        self,
        budget: int = 100,
        alpha: float = 0.01,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        loss: str = "hinge",
        n_warmup: int = 256,
        class_weight: Any = None,
        dtype: str = "float32",
    ) -> None:
        self.budget = budget
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.loss = loss
        self.n_warmup = n_warmup
        self.class_weight = class_weight
        self.dtype = dtype


class BSGDMRegressor(_BSGDM, OnlineRegressor):
    """Budgeted Pegasos with merging, for regression; see :class:`BSGDMClassifier`.

    c = sgn(y - f) where \\|y - f\\| > ε, or -∂loss/∂f of another loss.

    Parameters
    ----------
    budget, alpha, kernel, gamma, n_warmup, dtype
        As in :class:`BSGDMClassifier`.
    loss : {"epsilon_insensitive", "absolute", "squared"}, default="epsilon_insensitive"
    epsilon : float, default=0.1
        Half-width ε ≥ 0 of the tube in which nothing is learned or stored, in the target's units.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel import BSGDMRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, (2000, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = BSGDMRegressor(gamma=2.0).fit(X, y)
    >>> print(f"{model.score(X, y):.2f}")
    0.99
    """

    def __init__(
        self,
        budget: int = 100,
        alpha: float = 0.01,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        loss: str = "epsilon_insensitive",
        epsilon: float = 0.1,
        n_warmup: int = 256,
        dtype: str = "float32",
    ) -> None:
        self.budget = budget
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.loss = loss
        self.epsilon = epsilon
        self.n_warmup = n_warmup
        self.dtype = dtype
